//! Credentials that a declaration holds in clear: an error in a project's file, a warning in the user's.

use crate::support::Test;

const TOKEN: &str = "ghp_16C7e42F292c6912E7710c838347Ae178B4a";
const USER: &str = "<T>/home/.config/squire/squire.toml";

/// A field that holds the token, what is told of it, and its line and column.
const FIELDS: &[(&str, &str)] = &[
    ("command = \"a\"\nenv = { X = \"<K>\" }", "env.X"),
    ("command = \"a\"\nargs = [\"--token=<K>\"]", "args"),
    ("command = \"a\"\nenv = { X = \"${env:T:-<K>}\" }", "env.X"),
    ("url = \"https://h.example/\"\nheaders = { X-Api-Key = \"v\" }", "headers.X-Api-Key"),
    ("description = \"d\"\nurl = \"https://h.example/<K>/mcp\"", "url"),
    ("description = \"d\"\nurl = \"https://me:pw@h.example/mcp\"", "url"),
];

#[test]
fn b32_b70_a_projects_file_with_a_credential_is_not_used() {
    for (fields, field) in FIELDS {
        let declared =
            format!("[servers.p]\n{}\n[servers.q]\ncommand = \"q\"\n", fields.replace("<K>", TOKEN));
        let told = format!(
            "squire: <T>/project/squire.toml:3:1: the project's file is not used: [servers.p]: {field} holds what looks like a credential in clear, and everybody who has the repository reads it\n  \
             help: write ${{secret:NAME}} in its place, and let each user run: squire secret set NAME\n"
        );
        let run =
            Test::new().project(&declared).args(["list"]).any_stdout().stderr(told).unchanged().success();
        assert_eq!(run.stdout.lines().count(), 2, "the file is used: {}", run.stdout);
        let check = Test::new().project(&declared).args(["check"]).any_stdout().unchanged().code(1);
        assert!(check.stdout.contains("[project-file]") && !check.stdout.contains(TOKEN), "{}", check.stdout);
    }
}

#[test]
fn b32_a_credential_of_the_user_is_a_warning() {
    for (fields, field) in FIELDS {
        let declared = format!("[servers.u]\n{}\n", fields.replace("<K>", TOKEN));
        let help = "squire secret set NAME, then write ${secret:NAME} in its place";
        let told = format!(
            "{USER}:3:1: warning: u: {field} holds what looks like a credential in clear [literal-credential]\n  help: {help}\n"
        );
        let run = Test::new()
            .config(&declared)
            .script("bin/a", "")
            .args(["check"])
            .any_stdout()
            .unchanged()
            .code(1);
        assert!(run.stdout.contains(&told), "{}", run.stdout);
        assert!(!run.stdout.contains(TOKEN), "{}", run.stdout);
    }
    for (fields, _) in FIELDS {
        let declared =
            format!("[servers.u]\n{}\n[policy]\nenv = {{ Y = \"{TOKEN}\" }}\n", fields.replace("<K>", TOKEN));
        for words in [&["show", "u"][..], &["show", "u", "--json"], &["list"], &["list", "--json"]] {
            let run =
                Test::new().config(&declared).args(words.iter().copied()).any_stdout().unchanged().success();
            assert!(!run.stdout.contains(TOKEN), "{words:?}: {}", run.stdout);
        }
    }
    let of_policy = format!("[servers.u]\ncommand = \"a\"\n[policy]\nenv = {{ X = \"{TOKEN}\" }}\n");
    let run =
        Test::new().config(&of_policy).script("bin/a", "").args(["check"]).any_stdout().unchanged().code(1);
    assert!(run.stdout.contains(&format!("{USER}:4:1: warning: u: env.X holds")), "{}", run.stdout);
}

/// The user's changes of a project's server are the user's.
#[test]
fn a_local_change_is_not_the_projects() {
    let run = Test::new()
        .project("[servers.p]\ncommand = \"p\"\n")
        .local(&format!("[servers.p]\nenv = {{ X = \"{TOKEN}\" }}\n"))
        .args(["list"])
        .any_stdout()
        .unchanged()
        .success();
    assert!(run.stdout.contains("not-approved"), "{}", run.stdout);
}
