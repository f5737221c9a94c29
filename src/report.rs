//! A plan as text for people and as JSON for scripts. Pure: `describe` and `launch --dry-run` print the same.

use std::fmt::Write as _;

use serde_json::{Value, json};
use squire_strategies::{Argument, File, LAUNCH_VARIABLE, Note};

use crate::masks::Masks;
use crate::plan::Plan;
use crate::printable::printable;

/// Stands for the launch's private directory, whose name is chosen at the launch.
const PRIVATE: &str = "<private>";

/// The plan as text. `program` says what would run, or why nothing would.
pub fn text(plan: &Plan, program: &str) -> String {
    let mut out = String::new();
    let description = plan.strategy.description();
    let artifacts = &plan.artifacts;
    let masks = Masks::of(plan);
    // Writing to a string can't fail.
    let _ = writeln!(out, "{} ({}): {}", description.title, plan.agent, description.carries);
    let _ = writeln!(out, "program: {}", printable(program));
    let _ = writeln!(out, "same name in its own config: {}", description.same_name);
    let _ = writeln!(out, "approval: {}", description.approval);
    section(
        &mut out,
        "servers",
        plan.delivered().iter().map(|server| {
            format!("{} ({}, {})", server.name, server.transport.as_str(), server.route.as_str())
        }),
    );
    section(&mut out, "notes", artifacts.notes.iter().map(note_line));
    for file in &artifacts.files {
        match file {
            File::Private { name, text } => {
                let _ = writeln!(out, "\nfile {PRIVATE}/{name}, mode 0600, removed after the launch");
                out.push_str(&masks.apply(text));
            }
            File::Merge { path, at, entries } => {
                let _ = writeln!(out, "\nin {path}, below `{at}`, put back after the launch");
                for (name, entry) in entries.iter() {
                    let entry = masks.apply(entry);
                    let _ = writeln!(out, "  {}: {}", Value::from(name), printable(&entry));
                }
            }
        }
    }
    let launch_variable = format!("{LAUNCH_VARIABLE}=<the launch's id>");
    let own = (!plan.delivered().is_empty()).then_some(launch_variable);
    let set = artifacts.environment.iter().map(|(name, value)| format!("{name}={value}"));
    section(&mut out, "environment", set.chain(own));
    section(&mut out, "arguments, before yours", argument_lines(&artifacts.leading).into_iter());
    section(
        &mut out,
        "arguments, behind yours and before your first --",
        argument_lines(&artifacts.arguments).into_iter(),
    );
    out
}

fn section(out: &mut String, title: &str, lines: impl Iterator<Item = String>) {
    for (index, line) in lines.enumerate() {
        if index == 0 {
            let _ = writeln!(out, "\n{title}");
        }
        let _ = writeln!(out, "  {}", printable(&line));
    }
}

fn note_line(note: &Note) -> String {
    let mut line = note.server.as_ref().map_or(String::new(), |server| format!("{server}: "));
    line.push_str(&note.located());
    if let Some(mend) = &note.mend {
        let _ = write!(line, "; {mend}");
    }
    let _ = write!(line, " [{}]", note.code.as_str());
    line
}

/// An option of one letter and its value share a line.
fn argument_lines(arguments: &[Argument]) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for argument in arguments {
        let text = argument_text(argument);
        match lines.last_mut() {
            Some(option) if option.len() == 2 && option.starts_with('-') => {
                option.push(' ');
                option.push_str(&text);
            }
            _ => lines.push(text),
        }
    }
    lines
}

fn argument_text(argument: &Argument) -> String {
    match argument.file {
        Some(file) => format!("{}{PRIVATE}/{file}", argument.text),
        None => argument.text.clone(),
    }
}

/// The plan as JSON. Keys are stable; new ones may come.
pub fn json(plan: &Plan, program: Option<&str>) -> Value {
    let artifacts = &plan.artifacts;
    let masks = Masks::of(plan);
    let files: Vec<Value> = artifacts
        .files
        .iter()
        .map(|file| match file {
            File::Private { name, text } => {
                json!({ "kind": "private", "name": name, "mode": "0600", "text": masks.apply(text) })
            }
            File::Merge { path, at, entries } => {
                json!({ "kind": "merge", "path": path, "at": at, "entries": entries })
            }
        })
        .collect();
    let environment: serde_json::Map<String, Value> =
        artifacts.environment.iter().map(|(name, value)| (name.clone(), value.as_str().into())).collect();
    json!({
        "agent": plan.agent,
        "program": program,
        "servers": servers(plan),
        "notes": artifacts.notes.iter().map(note).collect::<Vec<_>>(),
        "switched_off": switched_off(plan),
        "files": files,
        "environment": environment,
        "leading": artifacts.leading.iter().map(argument_text).collect::<Vec<_>>(),
        "arguments": artifacts.arguments.iter().map(argument_text).collect::<Vec<_>>(),
    })
}

/// The plan's servers, delivered or not, as JSON.
pub fn servers(plan: &Plan) -> Vec<Value> {
    let delivered = plan.delivered();
    plan.servers
        .iter()
        .map(|server| {
            json!({
                "name": server.name.as_str(),
                "transport": server.transport.as_str(),
                "route": server.route.as_str(),
                "delivered": delivered.iter().any(|other| other.name == server.name),
            })
        })
        .collect()
}

/// The servers of the agent's own project files that are switched off, as JSON.
pub fn switched_off(plan: &Plan) -> Vec<Value> {
    let switched = plan.artifacts.switched_off.iter();
    switched.map(|off| json!({ "name": off.name, "file": off.file, "code": off.code.as_str() })).collect()
}

/// A note as JSON.
pub fn note(note: &Note) -> Value {
    json!({
        "code": note.code.as_str(),
        "server": note.server.as_ref().map(squire_strategies::Name::as_str),
        "sentence": note.located(),
        "mend": note.mend,
    })
}
