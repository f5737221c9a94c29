//! One message at a time through the log, the mode and the answer, whatever brought it.

use std::io::{self, Write};
use std::path::PathBuf;
use std::thread;

use serde_json::{Value, json};

use super::answer::{State, answer, error_reply};
use super::event_log::EventLog;
use super::mode::Mode;
use super::modern;
use crate::process;

const PARSE_ERROR: i32 = -32700;
const NOISE: usize = 1 << 20;

/// What the transport has to do.
pub(crate) enum Reaction {
    /// Say nothing, and never will.
    Hang,
    /// Say that nothing is to be said.
    Accept,
    Reply(Value),
    /// Reply, and end the process.
    LastReply(Value),
}

/// The server behind a transport.
pub(crate) struct Service {
    pub(crate) mode: Mode,
    pub(crate) log: EventLog,
    state: State,
}

impl Service {
    pub(crate) fn new(
        mode: Mode,
        tools: Option<Vec<String>>,
        instructions: Option<String>,
        definitions: Option<PathBuf>,
        log: EventLog,
    ) -> Self {
        let state = State {
            tools,
            instructions,
            definitions,
            listing: mode.listing(),
            environment: process::environment(),
        };
        Self { mode, log, state }
    }

    /// Reacts to the text of one message.
    pub(crate) fn react(&self, text: &[u8]) -> io::Result<Reaction> {
        let Ok(message) = serde_json::from_slice::<Value>(text) else {
            self.log.append(&json!({ "event": "receive", "message": String::from_utf8_lossy(text) }))?;
            return Ok(Reaction::Reply(error_reply(&Value::Null, PARSE_ERROR, "not JSON")));
        };
        self.log.append(&json!({ "event": "receive", "message": message }))?;
        if self.mode == Mode::Hang {
            return Ok(Reaction::Hang);
        }
        let initialize = message["method"] == "initialize";
        if initialize && self.mode == Mode::Noisy {
            io::stderr().write_all(&vec![b'.'; NOISE])?;
        }
        thread::sleep(self.mode.delay(message["method"].as_str().unwrap_or_default()));
        if self.mode == Mode::Modern
            && let Some(reply) = modern::answer(&message)
        {
            return Ok(Reaction::Reply(reply));
        }
        Ok(match answer(&self.state, &message) {
            None => Reaction::Accept,
            Some(reply) if initialize && self.mode == Mode::DieAfterInitialize => Reaction::LastReply(reply),
            Some(reply) => Reaction::Reply(reply),
        })
    }
}
