//! `squire import`: the servers of agents and other tools, out of their own files, into the list. Everything is read and
//! tried before anything is written; the files themselves are never touched.

mod naming;
mod plan;
mod selections;
mod sources;
mod store;
mod telling;
mod write;

use anyhow::{Context as _, Result};

use super::begin;
use super::change::{change, difference, preview};
use crate::cli::{self, ImportLayer, Layer};
use crate::environment::Environment;
use crate::exit::Exit;
use crate::secrets;

/// Runs the command: 1 where something could not be taken, or a conflict kept everything from being written.
pub fn run(options: &cli::Import, environment: &Environment) -> Result<Exit> {
    secrets::guard();
    let layer = match options.layer {
        ImportLayer::User => Layer::User,
        ImportLayer::Local => Layer::Local,
    };
    let editing = cli::Editing { layer: Some(layer), dry_run: options.dry_run };
    let (stand, output) = begin(editing, environment)?;
    let target = stand.target(layer)?;
    let mut sources = sources::find(options, &stand, environment)?;
    let mut plan = plan::plan(options, &mut sources, &stand, &target)?;
    let is_settled = plan.conflicts().next().is_none();
    let mut outcome = telling::Outcome::new(&plan, &sources, &target);
    let (before, after) = preview(&stand, &target, |document| write::declare(document, &plan, &target))?;
    let diff = if is_settled { difference(&target, before.text(), after.text()) } else { String::new() };
    if options.dry_run {
        let text = if options.json { outcome.json(false, &diff) } else { outcome.text() + &diff };
        output.data(&text)?;
        return Ok(exit(&plan));
    }
    if is_settled {
        let kept = write::keep_secrets(&mut plan, &stand)?;
        if !plan.is_empty() {
            change(&stand, &target, false, |document| write::declare(document, &plan, &target))
                .with_context(|| write::left_over(&kept, &stand))?;
        }
    }
    if !options.json {
        outcome.tell(output);
    }
    if is_settled {
        let names: Vec<String> = plan.written().map(|planned| planned.name.to_string()).collect();
        // A script that reads JSON is asked nothing.
        let approvals =
            if options.json { names } else { super::add::ask_for_approval(&names, environment, output)? };
        if !approvals.is_empty() {
            outcome.remaining.push(format!("squire approve {}", approvals.join(" ")));
        }
    }
    if options.json {
        output.data(&outcome.json(is_settled && !plan.is_empty(), &diff))?;
    } else if is_settled {
        outcome.tell_what_remains(output);
    }
    Ok(exit(&plan))
}

fn exit(plan: &plan::Plan) -> Exit {
    let is_whole = plan.problems.is_empty() && plan.conflicts().next().is_none() && !plan.servers.is_empty();
    if is_whole { Exit::DONE } else { Exit::FINDINGS }
}
