//! `squire remove`: takes a server out, and out of what names it in the same file.

use anyhow::{Result, bail};

use super::change::{Told, change_told};
use super::{begin, telling};
use crate::cli;
use crate::config::LayerKind;
use crate::config::edit::{Document, Unfit};
use crate::environment::Environment;
use crate::exit::Exit;

/// Runs the command.
pub fn run(options: &cli::Remove, environment: &Environment) -> Result<Exit> {
    let (stand, output) = begin(options.editing, environment)?;
    let cli::Remove { name, editing, json } = options;
    let homes = stand.homes("servers", "server", name)?;
    let of = |layer: LayerKind| homes.iter().find(|(target, _)| target.layer == layer);
    let drop_in = stand.drop_in(name).or_else(|| stand.live(name));
    let is_below_local =
        homes.iter().any(|(target, _)| target.layer != LayerKind::Local) || drop_in.is_some();
    let target = match editing.layer {
        Some(layer) => stand.target(layer)?,
        None => match of(LayerKind::User).or_else(|| of(LayerKind::Local).filter(|_| !is_below_local)) {
            Some((target, _)) => target.clone(),
            None if drop_in.is_some() => return Err(telling::only_read(&stand, name)),
            None => bail!(
                "{name} is declared in {}, the project's own file:\n  squire remove {name} --layer local      # takes it out for you, in this project\n  squire remove {name} --layer project    # changes the project's file",
                telling::listed(&stand, name, &homes)
            ),
        },
    };
    let is_taken_out = target.layer == LayerKind::Local && is_below_local;
    if !is_taken_out && !homes.iter().any(|(home, _)| home.path == target.path) {
        bail!(
            "{name} is not in {}: it is declared in {}",
            target.path.display(),
            telling::listed(&stand, name, &homes)
        );
    }
    let mut named_by = Vec::new();
    let told = Told { dry_run: editing.dry_run, json: *json, action: "remove", what: "server", name };
    change_told(&stand, &target, told, |document| {
        if is_taken_out {
            document.remove(&["servers", name])?;
            document.set(&["servers", name, "remove"], &true.into())?;
        } else {
            document.remove(&["servers", name])?;
            named_by = forget(document, name)?;
        }
        Ok(())
    })?;
    if editing.dry_run {
        return Ok(Exit::DONE);
    }
    if is_taken_out {
        output.notice(&format!("{name} is out of this project's list ({})", target.path.display()));
        return Ok(Exit::DONE);
    }
    output.notice(&format!("{name} is out of {}", target.path.display()));
    for who in named_by {
        output.notice(&format!("{who} no longer names it"));
    }
    for (other, _) in homes.iter().filter(|(other, _)| other.path != target.path) {
        let help = if other.layer.is_project() {
            format!("still declares {name}: squire remove {name} --layer local takes that out too")
        } else {
            format!("still changes {name}")
        };
        output.notice(&format!("{} {help}", other.path.display()));
    }
    Ok(Exit::DONE)
}

/// Takes a server out of the profiles and agents that name it; says which did.
fn forget(document: &mut Document, name: &str) -> Result<Vec<String>, Unfit> {
    let mut named_by = Vec::new();
    for section in ["profiles", "agents"] {
        for key in document.keys(&[section]) {
            let mut is_named = document.remove(&[section, &key, "tools", name])?;
            for list in ["servers", "require"] {
                is_named |= document.pull(&[section, &key, list], name)?;
            }
            if is_named {
                let what = if section == "profiles" { "the profile" } else { "the agent" };
                named_by.push(format!("{what} {key}"));
            }
        }
    }
    Ok(named_by)
}
