//! What the commands say of where a server is declared, and of what it is now.

use anyhow::{Result, anyhow, ensure};
use squire_strategies::{Code, Name, Transport};

use super::place::{Stand, Target};
use crate::cli::Layer;
use crate::commands::Surroundings;
use crate::config::LayerKind;
use crate::config::edit::Document;
use crate::environment::Environment;
use crate::output::Output;
use crate::resolve::everything;

/// The file in which a server is changed: the one that is asked for, else where it lives; of a project's server, whose
/// file is not the user's to change, the user's own local layer.
pub(super) fn home(stand: &Stand, name: &str, layer: Option<Layer>) -> Result<Target> {
    if name == Name::SQUIRE {
        return stand.target(layer.unwrap_or(Layer::User));
    }
    let homes = stand.homes("servers", "server", name)?;
    if let Some(layer) = layer {
        let target = stand.target(layer)?;
        let is_home = homes.iter().any(|(home, _)| home.path == target.path);
        ensure!(
            is_home || layer == Layer::Local,
            "{name} is not in {}: it is declared in {}",
            target.path.display(),
            listed(stand, name, &homes)
        );
        return Ok(target);
    }
    match homes.first() {
        Some((target, _)) if target.layer == LayerKind::User => Ok(target.clone()),
        Some(_) => stand.target(Layer::Local),
        None if stand.live(name).is_some() => stand.target(Layer::Local),
        None => Err(only_read(stand, name)),
    }
}

/// The files that declare a server.
pub(super) fn listed(stand: &Stand, name: &str, homes: &[(Target, Document)]) -> String {
    let mut files: Vec<String> = homes.iter().map(|(target, _)| target.path.display().to_string()).collect();
    files.extend(stand.drop_in(name).or_else(|| stand.live(name)).map(|path| path.display().to_string()));
    files.join(" and ")
}

/// A server that another tool declares in `servers.d`.
pub(super) fn only_read(stand: &Stand, name: &str) -> anyhow::Error {
    let path = stand.drop_in(name).or_else(|| stand.live(name)).unwrap_or_default();
    anyhow!(
        "{name} is declared in {}, which squire only reads: change that file, or with --layer local what it is in this project",
        path.display()
    )
}

/// Says where a higher layer writes the same field, and so wins over what was changed.
pub(super) fn say_what_wins(stand: &Stand, name: &str, field: &str, changed: &Target) {
    for (target, document) in stand.homes("servers", "server", name).unwrap_or_default() {
        let is_above = target.layer == LayerKind::Local && changed.layer != LayerKind::Local;
        let first = field.split('.').next().unwrap_or(field);
        if is_above && document.has(&["servers", name, first]) {
            Output::default().notice(&format!(
                "{} says `{first}` too, and wins in this project: --layer local changes it there",
                target.path.display()
            ));
        }
    }
}

/// Says that a server waits for the user's word, where it does. What can't be told now every other command tells.
pub(super) fn say_state(name: &str, environment: &Environment) {
    let Ok(surroundings) = Surroundings::find(environment) else { return };
    let speaks = |transport: &Transport| transport.remote().is_some();
    let Ok(resolution) = everything(&surroundings.layers, &surroundings.standings, &speaks) else { return };
    let entry = resolution.entries.iter().find(|entry| entry.server.name.as_str() == name);
    let note = entry.and_then(|entry| entry.left_out.as_ref());
    if let Some(note) = note.filter(|note| note.code == Code::NotApproved) {
        let help = note.mend.as_deref().map(|mend| format!("\n  help: {mend}")).unwrap_or_default();
        Output::default().notice(&format!("{name}: {}{help}", note.sentence));
    }
}
