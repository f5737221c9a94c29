//! A server's definition is the same on every launch, whatever stands beside it (case B92): agents remember approvals
//! and logins by it.

use std::fs;
use std::os::unix::process::CommandExt;
use std::process::Stdio;

use serde_json::Value;

use crate::support::{Run, SQUIRE, Test};

const A: &str = "[servers.a]\ncommand = \"<server>\"\nargs = [\"stdio\"]\n";
const B: &str = "[servers.b]\ncommand = \"<server>\"\nargs = [\"stdio\", \"--tools\", \"x\"]\nenv = { ONE = \"1\", TWO = \"${env:TWO:-2}\" }\ninherit_env = [\"THREE\"]\n";
const C: &str = "[servers.c]\nurl = \"https://c.example.com/mcp\"\n";
const D: &str = "[servers.d]\nurl = \"https://d.example.com/mcp\"\nheaders = { X-B = \"1\", X-A = \"2\" }\n";

/// Everything that the agent was told of one server, as bytes.
fn definition(agent: &str, run: &Run, server: &str) -> String {
    let of_file = |end: &str| {
        let text = run.agent_file(end)["content"].as_str().unwrap().to_owned();
        let start = text.find(&format!("\"{server}\": {{")).unwrap();
        // The entry as it is written, up to the brace that closes it.
        let mut depth = 0;
        let mut in_string = false;
        let end = text[start..].char_indices().find(|(_, character)| {
            match character {
                '"' => in_string = !in_string,
                '{' if !in_string => depth += 1,
                '}' if !in_string => depth -= 1,
                _ => return false,
            }
            *character == '}' && !in_string && depth == 0
        });
        text[start..start + end.unwrap().0].to_owned()
    };
    match agent {
        "claude" => of_file("/claude.json"),
        "cursor" => of_file(".cursor/mcp.json"),
        "opencode" => {
            let text = run.agent_variable("OPENCODE_CONFIG_CONTENT").unwrap();
            let value: Value = serde_json::from_str(&text).unwrap();
            value["mcp"][server].to_string()
        }
        _ => {
            let arguments: Vec<String> = serde_json::from_value(run.agent()["argv"].clone()).unwrap();
            let prefix = format!("mcp_servers.{server}.");
            let own: Vec<String> =
                arguments.into_iter().filter(|argument| argument.starts_with(&prefix)).collect();
            own.join("\n")
        }
    }
}

#[test]
fn b92_neighbours_and_order_change_nothing() {
    for (agent, program) in
        [("claude", "claude"), ("codex", "codex"), ("opencode", "opencode"), ("cursor", "cursor-agent")]
    {
        let test = Test::new().agent(program, "").args(["launch", agent, "--quiet"]);
        let off = A.replace("\nargs", "\ndisabled = true\nargs");
        let mut seen = Vec::new();
        for config in [
            [A, B, D, ""].concat(),
            [A, B, D, ""].concat(),
            [A, B, D, C].concat(),
            [D, B, "", ""].concat(),
            [C, D, "# another order\n\n", B, A].concat(),
            [&off, "\n\n", B, D].concat(),
        ] {
            let run = test.clone().config(&config).success();
            seen.push(["b", "d"].map(|server| definition(agent, &run, server)));
        }
        // Selected otherwise, in another session, with another value.
        let run = test
            .clone()
            .args(["--server", "d", "--server", "b"])
            .env("TWO", "zwei")
            .env("TERM", "dumb")
            .success();
        seen.push(["b", "d"].map(|server| definition(agent, &run, server)));
        assert!(seen[0].iter().all(|definition| definition.len() > 40), "{seen:?}");
        assert!(seen.iter().all(|one| *one == seen[0]), "{agent}: {seen:#?}");
        assert!(!seen[0][0].contains("zwei") && !seen[0][0].contains("\"1\""), "{agent}: {seen:?}");
    }
}

#[test]
fn b92_a_directory_below_the_projects_root_changes_nothing() {
    for (agent, program) in [("claude", "claude"), ("codex", "codex"), ("opencode", "opencode")] {
        let test =
            Test::new().agent(program, "").config(B).write("project/a/b/x", "").link("project", "link");
        let test = test.args(["launch", agent, "--quiet"]);
        let seen = ["project", "project/a", "project/a/b", "link/a"]
            .map(|directory| definition(agent, &test.clone().directory(directory).success(), "b"));
        assert!(seen.iter().all(|one| *one == seen[0]), "{agent}: {seen:#?}");
    }
}

#[test]
fn b92_the_path_of_squire_is_the_one_it_was_called_by() {
    // What an upgrade replaces is the link's target: the link stays.
    let test = Test::new()
        .agent("codex", "")
        .config(B)
        .link(SQUIRE, "tools/squire")
        .args(["launch", "codex", "--quiet"]);
    let path = format!("{}:{}", test.path("tools").display(), test.path("bin").display());
    for (test, command) in [
        (test.clone().program("tools/squire"), "tools/squire"),
        (test.clone().env("PATH", path).behind("shift; set -- squire \"$@\""), "tools/squire"),
        (test.clone().behind("shift; set -- ../tools/squire \"$@\""), "project/../tools/squire"),
    ] {
        let run = test.success();
        let found = definition("codex", &run, "b");
        let expected = format!("mcp_servers.b.command=\"{}\"\n", run.path(command).display());
        assert!(found.starts_with(&expected), "{found}");
    }
}

#[test]
fn b92_a_name_that_is_no_path_to_squire_is_not_believed() {
    let test = Test::new()
        .agent("codex", "")
        .config(B)
        .script("tools/squire", "#!/bin/sh\n")
        .args(["launch", "codex", "--server", "b", "--", "exec"]);
    let path = format!("{}:{}", test.path("tools").display(), test.path("bin").display());
    let test = test.env("PATH", path);
    for name in ["squire", "/nowhere/squire", "./squire", ""] {
        let status = test.command().arg0(name).stderr(Stdio::null()).status().unwrap();
        assert!(status.success(), "{name}");
        let log: Value = serde_json::from_slice(&fs::read(test.path("agent.json")).unwrap()).unwrap();
        let expected = format!("mcp_servers.b.command=\"{SQUIRE}\"");
        assert!(
            log["argv"].as_array().unwrap().iter().any(|argument| *argument == expected),
            "{name}: {log}"
        );
    }
}

#[test]
fn b92_the_order_of_servers_is_that_of_the_file_and_of_the_selection() {
    let test = Test::new().agent("opencode", "").config(&[D, A, C, B].concat()).args(["launch", "opencode"]);
    for (words, order) in [
        (&[][..], "5 of 5: squire, d, a, c, b"),
        (&["--server", "b", "--server", "d", "--server", "b"], "2 of 2: b, d"),
    ] {
        test.clone().args(words.iter().copied()).stderr(format!("squire: opencode gets {order}\n")).success();
    }
}
