//! What becomes of a line of the agent's.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde_json::value::RawValue;

use super::{AskedPage, Held, Hello, PATIENCE, Relay, with_id};
use crate::Time;
use crate::action::{Action, Note, Outcome};
use crate::answer::{self, Completed, code};
use crate::edit::{replaced, string};
use crate::hello;
use crate::memory::{self, List};
use crate::message::{self, About, Key, Message, Meta, Params, Text};
use crate::pending::{Asked, Kind, Pending};
use crate::pins;
use crate::settings::{Request, Setting};
use crate::supervision::State;

/// How long the answer to a request that was cancelled is still expected.
const FORGOTTEN: Time = 60_000;
/// What may wait for the server.
const HELD_LINES: usize = 1024;
const HELD_BYTES: usize = 64 * 1024 * 1024;

impl Relay {
    /// A line of the agent's.
    pub fn from_agent(&mut self, line: Vec<u8>, now: Time) -> Vec<Action> {
        self.agent_says(line, now);
        self.done()
    }

    fn agent_says(&mut self, line: Vec<u8>, now: Time) {
        match message::read(&line) {
            Message::Batch(members) => {
                let lines: Vec<Vec<u8>> =
                    members.iter().map(|member| member.get().as_bytes().to_vec()).collect();
                for line in lines {
                    self.agent_says(line, now);
                }
            }
            Message::Request { id, method, params } => {
                let (id, key) = (answer::raw(id), Key::of(id));
                let is_ping = method == "ping";
                match self.asked(&id, &key, &method, params, &line, now) {
                    Ok((asking, rewritten)) => {
                        let line = rewritten.unwrap_or(line);
                        if !self.recalled(&id, &asking.kind, is_ping, &line) {
                            self.pass_on(id, key, asking, line, now);
                        }
                    }
                    Err(refusal) => self.refuse(&id, refusal, now),
                }
            }
            // Without an id it can't be answered, and a server may do it all the same.
            Message::Notification { method, .. } if method == "tools/call" => {
                self.act(Action::Note(Note::Refused("a tools/call without an id".into())));
            }
            Message::Notification { method, params } => {
                let about = About::read(params);
                let cancelled = about.request.filter(|_| method == "notifications/cancelled").map(Key::of);
                let is_initialized = method == "notifications/initialized";
                self.notified_by_agent(line, cancelled.as_ref(), is_initialized, now);
            }
            Message::Response { id, .. } => {
                if let Some(asked) = self.asked_of_agent.remove(&Key::of(id)) {
                    let answer = with_id(&line, id, &asked).unwrap_or(line);
                    self.act(Action::ToServer(answer));
                } else {
                    let id = id.get().to_string();
                    self.act(Action::Note(Note::Unasked(id)));
                }
            }
            Message::Flawed { id, why } => {
                let id = id.map(RawValue::get).map(ToString::to_string);
                let sentence = format!("squire: the message is not passed on: {why}");
                self.act(Action::ToAgent(answer::error(
                    id.as_deref(),
                    code::NOT_MESSAGE,
                    &sentence,
                    Completed::No,
                )));
                self.act(Action::Note(Note::Refused(why)));
            }
            Message::Noise if line.trim_ascii().is_empty() => {}
            Message::Noise => {
                let sentence = "squire: the line is not JSON";
                self.act(Action::ToAgent(answer::error(None, code::NOT_JSON, sentence, Completed::No)));
            }
        }
    }

    /// What kind of request it is, and the line that goes on in its place.
    fn asked(
        &mut self,
        id: &str,
        key: &Key,
        method: &str,
        params: Option<&RawValue>,
        line: &[u8],
        now: Time,
    ) -> Result<(Asking, Option<Vec<u8>>), Refusal> {
        if self.requests.has(key) || self.looks.contains_key(key) {
            return Err(Refusal::Flawed("its id is that of a request that is not answered yet".into()));
        }
        let read = Params::read(params).map_err(Refusal::Flawed)?;
        let meta = read.meta.unwrap_or_default();
        let progress = meta.progress_token.map(Key::of);
        let text = core::str::from_utf8(line).unwrap_or_default();
        let mut rewritten = None;
        if let Some(capabilities) = meta.capabilities
            && let Some(cleared) = hello::cleared(capabilities)
        {
            rewritten = Some(replaced(text, capabilities, &cleared).into_bytes());
        }
        let mut asking = Asking { kind: Kind::Other, wait: Some(self.policy.timeout), progress };
        match method {
            "initialize" => {
                if let Some(params) = params
                    && let Some(cleared) = hello::without_sampling(params).map_err(Refusal::Flawed)?
                {
                    rewritten = Some(replaced(text, params, &cleared).into_bytes());
                }
                let line = rewritten.clone().unwrap_or_else(|| line.to_vec());
                self.hello = Some(Hello { line, id: id.into(), key: key.clone() });
                self.initialized = None;
                self.settings.clear();
                self.recall.asker = memory::asker([params]);
                asking.kind = Kind::Initialize;
                asking.wait = Some(self.policy.startup_timeout);
            }
            "server/discover" => {
                asking.kind = Kind::Discover(self.asker(&meta));
                asking.wait = Some(self.policy.startup_timeout);
            }
            "tools/list" | "prompts/list" | "resources/list" | "resources/templates/list" => {
                if let Some(list) = List::of(method) {
                    let cursor = memory::cursor(read.cursor);
                    asking.kind = Kind::List(AskedPage { list, cursor, asker: self.asker(&meta) });
                }
            }
            "tools/call" => {
                let Some(Text(tool)) = read.name else {
                    return Err(Refusal::Flawed("tools/call needs the name of a tool".into()));
                };
                let arguments = (self.policy.seal)(read.arguments.map_or("{}", RawValue::get));
                let asked = Asked { tool: tool.into_owned(), arguments, began: now, length: line.len() };
                if !(self.policy.allows)(&asked.tool) {
                    return Err(Refusal::Hidden(asked));
                }
                if self.has_seen_tools()
                    && let Some(why) = self.held_back(&asked)
                {
                    return Err(Refusal::HeldBack(asked, why));
                }
                asking.kind = Kind::Call(asked);
            }
            "prompts/get" => {
                let name = read.name.map(|Text(name)| name.into_owned()).unwrap_or_default();
                if let Some(why) = self.recall.pins.reason(pins::Kind::Prompt, &name, &self.policy.name) {
                    return Err(Refusal::Flawed(why));
                }
            }
            "tasks/result" => {
                // It is answered when the task is done, however long that takes.
                asking.kind = Kind::TaskResult;
                asking.wait = None;
            }
            "tasks/get" => asking.kind = Kind::Task,
            "subscriptions/listen" => {
                asking.kind = Kind::Listen(rewritten.clone().unwrap_or_else(|| line.to_vec()));
                asking.wait = None;
            }
            _ => {
                let request = || Request { id: id.into(), key: key.clone(), line: line.to_vec() };
                if let Some(setting) = Setting::of(method, read.uri, request) {
                    asking.kind = Kind::Set(setting);
                }
            }
        }
        Ok((asking, rewritten))
    }

    fn refuse(&mut self, id: &str, refusal: Refusal, now: Time) {
        match refusal {
            Refusal::Flawed(why) => {
                let sentence = format!("squire: the request is not passed on: {why}");
                self.act(Action::ToAgent(answer::error(
                    Some(id),
                    code::NOT_MESSAGE,
                    &sentence,
                    Completed::No,
                )));
                self.act(Action::Note(Note::Refused(why)));
            }
            Refusal::Hidden(asked) => {
                let sentence = format!(
                    "squire: the user's list does not let this agent use the tool {} of {}",
                    string(&asked.tool),
                    self.policy.name
                );
                self.act(Action::ToAgent(answer::error(Some(id), code::POLICY, &sentence, Completed::No)));
                self.audit(asked, Outcome::Refused, 0, now);
            }
            Refusal::HeldBack(asked, why) => {
                let sentence = format!("squire: {why}");
                self.act(Action::ToAgent(answer::error(Some(id), code::POLICY, &sentence, Completed::No)));
                self.audit(asked, Outcome::Refused, 0, now);
            }
        }
    }

    /// Why a call is not passed on because of what its tool has become.
    pub(super) fn held_back(&self, asked: &Asked) -> Option<String> {
        self.recall.pins.reason(pins::Kind::Tool, &asked.tool, &self.policy.name)
    }

    /// Who asks: revision 2026-07-28 says it with every request, the others said it at the beginning.
    fn asker(&self, meta: &Meta<'_>) -> String {
        let says = [meta.revision, meta.client, meta.capabilities];
        if says.iter().any(Option::is_some) { memory::asker(says) } else { self.recall.asker.clone() }
    }

    /// The same of a whole line.
    pub(super) fn asker_of(&self, line: &[u8]) -> String {
        let params = match message::read(line) {
            Message::Request { params, .. } => Params::read(params).unwrap_or_default(),
            _ => Params::default(),
        };
        self.asker(&params.meta.unwrap_or_default())
    }

    /// Gives a request to the server, now or once it is there.
    fn pass_on(&mut self, id: String, key: Key, asking: Asking, line: Vec<u8>, now: Time) {
        if matches!(self.life.state, State::Idle | State::Refused) {
            self.life.state = State::Starting;
            self.act(Action::Start);
        }
        let deadline = asking.wait.map(|wait| now.saturating_add(wait));
        let mut pending = Pending::new(id, asking.kind, deadline, asking.progress);
        match self.life.state {
            State::Up if self.waits_for_a_look(&pending.kind) => {
                self.requests.insert(key.clone(), pending);
                self.look_at_tools(&line);
                self.hold(line, Some(key));
                self.look_on(now);
            }
            State::Up => {
                pending.is_sent = true;
                self.requests.insert(key, pending);
                self.act(Action::ToServer(line));
            }
            State::Waiting(until) if until.saturating_sub(now) > PATIENCE => self.unreached(pending, now),
            State::Failed => self.unreached(pending, now),
            _ if self.held.len() >= HELD_LINES || self.held_bytes() + line.len() > HELD_BYTES => {
                self.unreached(pending, now);
            }
            _ => {
                self.requests.insert(key.clone(), pending);
                self.hold(line, Some(key));
            }
        }
    }

    pub(super) fn hold(&mut self, line: Vec<u8>, key: Option<Key>) {
        self.held.push_back(Held { line, key });
    }

    fn held_bytes(&self) -> usize {
        self.held.iter().map(|held| held.line.len()).sum()
    }

    /// The server never hears of a request that waited for it.
    pub(super) fn let_go(&mut self, key: &Key) {
        self.held.retain(|held| held.key.as_ref() != Some(key));
    }

    fn notified_by_agent(&mut self, line: Vec<u8>, cancelled: Option<&Key>, is_initialized: bool, now: Time) {
        if is_initialized {
            self.initialized = Some(line.clone());
        }
        if let Some(key) = cancelled
            && let Some(pending) = self.requests.get_mut(key)
        {
            let was_sent = pending.is_sent;
            let kind = core::mem::replace(&mut pending.kind, Kind::Cancelled);
            pending.deadline = Some(now.saturating_add(FORGOTTEN));
            if let Kind::Call(asked) = kind {
                self.audit(asked, Outcome::Cancelled, 0, now);
            }
            if !was_sent {
                self.requests.take(key);
                self.let_go(key);
                return;
            }
        }
        match self.life.state {
            State::Up => self.act(Action::ToServer(line)),
            // What the session begins with is brought back by itself, and what was asked of a server that ended is answered.
            _ if cancelled.is_some() || is_initialized && !self.hello_is_held() => {}
            State::Idle | State::Failed | State::Refused => self.not_told(1),
            _ if self.held.len() >= HELD_LINES || self.held_bytes() + line.len() > HELD_BYTES => {
                self.not_told(1);
            }
            State::Starting | State::Returning | State::Stopping(_) | State::Waiting(_) => {
                self.hold(line, None);
            }
        }
    }

    /// Notes what the server never hears of.
    pub(super) fn not_told(&mut self, count: usize) {
        let plural = if count == 1 { "" } else { "s" };
        self.act(Action::Note(Note::Refused(format!(
            "{count} notification{plural}: the server is not there"
        ))));
    }

    pub(super) fn hello_is_held(&self) -> bool {
        let key = self.hello.as_ref().map(|hello| &hello.key);
        key.is_some() && self.held.iter().any(|held| held.key.as_ref() == key)
    }
}

/// A request that goes on.
struct Asking {
    kind: Kind,
    wait: Option<Time>,
    progress: Option<Key>,
}

/// A request that does not.
enum Refusal {
    Flawed(String),
    Hidden(Asked),
    /// Its tool is not what it was, for this reason.
    HeldBack(Asked, String),
}
