//! `squire inspect`: the built-in agent. It reads the file that its launch wrote as any agent would, connects to
//! every server and prints the tools.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde_json::{Map, Value, json};

use super::asking::at_once;
use crate::cli;
use crate::environment::Environment;
use crate::exit::Exit;
use crate::files;
use crate::mcp::{self, Endpoint, Groups, Listing};
use crate::output::Output;
use crate::printable::printable;

/// What came of one server.
struct Report {
    name: String,
    transport: String,
    outcome: Result<Listing, mcp::Error>,
    milliseconds: u128,
}

/// Runs the command: 1 where a server did not answer.
pub fn run(options: &cli::Inspect, environment: &Environment) -> Result<Exit> {
    let output = Output::default();
    let servers: Vec<(String, Value)> = read(&options.mcp_config)?.into_iter().collect();
    let ask = |(name, entry): &(String, Value), groups: &Groups| inspect(name, entry, environment, groups);
    let lost = |(name, entry): &(String, Value)| {
        let outcome = Err(mcp::Error::Transport("its connection failed inside squire".into()));
        Report { name: name.clone(), transport: transport(entry), outcome, milliseconds: 0 }
    };
    let reports = match at_once(&servers, |(name, _)| name, environment, output, ask, lost)? {
        Ok(reports) => reports,
        Err(signal) => return Ok(Exit::Signal(signal)),
    };
    let failed = reports.iter().any(|report| report.outcome.is_err());
    output.data(&if options.json { format!("{:#}\n", as_json(&reports)) } else { as_text(&reports) })?;
    Ok(if failed { Exit::FINDINGS } else { Exit::DONE })
}

fn read(path: &Path) -> Result<Map<String, Value>> {
    let shown = path.display();
    let bytes = files::read_of_agent(path).with_context(|| format!("{shown} can't be read"))?;
    let bytes = bytes.with_context(|| format!("{shown} does not exist"))?;
    let mut file: Value = serde_json::from_slice(&bytes).with_context(|| format!("{shown} is no JSON"))?;
    match file.get_mut("mcpServers").map(Value::take) {
        Some(Value::Object(servers)) => Ok(servers),
        _ => anyhow::bail!("{shown} holds no object `mcpServers`"),
    }
}

fn inspect(name: &str, entry: &Value, environment: &Environment, groups: &Groups) -> Report {
    let timeout = Duration::from_millis(entry["startupTimeout"].as_u64().unwrap_or(30_000));
    let began = Instant::now();
    let outcome = mcp::inspect(&endpoint(entry, environment), timeout, groups);
    let milliseconds = began.elapsed().as_millis();
    Report { name: name.to_owned(), transport: transport(entry), outcome, milliseconds }
}

fn transport(entry: &Value) -> String {
    entry["type"].as_str().unwrap_or("unknown").to_owned()
}

fn endpoint(entry: &Value, environment: &Environment) -> Endpoint {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let pairs = |key: &str| entry[key].as_object().into_iter().flatten();
    let headers = || pairs("headers").map(|(name, value)| (name.clone(), text(value))).collect();
    match entry["type"].as_str() {
        Some("http") => Endpoint::Http { url: text(&entry["url"]), headers: headers() },
        Some("sse") => Endpoint::Sse { url: text(&entry["url"]), headers: headers() },
        _ => {
            let own = environment.variables().map(|(name, value)| (name.to_owned(), value.to_owned()));
            let set = pairs("env").map(|(name, value)| (name.into(), expand(&text(value), environment)));
            let all: BTreeMap<OsString, OsString> = own.chain(set).collect();
            Endpoint::Stdio {
                command: text(&entry["command"]).into(),
                args: entry["args"].as_array().into_iter().flatten().map(|arg| text(arg).into()).collect(),
                env: all.into_iter().collect(),
                directory: None,
            }
        }
    }
}

/// Puts a value in the place of `${NAME:-}`, as Claude Code does; squire writes no other form.
fn expand(text: &str, environment: &Environment) -> OsString {
    let name = text.strip_prefix("${").and_then(|rest| rest.strip_suffix(":-}"));
    name.map_or_else(|| text.into(), |name| environment.get(name).unwrap_or_default().to_owned())
}

fn as_text(reports: &[Report]) -> String {
    if reports.is_empty() {
        return "no servers\n".into();
    }
    let mut out = String::new();
    for Report { name, transport, outcome, milliseconds } in reports {
        // Writing to a string can't fail.
        let _ = match outcome {
            Ok(listing) => {
                let count = listing.tools.shown.len();
                let plural = if count == 1 { "" } else { "s" };
                writeln!(out, "{name} ({transport}): {count} tool{plural} in {milliseconds} ms")
            }
            Err(error) => writeln!(out, "{name} ({transport}): failed: {error}"),
        };
        let Ok(listing) = outcome else { continue };
        let width =
            listing.tools.shown.iter().map(|tool| tool.name.chars().count()).max().unwrap_or_default();
        for tool in &listing.tools.shown {
            let description =
                tool.description.as_deref().and_then(|text| text.trim().lines().next()).unwrap_or_default();
            let line = format!("  {:width$}  {}", printable(&tool.name), printable(description));
            let _ = writeln!(out, "{}", line.trim_end());
        }
        for line in listing
            .hello
            .instructions
            .iter()
            .filter(|_| listing.tools.shown.is_empty())
            .flat_map(|text| text.lines())
        {
            let _ = writeln!(out, "  {}", printable(line));
        }
        for warning in &listing.warnings {
            let _ = writeln!(out, "  warning: {warning}");
        }
    }
    out
}

fn as_json(reports: &[Report]) -> Value {
    let servers: Vec<Value> = reports
        .iter()
        .map(|Report { name, transport, outcome, milliseconds }| match outcome {
            Ok(listing) => json!({
                "name": name,
                "transport": transport,
                "ok": true,
                "milliseconds": u64::try_from(*milliseconds).unwrap_or(u64::MAX),
                "protocol": listing.hello.protocol,
                "server": { "name": listing.hello.server.name, "version": listing.hello.server.version },
                "instructions": listing.hello.instructions,
                "warnings": listing.warnings,
                "tools": listing.tools.shown.iter().map(|tool| json!({
                    "name": tool.name,
                    "description": tool.description,
                    "read_only": tool.read_only,
                })).collect::<Vec<_>>(),
            }),
            Err(error) => {
                json!({ "name": name, "transport": transport, "ok": false, "error": error.to_string() })
            }
        })
        .collect();
    json!({ "servers": servers })
}
