//! `squire set`, `enable`, `disable` and `remove`.

use std::fs;

use super::{FILE, PROJECT, TEXT, squire, written};
use crate::support::{Test, local_path};

const LOCAL: &str = "<T>/home/.config/squire/projects";

#[test]
fn b26_a_field_is_set_and_taken_out() {
    let test = squire(&["set", "github", "tools.deny", "repo.delete", "issue.*"]);
    let run = test.clone().stderr(format!("squire: github: tools.deny is set in {FILE}\n")).success();
    let line = "tools.deny = [\"repo.delete\", \"issue.*\"]\n";
    assert_eq!(written(&run), TEXT.replace("# main\n", &format!("# main\n{line}")));
    let undo = test.without_arguments().args(["set", "github", "tools.deny", "--unset"]);
    let run = undo.stderr(format!("squire: github: tools.deny is taken out of {FILE}\n")).success();
    assert_eq!(written(&run), TEXT);
    squire(&["set", "github", "timeout", "--unset"])
        .stderr(format!("squire: github has no `timeout` in {FILE}\n"))
        .unchanged()
        .code(1);
}

#[test]
fn an_edit_that_makes_something_wrong_is_refused() {
    for (words, told, code) in [
        (&["set", "github", "timout", "2m"][..], "a server has no field `timout`; did you mean `timeout`?".to_owned(), 2),
        (&["set", "githb", "timeout", "2m"], "there is no server \"githb\"; did you mean `github`?".to_owned(), 2),
        (
            &["set", "github", "timeout", "2x"],
            format!("nothing was changed, as this would be wrong:\n{FILE}:6:11: `timeout` wants a duration such as \"30s\" or \"2m\", of at most 24 days, and this is \"2x\""),
            1,
        ),
        (
            &["set", "github", "command", "gh"],
            format!("nothing was changed, as this would be wrong:\n{FILE}:6:1: [servers.github]: both `command` and `url`: one server has one of them"),
            1,
        ),
        (
            &["set", "github", "trust", "trusted"],
            "no command believes a server for good: squire approve github approves what it is now, and `trust` is written by hand".to_owned(),
            1,
        ),
        (&["remove", "githb"], "there is no server \"githb\"; did you mean `github`?".to_owned(), 2),
    ] {
        squire(words).stderr(format!("squire: {told}\n")).unchanged().code(code);
    }
}

/// What only a later squire knows stays, and hinders no edit.
#[test]
fn b26_unknown_keys_stay() {
    let text =
        "[servers.a]\nurl = \"https://a\"\nx-later = { z = 1, a = 12345678901234567 }\n\n[later]\nb = 1.0\n";
    let run = Test::new()
        .config(text)
        .args(["disable", "a"])
        .stderr(format!("squire: a is off ({FILE})\n"))
        .success();
    assert_eq!(written(&run), text.replace("567 }\n", "567 }\ndisabled = true\n"));
}

#[test]
fn what_is_switched_off_can_be_switched_on() {
    let test = squire(&[]);
    let switch = |word: &str, told: &str| {
        let run = test.clone().args([word, "db"]).stderr(format!("squire: db {told} ({FILE})\n")).success();
        written(&run)
    };
    let off = TEXT.replace("[\"db\"]\n\n", "[\"db\"]\ndisabled = true\n\n");
    assert_eq!(switch("disable", "is off"), off);
    assert_eq!(switch("disable", "was off already"), off);
    assert_eq!(switch("enable", "is on"), TEXT);
    let told = format!(
        "squire: db was not off ({FILE}); a gateway that has given it up tries it again when it is asked next\n"
    );
    assert_eq!(written(&test.clone().args(["enable", "db"]).stderr(told).success()), TEXT);
    let builtin = Test::new();
    let run = builtin
        .clone()
        .args(["disable", "squire"])
        .stderr(format!("squire: squire is off ({FILE})\n"))
        .success();
    assert_eq!(written(&run), "[servers.squire]\ndisabled = true\n");
    let run = builtin.args(["enable", "squire"]).stderr(format!("squire: squire is on ({FILE})\n")).success();
    assert_eq!(written(&run), "");
}

/// The project's file is not the user's to change: the local layer is.
#[test]
fn a_projects_server_is_changed_in_the_local_layer() {
    let project = "[servers.p]\ncommand = \"p\"\n";
    let test = squire(&[]).write(PROJECT, project);
    let local = test.path(&local_path(&test, "project"));
    let name = local.file_name().unwrap().to_str().unwrap().to_owned();
    let told = |what: &str| format!("squire: p {what} ({LOCAL}/{name})\n");
    test.clone().args(["disable", "p"]).stderr(told("is off")).success();
    assert_eq!(fs::read_to_string(&local).unwrap(), "[servers.p]\ndisabled = true\n");
    let waits = "squire: p: declared by the project, and not approved\n  help: squire approve p\n";
    test.clone().args(["enable", "p"]).stderr(told("is on") + waits).success();
    assert_eq!(fs::read_to_string(&local).unwrap(), "");
    let run = test.clone().args(["remove", "p"]).any_stderr().unchanged().code(1);
    assert_eq!(
        run.stderr,
        "squire: p is declared in <T>/project/squire.toml, the project's own file:\n  squire remove p --layer local      # takes it out for you, in this project\n  squire remove p --layer project    # changes the project's file\n"
    );
    let out = format!("squire: p is out of this project's list ({LOCAL}/{name})\n");
    test.clone().args(["remove", "p", "--layer", "local"]).stderr(out).success();
    assert_eq!(fs::read_to_string(&local).unwrap(), "[servers.p]\nremove = true\n");
    assert_eq!(fs::read_to_string(test.path(PROJECT)).unwrap(), project);
    let told = "squire: p is out of <T>/project/squire.toml\n";
    let run = test.args(["remove", "p", "--layer", "project"]).any_stderr().success();
    assert!(run.stderr.starts_with(told) && run.stderr.contains("still changes p"), "{}", run.stderr);
    assert_eq!(fs::read_to_string(run.path(PROJECT)).unwrap(), "");
}

#[test]
fn b26_a_removed_server_goes_out_of_profiles_too() {
    let run = squire(&["remove", "github"])
        .stderr(format!("squire: github is out of {FILE}\nsquire: the profile work no longer names it\n"))
        .success();
    let expected = TEXT
        .replace("\n# of the forge\n[servers.github]   # mine\nurl = 'https://h/mcp' # main\n", "")
        .replace("\"github\", ", "");
    assert_eq!(written(&run), expected);
}

#[test]
fn a_drop_in_is_only_read() {
    let test = squire(&[]).write("home/.config/squire/servers.d/d.toml", "url = \"https://d\"\n");
    let told = "squire: d is declared in <T>/home/.config/squire/servers.d/d.toml, which squire only reads: change that file, or with --layer local what it is in this project\n";
    for words in [&["remove", "d"][..], &["disable", "d"], &["set", "d", "timeout", "1m"]] {
        test.clone().args(words.iter().copied()).stderr(told).unchanged().code(1);
    }
    test.clone().args(["disable", "d", "--layer", "local"]).any_stderr().success();
    assert_eq!(
        fs::read_to_string(test.path(&local_path(&test, "project"))).unwrap(),
        "[servers.d]\ndisabled = true\n"
    );
}

/// An agent narrows what it has, and widens nothing.
#[test]
fn inside_a_launch_nothing_is_widened() {
    let told = "squire: no agent may change the list of servers: this is inside a launch of squire; do it in a terminal of your own\n";
    for words in [
        &["init"][..],
        &["add", "x", "--", "x"],
        &["remove", "db"],
        &["enable", "db"],
        &["set", "db", "timeout", "1m"],
        &["profile", "add", "p", "db"],
        &["profile", "remove", "work"],
    ] {
        squire(words).env("SQUIRE_LAUNCH", "0".repeat(32)).stderr(told).unchanged().code(1);
    }
    let test = squire(&["disable", "db"]).env("SQUIRE_LAUNCH", "0".repeat(32));
    test.stderr(format!("squire: db is off ({FILE})\n")).success();
}
