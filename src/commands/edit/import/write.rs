//! Writes what was planned: the secrets first, so that no declaration refers to one that is not there.

use anyhow::Result;

use super::super::add;
use super::super::place::{Stand, Target};
use super::plan::{Action, Plan};
use crate::config::edit::Document;
use crate::secrets::{self, NewSource, Secrets};

/// Writes all declarations and profiles of a plan into a text.
pub(super) fn declare(document: &mut Document, plan: &Plan, target: &Target) -> Result<()> {
    for planned in plan.written() {
        add::write(document, planned.name.as_str(), &planned.translated.table, target)?;
    }
    for (name, table) in &plan.profiles {
        document.insert(["profiles", name], table)?;
    }
    Ok(())
}

/// A secret that the plan brings along, with the servers that refer to it.
struct Brought {
    name: String,
    source: NewSource,
    servers: Vec<String>,
}

/// Puts values and files into secrets.toml, in one step; they are in the plan no more. What is there already stays. Gives
/// the names of those that are there now.
pub(super) fn keep_secrets(plan: &mut Plan, stand: &Stand) -> Result<Vec<String>> {
    let mut all: Vec<Brought> =
        plan.secrets.drain(..).map(|(name, source)| Brought { name, source, servers: Vec::new() }).collect();
    for planned in &mut plan.servers {
        if !matches!(planned.action, Action::Add | Action::Replace) {
            continue;
        }
        for wanted in &mut planned.translated.wanted {
            let source = match (wanted.value.take(), &wanted.file) {
                (Some(value), _) => NewSource::Value(value),
                (None, Some(file)) => NewSource::File(file.clone()),
                (None, None) => continue,
            };
            let servers = vec![planned.name.to_string()];
            all.push(Brought { name: wanted.secret.clone(), source, servers });
        }
    }
    if all.is_empty() {
        return Ok(Vec::new());
    }
    secrets::change(&stand.directories.config, |known: &Secrets, text| {
        let new = all.iter().filter(|brought| known.find(&brought.name).is_none());
        secrets::set_all(text, new.map(|it| (it.name.as_str(), &it.source, it.servers.as_slice())))
    })?;
    Ok(all.into_iter().map(|brought| brought.name).collect())
}

/// What is there though the declarations are not.
pub(super) fn left_over(names: &[String], stand: &Stand) -> String {
    if names.is_empty() {
        return "no server was written".into();
    }
    let file = Secrets::file(&stand.directories.config);
    format!(
        "no server was written; {} stays in {}, and another import uses it",
        names.join(", "),
        file.display()
    )
}
