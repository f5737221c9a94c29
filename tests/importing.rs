//! `squire import`: the servers of agents and other tools, out of their own files.

mod conflicts;
mod corpus;
mod files;
mod secrets;
mod words;

use crate::support::{Run, Test};

/// The user's file, which imports go into.
const FILE: &str = "home/.config/squire/squire.toml";
const SECRETS: &str = "home/.config/squire/secrets.toml";
/// The user's file of Claude Code.
const CLAUDE: &str = "home/.claude.json";

/// One server of Claude Code's.
const ONE: &str = "{ \"mcpServers\": {\n  \"docs\": { \"type\": \"http\", \"url\": \"https://docs.example.com/mcp\" }\n} }\n";
/// What it comes to.
const DOCS: &str = "[servers.docs]\nurl = \"https://docs.example.com/mcp\"\ntrust = \"community\"\n";

/// An import in a place where Claude Code has these servers.
fn claude(text: &str) -> Test {
    Test::new().write(CLAUDE, text).args(["import", "claude"])
}

#[track_caller]
fn written(run: &Run, relative: &str) -> Option<String> {
    std::fs::read_to_string(run.path(relative)).ok()
}

/// What is said of Claude Code's two files.
fn looked_at(project: &str) -> String {
    format!(
        "squire: <T>/{CLAUDE} (Claude Code): read\nsquire: <T>/project/.mcp.json (Claude Code): {project}\n"
    )
}

/// The whole way: what Claude Code had in its file, with a token in clear, is imported, approved, given to Claude Code by
/// a launch, and its tool called with the token in the server's environment, and nowhere else.
#[test]
fn an_imported_server_is_launched_and_called() {
    let test = Test::new();
    let entry = format!(
        "{{ \"mcpServers\": {{ \"own server\": {{ \"command\": \"{}\", \"args\": [\"stdio\"], \"env\": {{ \"API_TOKEN\": \"S3CR3T-imported\" }} }} }} }}",
        crate::support::fake_server().display()
    );
    let test = test.write(CLAUDE, entry).agent("claude", "exit 0");
    test.clone().args(["import", "claude"]).any_stderr().success();
    let run = test.clone().args(["approve", "--digest", "0", "own-server"]).any_stderr().code(1);
    let digest = run.stderr.split("is ").nth(1).unwrap().split(',').next().unwrap().to_owned();
    test.clone().args(["approve", "--digest", &digest, "own-server"]).any_stdout().success();
    let run = test.clone().args(["launch", "claude", "--server", "own-server"]).any_stderr().success();
    assert!(run.stderr.contains("claude gets 1 of 1: own-server"), "{}", run.stderr);
    let text = run.agent_file("claude.json")["content"].as_str().unwrap().to_owned();
    let given: serde_json::Value = serde_json::from_str(&text).unwrap();
    let entry = &given["mcpServers"]["own-server"];
    let words = entry["args"].as_array().unwrap().iter().map(|word| word.as_str().unwrap());
    let mut gateway = std::process::Command::new(entry["command"].as_str().unwrap());
    gateway.args(words).env_clear().env("HOME", test.path("home")).env("PATH", "/usr/bin:/bin");
    let result = called(gateway, "environment", "{\"name\":\"API_TOKEN\"}");
    assert!(result.contains("S3CR3T-imported"), "{result}");
}

/// What a server answers to a call of a tool, asked as an agent asks.
fn called(mut server: std::process::Command, tool: &str, arguments: &str) -> String {
    use std::io::{BufRead as _, BufReader, Write as _};
    use std::process::Stdio;
    let mut child = server.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    for line in [
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#.to_owned(),
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#.to_owned(),
        format!(r#"{{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments}}}}}"#),
    ] {
        writeln!(stdin, "{line}").unwrap();
    }
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let answer = lines.map(Result::unwrap).find(|line| line.contains("\"id\":2")).unwrap();
    drop(stdin);
    child.wait().unwrap();
    answer
}
