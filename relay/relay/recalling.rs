//! Answers from what the server told before, and what it tells now.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use serde_json::value::RawValue;

use super::Relay;
use crate::Time;
use crate::action::{Action, Note};
use crate::answer;
use crate::hello::announcing_changes;
use crate::memory::{self, Learned, List, Memory, Page, Told, Verdict, hash_of_instructions, instructions};
use crate::pending::Kind;
use crate::pins::{self, Believed, Pin, Pins};
use crate::supervision::State;
use crate::tools::Listed;

/// What is known of a server before it runs.
#[derive(Clone, Debug, Default)]
pub struct Past {
    /// What happens when it changes its definitions.
    pub pin: Pin,
    /// What they were when they were believed.
    pub believed: Believed,
    /// What it told whom.
    pub memory: Memory,
    /// Whether an agent is answered from it before the server runs.
    pub answers: bool,
    /// Whether what it tells is to be kept: [`Action::Learned`] says what.
    pub is_kept: bool,
}

/// What is known of the server, and what the agent knows.
#[derive(Debug, Default)]
pub(super) struct Recall {
    pub(super) pins: Pins,
    pub(super) memory: Memory,
    answers: bool,
    is_kept: bool,
    /// Whom the session is with.
    pub(super) asker: String,
    /// The pages that came so far, of lists that are not whole yet.
    coming: BTreeMap<(String, List), Vec<Page>>,
    /// Whether the agent was told that it is answered from memory.
    is_told: bool,
}

/// What the agent asks for, as far as it can be remembered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AskedPage {
    pub(crate) list: List,
    pub(crate) cursor: Option<String>,
    pub(crate) asker: String,
}

impl Recall {
    pub(super) fn new(past: Past) -> Self {
        let Past { pin, believed, memory, answers, is_kept } = past;
        Self { pins: Pins::new(pin, believed), memory, answers, is_kept, ..Self::default() }
    }

    /// What this asker was told. Without a session it is answered where the server lets agents subscribe to changes: what
    /// turns out to be different could not be announced else.
    fn of_asker(&self, asker: &str) -> Option<&Told> {
        let told = self.memory.get(asker)?;
        let is_announced = |greeting: &String| announcing_changes(greeting).is_none();
        (asker == self.asker || told.greeting.as_ref().is_some_and(is_announced)).then_some(told)
    }

    /// What was told before, of a request that begins a conversation or asks for a list.
    fn of(&self, kind: &Kind) -> Option<String> {
        match kind {
            Kind::Initialize => self.memory.get(&self.asker)?.greeting.clone(),
            Kind::Discover(asker) => self.of_asker(asker)?.greeting.clone(),
            Kind::List(page) => {
                self.of_asker(&page.asker)?.page(page.list, page.cursor.as_deref()).map(Into::into)
            }
            _ => None,
        }
    }
}

impl Relay {
    /// The same relay with what is known of its server.
    #[must_use]
    pub fn with_past(mut self, past: Past) -> Self {
        self.recall = Recall::new(past);
        self
    }

    /// The user has believed definitions meanwhile: what was held back is there.
    pub fn believe(&mut self, believed: Believed) -> Vec<Action> {
        self.recall.pins.believe(believed);
        self.tell_changed(&["tools", "prompts"]);
        self.done()
    }

    /// Whether something is held back, or noted, that the user may come to believe.
    pub fn has_differences(&self) -> bool {
        self.recall.pins.has_differences()
    }

    /// Answers a request from memory while nobody has needed the server; whether it did.
    pub(super) fn recalled(&mut self, id: &str, kind: &Kind, is_ping: bool, line: &[u8]) -> bool {
        if self.life.state != State::Idle || !self.recall.answers {
            return false;
        }
        if is_ping && self.recall.is_told {
            self.act(Action::ToAgent(answer::result(id, "{}")));
            return true;
        }
        let Some(told) = self.recall.of(kind) else { return false };
        let Ok(result) = serde_json::from_str::<&RawValue>(&told) else { return false };
        let new = match kind {
            Kind::List(page) => match self.listed(page.list, result) {
                Listed::Whole => None,
                Listed::Fewer(fewer) => Some(fewer.into_owned()),
                Listed::Refused(_) => return false,
            },
            kind => self.greeted(result, *kind == Kind::Initialize),
        };
        if let Kind::List(page) = kind {
            self.told_from_memory(page, line);
        }
        self.act(Action::ToAgent(answer::result(id, new.as_deref().unwrap_or(&told))));
        if !core::mem::replace(&mut self.recall.is_told, true) {
            self.act(Action::Recalled);
        }
        true
    }

    /// Whether the agent's session began with an answer from memory.
    pub(super) fn is_recalled(&self) -> bool {
        self.recall.is_told
    }

    /// The server has told its greeting.
    pub(super) fn learn_greeting(&mut self, asker: &str, result: &str) {
        let hash = instructions(result).as_deref().map(hash_of_instructions);
        self.recall.pins.learn_instructions(hash);
        if !self.recall.is_kept {
            return;
        }
        let told = self.recall.memory.entry(asker.into()).or_default();
        if told.greeting.as_deref() != Some(result) {
            told.greeting = Some(result.into());
            self.act(Action::Learned(Learned::Greeting { asker: asker.into(), result: result.into() }));
        }
    }

    /// The server has told a page; gives the whole list where this was its last.
    pub(super) fn learn_page(&mut self, page: &AskedPage, result: &str, now: Time) {
        let key = (page.asker.clone(), page.list);
        let coming = self.recall.coming.entry(key.clone()).or_default();
        match &page.cursor {
            None => coming.clear(),
            Some(cursor) => {
                let next = coming.last().and_then(|last| memory::next_cursor(&last.result));
                if next.as_ref() != Some(cursor) {
                    self.recall.coming.remove(&key);
                    return;
                }
            }
        }
        coming.push(Page { cursor: page.cursor.clone(), result: result.into() });
        if memory::next_cursor(result).is_none() {
            let pages = self.recall.coming.remove(&key).unwrap_or_default();
            self.learn_list(&page.asker, page.list, pages);
            self.release(now);
        }
    }

    /// The server has told a whole list.
    pub(super) fn learn_list(&mut self, asker: &str, list: List, pages: Vec<Page>) -> Verdict {
        if let Some(kind) = pins::Kind::of(list) {
            self.recall.pins.learn(kind, &memory::hashes(list, &pages));
        }
        if list == List::Tools {
            self.tools_were_looked_at();
        }
        if !self.recall.is_kept {
            return Verdict::Same;
        }
        let asker = String::from(asker);
        let (verdict, hash) = self.recall.memory.entry(asker.clone()).or_default().learn(list, &pages);
        match verdict {
            Verdict::New => self.act(Action::Learned(Learned::List { asker, list, pages })),
            Verdict::Doubted => self.act(Action::Learned(Learned::Doubted { asker, list, hash })),
            Verdict::Same => {}
        }
        verdict
    }

    /// The server says that a list has changed: what came of it so far is not one list.
    pub(super) fn forget_pages(&mut self, method: &str) {
        let is_of = |list: List| {
            method.strip_prefix("notifications/").and_then(|rest| rest.strip_suffix("/list_changed"))
                == Some(list.changing())
        };
        self.recall.coming.retain(|(_, list), _| !is_of(*list));
        if is_of(List::Tools) {
            self.tools_are_unseen();
        }
    }

    /// Looks at a definition; whether it is held back.
    pub(super) fn look(&mut self, kind: pins::Kind, name: &str, hash: &str) -> bool {
        let (difference, is_held) = self.recall.pins.look(kind, name, hash);
        if let Some(difference) = difference {
            let told = self.recall.pins.told(Some(kind), Some(name), difference, &self.policy.name);
            self.act(Action::Note(Note::Different(told)));
        }
        is_held
    }

    /// Looks at a greeting's instructions; whether they are held back.
    pub(super) fn look_at_instructions(&mut self, result: &str) -> bool {
        let hash = instructions(result).as_deref().map(hash_of_instructions);
        let (difference, is_held) = self.recall.pins.look_at_instructions(hash.as_deref());
        if let Some(difference) = difference {
            let told = self.recall.pins.told(None, None, difference, &self.policy.name);
            self.act(Action::Note(Note::Different(told)));
        }
        is_held
    }
}
