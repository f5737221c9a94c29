//! The line before the agent starts: every server is in, or named with its reason (case B86).

use serde_json::Value;

use crate::support::Test;

const MIXED: &str = "\
[servers.docs]
url = \"https://docs.example.com/mcp\"
[servers.off]
command = \"x\"
disabled = true
[servers.old]
transport = \"sse\"
url = \"https://old.example.com/sse\"
[servers.key]
url = \"https://key.example.com/mcp\"
[servers.secret]
url = \"https://secret.example.com/mcp\"
[servers.odd]
url = \"https://odd.example.com/$${x}\"
[servers.db]
command = \"<server>\"
args = [\"stdio\"]
[profiles.all]
servers = [\"docs\", \"off\", \"old\", \"key\", \"secret\", \"odd\", \"db\"]
[policy]
deny_servers = [\"key\", \"secret\"]
";
const DENIED: &str = "denied by the policy in <T>/home/.config/squire/squire.toml:21";
const ALLOW: &str = "; to let it use them: --allowedTools mcp__docs,mcp__old,mcp__db";

fn launch(agent: &str, program: &str) -> Test {
    Test::new().config(MIXED).agent(program, "exit 5").args(["launch", agent, "--profile", "all"])
}

#[test]
fn b86_every_server_that_is_left_out_is_named_with_its_reason() {
    let common = format!("off (disabled in squire.toml), key ({DENIED}), secret ({DENIED})");
    launch("claude", "claude")
        .args(["--", "-p", "hi"])
        .stderr(format!(
            "squire: claude gets 3 of 7: docs, old, db; left out: {common}, odd (the agent would expand the `${{` in \"https://odd.example.com/${{x}}\"){ALLOW}\n"
        ))
        .code(5);
    launch("opencode", "opencode")
        .stderr(format!("squire: opencode gets 4 of 7: docs, old, odd, db; left out: {common}\n"))
        .code(5);
    launch("codex", "codex")
        .stderr(format!("squire: codex gets 4 of 7: docs, old, odd, db; left out: {common}\n"))
        .code(5);
    let run = launch("cursor", "cursor-agent").any_stderr().code(5);
    assert!(
        run.stderr
            .starts_with(&format!("squire: cursor gets 3 of 7: docs, old, db; left out: {common}, odd (")),
        "{}",
        run.stderr
    );
}

#[test]
fn b86_a_projects_servers_are_named() {
    let project = "[servers.theirs]\ncommand = \"x\"\n[servers.DOCS]\ncommand = \"x\"\n";
    Test::new()
        .config("[servers.docs]\nurl = \"https://docs.example.com/mcp\"\n")
        .agent("codex", "exit 5")
        .write("project/squire.toml", project)
        .args(["launch", "codex"])
        .stderr("squire: codex gets 2 of 4: squire, docs; left out: theirs (declared by the project, and not approved; squire approve theirs), DOCS (a server of yours has this name, and a project can't take it)\n")
        .code(5);
}

#[test]
fn b86_a_projects_file_that_is_not_used_is_told() {
    let run = Test::new()
        .config("[servers.docs]\nurl = \"https://docs.example.com/mcp\"\n")
        .agent("codex", "exit 5")
        .write("project/squire.toml", "[servers.x]\nbogus = 1\n")
        .args(["launch", "codex", "--server", "docs"])
        .any_stderr()
        .code(5);
    let start =
        "squire: codex gets 1 of 1: docs; <T>/project/squire.toml:2:1: the project's file is not used: ";
    assert!(run.stderr.starts_with(start), "{}", run.stderr);
    assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
}

#[test]
fn b86_all_left_out_is_told_and_the_agent_starts() {
    let run = Test::new()
        .config("[servers.off]\ncommand = \"x\"\ndisabled = true\n[profiles.p]\nservers = [\"off\"]\n")
        .agent("claude", "exit 5")
        .args(["launch", "claude", "--profile", "p", "--", "-p", "hi"])
        .stderr("squire: claude gets 0 of 1; left out: off (disabled in squire.toml)\n")
        .code(5);
    assert_eq!(run.agent_arguments(), ["-p", "hi"]);
    assert_eq!(run.files_below("home/.local"), Vec::<String>::new());
}

#[test]
fn b86_what_is_switched_off_and_not_selected_is_no_news() {
    Test::new()
        .config("[servers.off]\ncommand = \"x\"\ndisabled = true\n[servers.squire]\ndisabled = true\n[servers.docs]\nurl = \"https://docs.example.com\"\n")
        .agent("codex", "exit 5")
        .args(["launch", "codex"])
        .stderr("squire: codex gets 1 of 1: docs\n")
        .code(5);
}

#[test]
fn b86_an_unknown_name_refuses_the_launch() {
    for (words, message) in [
        (["--server", "dosc"], "there is no server \"dosc\"; did you mean `docs`?"),
        (["--server", "zzz"], "there is no server \"zzz\"; there are: squire, docs"),
        (["--profile", "zzz"], "there is no profile \"zzz\"; no profile is declared"),
    ] {
        let run = Test::new()
            .config("[servers.docs]\nurl = \"https://docs.example.com/mcp\"\n")
            .agent("claude", "")
            .args(["launch", "claude"])
            .args(words)
            .stderr(format!("squire: {message}\n"))
            .code(125);
        assert!(!run.agent_was_started());
        assert_eq!(run.files_below("home/.local"), Vec::<String>::new());
    }
}

#[test]
fn without_a_server_of_ones_own_the_place_for_one_is_named() {
    Test::new()
        .agent("codex", "exit 5")
        .args(["launch", "codex"])
        .stderr("squire: codex gets 1 of 1: squire\nsquire: no server of yours is declared: write [servers.NAME] into <T>/home/.config/squire/squire.toml\n")
        .code(5);
}

#[test]
fn quiet_says_nothing() {
    launch("codex", "codex").args(["--quiet"]).code(5);
    launch("codex", "codex").args(["-q", "--json"]).code(5);
    Test::new().agent("codex", "exit 5").args(["launch", "codex", "-q"]).code(5);
}

#[test]
fn b86_json_is_one_line_on_stderr_that_says_the_same() {
    let run = launch("codex", "codex").args(["--json"]).any_stderr().code(5);
    assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
    let told: Value = serde_json::from_str(&run.stderr).unwrap();
    assert_eq!(told["agent"], "codex");
    let servers = told["servers"].as_array().unwrap();
    let delivered: Vec<(&str, bool)> = servers
        .iter()
        .map(|server| (server["name"].as_str().unwrap(), server["delivered"].as_bool().unwrap()))
        .collect();
    assert_eq!(
        delivered,
        [
            ("docs", true),
            ("off", false),
            ("old", true),
            ("key", false),
            ("secret", false),
            ("odd", true),
            ("db", true)
        ]
    );
    for (name, code) in [("off", "disabled"), ("key", "policy"), ("secret", "policy")] {
        let of_server = |note: &&Value| note["server"] == name && note["code"] == code;
        assert!(told["notes"].as_array().unwrap().iter().any(|note| of_server(&note)), "{name}: {told}");
    }
}
