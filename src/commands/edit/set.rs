//! `squire set`: one field of a server.

use anyhow::{Result, bail, ensure};

use super::change::{Told, change_told};
use super::{begin, telling};
use crate::cli;
use crate::commands::WrongWords;
use crate::config::import::is_credential;
use crate::config::{LayerKind, assign};
use crate::environment::Environment;
use crate::exit::Exit;

/// Runs the command: 1 where there was nothing to take out.
pub fn run(options: &cli::Set, environment: &Environment) -> Result<Exit> {
    let (stand, output) = begin(options.editing, environment)?;
    let cli::Set { name, key, editing, .. } = options;
    let keys = assign::path(key).map_err(WrongWords)?;
    refuse_trust(options, &keys)?;
    let value =
        if options.unset { None } else { Some(assign::value(&keys, &options.values).map_err(WrongWords)?) };
    refuse_credentials(options, &keys)?;
    let target = telling::home(&stand, name, editing.layer)?;
    let mut path = vec!["servers", name.as_str()];
    path.extend(&keys);
    if value.is_none() {
        let is_there = target.read()?.has(&path);
        ensure!(is_there, "{name} has no `{key}` in {}", target.path.display());
    }
    let told = Told { dry_run: editing.dry_run, json: options.json, action: "set", what: "server", name };
    let is_changed = change_told(&stand, &target, told, |document| {
        if let Some(value) = &value {
            document.set(&path, value)?;
        } else {
            document.remove(&path)?;
            if target.layer == LayerKind::Local {
                document.remove_empty(&path[..2])?;
            }
        }
        Ok(())
    })?;
    if !editing.dry_run {
        let told = match (&value, is_changed) {
            (None, _) => "is taken out of",
            (Some(_), true) => "is set in",
            (Some(_), false) => "was so already in",
        };
        output.notice(&format!("{name}: {key} {told} {}", target.path.display()));
        telling::say_what_wins(&stand, name, key, &target);
        telling::say_state(name, environment);
    }
    Ok(Exit::DONE)
}

/// Belief is the user's own: it is written by hand, or said of one declaration by `approve`.
fn refuse_trust(options: &cli::Set, keys: &[&str]) -> Result<()> {
    if keys.first() == Some(&"trust")
        && (options.unset || options.values.first().is_none_or(|word| word != "community"))
    {
        bail!(
            "no command believes a server for good: squire approve {} approves what it is now, and `trust` is written by hand",
            options.name
        );
    }
    Ok(())
}

/// A value of a secret has no place in the file; that it was typed on a command line can't be undone.
fn refuse_credentials(options: &cli::Set, keys: &[&str]) -> Result<()> {
    let cli::Set { name, key, values, .. } = options;
    let field = match keys.first() {
        Some(&"env") => "env",
        Some(&"headers") => "headers",
        Some(&"url") => "url",
        _ => "args",
    };
    if values.iter().any(|value| is_credential(field, keys.get(1).copied(), value)) {
        let last = keys.last().copied().unwrap_or("value");
        bail!(
            "{name}: {key} holds a secret in clear, which has no place in a squire.toml:\n  squire secret set {name}.{last}\n  squire set {name} {key} '${{secret:{name}.{last}}}'"
        );
    }
    Ok(())
}
