//! What a server says on stderr: passed on to the agent's log, and its end kept for the moment it dies.

use std::cell::OnceCell;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::rc::Rc;
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};
use std::thread;
use std::time::Duration;

use rustix::buffer::spare_capacity;
use rustix::io::{Errno, read, write};

use crate::mcp::{STDERR_LIMIT, last_lines};
use crate::secrets::Values;

/// What one read takes.
const CHUNK: usize = 8192;
/// How many pieces wait for an agent that does not read its servers' stderr; more are passed over.
const UNREAD: usize = 64;
/// How long a line is held for what may be in it.
const LONGEST: usize = 64 * 1024;
/// How long an agent may take to read the last of it.
const PATIENCE: Duration = Duration::from_millis(100);
/// How many lines are told.
const LINES: usize = 3;

/// What is drained to its end, so that no server ever waits for whoever reads it. A secret that the server repeats is
/// taken out, line by line.
pub(super) struct Errors {
    pipe: OwnedFd,
    values: Rc<Values>,
    /// Begun with the first piece.
    onward: OnceCell<Option<Onward>>,
    buffer: Vec<u8>,
    /// What has no end yet.
    line: Vec<u8>,
    tail: Vec<u8>,
}

/// The thread that passes it on.
struct Onward {
    pieces: SyncSender<Vec<u8>>,
    /// Hears of its end.
    written: Receiver<()>,
}

impl Errors {
    pub(super) fn new(pipe: OwnedFd, values: Rc<Values>) -> Self {
        let [buffer, line, tail] = [const { Vec::new() }; 3];
        Self { pipe, values, onward: OnceCell::new(), buffer, line, tail }
    }

    /// Where more of it can be read.
    pub(super) fn pipe(&self) -> BorrowedFd<'_> {
        self.pipe.as_fd()
    }

    /// Takes what one read gives; false at its end. It waits where there is nothing to read.
    pub(super) fn read(&mut self) -> bool {
        self.buffer.clear();
        self.buffer.reserve(CHUNK);
        match read(&self.pipe, spare_capacity(&mut self.buffer)) {
            Err(Errno::INTR | Errno::AGAIN) => return true,
            Ok(0) | Err(_) => return false,
            Ok(_) => self.line.extend_from_slice(&self.buffer),
        }
        let end = self.line.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let is_whole = self.values.is_empty() || self.line.len() > LONGEST;
        self.say(if is_whole { self.line.len() } else { end });
        true
    }

    /// Passes on so much of what is held.
    fn say(&mut self, length: usize) {
        let said = self.values.hide(self.line.get(..length).unwrap_or_default());
        self.line.drain(..length);
        self.tail.extend_from_slice(&said);
        self.tail.drain(..self.tail.len().saturating_sub(STDERR_LIMIT));
        if !said.is_empty()
            && let Some(onward) = self.onward.get_or_init(begin)
        {
            // Whoever does not read it loses it.
            let _ = onward.pieces.try_send(said);
        }
    }

    /// Gives the last lines. What is said of the server's end comes behind its own last words, so an agent that is slow
    /// to read them is waited for a moment.
    pub(super) fn finish(mut self) -> String {
        self.say(self.line.len());
        if let Some(Some(Onward { pieces, written })) = self.onward.take() {
            drop(pieces);
            // Either it is written or the time is over.
            let _ = written.recv_timeout(PATIENCE);
        }
        told(&self.tail)
    }
}

/// Begins a thread that writes to this process's own stderr: nobody else has to wait for it.
fn begin() -> Option<Onward> {
    let (pieces, unwritten) = sync_channel::<Vec<u8>>(UNREAD);
    let (writing, written) = channel::<()>();
    let pass_on = move || {
        let _writing = writing;
        let own = rustix::stdio::stderr();
        for piece in unwritten {
            let mut rest = piece.as_slice();
            while !rest.is_empty() {
                match write(own, rest) {
                    Ok(count) => rest = rest.get(count..).unwrap_or_default(),
                    Err(Errno::INTR) => {}
                    Err(_) => return,
                }
            }
        }
    };
    thread::Builder::new()
        .name("server stderr".into())
        .spawn(pass_on)
        .ok()
        .map(|_| Onward { pieces, written })
}

fn told(tail: &[u8]) -> String {
    last_lines(tail, LINES).join(" | ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_are_told() {
        assert_eq!(told(b"a\nb\n\n c \r\nd\x1b[1m\n"), "b | c | d\\u{1b}[1m");
        assert_eq!(told(b"\n \n"), "");
    }
}
