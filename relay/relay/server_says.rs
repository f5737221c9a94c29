//! What becomes of a line of the server's.

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{AskedPage, Relay, with_id};
use crate::Time;
use crate::action::{Action, Note, Outcome, Step};
use crate::answer::{self, Completed, code};
use crate::canonical::hash;
use crate::cap::cap;
use crate::edit::{Members, replaced};
use crate::hello;
use crate::memory::List;
use crate::message::{self, About, Key, Message, Text};
use crate::pending::{Kind, Pending};
use crate::pins;
use crate::policy::{Policy, Spill};
use crate::tools::{self, Listed};

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
                    _ => self.forget_pages(&method),
                }
                self.act(Action::ToAgent(line));
            }
            Message::Response { id, outcome } => {
                let key = Key::of(id);
                if self.looked(&key, outcome, now) {
                    return;
                }
                let Some(pending) = self.requests.take(&key) else {
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
                let key = id.map(Key::of);
                if key.as_ref().is_some_and(|key| self.look_spoiled(key, now)) {
                    // Nobody else asked.
                } else if let Some(pending) = key.and_then(|key| self.requests.take(&key)) {
                    self.spoiled(pending, &why, line.len(), now);
                }
                self.act(Action::Note(Note::Refused(why)));
            }
            Message::Noise if line.trim_ascii().is_empty() => {}
            Message::Noise => self.act(Action::Note(Note::Noise(line))),
        }
    }

    /// An answer that can't be passed on. What the relay asked itself is nobody else's.
    pub(super) fn spoiled(&mut self, pending: Pending, why: &str, length: usize, now: Time) {
        match pending.kind {
            Kind::Return => self.returned(false, now),
            Kind::Again | Kind::Cancelled => {}
            _ => {
                let sentence = format!("the answer of {} is not passed on: {why}", self.policy.name);
                self.fail(pending, code::RELAY, &sentence, Outcome::Error, length, now);
            }
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
            if let Ok(result) = outcome {
                self.greeted_again(result);
            }
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
        let new = match self.treated(&pending.kind, result, read.result, spill, now) {
            Ok(new) => new,
            Err(why) => {
                self.fail(pending, code::RELAY, &why, Outcome::Error, line.len(), now);
                return Answer::Given;
            }
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
            Kind::Initialize | Kind::Discover(_) => Some(Step::Initialized),
            Kind::List(AskedPage { list: List::Tools, .. }) => Some(Step::Listed),
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

    /// What policy makes of a result: `None` where it stays as it is, an error where it can't go on. `inner` is the result
    /// that it holds in itself.
    fn treated<'a>(
        &mut self,
        kind: &Kind,
        result: &'a RawValue,
        inner: Option<&RawValue>,
        spill: &mut dyn Spill,
        now: Time,
    ) -> Result<Option<Cow<'a, str>>, String> {
        Ok(match kind {
            Kind::Initialize => {
                let asker = self.recall.asker.clone();
                self.learn_greeting(&asker, result.get());
                self.greeted(result, true).map(Cow::Owned)
            }
            Kind::Discover(asker) => {
                self.learn_greeting(asker, result.get());
                self.greeted(result, false).map(Cow::Owned)
            }
            Kind::List(page) => {
                let new = match self.listed(page.list, result) {
                    Listed::Refused(why) => return Err(why),
                    Listed::Whole => None,
                    Listed::Fewer(fewer) => Some(fewer),
                };
                self.learn_page(page, result.get(), now);
                new
            }
            Kind::Call(asked) => {
                let is_structured = self.structured.contains(&asked.tool);
                cap(result.get(), self.policy.result_limit, is_structured, spill).map(Cow::Owned)
            }
            Kind::TaskResult => cap(result.get(), self.policy.result_limit, false, spill).map(Cow::Owned),
            Kind::Task => inner.and_then(|inner| {
                let capped = cap(inner.get(), self.policy.result_limit, false, spill)?;
                Some(Cow::Owned(replaced(result.get(), inner, &capped)))
            }),
            Kind::Set(setting) => {
                self.settings.keep(setting.clone());
                None
            }
            Kind::Return | Kind::Again | Kind::Listen(_) | Kind::Cancelled | Kind::Other => None,
        })
    }

    /// A page of a list, without what policy hides or holds back.
    pub(super) fn listed<'a>(&mut self, list: List, result: &'a RawValue) -> Listed<'a> {
        // Policy looks at tools whether they are pinned or not.
        let is_looked_at = list == List::Tools || self.recall.pins.are_on();
        let Some(kind) = pins::Kind::of(list).filter(|_| is_looked_at) else { return Listed::Whole };
        let Policy { allows, tells_withheld, name: server, .. } = &self.policy;
        let pins = &mut self.recall.pins;
        let mut different = Vec::new();
        let mut admits = |name: &str, definition: &RawValue| {
            if kind == pins::Kind::Tool && !allows(name) {
                return false;
            }
            if !pins.are_on() {
                return true;
            }
            let (difference, is_held) = pins.look(kind, name, &hash(definition));
            different
                .extend(difference.map(|difference| pins.told(Some(kind), Some(name), difference, server)));
            !is_held
        };
        let is_told = *tells_withheld && kind == pins::Kind::Tool;
        let listed = tools::filter(result.get(), list, &mut admits, &mut self.structured, is_told);
        for sentence in different {
            self.act(Action::Note(Note::Different(sentence)));
        }
        listed
    }

    /// A greeting as the agent gets it; `None` where that is as it is. In a session changes can be announced whether the
    /// server does it or not; without one (revision 2026-07-28) the agent has to be subscribed to them.
    pub(super) fn greeted(&mut self, result: &RawValue, is_session: bool) -> Option<String> {
        self.remember_lists(result);
        let is_held = self.look_at_instructions(result.get());
        let without = is_held.then(|| Some(Members::read(result.get())?.without("instructions"))).flatten();
        let greeting = without.as_deref().unwrap_or(result.get());
        let announced = is_session.then(|| hello::announcing_changes(greeting)).flatten();
        announced.or(without)
    }

    /// A greeting that no agent waits for.
    fn greeted_again(&mut self, result: &RawValue) {
        let asker = self.recall.asker.clone();
        self.learn_greeting(&asker, result.get());
        self.remember_lists(result);
        self.look_at_instructions(result.get());
        if self.reached.insert(Step::Initialized) {
            self.act(Action::Reached(Step::Initialized));
        }
    }

    fn remember_lists(&mut self, result: &RawValue) {
        let members = Members::read(result.get());
        let capabilities = members.and_then(|members| Members::read(members.get("capabilities")?.get()));
        let has = |name: &&&str| capabilities.as_ref().is_some_and(|members| members.get(name).is_some());
        self.lists = ["tools", "resources", "prompts"].iter().filter(has).copied().collect();
    }
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
