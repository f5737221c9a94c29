//! The stdio transport: one message a line.

use std::io::{self, BufRead, Write};
use std::thread;

use serde_json::json;

use super::left_behind::LIFETIME;
use super::mode::Mode;
use super::service::{Reaction, Service};
use super::{DEATH, complain};
use crate::signals;

/// Serves until stdin ends; returns the exit status.
pub(crate) fn serve(service: &Service) -> io::Result<u8> {
    let deaf = service.mode == Mode::Deaf;
    if deaf {
        signals::ignore_terminate()?;
    }
    if service.mode == Mode::Garbage {
        say("Starting the server...\n{ not JSON\n\n[1,2]")?;
    }
    for line in io::stdin().lock().split(b'\n') {
        match service.react(&line?)? {
            Reaction::Hang | Reaction::Accept => {}
            Reaction::Reply(reply) => say(&reply.to_string())?,
            Reaction::LastReply(reply) => {
                say(&reply.to_string())?;
                return Ok(complain(DEATH, "dying after initialize, as asked"));
            }
        }
    }
    service.log.append(&json!({ "event": "stdin-closed" }))?;
    if deaf {
        thread::sleep(LIFETIME);
    }
    Ok(0)
}

pub(super) fn say(line: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(format!("{line}\n").as_bytes())?;
    stdout.flush()
}
