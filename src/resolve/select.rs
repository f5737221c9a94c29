//! Which of the declared servers a command line means, in which order.

use std::fmt;

use squire_strategies::Code;

use super::complete::needs_relay;
use super::{Resolved, left_out};
use crate::config::{LayerKind, Layers, Profile, nearest};

/// What the command line selects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// `--profile`, in order.
    pub profiles: Vec<String>,
    /// `--server`, in order.
    pub servers: Vec<String>,
}

/// A selection that names what is not there. Each sentence says what is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownSelection(pub Vec<String>);

impl fmt::Display for UnknownSelection {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0.join("\n"))
    }
}

impl std::error::Error for UnknownSelection {}

/// Picks the selected entries. Without a selection: the profile `default`, else all that are not switched off by
/// their own declaration.
pub(super) fn select(
    layers: &Layers,
    selection: &Selection,
    all: Vec<Resolved>,
) -> Result<Vec<Resolved>, UnknownSelection> {
    let of_user = layers.user.declarations.profiles.as_slice();
    let of_project =
        layers.project.as_ref().map(|layer| layer.declarations.profiles.as_slice()).unwrap_or_default();
    let mut unknown = Vec::new();
    let mut selected = Selected { all: &all, ..Selected::default() };
    for name in &selection.profiles {
        if let Some(profile) = find(of_user, name) {
            selected.add_profile(profile, of_user, LayerKind::User);
        } else if let Some(profile) = find(of_project, name) {
            selected.add_profile(profile, of_project, LayerKind::Project);
        } else {
            unknown.push(unknown_name(
                "profile",
                name,
                of_user.iter().chain(of_project).map(|profile| profile.name.as_str()),
            ));
        }
    }
    for name in &selection.servers {
        // The user's server comes first in the list, so that a project can't take its name.
        match all.iter().position(|entry| entry.server.name.as_str() == name) {
            Some(index) => selected.add(index),
            None => {
                unknown.push(unknown_name(
                    "server",
                    name,
                    all.iter().map(|entry| entry.server.name.as_str()),
                ));
            }
        }
    }
    if !unknown.is_empty() {
        return Err(UnknownSelection(unknown));
    }
    if *selection == Selection::default() {
        if let Some(profile) = find(of_user, "default") {
            selected.add_profile(profile, of_user, LayerKind::User);
        } else {
            // What its own declaration switches off is no news at each launch.
            let disabled =
                |entry: &Resolved| entry.left_out.as_ref().is_some_and(|note| note.code == Code::Disabled);
            selected.indexes = (0..all.len()).filter(|index| !disabled(&all[*index])).collect();
        }
    }
    let Selected { indexes, narrowed, .. } = selected;
    let mut all: Vec<Option<Resolved>> = all.into_iter().map(Some).collect();
    let taken = indexes.into_iter().filter_map(|index| Some((all[index].take()?, narrowed.contains(&index))));
    Ok(taken.map(|(entry, narrowed)| narrow(entry, narrowed)).collect())
}

fn narrow(mut entry: Resolved, narrowed: bool) -> Resolved {
    if narrowed && entry.left_out.is_none() {
        let sentence = needs_relay("a profile that narrows its tools");
        entry.left_out = Some(left_out(&entry.server.name, Code::NeedsRelay, sentence));
    }
    entry
}

fn find<'a>(profiles: &'a [Profile], name: &str) -> Option<&'a Profile> {
    profiles.iter().find(|profile| profile.name == name)
}

fn unknown_name<'a>(what: &str, name: &str, known: impl Iterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.collect();
    let help = match (nearest(name, known.iter().copied()), known.as_slice()) {
        (Some(near), _) => format!("did you mean `{near}`?"),
        (None, []) => format!("no {what} is declared"),
        (None, known) => format!("there are: {}", known.join(", ")),
    };
    format!("there is no {what} {name:?}; {help}")
}

/// The indexes of the selected entries, in order.
#[derive(Default)]
struct Selected<'a> {
    all: &'a [Resolved],
    indexes: Vec<usize>,
    /// Those whose tools a profile narrows.
    narrowed: Vec<usize>,
    /// Profiles that are in already: one that is extended by two ways is meant once.
    profiles: Vec<&'a str>,
}

impl<'a> Selected<'a> {
    /// A server that comes twice keeps its first place.
    fn add(&mut self, index: usize) {
        if !self.indexes.contains(&index) {
            self.indexes.push(index);
        }
    }

    /// A profile names servers of its own layer alone.
    fn position(&self, name: &str, layer: LayerKind) -> Option<usize> {
        self.all.iter().position(|entry| entry.layer == layer && entry.server.name.as_str() == name)
    }

    fn add_profile(&mut self, profile: &'a Profile, profiles: &'a [Profile], layer: LayerKind) {
        if self.profiles.contains(&profile.name.as_str()) {
            return;
        }
        self.profiles.push(&profile.name);
        for extended in &profile.extends {
            if let Some(found) = find(profiles, &extended.value) {
                self.add_profile(found, profiles, layer);
            }
        }
        for server in &profile.servers {
            if let Some(index) = self.position(&server.value, layer) {
                self.add(index);
            }
        }
        let narrowed = profile.narrows.iter().filter_map(|narrowed| self.position(&narrowed.value, layer));
        let narrowed: Vec<usize> = narrowed.collect();
        self.narrowed.extend(narrowed);
    }
}
