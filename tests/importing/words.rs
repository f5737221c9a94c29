//! Words of the command line, its JSON, and where it may be used.

use serde_json::{Value, json};

use super::{CLAUDE, DOCS, FILE, ONE, claude};
use crate::support::{Place, Session, Test};

#[test]
fn words_that_can_not_be_meant() {
    for (words, told) in [
        (&["import", "claude", "--as", "cursor"][..], "--as is for files, and claude is an agent"),
        (
            &["import", "a.json", "--as", "cursr"],
            "--as: squire knows no format \"cursr\"; did you mean cursor?",
        ),
        (&["import", "claude", "--server", "dox"], "there is no server \"dox\""),
    ] {
        let run = Test::new().write(CLAUDE, ONE).args(words.iter().copied()).any_stderr().unchanged().code(2);
        assert!(run.stderr.contains(told), "{}", run.stderr);
    }
    Test::new()
        .args(["import", "cluade"])
        .stderr("squire: <T>/project/cluade:1:1: error: there is no such file\nsquire:   help: did you mean the agent claude?\n")
        .unchanged()
        .code(1);
}

#[test]
fn no_agent_imports() {
    claude(ONE)
        .env("SQUIRE_LAUNCH", "x")
        .stderr("squire: no agent may change the list of servers: this is inside a launch of squire; do it in a terminal of your own\n")
        .unchanged()
        .code(1);
    claude(ONE).env("SQUIRE_LAUNCH", "x").args(["--dry-run"]).any_stdout().unchanged().success();
}

#[test]
fn a_look_shows_the_plan_and_the_difference() {
    claude(ONE)
        .args(["--dry-run"])
        .stdout(format!(
            "<T>/{CLAUDE} (Claude Code): read\n<T>/project/.mcp.json (Claude Code): not there\ndocs (<T>/{CLAUDE}:2): new\n\
             --- <T>/{FILE}\n+++ <T>/{FILE}\n@@ -0,0 +1,3 @@\n+[servers.docs]\n+url = \"https://docs.example.com/mcp\"\n+trust = \"community\"\n"
        ))
        .unchanged()
        .success();
}

/// On a terminal all that was imported is shown, and asked for once.
#[test]
fn b94_on_a_terminal_it_asks_for_approval() {
    for (key, state) in [(b"y\n", "on"), (b"n\n", "not-approved")] {
        let test = claude(ONE);
        let mut session = Session::start(test.clone(), test.command(), Place::Terminal);
        session.until_shown("start docs once, to see the tools before you approve? [y/N]");
        session.press(b"n\n");
        session.until_shown("approve docs? [y/N]");
        session.press(key);
        let facts = session.finish().join("\n");
        assert!(facts.contains("{\"exited\":0,\"foreground\":true} cooked"), "{facts}");
        assert!(facts.contains("claude mcp remove -s user docs"), "{facts}");
        let run = test.without_arguments().args(["list", "--json"]).any_stdout().success();
        assert!(run.stdout.contains(&format!("\"state\": \"{state}\"")), "{}", run.stdout);
    }
}

#[test]
fn json_says_all_of_it() {
    let text = "{ \"mcpServers\": { \"a b\": { \"command\": \"a\", \"env\": { \"TOKEN\": \"S3CR3T-x\" }, \"alwaysAllow\": [] } } }";
    let run = claude(text).args(["--json"]).any_stdout().success();
    let mut told: Value = serde_json::from_str(&run.stdout).unwrap();
    assert!(told["difference"].as_str().unwrap().contains("+[servers.a-b]\n"));
    told.as_object_mut().unwrap().remove("difference");
    assert_eq!(
        told,
        json!({
            "target": format!("<T>/{FILE}"),
            "written": true,
            "sources": [
                { "path": format!("<T>/{CLAUDE}"), "format": "claude", "scope": "user", "state": "read" },
                { "path": "<T>/project/.mcp.json", "format": "claude", "scope": "project", "state": "absent" },
            ],
            "servers": [{
                "name": "a-b", "was": "a b", "path": format!("<T>/{CLAUDE}"), "line": 1, "scope": "user", "action": "add", "reason": null,
                "secrets": [{ "name": "a-b.TOKEN", "field": "env.TOKEN", "source": "value" }], "also": [],
            }],
            "profiles": [],
            "secrets": [],
            "notes": [{
                "path": format!("<T>/{CLAUDE}"), "line": 1, "column": 76, "server": "a-b",
                "sentence": "`alwaysAllow` is left away: squire relaxes no agent's question before a tool is used",
            }],
            "problems": [],
            "remaining": ["squire approve a-b"],
            "removal": ["claude mcp remove -s user 'a b'"],
        })
    );
    let run = claude(ONE).args(["--json"]).any_stdout().success();
    assert_eq!(std::fs::read_to_string(run.path(FILE)).unwrap(), DOCS);
}

/// A filter or a limit of the user's own is no other definition: a second import finds the same.
#[test]
fn what_the_user_has_set_since_is_no_conflict() {
    let test = claude(ONE);
    test.clone().any_stderr().success();
    let set = test.clone().without_arguments().args(["set", "docs", "tools.deny", "zz"]);
    set.any_stderr().success();
    test.any_stderr().unchanged().success();
}
