//! The built-in server: tells an agent which servers its launch has, how far each has come, and why one is missing.
//!
//! Its tools only read: the record of the launch, and what the gateways have reported to it.

mod told;

use std::cell::RefCell;
use std::path::PathBuf;

use serde_json::{Value, json};
use squire_relay::Step;
use squire_strategies::LAUNCH_VARIABLE;

use super::delivery::Delivery;
use crate::cli;
use crate::environment::Environment;
use crate::mcp::{Reply, Service, ServiceTool};
use crate::runner::{find_launch, read_record};
use told::Told;

/// The service that the built-in server offers.
pub(super) fn service(options: &cli::Gateway, environment: &Environment) -> Service {
    let id = environment.passed_on(LAUNCH_VARIABLE).and_then(|id| id.to_str());
    let launch = Launch { state: options.state.clone(), id: id.map(str::to_owned) };
    let other = launch.clone();
    let list = ServiceTool {
        name: "list_servers".into(),
        title: "List MCP servers".into(),
        description:
            "Lists the MCP servers that this session was given, how far each has come, and those that were left out with the reason."
                .into(),
        input_schema: json!({ "type": "object", "properties": {}, "additionalProperties": false }),
        call: Box::new(move |_| Ok(launch.list())),
    };
    let explain = ServiceTool {
        name: "explain_server".into(),
        title: "Explain one MCP server".into(),
        description:
            "Explains one MCP server of this session: how far it has come, why no further, and what the user can do."
                .into(),
        input_schema: json!({
            "type": "object",
            "properties": { "name": { "type": "string", "description": "The server's name, as list_servers has it." } },
            "required": ["name"],
            "additionalProperties": false,
        }),
        call: Box::new(move |arguments| {
            let name = arguments["name"].as_str().ok_or("it needs the name of a server")?;
            other.explain(name)
        }),
    };
    Service {
        name: "squire".into(),
        version: env!("CARGO_PKG_VERSION").into(),
        instructions: Some("Which MCP servers this session has, and why one is missing.".into()),
        tools: vec![list, explain],
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
            let mut delivery = delivery.borrow_mut();
            delivery.reached(step);
            delivery.tell();
        }
    }
}

/// The launch that it tells of.
#[derive(Clone)]
struct Launch {
    state: PathBuf,
    id: Option<String>,
}

const NO_RECORD: &str = "There is no record of this launch: the server was not started by `squire launch`, or its state directory can't be written.";

impl Launch {
    /// The servers as they are now, and the agent's name.
    fn servers(&self) -> Option<(String, Vec<Told>)> {
        let id = self.id.as_deref()?;
        let record = read_record(&self.state, id)?;
        let launch = find_launch(&self.state, id)?;
        let recorded = record["servers"].as_array().cloned().unwrap_or_default();
        Some((
            launch.agent,
            recorded
                .into_iter()
                .zip(launch.servers)
                .map(|(recorded, chain)| Told { recorded, chain })
                .collect(),
        ))
    }

    fn list(&self) -> Reply {
        let Some((agent, servers)) = self.servers() else {
            return Reply { text: NO_RECORD.into(), structured: Some(json!({ "servers": [] })) };
        };
        let lines: Vec<String> = servers.iter().map(Told::line).collect();
        let servers: Vec<Value> = servers.iter().map(Told::json).collect();
        Reply { text: lines.join("\n"), structured: Some(json!({ "agent": agent, "servers": servers })) }
    }

    fn explain(&self, name: &str) -> Result<Reply, String> {
        let (agent, servers) = self.servers().ok_or(NO_RECORD)?;
        let told = servers.iter().find(|told| told.chain.name == name).ok_or_else(|| {
            let names: Vec<&str> = servers.iter().map(|told| told.chain.name.as_str()).collect();
            format!(
                "This session has no server of that name, and none was left out. It has: {}. The user's list is told by `squire list`.",
                names.join(", ")
            )
        })?;
        let structured = json!({ "agent": agent, "server": told.json() });
        Ok(Reply { text: told.explained(), structured: Some(structured) })
    }
}
