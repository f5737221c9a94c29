//! The relay between one agent and one server.

mod agent_says;
mod life;
mod looking;
mod own_answers;
mod recalling;
mod server_says;
mod too_long;

pub(crate) use recalling::AskedPage;
pub use recalling::Past;
pub use too_long::Part;

use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::string::String;
use alloc::vec::Vec;

use serde_json::value::RawValue;

use crate::Time;
use crate::action::{Action, Step};
use crate::edit::replaced;
use crate::message::Key;
use crate::pending::Requests;
use crate::policy::Policy;
use crate::relay::looking::Looking;
use crate::relay::recalling::Recall;
use crate::relay::too_long::LongLine;
use crate::settings::Settings;
use crate::supervision::{State, Supervision};

/// How long a request may wait for a server that is started again: longer, and the agent is told at once.
const PATIENCE: Time = 5_000;

/// The relay between one agent and one server. Every method is told the time and gives what is to be done, in order.
pub struct Relay {
    policy: Policy,
    requests: Requests,
    /// The server's requests that the agent has not answered yet, with their ids as they stand.
    asked_of_agent: BTreeMap<Key, String>,
    /// What waits for the server.
    held: VecDeque<Held>,
    life: Supervision,
    /// The agent's `initialize`, for a server that is started again.
    hello: Option<Hello>,
    /// The agent's `notifications/initialized`.
    initialized: Option<Vec<u8>>,
    /// What the agent has set up in its session.
    settings: Settings,
    /// Tools that promise structured results.
    structured: BTreeSet<String>,
    /// What the server has that can change.
    lists: Vec<&'static str>,
    /// Whether the long line that the agent is writing, and the server's, was answered.
    long_lines: [LongLine; 2],
    /// How far the server has come.
    reached: BTreeSet<Step>,
    /// What it told before, and what was believed of it.
    recall: Recall,
    /// The lists that the relay asks for itself,
    looking: Looking,
    /// and its requests for them, with their ids as they stand and their ends.
    looks: BTreeMap<Key, (String, Time)>,
    actions: Vec<Action>,
}

struct Held {
    line: Vec<u8>,
    key: Option<Key>,
}

struct Hello {
    line: Vec<u8>,
    id: String,
    key: Key,
}

impl Relay {
    /// The relay of a server that nobody has asked for anything yet.
    pub fn new(policy: Policy) -> Self {
        let life = Supervision::new(policy.max_restarts);
        Self {
            policy,
            requests: Requests::default(),
            asked_of_agent: BTreeMap::new(),
            held: VecDeque::new(),
            life,
            hello: None,
            initialized: None,
            settings: Settings::default(),
            structured: BTreeSet::new(),
            lists: Vec::new(),
            long_lines: Default::default(),
            reached: BTreeSet::new(),
            recall: Recall::default(),
            looking: Looking::default(),
            looks: BTreeMap::new(),
            actions: Vec::new(),
        }
    }

    /// When [`Self::tick`] has something to do.
    pub fn wake(&self) -> Option<Time> {
        let restart = if let State::Waiting(until) = self.life.state { Some(until) } else { None };
        let look = self.looks.values().map(|(_, deadline)| *deadline).min();
        [self.requests.deadline(), restart, look].into_iter().flatten().min()
    }

    fn done(&mut self) -> Vec<Action> {
        core::mem::take(&mut self.actions)
    }

    fn act(&mut self, action: Action) {
        self.actions.push(action);
    }
}

/// The line with its id as it was asked; `None` where it is written so. A string may be escaped in any way: it is the
/// same for every reader, while not every reader takes 1 for 1.0.
fn with_id(line: &[u8], id: &RawValue, asked: &str) -> Option<Vec<u8>> {
    if id.get() == asked || asked.starts_with('"') {
        return None;
    }
    Some(replaced(core::str::from_utf8(line).ok()?, id, asked).into_bytes())
}

#[cfg(test)]
#[path = "relay_tests.rs"]
mod tests;
