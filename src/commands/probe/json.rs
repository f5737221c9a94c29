//! The report for scripts.

use std::time::Duration;

use serde_json::{Value, json};
use squire_strategies::Note;

use super::report::{Answered, Outcome, Report, TooLong};
use crate::report;
use crate::tokens::TOKENIZER;

/// The report as JSON. Keys are stable, and new ones may come.
pub(super) fn of(reports: &[Report<'_>], notes: &[Note]) -> Value {
    let count = |word: &str| reports.iter().filter(|report| report.word() == word).count();
    json!({
        "servers": reports.iter().map(server).collect::<Vec<_>>(),
        "answered": count("answered"),
        "failed": count("failed"),
        "left_out": count("left-out"),
        "tokenizer": TOKENIZER,
        "notes": notes.iter().map(report::note).collect::<Vec<_>>(),
    })
}

fn server(report: &Report<'_>) -> Value {
    let (reason, help) = report.cause().unzip();
    let mut told = json!({
        "name": report.server.name,
        "transport": report.server.transport,
        "state": report.word(),
        "code": report.server.state.code(),
        "reason": reason,
        "help": help.flatten(),
        "warnings": report.warnings(),
    });
    if let Outcome::Answered(answered) = &report.outcome {
        add(&mut told, answered);
    }
    told
}

fn add(told: &mut Value, answered: &Answered) {
    let Answered { hello, tools, round_trip, tokens, too_long, .. } = answered;
    let names: Vec<&str> = tools.shown.iter().map(|tool| tool.name.as_str()).collect();
    let of_agents = |TooLong { tool, agents }: &TooLong| {
        let told = |(agent, length, limit): &(String, usize, usize)| json!({ "tool": tool, "agent": agent, "length": length, "limit": limit });
        agents.iter().map(told).collect::<Vec<_>>()
    };
    let too_long = too_long.iter().flat_map(of_agents);
    told["protocol"] = hello.protocol.as_str().into();
    told["server"] =
        json!({ "name": hello.server.name, "version": hello.server.version, "title": hello.server.title });
    told["instructions"] = json!(hello.instructions);
    told["tools"] = json!({ "shown": names, "withheld": tools.withheld });
    told["too_long"] = too_long.collect();
    told["tokens"] = json!(tokens);
    told["start_milliseconds"] = milliseconds(hello.took);
    told["round_trip_milliseconds"] = round_trip.map_or(Value::Null, milliseconds);
}

/// With three places behind the point.
fn milliseconds(time: Duration) -> Value {
    let microseconds = u32::try_from(time.as_micros()).unwrap_or(u32::MAX);
    json!(f64::from(microseconds) / 1000.0)
}
