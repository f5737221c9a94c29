//! `squire log`: what agents asked of servers, as the gateways recorded it.

mod lines;

use std::fmt::Write as _;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};
use serde::Deserialize;

use super::refuse_foreign_here;
use crate::cli;
use crate::config::Directories;
use crate::environment::Environment;
use crate::exit::Exit;
use crate::gateway::audit::on_one_line;
use crate::output::Output;
use crate::printable::{excerpt, printable};
use lines::{Line, Lines};

/// How long to wait before another look for new calls.
const PAUSE: Duration = Duration::from_millis(200);
/// How many calls `--follow` begins with.
const BEFORE_FOLLOWING: usize = 10;
/// How much of a tool's name is shown, in characters: it is the server's word.
const LONGEST_NAME: usize = 64;
const HEADINGS: [&str; 8] = ["TIME", "AGENT", "SERVER", "TOOL", "OUTCOME", "TOOK", "ASKED", "ANSWERED"];

/// Runs the command.
pub fn run(options: &cli::Log, environment: &Environment) -> Result<Exit> {
    let output = Output::default();
    let directories = Directories::find(environment)?;
    refuse_foreign_here(&directories, environment)?;
    let mut lines = Lines::of(&directories.state);
    let mut table = Table::default();
    let mut read = lines.more().context("the audit can't be read")?;
    if !options.follow {
        read.extend(lines.rest());
    }
    let mut calls = selected(read, options, output);
    if calls.is_empty() {
        output.message(&nothing(options));
    }
    let wanted = options.lines.or(options.follow.then_some(BEFORE_FOLLOWING));
    calls.drain(..calls.len().saturating_sub(wanted.unwrap_or(usize::MAX)));
    loop {
        let text = if options.json { as_json(&calls) } else { table.of(&calls) };
        // Where nothing is written, whether anybody reads is not known.
        if !text.is_empty() && !output.data_to_reader(&text)? || !options.follow {
            return Ok(Exit::DONE);
        }
        thread::sleep(PAUSE);
        calls = selected(lines.more().context("the audit can't be read")?, options, output);
    }
}

/// A line that was read, and what it says.
struct Call {
    text: String,
    told: Told,
}

/// What is told of a line: arguments are not read, however deep they are.
#[derive(Deserialize)]
struct Told {
    time: String,
    server: String,
    launch: Option<String>,
    agent: Option<String>,
    tool: Option<String>,
    outcome: Option<String>,
    milliseconds: Option<u64>,
    asked: Option<u64>,
    answered: Option<u64>,
    event: Option<String>,
    text: Option<String>,
}

/// Those that are asked for; a line that is none is named.
fn selected(lines: Vec<Line>, options: &cli::Log, output: Output) -> Vec<Call> {
    let mut calls = Vec::new();
    for line in lines.into_iter().filter(|line| !line.bytes.is_empty()) {
        let Some(call) = parse(&line.bytes) else {
            let (path, number) = (line.path.display(), line.number);
            output.message(&format!("{path}:{number}: this is no line of the audit, and is skipped"));
            continue;
        };
        let of_server = options.name.as_ref().is_none_or(|name| *name == call.told.server);
        let is_one = |id: &String| call.told.launch.as_ref().is_some_and(|launch| launch.starts_with(id));
        let of_launch = options.launch.as_ref().is_none_or(is_one);
        if of_server && of_launch {
            calls.push(call);
        }
    }
    calls
}

fn parse(bytes: &[u8]) -> Option<Call> {
    let text = String::from_utf8(bytes.to_vec()).ok()?;
    let told = serde_json::from_str(&text).ok()?;
    Some(Call { text, told })
}

fn nothing(options: &cli::Log) -> String {
    let server = options.name.as_ref().map(|name| format!(" for {name:?}")).unwrap_or_default();
    let launch = options.launch.as_ref().map(|id| format!(" of the launch {id:?}")).unwrap_or_default();
    format!("nothing is recorded{server}{launch}")
}

fn as_json(calls: &[Call]) -> String {
    calls.iter().map(|call| on_one_line(call.text.clone()) + "\n").collect()
}

/// Columns that keep their widths from one look to the next.
#[derive(Default)]
struct Table {
    widths: Option<[usize; 8]>,
}

impl Table {
    fn of(&mut self, told: &[Call]) -> String {
        let mut rows: Vec<([String; 8], String)> = told.iter().map(row).collect();
        if !rows.is_empty() && self.widths.is_none() {
            rows.insert(0, (HEADINGS.map(String::from), String::new()));
        }
        let mut widths = self.widths.unwrap_or_default();
        for (cells, _) in &rows {
            for (width, cell) in widths.iter_mut().zip(cells) {
                *width = (*width).max(cell.chars().count());
            }
        }
        self.widths = (!rows.is_empty()).then_some(widths).or(self.widths);
        let mut text = String::new();
        for (cells, rest) in &rows {
            let columns: Vec<String> =
                cells.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}")).collect();
            // Writing to a string can't fail.
            let _ = writeln!(text, "{}", format!("{}  {rest}", columns.join("  ")).trim_end());
        }
        text
    }
}

/// A line's cells, and the sentence behind those of an event.
fn row(call: &Call) -> ([String; 8], String) {
    let told = &call.told;
    let word = |word: Option<&String>| word.map_or("-".into(), |word| printable(word));
    let number = |number: Option<u64>, shown: fn(u64) -> String| number.map_or("-".into(), shown);
    let cells = [
        printable(&told.time),
        word(told.agent.as_ref()),
        printable(&told.server),
        told.tool.as_ref().map_or("-".into(), |tool| excerpt(tool.as_bytes(), LONGEST_NAME)),
        word(told.outcome.as_ref().or(told.event.as_ref())),
        number(told.milliseconds, duration),
        number(told.asked, size),
        number(told.answered, size),
    ];
    (cells, told.text.as_deref().map(printable).unwrap_or_default())
}

fn duration(milliseconds: u64) -> String {
    match milliseconds {
        0..1000 => format!("{milliseconds} ms"),
        1000..60_000 => format!("{}.{} s", milliseconds / 1000, milliseconds % 1000 / 100),
        _ => format!("{} min {} s", milliseconds / 60_000, milliseconds % 60_000 / 1000),
    }
}

/// A number of bytes for people.
pub(super) fn size(bytes: u64) -> String {
    let tenths = |unit: u64| format!("{}.{}", bytes / unit, bytes % unit * 10 / unit);
    match bytes {
        0..1024 => format!("{bytes} B"),
        1024..1_048_576 => format!("{} KiB", tenths(1024)),
        _ => format!("{} MiB", tenths(1_048_576)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_and_sizes_for_people() {
        let durations = [0, 999, 1000, 59_999, 60_000, 3_725_000].map(duration);
        assert_eq!(durations, ["0 ms", "999 ms", "1.0 s", "59.9 s", "1 min 0 s", "62 min 5 s"]);
        let sizes = [0, 1023, 1024, 1_048_575, 1_048_576, u64::MAX].map(size);
        assert_eq!(sizes, ["0 B", "1023 B", "1.0 KiB", "1023.9 KiB", "1.0 MiB", "17592186044415.9 MiB"]);
    }
}
