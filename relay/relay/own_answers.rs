//! What the relay answers itself, in the place of a server that does not.

use alloc::format;
use alloc::string::String;

use serde::Deserialize;

use super::Relay;
use crate::Time;
use crate::action::{Action, Call, Outcome};
use crate::answer::{self, Completed, code};
use crate::edit::string;
use crate::memory::List;
use crate::message::{self, Message, Text};
use crate::pending::{Asked, Kind, Pending};

/// The revisions that begin with `initialize`; the last is what is offered to who asks for another.
const REVISIONS: &[&str] = &["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

impl Relay {
    pub(super) fn unreached(&mut self, pending: Pending, now: Time) {
        let id = pending.id.clone();
        match pending.kind {
            Kind::Initialize => self.stand_in(&id, now),
            // The agent was told that there are no tools, and why.
            Kind::List(page) if page.list == List::Tools && self.lists.is_empty() => {
                self.list_nothing(&id);
            }
            Kind::Other
            | Kind::Set(_)
            | Kind::List(_)
            | Kind::Discover(_)
            | Kind::Task
            | Kind::TaskResult
            | Kind::Call(_)
            | Kind::Listen(_) => {
                let situation = format!("{}: {}", self.policy.name, self.life.situation(now));
                self.fail(pending, code::SERVER, &situation, Outcome::Unreached, 0, now);
            }
            Kind::Return | Kind::Again | Kind::Cancelled => {}
        }
    }

    pub(super) fn list_nothing(&mut self, id: &str) {
        self.act(Action::ToAgent(answer::result(id, "{\"tools\":[]}")));
    }

    /// Answers `initialize` in the place of a server that is not there: no tools, and the reason for the model to read.
    pub(super) fn stand_in(&mut self, id: &str, now: Time) {
        if !self.policy.stands_in {
            let sentence = format!("squire: {}: {}", self.policy.name, self.life.situation(now));
            self.act(Action::ToAgent(answer::error(Some(id), code::SERVER, &sentence, Completed::No)));
            return;
        }
        let asked = self.hello.as_ref().and_then(|hello| asked_revision(&hello.line));
        let revision = asked.as_deref().filter(|asked| REVISIONS.contains(asked));
        let revision = revision.or(REVISIONS.last().copied()).unwrap_or_default();
        let reason =
            format!("the server {} could not be started: {}", self.policy.name, self.life.situation(now));
        let result = format!(
            "{{\"protocolVersion\":{},\"capabilities\":{{\"tools\":{{\"listChanged\":true}}}},\"serverInfo\":{{\"name\":{},\"version\":\"0\"}},\"instructions\":{}}}",
            string(revision),
            string(&self.policy.name),
            string(&reason)
        );
        self.act(Action::ToAgent(answer::result(id, &result)));
    }

    pub(super) fn fail(
        &mut self,
        pending: Pending,
        code: i32,
        sentence: &str,
        outcome: Outcome,
        answered: usize,
        now: Time,
    ) {
        let completed = if pending.is_sent { Completed::Perhaps } else { Completed::No };
        let sentence = match (completed, &pending.kind) {
            (Completed::Perhaps, Kind::Call(_)) if outcome != Outcome::Refused => {
                format!("squire: {sentence}; the call may have been completed")
            }
            _ => format!("squire: {sentence}"),
        };
        let line = answer::error(Some(&pending.id), code, &sentence, completed);
        if let Kind::Call(asked) = pending.kind {
            self.audit(asked, outcome, answered, now);
        }
        self.act(Action::ToAgent(line));
    }

    pub(super) fn audit(&mut self, asked: Asked, outcome: Outcome, answered: usize, now: Time) {
        let Asked { tool, arguments, began, length } = asked;
        let call = Call { tool, arguments, outcome, began, ended: now, asked: length, answered };
        self.act(Action::Audit(call));
    }
}

/// The revision that an `initialize` asks for.
fn asked_revision(line: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    struct Asks<'a> {
        #[serde(borrow, rename = "protocolVersion")]
        revision: Text<'a>,
    }
    let Message::Request { params, .. } = message::read(line) else { return None };
    let asks: Asks<'_> = serde_json::from_str(params?.get()).ok()?;
    Some(asks.revision.0.into_owned())
}
