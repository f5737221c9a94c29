//! What `probe`, `tools` and `call` begin with: the servers that are meant, and a gateway for each that may be asked.
//!
//! squire's own client asks a server through the gateway that an agent would be given, so that secrets, trust, policy,
//! audit and the end of everything are those of an agent. The gateway is candid to it (`--candid`).

mod together;

use std::ffi::OsString;
use std::time::Duration;

use anyhow::Result;
use squire_strategies::{Gateway, Note, OWN_AGENT};

use super::Surroundings;
use super::needs::Missing;
use crate::environment::Environment;
use crate::mcp::Endpoint;
use crate::resolve::{Resolution, Resolved, Selection};

pub(super) use together::{at_once, watched};

/// How much longer than its gateway's own limit an answer is waited for: the gateway says why there is none.
const GRACE: Duration = Duration::from_secs(5);

/// Which servers a command line means.
pub(super) struct Meant<'a> {
    /// The servers that it names; without any, those of the profiles or of a launch.
    pub(super) names: &'a [String],
    pub(super) profiles: &'a [String],
    /// The agent whose filters and profile count, where one is named.
    pub(super) agent: Option<&'a str>,
}

/// The servers that are meant, in their order.
pub(super) struct Asked {
    resolution: Resolution,
    gateway: Gateway,
    agent: String,
    /// What else is to be said.
    pub(super) notes: Vec<Note>,
    pub(super) servers: Vec<Server>,
}

/// One server, and whether it may be asked.
pub(super) struct Server {
    index: usize,
    pub(super) name: String,
    pub(super) transport: &'static str,
    pub(super) state: State,
    /// How long it may take to start, or to list what it has.
    pub(super) limit: Duration,
    /// Whether the command line names it.
    pub(super) is_named: bool,
}

/// Whether a server may be asked.
pub(super) enum State {
    /// It may.
    Ready,
    /// It is left out, and not touched.
    LeftOut(Note),
    /// It could not start, and is not tried.
    Lacks(Missing),
}

impl Asked {
    /// Finds them. An error is a declaration that is wrong, or a name that nobody knows.
    pub(super) fn find(
        surroundings: &Surroundings,
        meant: &Meant<'_>,
        environment: &Environment,
    ) -> Result<Self> {
        surroundings.refuse_foreign()?;
        let agent = surroundings.agent(meant.agent.unwrap_or(OWN_AGENT))?;
        let selection = Selection {
            profiles: meant.profiles.to_vec(),
            servers: meant.names.to_vec(),
            agent: Some(agent.name.clone()),
            ..Selection::default()
        };
        let mut resolution = surroundings.resolve(&agent, &selection)?;
        let is_named = |entry: &Resolved| meant.names.iter().any(|name| name == entry.server.name.as_str());
        if !meant.names.is_empty() {
            // Profiles narrow what is named, and add nothing to it.
            resolution.entries.retain(is_named);
        }
        let ready = resolution.entries.iter().filter(|entry| entry.left_out.is_none());
        // Where secrets.toml can't be read, the gateway of each server that needs it says so.
        let holders = surroundings.holders(ready, environment).ok();
        let state = |entry: &Resolved| match &entry.left_out {
            Some(note) => State::LeftOut(note.clone()),
            None => match holders.and_then(|holders| holders.missing(entry).into_iter().next()) {
                Some(missing) => State::Lacks(missing),
                None => State::Ready,
            },
        };
        let servers = resolution.entries.iter().enumerate().map(|(index, entry)| Server {
            index,
            name: entry.server.name.to_string(),
            transport: entry.server.transport.as_str(),
            state: state(entry),
            limit: entry.server.agent_startup_timeout(),
            is_named: is_named(entry),
        });
        let servers = servers.collect();
        let gateway = surroundings.gateway(&resolution, environment)?;
        let notes = resolution.notes.clone();
        Ok(Self { resolution, gateway, agent: agent.name, notes, servers })
    }

    /// The gateway of a server, with more hidden options than the one that makes it candid.
    pub(super) fn endpoint(&self, server: &Server, more: &[&str], environment: &Environment) -> Endpoint {
        let entry = self.resolution.entries.get(server.index);
        let words = entry.map(|entry| self.gateway.arguments(&self.agent, &entry.server)).unwrap_or_default();
        let candid = ["--candid"].iter().chain(more).map(OsString::from);
        let own = environment.variables().map(|(name, value)| (name.to_owned(), value.to_owned()));
        Endpoint::Stdio {
            command: self.gateway.program.clone().into(),
            args: words.into_iter().map(OsString::from).chain(candid).collect(),
            env: own.collect(),
            directory: None,
        }
    }
}

impl Server {
    /// The time that an answer is waited for, where the user wants none that is shorter.
    pub(super) fn patience(&self, wanted: Option<Duration>) -> Duration {
        wanted.unwrap_or(self.limit + GRACE)
    }
}

impl State {
    /// Why the server is not asked, in a sentence, and what mends it; none where it is.
    pub(super) fn obstacle(&self) -> Option<(String, Option<String>)> {
        match self {
            Self::Ready => None,
            Self::LeftOut(note) => Some((note.located(), note.mend.clone())),
            Self::Lacks(missing) => Some((missing.sentence.clone(), Some(missing.mend.clone().into_owned()))),
        }
    }

    /// The word for it.
    pub(super) fn code(&self) -> Option<&'static str> {
        match self {
            Self::LeftOut(note) => Some(note.code.as_str()),
            Self::Lacks(missing) => Some(missing.code.as_str()),
            Self::Ready => None,
        }
    }
}
