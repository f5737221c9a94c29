//! `squire list`: the resolved list.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::Result;
use serde_json::json;
use squire_strategies::{Code, Stdio, Transport, masked_address, masked_text};

use super::Surroundings;
use super::show::{VERSION, as_json};
use crate::cli;
use crate::environment::Environment;
use crate::exit::Exit;
use crate::output::Output;
use crate::printable::printable;
use crate::report;
use crate::resolve::{Resolution, Resolved, Selection, everything, resolve};

/// Runs the command.
pub fn run(options: &cli::List, environment: &Environment) -> Result<Exit> {
    let output = Output::default();
    let surroundings = Surroundings::find(environment)?;
    surroundings.refuse_foreign()?;
    // No agent is named: a plain remote server is direct in every agent that speaks its transport.
    let speaks = |transport: &Transport| transport.remote().is_some();
    let mut resolution = if options.profiles.is_empty() {
        everything(&surroundings.layers, &surroundings.standings, &speaks)?
    } else {
        let selection = Selection { profiles: options.profiles.clone(), ..Selection::default() };
        resolve(&surroundings.layers, &surroundings.standings, &selection, &speaks)?
    };
    resolution.notes.extend(surroundings.approval_notes.iter().cloned());
    if options.json {
        let json = json!({
            "version": VERSION,
            "servers": as_json(&surroundings, &resolution.entries, environment)?,
            "notes": resolution.notes.iter().map(report::note).collect::<Vec<_>>(),
        });
        output.data(&format!("{json:#}\n"))?;
    } else {
        output.data(&as_text(&resolution, environment.home().as_deref()))?;
        for note in &resolution.notes {
            let server = note.server.as_ref().map_or(String::new(), |server| format!("{server}: "));
            let help = note.mend.as_ref().map(|mend| format!("\n  help: {mend}")).unwrap_or_default();
            output.message(&format!("{server}{}{help}", note.located()));
        }
    }
    Ok(Exit::DONE)
}

/// The word for whether it runs.
pub(super) fn state(entry: &Resolved) -> &'static str {
    entry.left_out.as_ref().map_or("on", |note| note.code.as_str())
}

/// What runs, as a person would type it; credentials in an address are not shown.
pub(super) fn target(entry: &Resolved) -> String {
    match &entry.server.transport {
        Transport::Builtin => "in squire itself".into(),
        Transport::Stdio(stdio) => program(stdio),
        Transport::Http(remote) | Transport::Sse(remote) => masked_address(&remote.url.to_string()),
        Transport::Dynamic(dynamic) => {
            let program = dynamic.stdio.as_ref().map(program);
            let address = dynamic.remote.as_ref().map(|remote| masked_address(&remote.url.to_string()));
            program.into_iter().chain(address).collect::<Vec<_>>().join(" or ")
        }
    }
}

fn program(stdio: &Stdio) -> String {
    let words = std::iter::once(&stdio.command).chain(&stdio.args).map(|text| quoted(&masked_text(text)));
    words.collect::<Vec<_>>().join(" ")
}

/// A path as people write it.
pub(super) fn below_home(origin: &str, home: Option<&Path>) -> String {
    let below = home.and_then(|home| Path::new(origin).strip_prefix(home).ok());
    below.map_or_else(|| origin.to_owned(), |below| format!("~/{}", below.display()))
}

fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./:@=+,%~${}".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

fn as_text(resolution: &Resolution, home: Option<&Path>) -> String {
    let mut rows = vec![["NAME", "TIER", "STATE", "TRANSPORT", "ROUTE", "RUNS", "ORIGIN"].map(String::from)];
    for entry in &resolution.entries {
        let server = &entry.server;
        rows.push([
            server.name.to_string(),
            server.tier.as_str().into(),
            state(entry).into(),
            server.transport.as_str().into(),
            server.route.as_str().into(),
            printable(&target(entry)),
            printable(&below_home(&server.origin, home)),
        ]);
    }
    let widths: Vec<usize> = (0..rows[0].len())
        .map(|column| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default())
        .collect();
    let mut text = String::new();
    for row in &rows {
        let cells: Vec<String> =
            row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}")).collect();
        let _ = writeln!(text, "{}", cells.join("  ").trim_end());
    }
    for note in resolution.entries.iter().filter_map(|entry| entry.left_out.as_ref()) {
        if !matches!(note.code, Code::Disabled) {
            let name = note.server.as_ref().map(squire_strategies::Name::as_str).unwrap_or_default();
            let _ = writeln!(text, "{name}: {}", printable(&note.sentence));
        }
    }
    text
}
