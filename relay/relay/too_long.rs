//! What becomes of a message that is too long to be held: whoever waits for its answer is told.

use alloc::format;
use alloc::string::ToString;
use alloc::vec::Vec;

use serde_json::value::RawValue;

use super::Relay;
use crate::Time;
use crate::action::{Action, Note};
use crate::answer::{self, Completed, code};
use crate::message::{self, Key, Known};

/// A part of a line that is too long to be held: first its beginning, and later its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part<'a> {
    /// The first bytes, as soon as it is too long.
    Beginning(&'a [u8]),
    /// The last bytes, without the line end.
    End(&'a [u8]),
}

/// What is known of the one that is on its way.
#[derive(Default)]
pub(super) struct LongLine {
    has_method: bool,
    is_answered: bool,
}

impl LongLine {
    /// What the message is, once that is known: its id where it has one.
    fn learn(&mut self, part: Part<'_>) -> Option<Known> {
        match part {
            Part::Beginning(bytes) => {
                let known = message::beginning(bytes);
                *self = Self { has_method: known.has_method, is_answered: known.id.is_some() };
                self.is_answered.then_some(known)
            }
            Part::End(_) if self.is_answered => None,
            Part::End(bytes) => {
                Some(Known { id: message::id_at_the_end(bytes), has_method: self.has_method })
            }
        }
    }
}

impl Relay {
    /// A part of a line of the agent's that is longer than `limit` bytes.
    pub fn too_long_from_agent(&mut self, part: Part<'_>, limit: usize) -> Vec<Action> {
        let why = format!("a message of more than {limit} bytes");
        if let Some(Known { id, has_method }) = self.long_lines[0].learn(part) {
            let sentence = format!("squire: {why} is not passed on");
            let refusal = |id: Option<&str>| answer::error(id, code::RELAY, &sentence, Completed::No);
            let asked =
                id.as_deref().filter(|_| !has_method).and_then(|id| self.asked_of_agent.remove(&key(id)));
            match asked {
                Some(asked) => self.act(Action::ToServer(refusal(Some(&asked)))),
                None => self.act(Action::ToAgent(refusal(id.as_deref()))),
            }
            self.act(Action::Note(Note::Refused(why)));
        }
        self.done()
    }

    /// A part of a line of the server's that is longer than `limit` bytes.
    pub fn too_long_from_server(&mut self, part: Part<'_>, limit: usize, now: Time) -> Vec<Action> {
        let why = format!("a message of more than {limit} bytes");
        if let Some(Known { id, has_method }) = self.long_lines[1].learn(part) {
            if let Some(id) = id {
                if has_method {
                    let sentence = format!("squire: {why} is not passed on");
                    let refusal = answer::error(Some(&id), code::RELAY, &sentence, Completed::No);
                    self.act(Action::ToServer(refusal));
                } else if self.look_spoiled(&key(&id), now) {
                    // Nobody else asked.
                } else if let Some(pending) = self.requests.take(&key(&id)) {
                    self.spoiled(pending, &why, limit, now);
                }
            }
            self.act(Action::Note(Note::Refused(why)));
        }
        self.done()
    }
}

fn key(id: &str) -> Key {
    serde_json::from_str::<&RawValue>(id).map_or_else(|_| Key::Other(id.to_string()), Key::of)
}
