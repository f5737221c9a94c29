//! The server's life: its starts and ends, what is told it again, and the time.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::{Held, PATIENCE, Relay};
use crate::Time;
use crate::action::{Action, Outcome};
use crate::answer::{self, code};
use crate::hello;
use crate::memory::List;
use crate::pending::{Kind, Pending};
use crate::settings::Request;
use crate::supervision::State;

impl Relay {
    /// The server has answered what brings it back into the session.
    pub(super) fn returned(&mut self, is_welcome: bool, now: Time) {
        if !is_welcome {
            self.stop("it refused to begin again".into());
            return;
        }
        if let Some(line) = self.initialized.clone() {
            self.act(Action::ToServer(line));
        }
        self.set_again();
        // What the agent was told before the first start is looked at, and it is told what is different.
        let is_looked_at = self.is_recalled() && !self.life.has_ended_before();
        self.up(now);
        if !is_looked_at {
            self.tell_changes();
        }
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
        // A subscription says itself what it hears of.
        let lists = match &self.hello {
            None => alloc::vec!["tools", "prompts", "resources"],
            Some(_) if self.lists.is_empty() => alloc::vec!["tools"],
            Some(_) => self.lists.clone(),
        };
        self.tell_changed(&lists);
    }

    /// The same of these lists.
    pub(super) fn tell_changed(&mut self, lists: &[&'static str]) {
        if self.hello.is_none() {
            let listening = self.requests.all().filter_map(|pending| match &pending.kind {
                Kind::Listen(line) => Some(hello::changes_for(line, &pending.id, lists)),
                _ => None,
            });
            for line in listening.flatten().collect::<Vec<_>>() {
                self.act(Action::ToAgent(line));
            }
            return;
        }
        for list in lists {
            let method = format!("notifications/{list}/list_changed");
            self.act(Action::ToAgent(answer::notification(&method)));
        }
    }

    fn up(&mut self, now: Time) {
        self.life.state = State::Up;
        self.life.began(now);
        self.release(now);
    }

    /// Lets go what may go by now of what is held.
    pub(super) fn release(&mut self, now: Time) {
        for Held { line, key } in core::mem::take(&mut self.held) {
            let Some(key) = key else {
                self.act(Action::ToServer(line));
                continue;
            };
            let kind = self.requests.get_mut(&key).map(|pending| pending.kind.clone());
            if kind.as_ref().is_some_and(|kind| self.waits_for_a_look(kind)) {
                self.look_at_tools(&line);
                self.hold(line, Some(key));
            } else if let Some(Kind::Call(asked)) = &kind
                && let Some(why) = self.held_back(asked)
                && let Some(pending) = self.requests.take(&key)
            {
                self.fail(pending, code::POLICY, &why, Outcome::Refused, 0, now);
            } else {
                if let Some(pending) = self.requests.get_mut(&key) {
                    pending.is_sent = true;
                }
                self.act(Action::ToServer(line));
            }
        }
        self.look_on(now);
    }

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
        self.look_no_more();
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
                Kind::List(page) if page.list == List::Tools && self.lists.is_empty() => {
                    self.list_nothing(&pending.id);
                }
                _ => {
                    let situation = format!("{}: {}", self.policy.name, self.life.situation(now));
                    self.fail(pending, code::SERVER, &situation, Outcome::Broken, 0, now);
                }
            }
        }
        self.answer_unsent(now);
        self.done()
    }

    /// The server may not be started now; `reason` follows its name in a sentence. The next request asks again.
    pub fn refused(&mut self, reason: &str, now: Time) -> Vec<Action> {
        self.life.refused(reason.to_string());
        self.answer_unsent(now);
        self.done()
    }

    /// Answers what waits for a server that does not come soon. It may wait a little, but never the first word.
    fn answer_unsent(&mut self, now: Time) {
        let is_long = match self.life.state {
            State::Waiting(until) => until.saturating_sub(now) > PATIENCE,
            _ => true,
        };
        let gives_up = |pending: &Pending| !pending.is_sent && (is_long || pending.kind == Kind::Initialize);
        let listens = |pending: &Pending| matches!(pending.kind, Kind::Listen(_));
        let is_failed = matches!(self.life.state, State::Failed | State::Refused);
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
    }

    /// The agent has said all: the server is not started again, and what waits for that is answered.
    pub fn said_all(&mut self, now: Time) -> Vec<Action> {
        self.life.over();
        if matches!(self.life.state, State::Waiting(_)) {
            self.life.state = State::Failed;
            self.answer_unsent(now);
        }
        self.done()
    }

    /// Why the server is not there, behind its name in a sentence.
    pub fn reason(&self) -> &str {
        &self.life.reason
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
        self.look_times_out(now);
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
            Kind::Initialize | Kind::Return | Kind::Discover(_) => {
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
                    Kind::Discover(_) => {
                        let sentence = format!("{}: {}", self.policy.name, self.life.reason);
                        self.fail(pending, code::SERVER, &sentence, Outcome::Broken, 0, now);
                    }
                    _ => {}
                }
            }
            _ => {
                // It waited for a server that does not come.
                if !pending.is_sent && !self.life.reason.is_empty() {
                    self.unreached(pending, now);
                    return;
                }
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
}
