//! Claude Code's state file: the user's own servers, and what is switched off where.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::{Ours, has};
use crate::artifacts::{Code, Note, Whereabouts};
use crate::strategy::{Base, Content, Launch, Read};

pub(super) const STATE: Read = Read::UserFile(Base::Variable("CLAUDE_CONFIG_DIR", ""), ".claude.json");
/// Where git keeps a repository: Claude's state names a directory in one by the root.
pub(super) const GIT: &str = ".git";

/// The part of Claude's state file that can switch a server off (case B62).
#[derive(Deserialize)]
pub(super) struct State {
    #[serde(default)]
    projects: BTreeMap<String, ProjectState>,
    #[serde(default, rename = "mcpServers")]
    pub(super) servers: Option<Map<String, Value>>,
}

#[derive(Deserialize)]
pub(super) struct ProjectState {
    #[serde(default, rename = "disabledMcpServers")]
    pub(super) disabled: Vec<String>,
    #[serde(default, rename = "enabledMcpjsonServers")]
    pub(super) enabled_of_project: Vec<String>,
    #[serde(default, rename = "disabledMcpjsonServers")]
    pub(super) disabled_of_project: Vec<String>,
    #[serde(default, rename = "enableAllProjectMcpServers")]
    pub(super) enable_all_of_project: bool,
    #[serde(default, rename = "mcpServers")]
    pub(super) servers: Option<Map<String, Value>>,
}

/// What was found of the state file, each with its place.
pub(super) type States<'a> = Vec<(&'a str, Result<State, String>)>;

pub(super) fn states<'a>(launch: &Launch<'a>) -> States<'a> {
    let found = launch.contents.iter().filter(|content| content.read == STATE);
    let read = |content: &'a Content| {
        let bytes = content.bytes.as_ref().map_err(String::clone);
        let state = bytes.and_then(|bytes| serde_json::from_slice(bytes).map_err(|error| error.to_string()));
        (content.place.as_str(), state)
    };
    found.map(read).collect()
}

/// What the state says of the directory: in a git repository under its root, wherever in it Claude runs.
pub(super) fn of_directory<'a>(launch: &Launch<'_>, state: &'a State) -> Option<&'a ProjectState> {
    let git = launch.contents.iter().find(|content| content.read == Read::Upward(GIT));
    let root = git.and_then(|git| git.place.strip_suffix("/.git"));
    state.projects.get(root.unwrap_or(launch.directory))
}

pub(super) fn read<'a>(states: &'a States<'_>) -> impl Iterator<Item = &'a State> {
    states.iter().filter_map(|(_, state)| state.as_ref().ok())
}

/// The servers of the user's own and of the directory. What can't be read is told by [`switched_off`].
pub(super) fn own_names<'a>(launch: &Launch<'_>, states: &'a States<'_>) -> Vec<&'a str> {
    let mut names = BTreeSet::new();
    for state in read(states) {
        let of_directory = of_directory(launch, state).and_then(|project| project.servers.as_ref());
        let declared = state.servers.iter().chain(of_directory).flatten();
        names.extend(declared.map(|(name, _)| name.as_str()));
    }
    names.into_iter().collect()
}

/// What of our entries the state keeps off, and where it can't be known.
pub(super) fn switched_off(launch: &Launch<'_>, states: &States<'_>, entries: &Ours<'_>) -> Vec<Note> {
    let mut notes = Vec::new();
    for (place, state) in states {
        match state {
            Err(reason) => notes.push(Note {
                code: Code::Unreadable,
                server: None,
                sentence: format!("{reason}; servers switched off there can't be known"),
                mend: None,
                place: Some(Whereabouts { path: (*place).into(), position: None }),
            }),
            Ok(state) => {
                let disabled = of_directory(launch, state).map(|project| project.disabled.as_slice());
                for server in launch.servers.iter().filter(|server| has(entries, server.name.as_str())) {
                    if disabled.unwrap_or_default().iter().any(|name| name == server.name.as_str()) {
                        notes.push(Note {
                            code: Code::AgentDisabled,
                            server: Some(server.name.clone()),
                            sentence: format!("disabled for this directory in {place}"),
                            mend: Some("enable it with /mcp in Claude Code".into()),
                            place: None,
                        });
                    }
                }
            }
        }
    }
    notes
}
