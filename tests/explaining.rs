//! The built-in server explains a server of its launch to the agent.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::support::{SQUIRE, Test, eventually, gateway_words};

const SERVERS: &str = "\
[servers.docs]
command = [\"<server>\", \"stdio\"]
description = \"the docs\"
[servers.dead]
command = [\"<server>\", \"stdio\", \"--mode\", \"die\"]
[servers.web]
url = \"http://127.0.0.1:9/mcp\"
[servers.wiki]
command = \"wiki\"
trust = \"community\"
";

/// A launch whose agent waits, and what its gateways are started with.
struct Launch {
    test: Test,
    agent: std::process::Child,
    id: String,
}

impl Launch {
    fn start() -> Self {
        Self::of(Test::new().config(SERVERS))
    }

    fn of(test: Test) -> Self {
        for file in ["ready", "go", "bin/codex"] {
            let _ = fs::remove_file(test.path(file));
        }
        let test = test
            .without_arguments()
            .agent("codex", "touch <T>/ready; wait-file <T>/go")
            .args(["launch", "codex"]);
        let mut command = test.command();
        let agent = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        eventually("the agent runs", || test.path("ready").exists());
        let given: Value = serde_json::from_slice(&fs::read(test.path("agent.json")).unwrap()).unwrap();
        let id = given["env"]["SQUIRE_LAUNCH"].as_str().unwrap().to_owned();
        Self { test, agent, id }
    }

    /// What a gateway answers to these lines.
    fn gateway(&self, name: &str, lines: &[Value]) -> Vec<Value> {
        let mut gateway = Command::new(SQUIRE)
            .args(gateway_words(&self.test, name, "codex"))
            .env_clear()
            .env("SQUIRE_LAUNCH", &self.id)
            .env("HOME", self.test.path("home"))
            .env("PATH", "/usr/bin:/bin")
            .current_dir(self.test.path("project"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let hello = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": { "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } } });
        let mut stdin = gateway.stdin.take().unwrap();
        let mut answers = BufReader::new(gateway.stdout.take().unwrap()).lines();
        let mut answer = |line: &Value| -> Value {
            writeln!(stdin, "{line}").unwrap();
            serde_json::from_str(&answers.next().unwrap().unwrap()).unwrap()
        };
        let answered = [&hello].into_iter().chain(lines).map(&mut answer).collect();
        drop(stdin);
        gateway.wait().unwrap();
        answered
    }

    fn explained(&self, arguments: &Value) -> Value {
        let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "explain_server", "arguments": arguments } });
        self.gateway("squire", &[call])[1]["result"].clone()
    }

    /// The text without the times.
    fn text(&self, name: &str) -> String {
        let result = self.explained(&json!({ "name": name }));
        let text = result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{result}"));
        let without =
            |line: &str| line.split_once(" at 20").map_or(line.to_owned(), |(step, _)| step.to_owned());
        text.lines().map(without).collect::<Vec<_>>().join("\n")
    }

    /// The last step of a server and the code of its gap, as `status` tells it.
    fn status(&self, name: &str) -> (String, String) {
        let told = self.test.clone().without_arguments().args(["status", "--launch", &self.id, "--json"]);
        let told: Value = serde_json::from_str(&told.any_stdout().success().stdout).unwrap();
        let servers = told["launches"][0]["servers"].as_array().unwrap();
        let server = servers.iter().find(|server| server["name"] == name).unwrap();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        (text(&server["reached"]), text(&server["gap"]["code"]))
    }

    fn ends(self) -> Test {
        let test = self.test.clone();
        drop(self);
        test
    }
}

impl Drop for Launch {
    fn drop(&mut self) {
        fs::write(self.test.path("go"), "").unwrap();
        let _ = self.agent.wait();
    }
}

#[test]
fn b86_the_agent_is_told_how_far_a_server_has_come_and_what_helps() {
    let launch = Launch::start();
    let delivered = "- declared\n- resolved\n- translated\n- delivered";
    assert_eq!(
        launch.text("docs"),
        format!(
            "docs (stdio, gateway) has come as far as: delivered.\nthe docs\n{delivered}\nNot further: the agent has not started it [not-started]\nWhat helps: the agent may start it later, or ask the user first"
        )
    );
    let listing = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    let echo = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": { "name": "echo", "arguments": { "text": "x" } } });
    launch.gateway("docs", &[listing, echo]);
    assert_eq!(
        launch.text("docs"),
        format!(
            "docs (stdio, gateway) has come as far as: called.\nthe docs\n{delivered}\n- initialized\n- listed\n- called"
        )
    );
    launch.gateway("dead", &[]);
    let dead = launch.text("dead");
    assert!(
        dead.contains("has come as far as: delivered")
            && dead.contains("it ended with status 3")
            && dead.contains("[ended]\nWhat helps: squire probe dead shows"),
        "{dead}"
    );
    assert!(launch.text("web").ends_with("squire sees nothing more [direct]"));
    assert_eq!(
        launch.text("wiki"),
        "wiki is missing from this session.\n- declared\nNot further: of the tier community, and not approved [not-approved]\nWhat helps: the user looks at it and approves it, in a terminal: squire approve wiki"
    );
    let result = launch.explained(&json!({ "name": "wiki" }));
    let server = &result["structuredContent"]["server"];
    assert_eq!((&server["reached"], &server["gap"]["code"]), (&json!("declared"), &json!("not-approved")));
    // What is not there is a failure that names what is.
    let unknown = launch.explained(&json!({ "name": "nope" }));
    assert_eq!(unknown["isError"], true);
    let text = unknown["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("It has: squire, docs, dead, web, wiki."), "{text}");
    assert_eq!(launch.explained(&json!({}))["isError"], true);
}

fn listing() -> Value {
    json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" })
}

/// The reasons that only a gateway can see: a server that was answered for, one that is not what was launched.
#[test]
fn a_server_that_was_answered_for_or_refused_says_so() {
    let first = Launch::start();
    first.gateway("docs", &[listing()]);
    assert_eq!(first.status("docs"), ("listed".into(), "not-asked".into()));
    let second = Launch::of(first.ends());
    second.gateway("docs", &[listing()]);
    assert_eq!(second.status("docs"), ("delivered".into(), "from-record".into()));
    assert!(
        second.text("docs").ends_with("What helps: nothing is wrong: a call of one of its tools starts it")
    );
    let _ = second
        .test
        .clone()
        .config(&SERVERS.replace("\"stdio\"]\ndescription", "\"stdio\", \"x\"]\ndescription"));
    second.gateway("docs", &[]);
    assert_eq!(second.status("docs"), ("delivered".into(), "refused".into()));
    assert!(second.text("docs").contains("its declaration has changed since this launch began"));
}

/// Case B66: what has changed is told to the agent that asks, and to the user.
#[test]
fn b66_what_has_changed_is_told() {
    let test = Test::new()
        .config("[servers.docs]\ncommand = [\"<server>\", \"stdio\", \"--definitions\", \"<T>/defined\"]\npin = \"block\"\n")
        .write("defined", r#"{"tools":[{"name":"t","inputSchema":{"type":"object"}}]}"#);
    let first = Launch::of(test);
    first.gateway("docs", &[listing()]);
    let test = first.ends().write("defined", r#"{"tools":[{"name":"t","inputSchema":{}}]}"#);
    fs::remove_dir_all(test.path("home/.local/state/squire/answers")).unwrap();
    let second = Launch::of(test);
    second.gateway("docs", &[listing()]);
    let sentence = "the tool \"t\" of docs has changed since it was first seen, and is held back until the user has approved it: squire approve docs";
    assert!(second.text("docs").ends_with(&format!("Changed: {sentence}")), "{}", second.text("docs"));
    assert_eq!(second.status("docs"), ("listed".into(), "not-asked".into()));
    let told = second.test.clone().without_arguments().args(["status"]).any_stdout().success().stdout;
    assert!(told.contains(&format!("different    {sentence}")), "{told}");
}
