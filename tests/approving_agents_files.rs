//! Approvals for what a repository has in an agent's own files: left on as it was shown, and switched off again once it
//! is another thing (cases B33, B34).

use std::fs;

use serde_json::{Value, json};

use crate::support::{Place, Run, Session, Test};

const MCP: &str = "project/.mcp.json";
const CLAUDE: &str =
    r#"{ "mcpServers": { "docs": { "command": "server", "args": ["run.sh"], "env": { "A": "1" } } } }"#;
const OPENCODE: &str = r#"{ "mcp": { "docs": { "type": "local", "command": ["server", "run.sh"] } } }"#;
/// No server of squire's at all, and none that squire takes from agents' files (`live_sources.rs`).
const NONE: &str = "[servers.squire]\ndisabled = true\n[servers.off]\ncommand = \"x\"\ndisabled = true\n[policy]\nlive_sources = false\n";

fn test(file: &str, text: &str) -> Test {
    Test::new()
        .config(NONE)
        .write(file, text)
        .write("project/run.sh", "one")
        .script("bin/server", "")
        .agent("claude", "")
        .agent("opencode", "")
}

/// The digests that `approve` wants: a wrong one is told the right ones.
fn digests(test: &Test, name: &str) -> Vec<String> {
    let run = test.clone().args(["approve", "--digest", "0", name]).any_stderr().unchanged().code(1);
    let right = run.stderr.split(" files is ").nth(1).and_then(|rest| rest.split(',').next());
    right.expect(&run.stderr).split(" or ").map(str::to_owned).collect()
}

#[track_caller]
fn approve(test: &Test, name: &str) {
    for digest in digests(test, name) {
        let told = format!("approved {name} {digest}\n");
        test.clone().args(["approve", "--digest", &digest, name]).stdout(told).success();
    }
}

fn plan(test: &Test, agent: &str) -> Value {
    let run = test.clone().args(["launch", agent, "--dry-run", "--json"]).any_stdout().unchanged().success();
    serde_json::from_str(&run.stdout).unwrap()
}

/// What is switched off, and why.
fn off(test: &Test, agent: &str) -> Vec<String> {
    let plan = plan(test, agent);
    let notes = plan["notes"].as_array().unwrap().iter();
    let told =
        |note: &Value| note["sentence"].as_str().unwrap().replace(&test.root().display().to_string(), "<T>");
    notes.filter(|note| note["code"] == "repository-server").map(told).collect()
}

#[track_caller]
fn assert_on(test: &Test) {
    assert_eq!(off(test, "claude"), [""; 0]);
}

#[track_caller]
fn assert_asks_again(test: &Test) {
    assert_eq!(
        off(test, "claude"),
        ["<T>/project/.mcp.json: switched off, as it has changed since you approved it: docs"]
    );
}

#[test]
fn b33_an_approved_server_of_an_agents_file_stays_on() {
    for (agent, file, text) in [("claude", MCP, CLAUDE), ("opencode", "project/opencode.json", OPENCODE)] {
        let test = test(file, text);
        let named = format!("<T>/{file}: switched off, as you have not enabled it: docs");
        assert_eq!(off(&test, agent), [named]);
        approve(&test, "docs");
        assert_eq!(off(&test, agent), [""; 0]);
        let run =
            test.clone().args(["launch", agent]).stderr(format!("squire: {agent} gets 0 of 0\n")).success();
        assert_eq!(run.agent_arguments(), [""; 0]);
        assert_eq!(run.agent_variable("OPENCODE_CONFIG_CONTENT"), None);
        test.clone().args(["revoke", "docs"]).stdout("revoked docs\n").success();
        assert_eq!(off(&test, agent).len(), 1);
        test.clone().args(["revoke", "docs"]).stderr("squire: docs is not approved here\n").code(1);
    }
}

/// Approvals and revocations are on record, with the agent and the project.
#[test]
fn what_was_said_of_an_agents_file_is_logged() {
    let test = test(MCP, CLAUDE);
    approve(&test, "docs");
    test.clone().args(["revoke", "docs"]).stdout("revoked docs\n").success();
    let log = fs::read_to_string(test.path("home/.local/state/squire/trust.log")).unwrap();
    let said: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(said.iter().map(|line| &line["said"]).collect::<Vec<_>>(), ["approved", "revoked"]);
    let place = json!({ "agent": { "agent": "claude", "project": test.path("project") } });
    assert_eq!((&said[0]["place"], &said[1]["place"]), (&place, &place));
}

/// Every word of the entry, its script and what the repository's settings add to it.
#[test]
fn b34_every_change_of_an_entry_asks_again() {
    let test = test(MCP, CLAUDE);
    approve(&test, "docs");
    for (from, to) in [
        ("\"server\"", "\"sh\""),
        ("\"run.sh\"", "\"run.sh\", \"-x\""),
        ("\"A\": \"1\"", "\"A\": \"2\""),
        ("\"A\": \"1\"", "\"A\": \"1\", \"B\": \"\""),
        ("\"env\"", "\"new\": true, \"env\""),
        ("\"command\": \"server\", \"args\": [\"run.sh\"]", "\"type\": \"http\", \"url\": \"https://h/\""),
    ] {
        let changed = CLAUDE.replacen(from, to, 1);
        assert_ne!(changed, CLAUDE, "{from}");
        fs::write(test.path(MCP), changed).unwrap();
        assert_asks_again(&test);
    }
    let other_layout = "{\n\"mcpServers\": {\"docs\": {\"env\": {\"A\": \"1\"},\n \"args\": [\"run.sh\"], \"command\": \"server\"}}}";
    fs::write(test.path(MCP), other_layout).unwrap();
    assert_on(&test);
    fs::write(test.path("project/run.sh"), "two").unwrap();
    assert_asks_again(&test);
    fs::write(test.path("project/run.sh"), "one").unwrap();
    assert_on(&test);
    let settings = "project/.claude/settings.json";
    for env in [r#"{ "env": { "NODE_OPTIONS": "-r ./x" } }"#, r#"{ "env": { "PATH": "/x" } }"#] {
        let test = test.clone().write(settings, env);
        assert_asks_again(&test);
    }
    let test = test.write(settings, r#"{ "model": "x" }"#);
    assert_on(&test);
    // Nearer to the launch another file may say what docs is.
    let test = test.write("project/sub/.mcp.json", CLAUDE).directory("project/sub");
    assert_eq!(
        off(&test, "claude"),
        ["<T>/project/sub/.mcp.json: switched off, as it has changed since you approved it: docs",]
    );
}

/// Claude runs it where it is launched: a relative word is another file there.
#[test]
fn b34_another_directory_of_the_launch_is_another_script() {
    let test = test(MCP, CLAUDE).write("project/sub/run.sh", "evil").write("project/other/x", "");
    approve(&test, "docs");
    assert_asks_again(&test.clone().directory("project/sub"));
    assert_asks_again(&test.clone().directory("project/other"));
    assert_on(&test);
}

/// Words send OpenCode to another directory, where a relative word of the entry is another file.
#[test]
fn b34_an_approval_does_not_hold_where_words_send_the_agent() {
    let test = test("project/opencode.json", OPENCODE).write("project/sub/run.sh", "evil");
    approve(&test, "docs");
    let run = test.clone().args(["launch", "opencode", "--", "sub"]).any_stderr().success();
    let why = "<T>/project/opencode.json: switched off, as you approved it for another directory than the agent is sent to: docs";
    assert!(run.stderr.contains(why), "{}", run.stderr);
    let told = "squire: opencode gets 0 of 0\n";
    test.clone().args(["launch", "opencode", "--", "."]).stderr(told).success();
    // By PWD another file may say more of the same server.
    let way = test.link("../project", "way/link").write("way/opencode.json", OPENCODE);
    let run =
        way.clone().env("PWD", way.path("way/link")).args(["launch", "opencode"]).any_stderr().success();
    assert!(run.agent_variable("OPENCODE_CONFIG_CONTENT").is_some(), "{}", run.stderr);
}

/// OpenCode mixes what its files say of one name: also one that switches it off may add to it.
#[test]
fn b97_what_another_file_adds_to_an_approved_server_asks_again() {
    let test = test("project/opencode.json", OPENCODE);
    approve(&test, "docs");
    assert_eq!(off(&test, "opencode"), [""; 0]);
    let more = r#"{ "mcp": { "docs": { "enabled": false, "environment": { "LD_PRELOAD": "./x" } } } }"#;
    let test = test.write("opencode.json", more);
    let why = "<T>/project/opencode.json: switched off, as it has changed since you approved it: docs";
    assert_eq!(off(&test, "opencode"), [why]);
}

#[test]
fn b34_an_approval_of_an_agents_file_is_of_that_agent_and_project_alone() {
    let both = test(MCP, CLAUDE).write("project/opencode.json", OPENCODE);
    let [of_claude, _] = &digests(&both, "docs")[..] else { panic!("two agents") };
    let told = format!("approved docs {of_claude}\n");
    both.clone().args(["approve", "--digest", of_claude, "docs"]).stdout(told).success();
    assert_eq!((off(&both, "claude").len(), off(&both, "opencode").len()), (0, 1));
    // Nor is it one of squire's own list.
    let project = both.clone().write("project/squire.toml", "[servers.docs]\ncommand = \"server\"\n");
    let run = project.args(["list"]).any_stdout().success();
    assert!(run.stdout.contains("docs: declared by the project, and not approved"), "{}", run.stdout);
    let copy = both.write("copy/.mcp.json", CLAUDE).write("copy/run.sh", "one").write("copy/.git/x", "");
    assert_eq!(off(&copy.directory("copy"), "claude").len(), 1);
}

/// What nobody can know beforehand can't be approved, and the reason is told.
#[test]
fn b33_what_cannot_be_covered_cannot_be_approved() {
    let claude = |entry: &str| test(MCP, &format!(r#"{{ "mcpServers": {{ "docs": {entry} }} }}"#));
    let opencode =
        |entry: &str| test("project/opencode.json", &format!(r#"{{ "mcp": {{ "docs": {entry} }} }}"#));
    for (test, reason) in [
        (claude(r#"{ "command": "${X:-./evil}" }"#), r#"a reference in "${X:-./evil}" chooses what runs"#),
        (claude(r#"{ "command": 5 }"#), "squire can't tell what it runs"),
        (claude("{}"), "squire can't tell what it runs"),
        (claude(r#"{ "command": "server", "url": "https://h/" }"#), "squire can't tell what it runs"),
        (
            claude(r#"{ "command": "server", "env": { "PATH": "." } }"#),
            "the repository sets PATH for it, which chooses what runs",
        ),
        (
            claude(r#"{ "command": "server", "env": { "LD_PRELOAD": "x" } }"#),
            "the repository sets LD_PRELOAD for it, which chooses what runs",
        ),
        (
            claude(r#"{ "type": "http", "url": "https://h/", "headersHelper": "./x" }"#),
            "its `headersHelper` is a program of its own",
        ),
        (claude(r#"{ "command": "nowhere" }"#), "nowhere was not found on PATH"),
        (
            opencode(r#"{ "type": "local", "command": ["{env:X}"] }"#),
            r#"a reference in "{env:X}" chooses what runs"#,
        ),
        (
            opencode(r#"{ "type": "local", "command": ["server", "{file:x}"] }"#),
            "what `{file:` puts into it is not looked at",
        ),
        (
            test("project/opencode.json", OPENCODE).write("project/.opencode/opencode.json", OPENCODE),
            "<T>/project/.opencode/opencode.json declares it too",
        ),
    ] {
        let told = format!("squire: docs can't be approved as it is: {reason}\n");
        test.args(["approve", "--digest", "0", "docs"]).stderr(told).unchanged().code(1);
    }
    let planted = test(MCP, r#"{ "mcpServers": { "docs": { "command": "server" } } }"#)
        .script("project/bin/server", "#!/bin/sh\n");
    let path = format!("bin:{}:/usr/bin:/bin", planted.path("bin").display());
    planted
        .env("PATH", path)
        .args(["approve", "--digest", "0", "docs"])
        .stderr("squire: docs can't be approved as it is: the agent would run <T>/project/bin/server, as it skips no entry of PATH\n")
        .unchanged()
        .code(1);
    test("home/.mcp.json", CLAUDE)
        .directory("home")
        .args(["approve", "docs"])
        .stderr("squire: docs can't be approved here: an approval is for a project, and this is none\n")
        .unchanged()
        .code(1);
    test(MCP, "{ broken")
        .args(["approve", "docs"])
        .stderr("squire: there is no server \"docs\"; there are: squire, off; <T>/project/.mcp.json: which servers it adds can't be known (key must be a string at line 1 column 3)\n")
        .unchanged()
        .code(2);
}

/// A name of squire's own list is that server's.
#[test]
fn b35_a_name_of_ones_own_is_ones_own() {
    let test = test(MCP, CLAUDE).config("[servers.docs]\ncommand = \"server\"\n");
    test.args(["approve", "docs"])
        .stderr("squire: docs: there is nothing to approve, as you declared it yourself (<T>/home/.config/squire/squire.toml:1)\n")
        .unchanged()
        .code(1);
}

/// All of it on one screen, the difference too; what a repository wrote acts on no terminal.
#[test]
fn b33_b94_the_question_about_an_agents_file_shows_all() {
    let test = test(MCP, &CLAUDE.replace("\"1\"", "\"\\u001b[2J1\""));
    approve(&test, "docs");
    fs::write(test.path(MCP), CLAUDE.replace("\"1\"", "\"\\u001b[2J2\"")).unwrap();
    let command = test.clone().args(["approve", "docs"]).command();
    let mut session = Session::start(test.clone(), command, Place::Terminal);
    session.until_shown("approve docs? [y/N]");
    session.press(b"y\n");
    let screen = session.finish().join("\n");
    for part in [
        "which starts it by itself",
        "whatever Claude Code gives it",
        "run.sh of this repository",
        "approved before; different now:",
        "[-2J1-]{+2J2+}",
    ] {
        assert!(screen.contains(part), "{part}: {screen}");
    }
    assert!(!screen.contains("\u{1b}[2J"), "{screen}");
    assert_on(&test);
}

/// What is switched off has fields of its own, in plans and in the line of a launch.
#[test]
fn what_is_switched_off_has_fields() {
    let file = r#"{ "mcpServers": { "docs": { "command": "server" }, "a \"b\"": { "command": "x" } } }"#;
    let test = test(MCP, file).write("home/.claude.json", r#"{ "mcpServers": { "docs": {} } }"#);
    let told = |file: &str| {
        json!([
            { "name": "docs", "file": format!("{file}/project/.mcp.json"), "code": "repository-server" },
            { "name": "a \"b\"", "file": format!("{file}/project/.mcp.json"), "code": "repository-server" },
            { "name": "docs", "file": format!("{file}/home/.claude.json"), "code": "repository-server" },
        ])
    };
    assert_eq!(plan(&test, "claude")["switched_off"], told("<T>"));
    let run: Run = test.clone().args(["launch", "claude", "--json"]).any_stderr().success();
    let line: Value = serde_json::from_str(&run.stderr).unwrap();
    assert_eq!(line["switched_off"], told("<T>"));
    assert_eq!(plan(&test, "opencode")["switched_off"], json!([]));
}
