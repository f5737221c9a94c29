//! Performs the steps of a script.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::ops::ControlFlow;
use std::path::Path;
use std::thread;
use std::time::SystemTime;

use serde_json::{Value, json};

use super::record::Record;
use super::script::Step;
use super::terminal;
use crate::files;
use crate::signals::{self, Trap};

/// The agent at work, with what it has to remember between two steps.
pub(crate) struct Performer {
    record: Record,
    trap: Option<Trap>,
    received: Vec<&'static str>,
    seen: BTreeMap<&'static str, Vec<Value>>,
}

impl Performer {
    pub(crate) fn new(record: Record) -> Self {
        Self { record, trap: None, received: Vec::new(), seen: BTreeMap::new() }
    }

    /// Performs one step; it breaks with the exit status of the agent.
    pub(crate) fn perform(&mut self, step: &Step) -> io::Result<ControlFlow<u8>> {
        match step {
            Step::Exit(code) => return Ok(ControlFlow::Break(*code)),
            Step::Signal(number) => signals::die_of(*number)?,
            Step::Sleep(time) => thread::sleep(*time),
            Step::Print(text) => print(io::stdout(), text)?,
            Step::Error(text) => print(io::stderr(), text)?,
            Step::Stdin => self.read_stdin()?,
            Step::Touch(path) => touch(path)?,
            Step::Write(path, text) => fs::write(path, text)?,
            Step::Remove(path) => fs::remove_file(path)?,
            Step::Replace { path, from, to } => fs::write(path, fs::read_to_string(path)?.replace(from, to))?,
            Step::RenameSave(path, text) => files::write_atomically(path, text)?,
            Step::WaitFile(path) => files::wait_for(path)?,
            Step::Trap(count) => self.receive_signals(*count)?,
            Step::TrapUntil(last) => self.receive_signals_until(*last)?,
            Step::Listen(signals) => self.trap = Some(Trap::of(signals)?),
            Step::Raise(signal) => signals::send_to_self(*signal)?,
            Step::RaiseGroup(signal) => signals::send_to_group(*signal)?,
            Step::Read => self.note("reads", terminal::read()?)?,
            Step::Raw => terminal::set_raw()?,
            Step::Window => self.note("windows", terminal::window()?)?,
            Step::Terminal => self.note("terminals", terminal::state()?)?,
            Step::Stop => signals::stop()?,
        }
        Ok(ControlFlow::Continue(()))
    }

    fn read_stdin(&mut self) -> io::Result<()> {
        let mut bytes = Vec::new();
        io::stdin().read_to_end(&mut bytes)?;
        self.record.add("stdin", json!(String::from_utf8_lossy(&bytes)))
    }

    fn receive_signals(&mut self, count: usize) -> io::Result<()> {
        for _ in 0..count {
            self.receive_signal()?;
        }
        if count == 0 { self.set_trap() } else { Ok(()) }
    }

    fn receive_signals_until(&mut self, last: i32) -> io::Result<()> {
        while self.receive_signal()? != signals::short_name(last) {}
        Ok(())
    }

    fn receive_signal(&mut self) -> io::Result<Option<&'static str>> {
        self.set_trap()?;
        let received = self.trap.as_mut().and_then(Trap::next);
        self.received.extend(received);
        self.record.add("signals", json!(self.received))?;
        Ok(received)
    }

    fn set_trap(&mut self) -> io::Result<()> {
        self.trap = Some(self.trap.take().map_or_else(Trap::set, Ok)?);
        // An empty list tells the test that signals are welcome now.
        self.record.add("signals", json!(self.received))
    }

    /// Adds to what was seen of this kind.
    fn note(&mut self, kind: &'static str, value: Value) -> io::Result<()> {
        let seen = self.seen.entry(kind).or_default();
        seen.push(value);
        self.record.add(kind, json!(seen))
    }
}

fn print(mut stream: impl Write, text: &str) -> io::Result<()> {
    stream.write_all(text.as_bytes())?;
    stream.flush()
}

fn touch(path: &Path) -> io::Result<()> {
    File::options().create(true).append(true).open(path)?.set_modified(SystemTime::now())
}
