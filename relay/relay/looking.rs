//! Lists that the relay asks for itself: to look at tools before one is called, and to see whether what the agent was
//! told from memory still holds.
//!
//! They are asked for in the agent's own words. Some servers take ids of one type alone, so that the ids are those of
//! requests that are answered, or wait.

use alloc::collections::VecDeque;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde_json::value::RawValue;

use super::Relay;
use super::recalling::AskedPage;
use crate::Time;
use crate::action::{Action, Outcome, Step};
use crate::answer::{self, code};
use crate::edit::{Members, replaced, string};
use crate::memory::{self, List, Page, Verdict};
use crate::message::{self, Key, Message};
use crate::pending::Kind;
use crate::pins;
use crate::supervision::State;

/// How many pages a list may have: case B10 has a server that names the same cursor for ever.
const PAGES: usize = 1000;

/// What the relay looks at by itself.
#[derive(Debug, Default)]
pub(super) struct Looking {
    waiting: VecDeque<Look>,
    now: Option<Look>,
    /// Whether the tools of the server that runs have been looked at.
    has_seen_tools: bool,
}

/// One list.
#[derive(Clone, Debug)]
struct Look {
    list: List,
    asker: String,
    /// The request for its first page.
    line: Vec<u8>,
    pages: Vec<Page>,
    /// Whether the agent was told it from memory.
    is_recalled: bool,
}

impl Relay {
    /// The agent was told a list from memory: it is looked at once the server runs.
    pub(super) fn told_from_memory(&mut self, page: &AskedPage, line: &[u8]) {
        let is_known = |look: &Look| look.list == page.list && look.asker == page.asker;
        if page.cursor.is_none() && !self.looking.waiting.iter().any(is_known) {
            let (list, asker) = (page.list, page.asker.clone());
            let look = Look { list, asker, line: line.to_vec(), pages: Vec::new(), is_recalled: true };
            self.looking.waiting.push_back(look);
        }
    }

    /// Whether a request waits until the server's tools have been looked at.
    pub(super) fn waits_for_a_look(&self, kind: &Kind) -> bool {
        matches!(kind, Kind::Call(_)) && self.recall.pins.blocks_unseen() && !self.looking.has_seen_tools
    }

    /// Sees to it that the tools are looked at, for a call that waits.
    pub(super) fn look_at_tools(&mut self, call: &[u8]) {
        let is_of_tools = |look: &Look| look.list == List::Tools;
        if self.looking.now.iter().chain(&self.looking.waiting).any(is_of_tools) {
            return;
        }
        if let Some(line) = asking_for_tools(call) {
            let asker = self.asker_of(call);
            let look = Look { list: List::Tools, asker, line, pages: Vec::new(), is_recalled: false };
            self.looking.waiting.push_back(look);
        }
    }

    /// Asks for the next list.
    pub(super) fn look_on(&mut self, now: Time) {
        if self.life.state != State::Up || self.looking.now.is_some() {
            return;
        }
        if let Some(look) = self.looking.waiting.pop_front() {
            let line = look.line.clone();
            self.looking.now = Some(look);
            self.ask_for_page(line, now);
        }
    }

    fn ask_for_page(&mut self, line: Vec<u8>, now: Time) {
        let Message::Request { id, .. } = message::read(&line) else { return self.look_failed(now) };
        let (id, key) = (answer::raw(id), Key::of(id));
        // A call that waits lends its id, and is not sent before.
        let is_lent = self.requests.get_mut(&key).is_some_and(|pending| !pending.is_sent);
        if self.requests.has(&key) && !is_lent {
            return self.look_failed(now);
        }
        let deadline = now.saturating_add(self.policy.timeout);
        self.looks.insert(key, (id, deadline));
        self.act(Action::ToServer(line));
    }

    /// An answer to the relay's own question; `None` where it is none.
    pub(super) fn looked(&mut self, key: &Key, outcome: Result<&RawValue, &RawValue>, now: Time) -> bool {
        if self.looks.remove(key).is_none() {
            return false;
        }
        let Some(mut look) = self.looking.now.take() else { return true };
        let Ok(result) = outcome else {
            self.looking.now = Some(look);
            self.look_failed(now);
            return true;
        };
        let cursor = look.pages.last().and_then(|page| memory::next_cursor(&page.result));
        let is_repeated = cursor.is_some() && look.pages.iter().any(|page| page.cursor == cursor);
        look.pages.push(Page { cursor, result: result.get().into() });
        match memory::next_cursor(result.get()) {
            Some(_) if is_repeated || look.pages.len() >= PAGES => {
                self.looking.now = Some(look);
                self.look_failed(now);
            }
            Some(next) => {
                let line = with_cursor(&look.line, &next);
                self.looking.now = Some(look);
                self.ask_for_page(line, now);
            }
            None => self.look_done(look, now),
        }
        true
    }

    /// An answer to the relay's own question that can't be read; false where it is none.
    pub(super) fn look_spoiled(&mut self, key: &Key, now: Time) -> bool {
        let is_own = self.looks.remove(key).is_some();
        if is_own {
            self.look_failed(now);
        }
        is_own
    }

    fn look_done(&mut self, look: Look, now: Time) {
        let Look { list, asker, pages, is_recalled, .. } = look;
        if let Some(kind) = pins::Kind::of(list) {
            for definition in memory::definitions(list, &pages) {
                self.look(kind, &definition.name, &definition.hash);
            }
        }
        let verdict = self.learn_list(&asker, list, pages);
        if is_recalled && verdict == Verdict::New {
            self.tell_changed(&[list.changing()]);
        }
        if list == List::Tools && self.reached.insert(Step::Listed) {
            self.act(Action::Reached(Step::Listed));
        }
        self.release(now);
    }

    /// The server does not tell its list: calls that wait for it are refused, as nobody knows what they would call.
    fn look_failed(&mut self, now: Time) {
        let Some(look) = self.looking.now.take() else { return };
        if look.list == List::Tools && !self.looking.has_seen_tools {
            let waits: Vec<Key> = self.held.iter().filter_map(|held| held.key.clone()).collect();
            for key in waits {
                let is_call =
                    self.requests.get_mut(&key).is_some_and(|pending| matches!(pending.kind, Kind::Call(_)));
                if is_call && let Some(pending) = self.requests.take(&key) {
                    self.let_go(&key);
                    let sentence = format!(
                        "the tools of {} could not be looked at, and one that has changed is not called",
                        self.policy.name
                    );
                    self.fail(pending, code::POLICY, &sentence, Outcome::Refused, 0, now);
                }
            }
        }
        self.look_on(now);
    }

    /// What is asked of a server that ended is asked of none, and the next one may have other tools.
    pub(super) fn look_no_more(&mut self) {
        self.looks.clear();
        self.looking.now = None;
        self.looking.waiting.clear();
        self.looking.has_seen_tools = false;
    }

    /// A look that takes too long.
    pub(super) fn look_times_out(&mut self, now: Time) {
        let over: Vec<Key> = self
            .looks
            .iter()
            .filter(|(_, (_, deadline))| *deadline <= now)
            .map(|(key, _)| key.clone())
            .collect();
        for key in over {
            if let Some((id, _)) = self.looks.remove(&key) {
                self.act(Action::ToServer(answer::cancelled(&id, "no answer")));
                self.look_failed(now);
            }
        }
    }

    pub(super) fn has_seen_tools(&self) -> bool {
        self.looking.has_seen_tools
    }

    pub(super) fn tools_were_looked_at(&mut self) {
        self.looking.has_seen_tools = true;
    }

    pub(super) fn tools_are_unseen(&mut self) {
        self.looking.has_seen_tools = false;
    }
}

/// A request for the first page of the tools, in the place of a call.
fn asking_for_tools(call: &[u8]) -> Option<Vec<u8>> {
    let Message::Request { id, params, .. } = message::read(call) else { return None };
    let members = params.and_then(|params| Members::read(params.get()));
    let meta = members.as_ref().and_then(|members| Members::read(members.get("_meta")?.get()));
    // Progress is told of the call alone.
    let meta = meta.map(|meta| meta.without("progressToken"));
    let params = meta.map_or("{}".into(), |meta| format!("{{\"_meta\":{meta}}}"));
    Some(
        format!("{{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"tools/list\",\"params\":{params}}}", id.get())
            .into_bytes(),
    )
}

/// The request for another page.
fn with_cursor(line: &[u8], cursor: &str) -> Vec<u8> {
    let text = core::str::from_utf8(line).unwrap_or_default();
    let cursor = string(cursor);
    match message::read(line) {
        Message::Request { params: Some(params), .. } => {
            let members = Members::read(params.get()).unwrap_or(Members(Vec::new()));
            replaced(text, params, &members.with("cursor", &cursor)).into_bytes()
        }
        Message::Request { id, method, params: None } => format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":{},\"params\":{{\"cursor\":{cursor}}}}}",
            id.get(),
            string(&method)
        )
        .into_bytes(),
        _ => line.to_vec(),
    }
}
