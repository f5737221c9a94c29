//! What people do with squire every day.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use super::calls::traced;
use super::declarations::declarations;
use super::gateway::gateway;
use super::programs::{SQUIRE, fake_server};
use super::remote_server::RemoteServer;
use super::traces;

/// A session, as an agent begins it, with a question for the last word.
const SAID: [&str; 6] = [
    r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"layout","version":"1"}}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
    r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#,
    r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"echo","arguments":{"text":"hello"}}}"#,
    r#"{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"echo","arguments":{"text":"hello"}}}"#,
    r#"{"jsonrpc":"2.0","id":5,"method":"ping"}"#,
];

/// Launches every agent with servers of both kinds, and speaks through gateways to a server of each kind, which is new
/// the first time and known the second.
pub(super) fn play(root: &Path, squire: &Path) {
    let remote = RemoteServer::start(root, "server", "ok");
    let program = format!("command = [{:?}, \"stdio\"]", fake_server().display().to_string());
    for (name, declaration) in [("program", program), ("remote", format!("url = {:?}", remote.url()))] {
        for _ in 0..2 {
            let gateway = gateway(&root.join(name), &declaration);
            speak(traced(squire, &gateway, &traces(root, name)));
        }
    }
    for agent in ["claude", "codex", "cursor", "opencode"] {
        for _ in 0..2 {
            let launch = launch(&root.join("launch"), agent);
            let status = traced(squire, &launch, &traces(root, "launch")).stderr(Stdio::null()).status();
            assert!(status.unwrap().success(), "{agent} was not launched");
        }
    }
}

/// Says everything, each question after the answer to the one before.
fn speak(mut command: Command) {
    let mut gateway = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (mut input, output) = (gateway.stdin.take().unwrap(), gateway.stdout.take().unwrap());
    let mut answers = BufReader::new(output).lines();
    for line in SAID {
        input.write_all(format!("{line}\n").as_bytes()).unwrap();
        if line.contains("\"id\"") {
            answers.find(|answer| answer.as_ref().unwrap().contains("\"result\"")).unwrap().unwrap();
        }
    }
    drop(input);
    assert!(gateway.wait().unwrap().success());
}

fn launch(root: &Path, agent: &str) -> Command {
    let (config, project, bin) = (root.join("config"), root.join("project"), root.join("bin"));
    for directory in [&config, &bin, &project.join(".git")] {
        fs::create_dir_all(directory).unwrap();
    }
    fs::write(config.join("squire.toml"), declarations(20)).unwrap();
    for program in ["claude", "codex", "cursor-agent", "opencode"] {
        fs::copy("/bin/true", bin.join(program)).unwrap();
    }
    let mut command = Command::new(SQUIRE);
    command.args(["launch", agent]).current_dir(project);
    command.env("HOME", root).env("PATH", format!("{}:/usr/bin:/bin", bin.display()));
    command.env("SQUIRE_CONFIG_DIR", config).env("SQUIRE_STATE_DIR", root.join("state"));
    command
}
