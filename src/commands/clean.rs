//! `squire clean`: settles by hand what the next command settles by itself, and forgets what is only remembered.

use std::fmt::Write as _;
use std::path::PathBuf;

use anyhow::{Context, Result};
use serde_json::json;

use super::list::below_home;
use super::{refuse_foreign_here, settle};
use crate::cli;
use crate::config::Directories;
use crate::environment::Environment;
use crate::exit::Exit;
use crate::output::Output;
use crate::printable::printable;
use crate::runner::{self, Surveyed};

/// Names what only a person can see to; `false` where there is such a thing.
fn tell_of_the_rest(surveyed: &[Surveyed], output: Output) -> bool {
    let mut is_clean = true;
    for surveyed in surveyed {
        let told = match surveyed {
            Surveyed::Running { .. } | Surveyed::Remembered { .. } | Surveyed::Unsettled { .. } => continue,
            Surveyed::Unreadable { reason, .. } => reason.clone(),
            Surveyed::Kept(path) => format!("{} was kept: look at it, then remove it", path.display()),
        };
        output.message(&told);
        is_clean = false;
    }
    is_clean
}

/// Runs the command: 1 where something could not be put right.
pub fn run(options: &cli::Clean, environment: &Environment) -> Result<Exit> {
    let output = Output::default();
    let directories = Directories::find(environment)?;
    let home = environment.home();
    refuse_foreign_here(&directories, environment)?;
    let is_settled = settle(environment, output);
    let forgotten = runner::forget(&directories.state).context("not everything could be forgotten")?;
    let is_clean = tell_of_the_rest(&runner::survey(&directories.state), output);
    let removed = if options.all { runner::remove_state(&directories.state)? } else { Vec::new() };
    if options.json {
        let told = json!({ "settled": is_settled, "forgotten": forgotten, "removed": removed });
        output.data(&format!("{told:#}\n"))?;
    } else {
        let shown = |path: &PathBuf| printable(&below_home(&path.display().to_string(), home.as_deref()));
        let mut text = String::new();
        // Writing to a string can't fail.
        for file in &forgotten {
            let _ = writeln!(text, "forgot the launches that had entries in {}", shown(file));
        }
        for path in &removed {
            let _ = writeln!(text, "removed {}", shown(path));
        }
        if text.is_empty() {
            text.push_str("nothing to clean\n");
        }
        if options.all {
            let _ = writeln!(
                text,
                "your servers are in {}, which squire leaves to you",
                shown(&directories.config)
            );
        }
        output.data(&text)?;
    }
    Ok(if is_settled && is_clean { Exit::DONE } else { Exit::FINDINGS })
}
