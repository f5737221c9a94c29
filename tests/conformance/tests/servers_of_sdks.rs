//! Servers of the official SDKs say the same through a gateway as they do directly, to the byte.

use std::io;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use squire_conformance::gateway::Gateway;
use squire_conformance::installed::{self, NODE};
use squire_conformance::tell;
use squire_conformance::wire::Wire;

const MODERN: &str = "2026-07-28";

/// What the server says in a conversation of its revision: a greeting, and then one of everything.
fn conversation(command: &mut Command, revision: &str) -> io::Result<Vec<String>> {
    let mut wire = Wire::start(command)?;
    let is_modern = revision == MODERN;
    let capabilities = json!({ "elicitation": {}, "sampling": {} });
    let mut meta = json!({ "progressToken": "how far" });
    if is_modern {
        meta["io.modelcontextprotocol/protocolVersion"] = json!(MODERN);
        meta["io.modelcontextprotocol/clientInfo"] = json!({ "name": "squire-conformance", "version": "1" });
        meta["io.modelcontextprotocol/clientCapabilities"] = capabilities.clone();
    }
    if is_modern {
        wire.ask("server/discover", &json!({ "_meta": meta }))?;
    } else {
        let info = json!({ "name": "squire-conformance", "version": "1" });
        wire.ask(
            "initialize",
            &json!({ "protocolVersion": revision, "capabilities": capabilities, "clientInfo": info }),
        )?;
        wire.notify("notifications/initialized", &json!({}))?;
    }
    let call = |tool: &str, arguments: Value| json!({ "name": tool, "arguments": arguments, "_meta": meta });
    wire.ask("tools/list", &json!({ "_meta": meta }))?;
    wire.ask("tools/call", &call("add", json!({ "a": 2, "b": 3 })))?;
    wire.ask("tools/call", &call("add", json!({ "a": "two" })))?;
    wire.ask("tools/call", &call("count", json!({ "to": 3 })))?;

    let waiting = wire.send("tools/call", &call("wait", json!({})))?;
    // A server that has not begun with a call has nothing to cancel.
    wire.ask("tools/call", &call("count", json!({ "to": 1 })))?;
    wire.notify("notifications/cancelled", &json!({ "requestId": waiting, "reason": "enough" }))?;
    let told = wire.ask("tools/call", &call("cancellations", json!({})))?;
    assert_eq!(told["result"]["content"][0]["text"], "cancelled 1", "{told}");

    let asking = wire.send("tools/call", &call("ask", json!({})))?;
    wire.answer(asking, &|asked| {
        assert_eq!(asked["method"], "elicitation/create", "{asked}");
        Some(json!({ "action": "accept", "content": { "name": "Ada" } }))
    })?;

    wire.ask("resources/list", &json!({ "_meta": meta }))?;
    wire.ask("resources/read", &json!({ "uri": "test://text", "_meta": meta }))?;
    wire.ask("resources/read", &json!({ "uri": "test://none", "_meta": meta }))?;
    wire.ask("prompts/list", &json!({ "_meta": meta }))?;
    wire.ask("prompts/get", &json!({ "name": "greet", "arguments": { "name": "Ada" }, "_meta": meta }))?;
    wire.ask("unknown/method", &json!({ "_meta": meta }))?;
    let (status, mut heard) = wire.finish()?;
    assert!(status.success(), "{status}");
    // What a server does at once has no order.
    heard.get_mut(1..).unwrap_or_default().sort();
    Ok(heard)
}

fn same(words: &[String], revision: &str) -> io::Result<()> {
    let mut direct = conversation(Command::new(&words[0]).args(&words[1..]), revision)?;
    let gateway = Gateway::to_program(words)?;
    let through = conversation(&mut gateway.command(), revision)?;
    // The gateway promises to tell of changed tools, whatever the server does.
    direct[0] = direct[0].replace(r#""tools":{"listChanged":false}"#, r#""tools":{"listChanged":true}"#);
    assert_eq!(direct, through);
    let error = |line: &&String| line.contains(r#""error""#);
    let errors = direct.iter().filter(error).count();
    tell(&format!("{revision}: {} messages, {errors} of them errors, are the same", direct.len()))
}

fn source(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("servers").join(name).display().to_string()
}

#[test]
fn typescript_in_2025_11_25() -> io::Result<()> {
    let Some(folder) = installed::folder()? else { return Ok(()) };
    let node = folder.join(NODE).display().to_string();
    same(&[node, source("server.mjs"), folder.display().to_string()], "2025-11-25")
}

fn python(environment: &str, revision: &str) -> io::Result<()> {
    let Some(folder) = installed::folder()? else { return Ok(()) };
    let python = folder.join(environment).join("bin/python").display().to_string();
    same(&[python, source("server.py")], revision)
}

#[test]
fn python_1_in_2025_11_25() -> io::Result<()> {
    python("legacy", "2025-11-25")
}

#[test]
fn python_2_in_2025_11_25() -> io::Result<()> {
    python("modern", "2025-11-25")
}

#[test]
fn python_2_in_2026_07_28() -> io::Result<()> {
    python("modern", MODERN)
}
