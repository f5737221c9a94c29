//! The revision without sessions (2026-07-28): every request says what it is of.

use serde_json::{Value, json};

use super::answer::error_reply;

const REVISION: &str = "2026-07-28";
const METHOD_NOT_FOUND: i32 = -32601;
const INVALID_PARAMETERS: i32 = -32602;

/// What is answered otherwise than in a session; nothing where the answer is the same.
pub(crate) fn answer(message: &Value) -> Option<Value> {
    let id = message.get("id")?;
    let method = message["method"].as_str().unwrap_or_default();
    if matches!(method, "initialize" | "ping") {
        return Some(error_reply(id, METHOD_NOT_FOUND, &format!("Method not found: {method}")));
    }
    if message["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] != REVISION {
        return Some(error_reply(id, INVALID_PARAMETERS, "which revision is it of?"));
    }
    let result = json!({
        "resultType": "complete",
        "supportedVersions": [REVISION],
        "capabilities": { "tools": {} },
        "serverInfo": { "name": "fake-server", "version": "modern" },
    });
    (method == "server/discover").then(|| json!({ "jsonrpc": "2.0", "id": id, "result": result }))
}
