//! `squire enable` and `squire disable`.

use anyhow::{Context, Result};

use super::change::{Told, change_told};
use super::place::{Stand, Target};
use super::telling::home;
use super::{begin, telling};
use crate::cli;
use crate::config::LayerKind;
use crate::config::edit::Document;
use crate::environment::Environment;
use crate::exit::Exit;
use crate::gateway::try_again;
use crate::output::Output;

/// Runs `squire disable`. It narrows what runs, so an agent may do it.
pub fn disable(options: &cli::Switch, environment: &Environment) -> Result<Exit> {
    let stand = Stand::find(environment)?;
    let cli::Switch { name, editing, json } = options;
    let target = home(&stand, name, editing.layer)?;
    let path = ["servers", name, "disabled"];
    let told = Told { dry_run: editing.dry_run, json: *json, action: "disable", what: "server", name };
    let is_changed = change_told(&stand, &target, told, |document| Ok(document.set(&path, &true.into())?))?;
    if !editing.dry_run {
        let told = if is_changed { "is off" } else { "was off already" };
        Output::default().notice(&format!("{name} {told} ({})", target.path.display()));
        telling::say_what_wins(&stand, name, "disabled", &target);
    }
    Ok(Exit::DONE)
}

/// Runs `squire enable`: gateways that have given the server up try it again, too.
pub fn enable(options: &cli::Switch, environment: &Environment) -> Result<Exit> {
    let (stand, output) = begin(options.editing, environment)?;
    let cli::Switch { name, editing, json } = options;
    let target = home(&stand, name, editing.layer)?;
    let path = ["servers", name, "disabled"];
    // Where another file says that it is off, only a word above that one helps.
    let is_off_below = target.layer == LayerKind::Local && is_off_below(&stand, name)?;
    let told = Told { dry_run: editing.dry_run, json: *json, action: "enable", what: "server", name };
    let is_changed = change_told(&stand, &target, told, |document| {
        if is_off_below {
            document.set(&path, &false.into())?;
        } else if document.remove(&path)? && target.layer != LayerKind::Project {
            document.remove_empty(&path[..2])?;
        }
        Ok(())
    })?;
    if !editing.dry_run {
        let path = target.path.display();
        output.notice(&if is_changed {
            format!("{name} is on ({path})")
        } else {
            format!("{name} was not off ({path}); a gateway that has given it up tries it again when it is asked next")
        });
        telling::say_what_wins(&stand, name, "disabled", &target);
        telling::say_state(name, environment);
        try_again(&stand.directories.state, name)
            .with_context(|| format!("gateways that have given {name} up can't be told"))?;
    }
    Ok(Exit::DONE)
}

fn is_off_below(stand: &Stand, name: &str) -> Result<bool> {
    let is_off = |(target, document): &(Target, Document)| {
        target.layer != LayerKind::Local
            && document.get(&["servers", name, "disabled"]).and_then(|item| item.as_bool()) == Some(true)
    };
    let is_only_read = || stand.drop_in(name).or_else(|| stand.live(name)).is_some();
    Ok(stand.homes("servers", "server", name)?.iter().any(is_off) || is_only_read())
}
