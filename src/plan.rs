//! Resolved servers and an agent become the plan of one launch. Pure: `--dry-run` shows exactly this.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::rc::Rc;

use squire_strategies::{
    Artifacts, Code, Effect, Launch, Name, Note, Refusal, ResolvedServer, Spot, Strategy,
};

use crate::resolve::{Resolution, Resolved};

/// What equips one agent for one launch.
#[derive(Clone)]
pub struct Plan {
    /// The agent's name as launched.
    pub agent: String,
    /// How it takes servers.
    pub strategy: &'static dyn Strategy,
    /// How many servers are selected.
    pub selected: usize,
    /// The selected servers in order, but for a project's that lost its name to the user's.
    pub servers: Vec<Rc<ResolvedServer>>,
    /// What the strategy made of them, with the notes of resolution first.
    pub artifacts: Artifacts,
    /// The first arguments of the user's own program, and behind them those of the command line.
    pub words: Vec<OsString>,
    /// How many of the words are the program's.
    pub first: usize,
    /// Our arguments go before the word at this index.
    pub place: usize,
    /// Whether the agent would refuse tool calls, as nobody can be asked and nothing is approved.
    pub refuses_tools: bool,
}

/// Plans a launch of `strategy` with the first arguments of the user's own program and the words of the command line.
pub fn plan(
    strategy: &'static dyn Strategy,
    resolution: &Resolution,
    launch: &Launch<'_>,
    first: &[OsString],
    words: &[OsString],
) -> Result<Plan, Refusal> {
    let words = [first, words].concat();
    let bytes: Vec<&[u8]> = words.iter().map(|word| word.as_bytes()).collect();
    let placement = strategy.placement();
    // First arguments of the agent's own are part of the command line that it reads (case B04); a wrapper's are not.
    let (of_program, of_user) = bytes.split_at(first.len());
    let wrapper = if placement.is_none_or(|placement| placement.knows(of_program)) { 0 } else { first.len() };
    let read = if wrapper == 0 { &bytes } else { of_user };
    let spot = match placement {
        Some(placement) => placement.spot(read),
        None => Spot::Before(read.iter().position(|word| *word == b"--").unwrap_or(read.len())),
    };
    let mut notes = resolution.all_notes();
    let mut place = words.len();
    let artifacts = if let Spot::Before(index) = spot {
        place = wrapper + index;
        let mut artifacts = strategy.plan(&Launch { words: read, ..*launch })?;
        notes.append(&mut artifacts.notes);
        Artifacts { notes, ..artifacts }
    } else {
        let mut artifacts = without_servers(strategy, &Launch { words: read, ..*launch }, &spot)?;
        let subject = if artifacts.leading.is_empty() { "nothing" } else { "no server" };
        notes.push(Note {
            code: Code::NoSession,
            server: None,
            sentence: format!("{subject} is added: {spot}"),
            mend: None,
            place: None,
        });
        notes.append(&mut artifacts.notes);
        Artifacts { notes, ..artifacts }
    };
    let refuses_tools = placement.is_none_or(|placement| placement.refuses_tools(read));
    Ok(Plan {
        agent: launch.agent.to_owned(),
        strategy,
        selected: resolution.entries.len(),
        servers: resolution
            .entries
            .iter()
            .filter(|entry| !lost_its_name(entry))
            .map(|entry| Rc::clone(&entry.server))
            .collect(),
        artifacts,
        words,
        first: first.len(),
        place,
        refuses_tools,
    })
}

/// What switches a repository's servers off in a session that gets none of ours. It stands before the user's words, whose
/// judgement it needs not.
fn without_servers(strategy: &dyn Strategy, launch: &Launch<'_>, spot: &Spot) -> Result<Artifacts, Refusal> {
    if matches!(spot, Spot::NoSession(_)) {
        return Ok(Artifacts::default());
    }
    // What --strict adds has no place here; what the project brings is off all the same.
    let Artifacts { leading, mut notes, switched_off, .. } =
        strategy.plan(&Launch { servers: &[], strict: false, ..*launch })?;
    if leading.is_empty() {
        return Ok(Artifacts::default());
    }
    notes.retain(|note| note.code == Code::RepositoryServer);
    Ok(Artifacts { leading, notes, switched_off, ..Artifacts::default() })
}

fn lost_its_name(entry: &Resolved) -> bool {
    entry.left_out.as_ref().is_some_and(|note| note.code == Code::NameTaken)
}

impl Plan {
    /// The servers that the agent won't use, each with the first note that says why.
    pub fn obstacles(&self) -> BTreeMap<&Name, &Note> {
        let mut obstacles = BTreeMap::new();
        for note in &self.artifacts.notes {
            let is_obstacle = note.code != Code::NameTaken
                && matches!(note.code.effect(), Effect::LeftOut | Effect::SwitchedOff);
            if let Some(name) = note.server.as_ref().filter(|_| is_obstacle) {
                obstacles.entry(name).or_insert(note);
            }
        }
        obstacles
    }

    /// Whether the launch writes files, so that something has to be put back after the agent.
    pub fn leaves_files(&self) -> bool {
        !self.artifacts.files.is_empty()
    }

    /// Why nothing at all is added, where that is so.
    pub fn no_session(&self) -> Option<&Note> {
        self.artifacts.notes.iter().find(|note| note.code == Code::NoSession)
    }

    /// The servers that the agent gets.
    pub fn delivered(&self) -> Vec<&ResolvedServer> {
        if self.no_session().is_some() {
            return Vec::new();
        }
        let obstacles = self.obstacles();
        self.servers.iter().map(Rc::as_ref).filter(|server| !obstacles.contains_key(&server.name)).collect()
    }

    /// The one line that is told before the agent starts.
    pub fn summary(&self) -> String {
        let notes = &self.artifacts.notes;
        let mut parts = Vec::new();
        if let Some(note) = self.no_session() {
            parts.push(format!("{} gets no servers: {}", self.agent, note.sentence));
        } else {
            let delivered: Vec<&str> = self.delivered().iter().map(|server| server.name.as_str()).collect();
            let counted = format!("{} gets {} of {}", self.agent, delivered.len(), self.selected);
            parts.push(if delivered.is_empty() {
                counted
            } else {
                format!("{counted}: {}", delivered.join(", "))
            });
            for (effect, word) in [(Effect::LeftOut, "left out"), (Effect::SwitchedOff, "switched off")] {
                let named: Vec<String> =
                    notes.iter().filter(|note| note.code.effect() == effect).map(named).collect();
                if !named.is_empty() {
                    parts.push(format!("{word}: {}", named.join(", ")));
                }
            }
            let approval = notes.iter().find(|note| note.code == Code::AgentApproval);
            if let Some(mend) = approval.filter(|_| self.refuses_tools).and_then(|note| note.mend.as_ref()) {
                parts.push(format!("to let it use them: {mend}"));
            }
        }
        let told = |note: &&Note| {
            matches!(
                note.code,
                Code::ProjectFile
                    | Code::Unreadable
                    | Code::UnreadableApproval
                    | Code::Hidden
                    | Code::Unused
                    | Code::RepositoryServer
            ) && note.server.is_none()
        };
        // The first problem of a project's file; `list` shows all.
        let file = |note: &Note| note.place.as_ref().map(|place| place.path.clone());
        let first = notes.iter().find(|note| note.code == Code::ProjectFile);
        let further = |note: &Note| {
            note.code == Code::ProjectFile
                && first.is_some_and(|first| first != note && file(first) == file(note))
        };
        parts.extend(notes.iter().filter(told).filter(|note| !further(note)).map(Note::located));
        // What is switched off is missed at once, while the other notes wait to be asked for.
        let last = notes.iter().rfind(|note| note.code == Code::RepositoryServer);
        parts.extend(last.and_then(|note| note.mend.clone()));
        parts.join("; ")
    }
}

fn named(note: &Note) -> String {
    let name = note.server.as_ref().map(Name::as_str).unwrap_or_default();
    match &note.mend {
        Some(mend) => format!("{name} ({}; {mend})", note.sentence),
        None => format!("{name} ({})", note.sentence),
    }
}
