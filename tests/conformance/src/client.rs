//! What a client does in each scenario of the suite, through a gateway to the suite's server.

use std::env;
use std::io;

use serde_json::{Value, json};

use crate::gateway::Gateway;
use crate::wire::Wire;

const MODERN: &str = "2026-07-28";

/// Shows the scenario that the suite's variables name.
pub fn show(url: &str) -> io::Result<()> {
    let variable = |name: &str| env::var(name).map_err(io::Error::other);
    let scenario = variable("MCP_CONFORMANCE_SCENARIO")?;
    let revision = variable("MCP_CONFORMANCE_PROTOCOL_VERSION")?;
    let context: Value = match env::var("MCP_CONFORMANCE_CONTEXT") {
        Ok(context) => serde_json::from_str(&context)?,
        Err(_) => Value::Null,
    };
    let gateway = Gateway::to_url(url)?;
    let mut client = Client { wire: Wire::start(&mut gateway.command())?, is_modern: revision == MODERN };
    client.begin(&revision)?;
    client.play(&scenario, &context)?;
    client.wire.finish().map(drop)
}

struct Client {
    wire: Wire,
    is_modern: bool,
}

impl Client {
    fn begin(&mut self, revision: &str) -> io::Result<()> {
        if self.is_modern {
            return self.ask("server/discover", json!({})).map(drop);
        }
        let hello = json!({
            "protocolVersion": revision,
            "capabilities": { "elicitation": {} },
            "clientInfo": { "name": "squire-conformance", "version": "1" },
        });
        self.ask("initialize", hello)?;
        self.wire.notify("notifications/initialized", &json!({}))
    }

    fn ask(&mut self, method: &str, mut params: Value) -> io::Result<Value> {
        if self.is_modern {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": MODERN,
                "io.modelcontextprotocol/clientInfo": { "name": "squire-conformance", "version": "1" },
                "io.modelcontextprotocol/clientCapabilities": { "roots": {}, "sampling": {}, "elicitation": {} },
            });
        }
        let id = self.wire.send(method, &params)?;
        self.wire.answer(id, &|_| None)
    }

    fn call(&mut self, tool: &str, arguments: &Value) -> io::Result<Value> {
        self.ask("tools/call", json!({ "name": tool, "arguments": arguments }))
    }

    fn play(&mut self, scenario: &str, context: &Value) -> io::Result<()> {
        let listed = self.ask("tools/list", json!({}))?;
        let tools: Vec<String> = listed["result"]["tools"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|tool| tool["name"].as_str().map(str::to_owned))
            .collect();
        match scenario {
            "tools_call" | "http-invalid-tool-headers" => {
                for tool in &tools {
                    self.call(tool, &json!({ "a": 5, "b": 3 }))?;
                }
            }
            "http-custom-headers" => {
                for call in context["toolCalls"].as_array().into_iter().flatten() {
                    self.call(call["name"].as_str().unwrap_or_default(), &call["arguments"])?;
                }
            }
            "http-standard-headers" => self.ask_for_everything(&tools)?,
            "sse-retry" => self.call("test_reconnection", &json!({})).map(drop)?,
            "sep-2322-client-request-state" => self.play_rounds()?,
            _ => {}
        }
        Ok(())
    }

    fn ask_for_everything(&mut self, tools: &[String]) -> io::Result<()> {
        for tool in tools {
            self.call(tool, &json!({}))?;
        }
        let all = |listed: &Value, list: &str, key: &str| -> Vec<Value> {
            listed["result"][list].as_array().into_iter().flatten().map(|one| one[key].clone()).collect()
        };
        let listed = self.ask("resources/list", json!({}))?;
        for uri in all(&listed, "resources", "uri") {
            self.ask("resources/read", json!({ "uri": uri }))?;
        }
        let listed = self.ask("prompts/list", json!({}))?;
        for name in all(&listed, "prompts", "name") {
            self.ask("prompts/get", json!({ "name": name }))?;
        }
        Ok(())
    }

    /// Calls each tool, and brings what it needs with a second call.
    fn play_rounds(&mut self) -> io::Result<()> {
        for tool in ["test_mrtr_echo_state", "test_mrtr_no_state"] {
            let needed = self.call(tool, &json!({}))?["result"].clone();
            self.call("test_mrtr_unrelated", &json!({}))?;
            let responses: serde_json::Map<String, Value> = needed["inputRequests"]
                .as_object()
                .into_iter()
                .flatten()
                .map(|(key, _)| {
                    (key.clone(), json!({ "action": "accept", "content": { "confirmed": true } }))
                })
                .collect();
            let mut params = json!({ "name": tool, "arguments": {}, "inputResponses": responses });
            if let Some(state) = needed.get("requestState") {
                params["requestState"] = state.clone();
            }
            self.ask("tools/call", params)?;
        }
        self.call("test_mrtr_no_result_type", &json!({})).map(drop)
    }
}
