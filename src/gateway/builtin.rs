//! The built-in server: tells an agent which servers its launch has, and why one is missing.

use std::cell::RefCell;

use serde_json::{Value, json};
use squire_relay::Step;
use squire_strategies::LAUNCH_VARIABLE;

use super::delivery::Delivery;
use crate::cli;
use crate::environment::Environment;
use crate::mcp::{Reply, Service, ServiceTool};
use crate::runner::read_record;

/// The service that the built-in server offers.
pub(super) fn service(options: &cli::Gateway, environment: &Environment) -> Service {
    let id = environment.passed_on(LAUNCH_VARIABLE).and_then(|id| id.to_str());
    let record = id.and_then(|id| read_record(&options.state, id));
    let tool = ServiceTool {
        name: "list_servers".into(),
        title: "List MCP servers".into(),
        description:
            "Lists the MCP servers that this session was given, and those that were left out with the reason."
                .into(),
        input_schema: json!({ "type": "object", "properties": {}, "additionalProperties": false }),
        call: Box::new(move |_| Ok(answer(record.as_ref()))),
    };
    Service {
        name: "squire".into(),
        version: env!("CARGO_PKG_VERSION").into(),
        instructions: Some("Which MCP servers this session has, and why one is missing.".into()),
        tools: vec![tool],
        heard: Box::new(reporting(options, id)),
    }
}

/// Reports how far the built-in server has come, once a step.
fn reporting(options: &cli::Gateway, launch: Option<&str>) -> impl Fn(&str) + 'static {
    let delivery = RefCell::new(Delivery::new(options.state.clone(), launch, &options.name));
    let told = RefCell::new(Vec::new());
    move |method| {
        let step = match method {
            "initialize" => Step::Initialized,
            "tools/list" => Step::Listed,
            "tools/call" => Step::Called,
            _ => return,
        };
        if !told.borrow().contains(&step) {
            told.borrow_mut().push(step);
            delivery.borrow_mut().reached(step);
        }
    }
}

fn answer(record: Option<&Value>) -> Reply {
    let Some(record) = record else {
        let text = "There is no record of this launch: the server was not started by `squire launch`, or its state directory can't be written.";
        return Reply { text: text.into(), structured: Some(json!({ "servers": [] })) };
    };
    let servers = record["servers"].as_array().cloned().unwrap_or_default();
    let lines: Vec<String> = servers.iter().map(line).collect();
    Reply {
        text: lines.join("\n"),
        structured: Some(json!({ "agent": record["agent"], "servers": servers })),
    }
}

fn line(server: &Value) -> String {
    let text = |key: &str| server[key].as_str().unwrap_or_default();
    if server["delivered"] == true {
        let description = text("description");
        let separator = if description.is_empty() { "" } else { ": " };
        format!("{} ({}){separator}{description}", text("name"), text("transport"))
    } else {
        format!("{} is missing: {}", text("name"), text("reason"))
    }
}
