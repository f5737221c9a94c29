//! The relay between one agent and one server.

mod too_long;

pub use too_long::Part;

use alloc::borrow::Cow;
use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::Time;
use crate::action::{Action, Call, Note, Outcome, Step};
use crate::answer::{self, Completed, code};
use crate::cap::cap;
use crate::edit::{Members, replaced, string};
use crate::hello;
use crate::message::{self, About, Key, Message, Params, Text};
use crate::pending::{Asked, Kind, Pending, Requests};
use crate::policy::{Policy, Spill};
use crate::relay::too_long::LongLine;
use crate::settings::{Request, Setting, Settings};
use crate::supervision::{State, Supervision};
use crate::tools::{self, Listed};

/// The revisions that begin with `initialize`; the last is what is offered to who asks for another.
const REVISIONS: &[&str] = &["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
/// How long a request may wait for a server that is started again: longer, and the agent is told at once.
const PATIENCE: Time = 5_000;
/// How long the answer to a request that was cancelled is still expected.
const FORGOTTEN: Time = 60_000;
/// What may wait for the server.
const HELD_LINES: usize = 1024;
const HELD_BYTES: usize = 64 * 1024 * 1024;

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

/// The members of a result that policy reads.
#[derive(Default, Deserialize)]
struct Read<'a> {
    #[serde(borrow, default, rename = "inputRequests")]
    input_requests: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "isError")]
    is_error: Option<&'a RawValue>,
    #[serde(borrow, default)]
    result: Option<&'a RawValue>,
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
            actions: Vec::new(),
        }
    }

    /// When [`Self::tick`] has something to do.
    pub fn wake(&self) -> Option<Time> {
        let restart = if let State::Waiting(until) = self.life.state { Some(until) } else { None };
        [self.requests.deadline(), restart].into_iter().flatten().min()
    }

    fn done(&mut self) -> Vec<Action> {
        core::mem::take(&mut self.actions)
    }

    fn act(&mut self, action: Action) {
        self.actions.push(action);
    }

    // ---- What the agent says ----

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
                match self.asked(&id, &key, &method, params, &line, now) {
                    Ok((kind, rewritten)) => self.pass_on(id, key, kind, rewritten.unwrap_or(line), now),
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
        if self.requests.has(key) {
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
                asking.kind = Kind::Initialize;
                asking.wait = Some(self.policy.startup_timeout);
            }
            "server/discover" => {
                asking.kind = Kind::Discover;
                asking.wait = Some(self.policy.startup_timeout);
            }
            "tools/list" => asking.kind = Kind::Tools,
            "tools/call" => {
                let Some(Text(tool)) = read.name else {
                    return Err(Refusal::Flawed("tools/call needs the name of a tool".into()));
                };
                let arguments = (self.policy.seal)(read.arguments.map_or("{}", RawValue::get));
                let asked = Asked { tool: tool.into_owned(), arguments, began: now, length: line.len() };
                if !(self.policy.allows)(&asked.tool) {
                    return Err(Refusal::Hidden(asked));
                }
                asking.kind = Kind::Call(asked);
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
        }
    }

    /// Gives a request to the server, now or once it is there.
    fn pass_on(&mut self, id: String, key: Key, asking: Asking, line: Vec<u8>, now: Time) {
        if matches!(self.life.state, State::Idle) {
            self.life.state = State::Starting;
            self.act(Action::Start);
        }
        let deadline = asking.wait.map(|wait| now.saturating_add(wait));
        let mut pending = Pending::new(id, asking.kind, deadline, asking.progress);
        match self.life.state {
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

    fn hold(&mut self, line: Vec<u8>, key: Option<Key>) {
        self.held.push_back(Held { line, key });
    }

    fn held_bytes(&self) -> usize {
        self.held.iter().map(|held| held.line.len()).sum()
    }

    /// The server never hears of a request that waited for it.
    fn let_go(&mut self, key: &Key) {
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
            State::Idle | State::Failed => self.not_told(1),
            _ if self.held.len() >= HELD_LINES || self.held_bytes() + line.len() > HELD_BYTES => {
                self.not_told(1)
            }
            State::Starting | State::Returning | State::Stopping(_) | State::Waiting(_) => {
                self.hold(line, None)
            }
        }
    }

    /// Notes what the server never hears of.
    fn not_told(&mut self, count: usize) {
        let plural = if count == 1 { "" } else { "s" };
        self.act(Action::Note(Note::Refused(format!(
            "{count} notification{plural}: the server is not there"
        ))));
    }

    fn hello_is_held(&self) -> bool {
        let key = self.hello.as_ref().map(|hello| &hello.key);
        key.is_some() && self.held.iter().any(|held| held.key.as_ref() == key)
    }

    // ---- What the server says ----

    /// A line of the server's.
    pub fn from_server(&mut self, line: Vec<u8>, spill: &mut dyn Spill, now: Time) -> Vec<Action> {
        self.server_says(line, spill, now);
        self.done()
    }

    fn server_says(&mut self, line: Vec<u8>, spill: &mut dyn Spill, now: Time) {
        match message::read(&line) {
            Message::Batch(members) => {
                let lines: Vec<Vec<u8>> =
                    members.iter().map(|member| member.get().as_bytes().to_vec()).collect();
                for line in lines {
                    self.server_says(line, spill, now);
                }
            }
            Message::Request { id, method, .. } if method == "sampling/createMessage" => {
                let sentence = "squire: sampling is refused";
                let refusal = answer::error(Some(id.get()), code::POLICY, sentence, Completed::No);
                self.act(Action::ToServer(refusal));
                self.act(Action::Note(Note::Sampling));
            }
            Message::Notification { method, .. } if method == "sampling/createMessage" => {
                self.act(Action::Note(Note::Sampling));
            }
            Message::Request { id, .. } => {
                self.asked_of_agent.insert(Key::of(id), answer::raw(id));
                self.act(Action::ToAgent(line));
            }
            Message::Notification { method, params } => {
                let about = About::read(params);
                match &*method {
                    "notifications/progress" => {
                        if let Some(token) = about.progress_token {
                            let deadline = now.saturating_add(self.policy.timeout);
                            self.requests.progress(&Key::of(token), deadline);
                        }
                    }
                    "notifications/cancelled" => {
                        if let Some(request) = about.request {
                            self.asked_of_agent.remove(&Key::of(request));
                        }
                    }
                    _ => {}
                }
                self.act(Action::ToAgent(line));
            }
            Message::Response { id, outcome } => {
                let Some(pending) = self.requests.take(&Key::of(id)) else {
                    self.act(Action::Note(Note::Unasked(answer::raw(id))));
                    return;
                };
                let spelled = with_id(&line, id, &pending.id);
                match self.answered(pending, outcome, &line, spill, now) {
                    Answer::Whole => self.act(Action::ToAgent(spelled.unwrap_or(line))),
                    Answer::Rewritten(line) => self.act(Action::ToAgent(line)),
                    Answer::Given => {}
                    Answer::Swallowed => self.returned(outcome.is_ok(), now),
                }
            }
            Message::Flawed { id, why } => {
                if let Some(pending) = id.and_then(|id| self.requests.take(&Key::of(id))) {
                    let sentence = format!("the answer of {} is not passed on: {why}", self.policy.name);
                    self.fail(pending, code::RELAY, &sentence, Outcome::Error, line.len(), now);
                }
                self.act(Action::Note(Note::Refused(why)));
            }
            Message::Noise if line.trim_ascii().is_empty() => {}
            Message::Noise => self.act(Action::Note(Note::Noise(line))),
        }
    }

    /// What becomes of an answer.
    fn answered(
        &mut self,
        pending: Pending,
        outcome: Result<&RawValue, &RawValue>,
        line: &[u8],
        spill: &mut dyn Spill,
        now: Time,
    ) -> Answer {
        if pending.kind == Kind::Return {
            return Answer::Swallowed;
        }
        if pending.kind == Kind::Again {
            if outcome.is_err() {
                let why = format!("{} does not take again what it had taken", self.policy.name);
                self.act(Action::Note(Note::Refused(why)));
            }
            return Answer::Given;
        }
        let result = match outcome {
            Ok(result) => result,
            Err(error) => {
                match pending.kind {
                    Kind::Call(asked) => self.audit(asked, answer::outcome(error), line.len(), now),
                    Kind::Initialize => self.hello = None,
                    _ => {}
                }
                return Answer::Whole;
            }
        };
        let text = core::str::from_utf8(line).unwrap_or_default();
        let read = match result.get().as_bytes().first() {
            Some(b'{') => serde_json::from_str::<Read<'_>>(result.get()),
            _ => Ok(Read::default()),
        };
        let read = match read {
            Ok(read) => read,
            Err(error) => {
                let sentence = format!("the answer of {} is not passed on: {error}", self.policy.name);
                self.fail(pending, code::RELAY, &sentence, Outcome::Error, line.len(), now);
                return Answer::Given;
            }
        };
        if read.input_requests.is_some_and(asks_for_a_sample) {
            self.act(Action::Note(Note::Sampling));
            let sentence = format!("{} asked for a sample of the model, which is refused", self.policy.name);
            self.fail(pending, code::POLICY, &sentence, Outcome::Refused, line.len(), now);
            return Answer::Given;
        }
        let new = match &pending.kind {
            Kind::Initialize | Kind::Discover => {
                self.remember_lists(result);
                hello::announcing_changes(result.get()).map(Cow::Owned)
            }
            Kind::Tools => match self.filter_tools(result) {
                Listed::Whole => None,
                Listed::Fewer(fewer) => Some(fewer),
                Listed::Refused(why) => {
                    self.fail(pending, code::RELAY, &why, Outcome::Error, line.len(), now);
                    return Answer::Given;
                }
            },
            Kind::Call(asked) => {
                let is_structured = self.structured.contains(&asked.tool);
                cap(result.get(), self.policy.result_limit, is_structured, spill).map(Cow::Owned)
            }
            Kind::TaskResult => cap(result.get(), self.policy.result_limit, false, spill).map(Cow::Owned),
            Kind::Task => read.result.and_then(|inner| {
                let capped = cap(inner.get(), self.policy.result_limit, false, spill)?;
                Some(Cow::Owned(replaced(result.get(), inner, &capped)))
            }),
            Kind::Set(setting) => {
                self.settings.keep(setting.clone());
                None
            }
            Kind::Return | Kind::Again | Kind::Listen(_) | Kind::Cancelled | Kind::Other => None,
        };
        let answer = match new {
            None => Answer::Whole,
            Some(new) => {
                let line = replaced(text, result, &new).into_bytes();
                let spelled = match message::read(&line) {
                    Message::Response { id, .. } => with_id(&line, id, &pending.id),
                    _ => None,
                };
                Answer::Rewritten(spelled.unwrap_or(line))
            }
        };
        let step = match &pending.kind {
            Kind::Initialize | Kind::Discover => Some(Step::Initialized),
            Kind::Tools => Some(Step::Listed),
            Kind::Call(_) => Some(Step::Called),
            _ => None,
        };
        if let Some(step) = step.filter(|step| self.reached.insert(*step)) {
            self.act(Action::Reached(step));
        }
        if let Kind::Call(asked) = pending.kind {
            let is_error = read.is_error.is_some_and(|is_error| is_error.get() == "true");
            let outcome = if is_error { Outcome::Failed } else { Outcome::Done };
            self.audit(asked, outcome, line.len(), now);
        }
        answer
    }

    fn filter_tools<'a>(&mut self, result: &'a RawValue) -> Listed<'a> {
        let Policy { allows, tells_withheld, .. } = &self.policy;
        tools::filter(result.get(), allows, &mut self.structured, *tells_withheld)
    }

    fn remember_lists(&mut self, result: &RawValue) {
        let members = Members::read(result.get());
        let capabilities = members.and_then(|members| Members::read(members.get("capabilities")?.get()));
        let has = |name: &&&str| capabilities.as_ref().is_some_and(|members| members.get(name).is_some());
        self.lists = ["tools", "resources", "prompts"].iter().filter(has).copied().collect();
    }

    /// The server has answered what brings it back into the session.
    fn returned(&mut self, is_welcome: bool, now: Time) {
        if !is_welcome {
            self.stop("it refused to begin again".into());
            return;
        }
        if let Some(line) = self.initialized.clone() {
            self.act(Action::ToServer(line));
        }
        self.set_again();
        self.up(now);
        self.tell_changes();
    }

    /// The way to the server has begun a session of its own again: as the server knows nothing of the agent's any more,
    /// it is told again, and the agent that what it knows may have changed.
    pub fn came_back(&mut self) -> Vec<Action> {
        self.set_again();
        self.tell_changes();
        self.done()
    }

    fn set_again(&mut self) {
        for Request { id, key, line } in self.settings.requests().cloned().collect::<Vec<_>>() {
            // Another request of this id is the agent's own to answer for.
            if !self.requests.has(&key) {
                let mut pending = Pending::new(id, Kind::Again, None, None);
                pending.is_sent = true;
                self.requests.insert(key, pending);
                self.act(Action::ToServer(line));
            }
        }
    }

    /// Tells the agent that each list may be another one: in its session, or on each of its subscriptions.
    fn tell_changes(&mut self) {
        if self.hello.is_none() {
            let listening = self.requests.all().filter_map(|pending| match &pending.kind {
                Kind::Listen(line) => Some(hello::changes_for(line, &pending.id)),
                _ => None,
            });
            for line in listening.flatten().collect::<Vec<_>>() {
                self.act(Action::ToAgent(line));
            }
            return;
        }
        let lists = if self.lists.is_empty() { alloc::vec!["tools"] } else { self.lists.clone() };
        for list in lists {
            let method = format!("notifications/{list}/list_changed");
            self.act(Action::ToAgent(answer::notification(&method)));
        }
    }

    fn up(&mut self, now: Time) {
        self.life.state = State::Up;
        self.life.began(now);
        for Held { line, key } in core::mem::take(&mut self.held) {
            if let Some(pending) = key.and_then(|key| self.requests.get_mut(&key)) {
                pending.is_sent = true;
            }
            self.act(Action::ToServer(line));
        }
    }

    // ---- The server's life ----

    /// The server runs: what is written to it arrives.
    pub fn started(&mut self, now: Time) -> Vec<Action> {
        let is_held = self.hello_is_held();
        match &self.hello {
            Some(hello) if !is_held => {
                let (line, key) = (hello.line.clone(), hello.key.clone());
                let deadline = now.saturating_add(self.policy.startup_timeout);
                let mut pending = Pending::new(hello.id.clone(), Kind::Return, Some(deadline), None);
                pending.is_sent = true;
                self.requests.insert(key, pending);
                self.life.state = State::Returning;
                self.life.began(now);
                self.act(Action::ToServer(line));
            }
            Some(_) => self.up(now),
            None => {
                self.up(now);
                if self.life.has_ended_before() {
                    self.tell_changes();
                }
            }
        }
        self.done()
    }

    /// The server is gone, or could not be started; `reason` follows its name in a sentence.
    pub fn ended(&mut self, reason: &str, now: Time) -> Vec<Action> {
        let reason = match &self.life.state {
            State::Stopping(why) => why.clone(),
            _ => reason.to_string(),
        };
        self.life.ended(reason, now);
        self.asked_of_agent.clear();
        for (key, pending) in self.requests.drain(|pending| pending.is_sent) {
            match pending.kind {
                Kind::Return | Kind::Again | Kind::Cancelled => {}
                Kind::Listen(line) if self.life.state != State::Failed => {
                    let kind = Kind::Listen(line.clone());
                    self.requests.insert(key.clone(), Pending::new(pending.id, kind, None, None));
                    self.hold(line, Some(key));
                }
                Kind::Initialize => self.stand_in(&pending.id, now),
                // It never was in a session: the agent is told why where it asks first.
                Kind::Tools if self.lists.is_empty() => {
                    self.list_nothing(&pending.id);
                }
                _ => {
                    let situation = format!("{}: {}", self.policy.name, self.life.situation(now));
                    self.fail(pending, code::SERVER, &situation, Outcome::Broken, 0, now);
                }
            }
        }
        // What was not sent yet may wait a little, but never the first word.
        let is_long = match self.life.state {
            State::Waiting(until) => until.saturating_sub(now) > PATIENCE,
            _ => true,
        };
        let gives_up = |pending: &Pending| !pending.is_sent && (is_long || pending.kind == Kind::Initialize);
        let listens = |pending: &Pending| matches!(pending.kind, Kind::Listen(_));
        let is_failed = self.life.state == State::Failed;
        for (key, pending) in
            self.requests.drain(|pending| gives_up(pending) && (is_failed || !listens(pending)))
        {
            self.let_go(&key);
            self.unreached(pending, now);
        }
        if is_failed {
            let count = self.held.len();
            self.held.clear();
            if count > 0 {
                self.not_told(count);
            }
        }
        self.done()
    }

    /// The agent has said all: the server is not started again.
    pub fn said_all(&mut self) {
        self.life.over();
    }

    /// The user wants a server that has failed for good to be tried again: the next request starts it.
    pub fn revive(&mut self) {
        self.life.revive();
    }

    /// Whether something waits for the server.
    pub fn is_holding(&self) -> bool {
        !self.held.is_empty()
    }

    /// Whether the server has failed for good.
    pub fn has_failed(&self) -> bool {
        self.life.state == State::Failed
    }

    /// The time has come that [`Self::wake`] named.
    pub fn tick(&mut self, now: Time) -> Vec<Action> {
        if let State::Waiting(until) = self.life.state
            && until <= now
        {
            self.life.state = State::Starting;
            self.act(Action::Start);
        }
        let is_over = |pending: &Pending| pending.deadline.is_some_and(|deadline| deadline <= now);
        for (key, pending) in self.requests.drain(is_over) {
            self.let_go(&key);
            self.timed_out(pending, now);
        }
        self.done()
    }

    fn timed_out(&mut self, pending: Pending, now: Time) {
        let seconds = |time: Time| match time % 1000 {
            0 => format!("{} s", time / 1000),
            part => format!("{}.{} s", time / 1000, format!("{part:03}").trim_end_matches('0')),
        };
        match pending.kind {
            Kind::Cancelled | Kind::Again => {}
            Kind::Initialize | Kind::Return | Kind::Discover => {
                let reason = format!(
                    "it did not answer within {}; startup_timeout gives it longer",
                    seconds(self.policy.startup_timeout)
                );
                self.stop(reason);
                self.life.reason = match &self.life.state {
                    State::Stopping(reason) => reason.clone(),
                    _ => String::new(),
                };
                match pending.kind {
                    Kind::Initialize => self.stand_in(&pending.id, now),
                    Kind::Discover => {
                        let sentence = format!("{}: {}", self.policy.name, self.life.reason);
                        self.fail(pending, code::SERVER, &sentence, Outcome::Broken, 0, now);
                    }
                    _ => {}
                }
            }
            _ => {
                let limit = seconds(self.policy.timeout);
                if pending.is_sent {
                    let reason = format!("no answer and no progress within {limit}");
                    self.act(Action::ToServer(answer::cancelled(&pending.id, &reason)));
                }
                let sentence = format!(
                    "{} did not answer within {limit}; the request was cancelled (`timeout` gives it longer)",
                    self.policy.name
                );
                self.fail(pending, code::TIMEOUT, &sentence, Outcome::TimedOut, 0, now);
            }
        }
    }

    fn stop(&mut self, reason: String) {
        match self.life.state {
            State::Up | State::Returning | State::Starting => {
                self.life.state = State::Stopping(reason);
                self.act(Action::Stop);
            }
            _ => {}
        }
    }

    // ---- Answers of our own ----

    fn unreached(&mut self, pending: Pending, now: Time) {
        let id = pending.id.clone();
        match pending.kind {
            Kind::Initialize => self.stand_in(&id, now),
            // The agent was told that there are no tools, and why.
            Kind::Tools if self.lists.is_empty() => {
                self.list_nothing(&id);
            }
            Kind::Other
            | Kind::Set(_)
            | Kind::Tools
            | Kind::Discover
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

    fn list_nothing(&mut self, id: &str) {
        self.act(Action::ToAgent(answer::result(id, "{\"tools\":[]}")));
    }

    /// Answers `initialize` in the place of a server that is not there: no tools, and the reason for the model to read.
    fn stand_in(&mut self, id: &str, now: Time) {
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

    fn fail(
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

    fn audit(&mut self, asked: Asked, outcome: Outcome, answered: usize, now: Time) {
        let Asked { tool, arguments, began, length } = asked;
        let call = Call { tool, arguments, outcome, began, ended: now, asked: length, answered };
        self.act(Action::Audit(call));
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
}

/// What the agent gets of an answer.
enum Answer {
    /// The line as it came.
    Whole,
    Rewritten(Vec<u8>),
    /// It has its answer.
    Given,
    Swallowed,
}

/// Whether requests for input (revision 2026-07-28) ask for a sample of the model. One that can't be told for sure does.
fn asks_for_a_sample(requests: &RawValue) -> bool {
    #[derive(Deserialize)]
    struct Asks<'a> {
        #[serde(borrow, default)]
        method: Option<Text<'a>>,
    }
    let Some(members) = Members::read(requests.get()) else { return requests.get() != "null" };
    members.0.iter().any(|(_, request)| {
        serde_json::from_str::<Asks<'_>>(request.get())
            .map_or(true, |asks| asks.method.is_some_and(|method| method.0 == "sampling/createMessage"))
    })
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

#[cfg(test)]
#[path = "relay_tests.rs"]
mod tests;
