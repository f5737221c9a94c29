//! Requests of the agent that are not answered yet.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use crate::message::Key;
use crate::relay::AskedPage;
use crate::settings::Setting;
use crate::{Sealed, Time};

/// What was asked, as far as its answer is treated in its own way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `initialize` of the agent's.
    Initialize,
    /// `initialize` of ours, in the agent's words, to a server that was started again.
    Return,
    /// `server/discover`, of this asker.
    Discover(String),
    /// A page of a list.
    List(AskedPage),
    /// `tools/call`.
    Call(Asked),
    /// `tasks/result`, whose result is that of a call.
    TaskResult,
    /// `tasks/get`, whose result may hold that of a call.
    Task,
    /// `subscriptions/listen`: asked again of a server that was started again.
    Listen(Vec<u8>),
    /// What a server that is started again has to be told again.
    Set(Setting),
    /// That, told again: its answer is for nobody.
    Again,
    /// Cancelled by the agent: an answer may come, and need not.
    Cancelled,
    /// Anything else.
    Other,
}

/// A call of a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Asked {
    pub(crate) tool: String,
    pub(crate) arguments: Option<Sealed>,
    pub(crate) began: Time,
    pub(crate) length: usize,
}

/// One request.
#[derive(Clone, Debug)]
pub(crate) struct Pending {
    /// Its id, as it stands in the request.
    pub(crate) id: String,
    pub(crate) kind: Kind,
    pub(crate) deadline: Option<Time>,
    /// Whether the server has it.
    pub(crate) is_sent: bool,
    /// What progress is told by.
    progress: Option<Key>,
}

impl Pending {
    pub(crate) fn new(id: String, kind: Kind, deadline: Option<Time>, progress: Option<Key>) -> Self {
        Self { id, kind, deadline, is_sent: false, progress }
    }
}

/// All of them. Both directions have ids of their own: these are the agent's.
#[derive(Clone, Debug, Default)]
pub(crate) struct Requests(BTreeMap<Key, Pending>);

impl Requests {
    pub(crate) fn has(&self, key: &Key) -> bool {
        self.0.contains_key(key)
    }

    pub(crate) fn insert(&mut self, key: Key, pending: Pending) {
        self.0.insert(key, pending);
    }

    pub(crate) fn take(&mut self, key: &Key) -> Option<Pending> {
        self.0.remove(key)
    }

    pub(crate) fn get_mut(&mut self, key: &Key) -> Option<&mut Pending> {
        self.0.get_mut(key)
    }

    /// Those that `pick` picks, taken out.
    pub(crate) fn drain(&mut self, pick: impl Fn(&Pending) -> bool) -> Vec<(Key, Pending)> {
        let keys: Vec<Key> =
            self.0.iter().filter(|(_, pending)| pick(pending)).map(|(key, _)| key.clone()).collect();
        keys.into_iter().filter_map(|key| self.0.remove_entry(&key)).collect()
    }

    /// All, in the order of their ids.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Pending> {
        self.0.values()
    }

    /// A word of progress puts the end off.
    pub(crate) fn progress(&mut self, token: &Key, deadline: Time) {
        let told = |pending: &&mut Pending| pending.progress.as_ref() == Some(token);
        for pending in self.0.values_mut().filter(told) {
            if pending.deadline.is_some() && pending.kind != Kind::Cancelled {
                pending.deadline = Some(deadline);
            }
        }
    }

    /// The next end.
    pub(crate) fn deadline(&self) -> Option<Time> {
        self.0.values().filter_map(|pending| pending.deadline).min()
    }
}
