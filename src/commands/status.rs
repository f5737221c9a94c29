//! `squire status`: how far each server of each launch has come, and why not further.

use std::fmt::Write as _;
use std::time::{Duration, UNIX_EPOCH};

use anyhow::{Result, bail};
use serde_json::{Value, json};

use super::refuse_foreign_here;
use crate::cli;
use crate::config::Directories;
use crate::delivery::Chain;
use crate::environment::Environment;
use crate::exit::Exit;
use crate::output::Output;
use crate::printable::printable;
use crate::runner::{Remembered, remembered};

/// How many launches that are over are shown.
const SHOWN: usize = 10;
/// How much of an id is shown: enough to name one of the few that are kept.
const SHORT: usize = 8;

/// Runs the command.
pub fn run(options: &cli::Status, environment: &Environment) -> Result<Exit> {
    let output = Output::default();
    let directories = Directories::find(environment)?;
    refuse_foreign_here(&directories, environment)?;
    let (mut launches, unreadable) = remembered(&directories.state);
    for sentence in unreadable {
        output.message(&sentence);
    }
    if let Some(id) = &options.launch {
        launches.retain(|launch| launch.id.starts_with(id.as_str()));
        match launches.len() {
            0 => bail!("no launch is remembered whose id begins with {id:?}: squire status"),
            1 => {}
            _ => {
                let ids: Vec<&str> = launches.iter().map(|launch| launch.id.as_str()).collect();
                bail!("several launches have an id that begins with {id:?}: {}", ids.join(", "));
            }
        }
    }
    if options.json {
        let launches: Vec<Value> = launches.iter().map(as_json).collect();
        output.data(&format!("{:#}\n", json!({ "launches": launches })))?;
        return Ok(Exit::DONE);
    }
    if launches.is_empty() {
        output.message("no launch is remembered: squire launch AGENT");
    }
    let mut over = 0;
    let mut text = String::new();
    for launch in &launches {
        over += usize::from(launch.process.is_none());
        if launch.process.is_some() || over <= SHOWN {
            add(launch, options.launch.is_some(), &mut text);
        }
    }
    output.data(&text)?;
    Ok(Exit::DONE)
}

fn add(launch: &Remembered, is_alone: bool, text: &mut String) {
    let state = launch.process.map_or("over".into(), |process| format!("runs as process {process}"));
    let id = if is_alone { &launch.id } else { launch.id.get(..SHORT).unwrap_or(&launch.id) };
    // Writing to a string can't fail.
    let _ = writeln!(text, "{id}  {}  {}  {state}", printable(&launch.agent), moment(launch.began));
    let width = launch.servers.iter().map(|chain| chain.name.chars().count()).max().unwrap_or_default();
    for chain in &launch.servers {
        let gap = chain.gap.as_ref().map(|gap| format!("{} [{}]", printable(&gap.reason), gap.code));
        let name = printable(&chain.name);
        let line = format!("  {name:width$}  {:11}  {}", chain.reached().as_str(), gap.unwrap_or_default());
        let _ = writeln!(text, "{}", line.trim_end());
        for different in &chain.different {
            let _ = writeln!(text, "  {:width$}  {:11}  {}", "", "different", printable(different));
        }
        for reached in chain.steps.iter().filter(|_| is_alone) {
            let _ =
                writeln!(text, "  {:width$}    {:11}  {}", "", reached.step.as_str(), moment(reached.time));
        }
    }
}

fn moment(milliseconds: u64) -> String {
    let time = UNIX_EPOCH.checked_add(Duration::from_millis(milliseconds)).unwrap_or(UNIX_EPOCH);
    humantime::format_rfc3339_seconds(time).to_string()
}

fn as_json(launch: &Remembered) -> Value {
    let server = |chain: &Chain| {
        let steps = chain.steps.iter().map(|reached| {
            let time = UNIX_EPOCH.checked_add(Duration::from_millis(reached.time)).unwrap_or(UNIX_EPOCH);
            json!({ "step": reached.step.as_str(), "time": humantime::format_rfc3339_millis(time).to_string() })
        });
        json!({
            "name": chain.name,
            "transport": chain.transport,
            "route": chain.route,
            "reached": chain.reached().as_str(),
            "steps": steps.collect::<Vec<_>>(),
            "gap": chain.gap,
            "different": chain.different,
        })
    };
    json!({
        "launch": launch.id,
        "agent": launch.agent,
        "began": moment(launch.began),
        "process": launch.process,
        "servers": launch.servers.iter().map(server).collect::<Vec<_>>(),
    })
}
