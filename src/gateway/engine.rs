//! The relay at work: lines and times go in, and what comes out is done.

use std::io::Read;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context, Result};
use signal_hook::consts::signal::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use squire_relay::{Action, Learned, Note, Part, Relay, Spill, Time};

use super::agent::{Agent, Words};
use super::audit::Audit;
use super::delivery::Delivery;
use super::lines::{LINE_LIMIT, Piece};
use super::memory::Remembered;
use super::ready::{READ, is_ready};
use super::upstream::{FromServer, News, OfOutput, Upstream, Wait};
use crate::delivery::code;
use crate::exit::Exit;
use crate::output::Output;
use crate::printable::excerpt;
use crate::secrets::Values;
use crate::signals;

/// How many bytes may wait for a server that does not read; then the agent waits.
const UNREAD: usize = 8 * 1024 * 1024;
/// How often what the user says of differences is looked for, while there are any.
const GLANCE: Duration = Duration::from_secs(2);
/// How many reads of what an agent has said already are taken where a signal ends its gateway.
const REST: usize = 64;
/// How long a server may go on after the agent has said all.
const GRACE: Duration = Duration::from_secs(2);
/// How long its end is waited for after that.
const LAST: Duration = Duration::from_secs(5);

/// One gateway's relay and everything around it.
pub(super) struct Engine<'a> {
    pub(super) relay: Relay,
    pub(super) upstream: &'a mut dyn Upstream,
    pub(super) spill: &'a mut dyn Spill,
    pub(super) audit: &'a Audit,
    pub(super) delivery: &'a mut Delivery,
    pub(super) remembered: Option<&'a mut Remembered>,
    /// What nothing that the server says may show where others read it.
    pub(super) values: &'a Values,
    /// Whether the server may be started still: asked before each start.
    pub(super) permit: &'a dyn Fn() -> Result<()>,
    /// Whether the user has wanted a server that has failed to be tried again, after this time.
    pub(super) is_enabled: &'a dyn Fn(SystemTime) -> bool,
    /// The server's name.
    pub(super) name: &'a str,
}

impl Engine<'_> {
    /// Relays until the agent has said all, or goes.
    pub(super) fn run(self) -> Result<Exit> {
        let mut words = Words::new();
        let start = Instant::now();
        let mut work = Work {
            engine: self,
            agent: Agent::new(),
            interruptions: Interruptions::watch().context("signals can't be watched")?,
            start,
            now: start,
            wake: None,
            glance: None,
            is_running: false,
            learned: Vec::new(),
            end: End::NotYet,
            failed: None,
            is_begun: false,
            exit: Exit::DONE,
        };
        while !work.agent.is_gone() {
            let News { agent_speaks, agent_is_gone, is_interrupted, from_server } =
                work.wait(Some(&words), None)?;
            // First, as what comes next may be the end.
            work.hear_server(from_server);
            if agent_is_gone {
                work.agent.lose();
            }
            if is_interrupted {
                work.hear_rest(&mut words);
                break;
            }
            if agent_speaks {
                let Some(pieces) = words.next() else { break };
                for piece in pieces {
                    work.hear_agent(piece);
                }
            }
            work.tick();
            work.write();
        }
        work.end()
    }
}

/// How far the end of a gateway has come.
#[derive(PartialEq)]
enum End {
    NotYet,
    /// The agent has said all.
    SaidAll,
    /// The server was given its time, and is ended.
    Stopped,
}

struct Work<'a> {
    engine: Engine<'a>,
    agent: Agent,
    interruptions: Interruptions,
    start: Instant,
    /// When the latest waiting ended.
    now: Instant,
    /// When the relay is to be told of the time.
    wake: Option<Instant>,
    /// When what the user says is looked for next.
    glance: Option<Instant>,
    /// Whether the latest start has not ended.
    is_running: bool,
    /// What it has newly told.
    learned: Vec<Learned>,
    end: End,
    /// When it failed for good.
    failed: Option<SystemTime>,
    /// Whether the server has come up, or the agent could do without it so far; or it is told that it did not.
    is_begun: bool,
    /// How the process ends: a server that never began is a finding.
    exit: Exit,
}

impl Work<'_> {
    /// The time of the relay.
    fn now(&self) -> Time {
        Time::try_from((self.now - self.start).as_millis()).unwrap_or(Time::MAX)
    }

    /// Waits for whatever comes next: the agent's words, where they are asked for and the server takes them, and the
    /// server's, where the agent does. Nothing may have come, at the latest by `until`.
    fn wait(&mut self, words: Option<&Words>, until: Option<Instant>) -> Result<News> {
        let relay = &self.engine.relay;
        self.glance = self.glance.filter(|_| relay.has_differences());
        if relay.has_differences() {
            self.glance.get_or_insert(self.now + GLANCE);
        }
        self.wake = relay.wake().map(|wake| self.start + Duration::from_millis(wake));
        let hears_agent = self.engine.upstream.unsent() < UNREAD;
        // An agent that is not heard can't tell by the end of its words that it has gone.
        let of_output = match words {
            _ if self.agent.is_behind() => Some(OfOutput::Room),
            Some(_) if !hears_agent => Some(OfOutput::End),
            _ => None,
        };
        let mut news = self.engine.upstream.wait(&Wait {
            input: words.filter(|_| hears_agent).map(|words| words.input),
            is_drained: words.is_some_and(Words::is_drained),
            output: of_output.map(|of_output| (self.agent.output(), of_output)),
            interruptions: &self.interruptions.0,
            // Once it is ended it says no more than what is on its way.
            hears_server: self.agent.takes_more() || self.end == End::Stopped,
            until: [self.wake, self.glance, until].into_iter().flatten().min(),
        })?;
        self.now = Instant::now();
        news.is_interrupted = news.is_interrupted && self.interruptions.has_come();
        Ok(news)
    }

    /// Lets go what was queued on both sides.
    fn write(&mut self) {
        self.engine.upstream.write();
        self.agent.write();
        // Nobody waits for what is told of it.
        self.engine.audit.hand_over();
        self.engine.delivery.tell();
        for learned in self.learned.drain(..) {
            let Some(remembered) = &mut self.engine.remembered else { continue };
            let values = self.engine.values;
            // A server that tells its own secret to everybody: squire writes it down nowhere.
            if learned.texts().into_iter().all(|text| values.hide(text.as_bytes()) == text.as_bytes()) {
                remembered.keep(learned);
            } else {
                remembered.refuse();
            }
        }
    }

    /// Whether the user has come to believe what is different.
    fn hear_user(&mut self) {
        if let Some(believed) = self.engine.remembered.as_mut().and_then(|remembered| remembered.news()) {
            let actions = self.engine.relay.believe(believed);
            self.act(actions);
        }
    }

    /// Hears what the agent has said already: it is answered like all else.
    fn hear_rest(&mut self, words: &mut Words) {
        for _ in 0..REST {
            if !is_ready(words.input, READ) {
                break;
            }
            let Some(pieces) = words.next() else { break };
            for piece in pieces {
                self.hear_agent(piece);
            }
        }
    }

    fn hear_agent(&mut self, piece: Piece) {
        if self.engine.relay.has_differences() {
            self.hear_user();
        }
        if self.failed.is_some_and(self.engine.is_enabled) {
            self.failed = None;
            self.engine.relay.revive();
        }
        let actions = match piece {
            Piece::Line(line) => self.engine.relay.from_agent(line, self.now()),
            Piece::Beginning(part) => {
                self.engine.relay.too_long_from_agent(Part::Beginning(&part), LINE_LIMIT)
            }
            Piece::End(part) => self.engine.relay.too_long_from_agent(Part::End(&part), LINE_LIMIT),
        };
        self.act(actions);
    }

    fn hear_server(&mut self, events: Vec<FromServer>) {
        for event in events {
            self.hear_event(event);
        }
    }

    fn hear_event(&mut self, event: FromServer) {
        let now = self.now();
        let relay = &mut self.engine.relay;
        let actions = match event {
            FromServer::Started => relay.started(now),
            FromServer::CameBack => relay.came_back(),
            FromServer::Said(Piece::Line(line)) => relay.from_server(line, self.engine.spill, now),
            FromServer::Said(Piece::Beginning(part)) => {
                relay.too_long_from_server(Part::Beginning(&part), LINE_LIMIT, now)
            }
            FromServer::Said(Piece::End(part)) => {
                relay.too_long_from_server(Part::End(&part), LINE_LIMIT, now)
            }
            FromServer::Ended(reason) => {
                let actions = relay.ended(&reason, now);
                self.miss();
                actions
            }
            FromServer::Refused(reason) => {
                let actions = relay.refused(&reason, now);
                self.miss();
                actions
            }
        };
        if self.engine.relay.has_failed() {
            self.failed.get_or_insert_with(SystemTime::now);
            self.engine.delivery.tell_end();
        }
        self.act(actions);
    }

    /// Tells that the server is not there.
    fn miss(&mut self) {
        self.is_running = false;
        let reason = self.engine.relay.reason();
        if self.end == End::NotYet {
            self.engine.delivery.ended(reason);
        }
        if !self.is_begun && self.end != End::Stopped {
            let sentence = format!("the server {} could not be started: {reason}", self.engine.name);
            Output::default().message(&sentence);
            (self.exit, self.is_begun) = (Exit::FINDINGS, true);
        }
    }

    /// Does what is due.
    fn tick(&mut self) {
        if self.glance.is_some_and(|glance| self.now >= glance) {
            self.glance = None;
            self.hear_user();
        }
        if self.wake.is_some_and(|wake| self.now >= wake) {
            let actions = self.engine.relay.tick(self.now());
            self.act(actions);
        }
    }

    fn start(&mut self) -> Option<FromServer> {
        match (self.engine.permit)() {
            Ok(()) => self.engine.upstream.start(),
            Err(refusal) => Some(FromServer::Refused(format!("{refusal:#}"))),
        }
    }

    fn act(&mut self, actions: Vec<Action>) {
        let mut came_of_start = None;
        for action in actions {
            match action {
                Action::ToAgent(line) => self.agent.send(line),
                Action::ToServer(line) => self.engine.upstream.send(line),
                Action::Start => {
                    self.engine.delivery.tell_end();
                    self.is_running = true;
                    came_of_start = self.start();
                }
                Action::Stop => self.engine.upstream.stop(),
                Action::Note(note) => {
                    if let Note::Noise(line) = &note {
                        let said = excerpt(&self.engine.values.hide(line), 200);
                        Output::default().message(&format!("{}: no message: {said}", self.engine.name));
                    }
                    if let Note::Different(sentence) = &note {
                        Output::default().message(sentence);
                        self.engine.delivery.different(sentence);
                    }
                    self.engine.audit.note(&note);
                }
                Action::Audit(call) => self.engine.audit.record(call),
                Action::Reached(step) => {
                    (self.exit, self.is_begun) = (Exit::DONE, true);
                    self.engine.delivery.reached(step);
                }
                Action::Recalled => {
                    self.is_begun = true;
                    let reason =
                        "the agent was answered from what it told before; it is started with the first call";
                    self.engine.delivery.gap(code::FROM_RECORD, reason);
                }
                Action::Learned(learned) => self.learned.push(learned),
            }
        }
        if let Some(event) = came_of_start {
            self.hear_event(event);
        }
    }

    /// Lets the server finish, as it would with its own stdin closed, and ends it where it does not.
    fn end(mut self) -> Result<Exit> {
        self.end = End::SaidAll;
        let actions = self.engine.relay.said_all(self.now());
        self.act(actions);
        if self.is_running && !self.last_words(GRACE)? {
            self.end = End::Stopped;
            self.engine.upstream.stop();
            self.last_words(LAST)?;
        }
        self.agent.finish();
        Ok(self.exit)
    }

    /// Whether the server ended in time. What the agent said before still goes to it, and what it says until then to
    /// the agent.
    fn last_words(&mut self, limit: Duration) -> Result<bool> {
        let until = Instant::now() + limit;
        loop {
            if !self.engine.relay.is_holding() {
                self.engine.upstream.finish();
            }
            self.write();
            if !self.is_running {
                return Ok(true);
            }
            if self.now >= until {
                return Ok(false);
            }
            let news = self.wait(None, Some(until))?;
            self.hear_server(news.from_server);
            self.tick();
        }
    }
}

/// The signals that end a gateway, as bytes of a stream. SIGINT that comes from no terminal is the agent's to decide
/// about, and ends nothing.
struct Interruptions(UnixStream);

impl Interruptions {
    fn watch() -> Result<Self> {
        let mut ends = vec![SIGTERM, SIGHUP];
        if rustix::termios::isatty(rustix::stdio::stdin()) {
            ends.push(SIGINT);
        } else {
            signal_hook::flag::register(SIGINT, Arc::default())?;
        }
        // A file that may not grow any more fails where it is written, as a full disk does.
        signal_hook::flag::register(SIGXFSZ, Arc::default())?;
        Ok(Self(signals::stream(&ends)?))
    }

    /// Whether one has come.
    fn has_come(&self) -> bool {
        // It can't end before this does, and never waits.
        (&self.0).read(&mut [0; 8]).is_ok_and(|count| count > 0)
    }
}
