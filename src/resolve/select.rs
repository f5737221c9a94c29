//! Which of the declared servers a command line means, in which order.

use std::fmt;
use std::rc::Rc;

use squire_strategies::{Code, Name, Note, Route, Strategy};

use super::{Required, Resolution, Resolved, left_out};
use crate::config::{AgentSettings, Filter, Layers, Located, Origin, Profile, nearest};

/// The user's profile where nothing selects; a project has none of this name.
const DEFAULT: &str = "default";
/// In `require`: every selected server.
pub(crate) const ALL: &str = "all";

/// What the command line selects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// `--profile`, in order.
    pub profiles: Vec<String>,
    /// `--server`, in order.
    pub servers: Vec<String>,
    /// The agent, whose own profile and filters count.
    pub agent: Option<String>,
    /// `--require`, in order.
    pub require: Vec<String>,
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

/// Picks the selected entries. Without a selection: the agent's own profile, else the profile `default`, else all
/// that are not switched off by their own declaration.
pub(super) fn select(
    layers: &Layers,
    selection: &Selection,
    everything: Resolution,
) -> Result<Resolution, UnknownSelection> {
    let Resolution { entries: all, mut notes, .. } = everything;
    let of_user = layers.user.profiles.as_slice();
    let of_project = layers.project.as_ref().map(|project| project.profiles.as_slice()).unwrap_or_default();
    let settings = selection.agent.as_deref().and_then(|agent| settings(layers, agent));
    let mut unknown = Vec::new();
    let mut selected = Selected { all: &all, ..Selected::default() };
    let mut switched_off = Vec::new();
    let mut profiles = selection.profiles.clone();
    for name in &selection.profiles {
        if let Some(profile) = find(of_user, name) {
            selected.add_profile(profile, of_user, false);
        } else if let Some(profile) = find(of_project, name).filter(|profile| profile.name != DEFAULT) {
            selected.add_profile(profile, of_project, true);
        } else {
            let known = of_user.iter().chain(of_project).map(|profile| profile.name.as_str());
            unknown.push(if name == DEFAULT && find(of_project, name).is_some() {
                format!("the profile `{DEFAULT}` is the project's: of this name only yours is used")
            } else {
                unknown_name("profile", name, known)
            });
        }
    }
    for name in &selection.servers {
        // The user's server comes first in the list, so that a project can't take its name.
        if let Some(index) = all.iter().position(|entry| entry.server.name.as_str() == name) {
            selected.add(index);
        } else {
            unknown.push(unknown_name("server", name, all.iter().map(|entry| entry.server.name.as_str())));
        }
    }
    for name in selection.require.iter().filter(|name| *name != ALL) {
        // One that the local layer takes out is known, and has its own reason.
        let taken_out = layers.local.servers.iter().filter(|local| local.remove.is_some());
        let known = all.iter().map(|entry| &entry.server.name).chain(taken_out.map(|local| &local.name));
        let known = known.map(Name::as_str);
        if !known.clone().any(|known| known == name) {
            let sentence = unknown_name("server", name, known);
            if !unknown.contains(&sentence) {
                unknown.push(sentence);
            }
        }
    }
    if !unknown.is_empty() {
        return Err(UnknownSelection(unknown));
    }
    if selection.profiles.is_empty() && selection.servers.is_empty() {
        let own = settings.and_then(|settings| find(of_user, &settings.profile.as_ref()?.value));
        if let Some(profile) = own.or_else(|| find(of_user, DEFAULT)) {
            profiles.push(profile.name.clone());
            selected.add_profile(profile, of_user, false);
        } else {
            for (index, entry) in all.iter().enumerate() {
                match &entry.left_out {
                    Some(note) if note.code == Code::Disabled => switched_off.push(note.clone()),
                    _ => selected.indexes.push(index),
                }
            }
        }
    }
    let by_agent = settings.map(|settings| settings.tools.as_slice()).unwrap_or_default();
    selected.narrow(by_agent, false);
    let Selected { indexes, narrowed, mut require, strict_origin, removed, .. } = selected;
    require.extend(selection.require.iter().map(|name| Required { name: name.clone(), origin: None }));
    notes.extend(removed.into_iter().filter_map(|name| removed_here(layers, name)));
    let strict = strict_origin.is_some();
    let mut all: Vec<Option<Resolved>> = all.into_iter().map(Some).collect();
    let selected = indexes.into_iter().filter_map(|index| {
        let entry = all.get_mut(index)?.take()?;
        Some(narrow(
            entry,
            narrowed.iter().filter(|(narrowed, _)| *narrowed == index).map(|(_, filter)| filter),
        ))
    });
    let entries = selected.collect();
    Ok(Resolution {
        entries,
        notes,
        switched_off,
        profiles,
        require,
        strict,
        strict_origin,
        ..Resolution::default()
    })
}

/// What the user sets for an agent.
pub(crate) fn settings<'a>(layers: &'a Layers, agent: &str) -> Option<&'a AgentSettings> {
    layers.user.agents.iter().find(|settings| settings.name == agent)
}

/// How an agent takes servers: one that squire knows, or one of the user's own, which speaks the language of such a one.
pub(crate) fn strategy(layers: &Layers, agent: &str) -> Option<&'static dyn Strategy> {
    let own = settings(layers, agent).and_then(|settings| settings.strategy.as_ref());
    squire_strategies::find(own.map_or(agent, |strategy| strategy.value.as_str()))
}

/// A server under the filters of profiles and of the agent. The gateway keeps them: one that the agent would reach
/// directly goes through it, unless its declaration wants that.
fn narrow<'a>(mut entry: Resolved, filters: impl Iterator<Item = &'a Filter>) -> Resolved {
    let own = entry.limits.filters.len();
    entry.limits.filters.extend(filters.cloned());
    if entry.limits.filters.len() > own && entry.left_out.is_none() && entry.server.route == Route::Direct {
        let is_wanted = entry.declaration.as_deref().is_some_and(|declaration| declaration.route.is_some());
        if is_wanted {
            let sentence = "a filter narrows its tools, and its route is direct".to_owned();
            entry.left_out = Some(left_out(&entry.server.name, Code::NeedsGateway, sentence));
        } else {
            Rc::make_mut(&mut entry.server).route = Route::Gateway;
        }
    }
    entry
}

/// A server that a profile names is there, unless the local layer removes it.
fn removed_here(layers: &Layers, name: &str) -> Option<Note> {
    let local = layers.local.servers.iter().find(|local| local.name.as_str() == name)?;
    let origin = &local.remove.as_ref()?.origin;
    Some(left_out(&local.name, Code::Disabled, format!("removed in {origin}")))
}

fn find<'a>(profiles: &'a [Profile], name: &str) -> Option<&'a Profile> {
    profiles.iter().find(|profile| profile.name == name)
}

/// The sentence for a name that is not there, with the nearest that is.
pub(crate) fn unknown_name<'a>(what: &str, name: &str, known: impl Iterator<Item = &'a str>) -> String {
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
    /// Those whose tools a profile or the agent narrows, and how.
    narrowed: Vec<(usize, Filter)>,
    /// Profiles that are in already: one that is extended by two ways is meant once.
    profiles: Vec<&'a str>,
    require: Vec<Required>,
    strict_origin: Option<Origin>,
    /// Those that a profile names and the local layer takes out.
    removed: Vec<&'a str>,
}

impl<'a> Selected<'a> {
    /// A server that comes twice keeps its first place.
    fn add(&mut self, index: usize) {
        if !self.indexes.contains(&index) {
            self.indexes.push(index);
        }
    }

    /// A profile names servers of its own side alone: the user's or the project's.
    fn position(&self, name: &str, of_project: bool) -> Option<usize> {
        self.all
            .iter()
            .position(|entry| entry.is_project() == of_project && entry.server.name.as_str() == name)
    }

    fn add_profile(&mut self, profile: &'a Profile, profiles: &'a [Profile], of_project: bool) {
        if self.profiles.contains(&profile.name.as_str()) {
            return;
        }
        self.profiles.push(&profile.name);
        for extended in &profile.extends {
            if let Some(found) = find(profiles, &extended.value) {
                self.add_profile(found, profiles, of_project);
            }
        }
        for server in &profile.servers {
            match self.position(&server.value, of_project) {
                Some(index) => self.add(index),
                None => self.removed.push(&server.value),
            }
        }
        self.narrow(&profile.tools, of_project);
        let required = |Located { value, origin }: &Located<String>| Required {
            name: value.clone(),
            origin: Some(origin.clone()),
        };
        self.require.extend(profile.require.iter().map(required));
        let strict = profile.strict.as_ref().filter(|strict| strict.value);
        self.strict_origin = self.strict_origin.take().or_else(|| strict.map(|strict| strict.origin.clone()));
    }

    fn narrow(&mut self, filters: &[(Located<String>, Filter)], of_project: bool) {
        for (name, filter) in filters {
            self.narrowed.extend(self.position(&name.value, of_project).map(|index| (index, filter.clone())));
        }
    }
}
