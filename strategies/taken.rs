//! Names that an agent's own config has already, where the agent would mix two entries of one name key by key
//! (case B97): ours is left out, so that no command of one runs with the environment of the other.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::artifacts::{Code, Note, Refusal, Whereabouts};
use crate::server::ResolvedServer;
use crate::strategy::{Content, Read};

/// A name that is taken, and where.
pub(crate) struct Taken {
    name: String,
    place: String,
    of_project: bool,
}

impl Taken {
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn new(name: &str, content: &Content) -> Self {
        let of_project = matches!(content.read, Read::Upward(_));
        Self { name: name.to_string(), place: content.place.clone(), of_project }
    }
}

/// All names that are taken. A file that can't be read becomes a note: the agent won't read it either.
pub(crate) fn names(
    contents: &[Content],
    declared: impl Fn(&Content, &[u8]) -> Result<Vec<Taken>, String>,
    notes: &mut Vec<Note>,
) -> Vec<Taken> {
    let mut taken = Vec::new();
    for content in contents {
        let found = content.bytes.as_ref().map_err(String::clone).and_then(|bytes| declared(content, bytes));
        match found {
            Ok(found) => taken.extend(found),
            Err(reason) => notes.push(Note {
                code: Code::Unreadable,
                server: None,
                sentence: format!("{reason}; servers of the same name there can't be known"),
                mend: None,
                place: Some(Whereabouts { path: content.place.as_str().into(), position: None }),
            }),
        }
    }
    taken
}

/// The names, each once and in order.
pub(crate) fn distinct(taken: &[Taken]) -> Vec<&str> {
    let mut names: Vec<&str> = taken.iter().map(Taken::name).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// Names what `--strict` hides (case B62).
pub(crate) fn hidden(names: &[&str]) -> Option<Note> {
    (!names.is_empty()).then(|| Note {
        code: Code::Hidden,
        server: None,
        sentence: format!("switched off for this launch, as --strict says: {}", names.join(", ")),
        mend: None,
        place: None,
    })
}

/// What can't be read can't be switched off by name.
pub(crate) fn refuse_unreadable(notes: &[Note], agent: &str) -> Result<(), Refusal> {
    match notes.iter().find(|note| note.code == Code::Unreadable) {
        None => Ok(()),
        Some(note) => Err(Refusal::new(
            Code::NoStrict,
            format!("{agent}'s own servers can't be switched off: {}", note.located()),
            "mend that file, or leave --strict away, or `strict` of the profile",
        )),
    }
}

/// The note that leaves a server out, where its name is taken.
pub(crate) fn note(taken: &[Taken], server: &ResolvedServer, agent: &str) -> Option<Note> {
    let found = taken.iter().find(|taken| taken.name == server.name.as_str())?;
    let mend = if found.of_project {
        "rename the server in squire.toml"
    } else {
        "remove it there, or rename the server in squire.toml"
    };
    Some(Note {
        code: Code::AgentHasIt,
        server: Some(server.name.clone()),
        sentence: format!("{} has a server of this name, and {agent} would mix the two", found.place),
        mend: Some(mend.into()),
        place: None,
    })
}
