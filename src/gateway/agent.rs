//! The agent's side: this process's own stdin and stdout, which may be pipes, sockets or a terminal.

use std::io;
use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

use rustix::buffer::spare_capacity;
use rustix::io::Errno;

use super::lines::{Cutter, LINE_LIMIT, Piece};
use super::ready::{Output, WRITE, ready};

/// What one read takes.
const CHUNK: usize = 64 * 1024;
/// How many bytes may wait for an agent that does not read; then the server waits.
const UNREAD: usize = 8 * 1024 * 1024;
/// How long the last lines may take.
const LAST: Duration = Duration::from_secs(1);

/// What the agent says.
pub(super) struct Words {
    pub(super) input: BorrowedFd<'static>,
    cutter: Cutter,
    buffer: Vec<u8>,
}

impl Words {
    pub(super) fn new() -> Self {
        let input = rustix::stdio::stdin();
        Self { input, cutter: Cutter::new(LINE_LIMIT), buffer: Vec::with_capacity(CHUNK) }
    }

    /// Whether the latest read took all that was there: what comes later is news. An end is there for ever.
    pub(super) fn is_drained(&self) -> bool {
        !self.buffer.is_empty() && self.buffer.len() < self.buffer.capacity()
    }

    /// The lines that one read ends, if any; nothing once the agent has said all. It waits where there is nothing to read.
    pub(super) fn next(&mut self) -> Option<Vec<Piece>> {
        self.buffer.clear();
        let mut pieces = Vec::new();
        match rustix::io::read(self.input, spare_capacity(&mut self.buffer)) {
            Err(Errno::INTR | Errno::AGAIN) => {}
            // Whoever goes in an unusual way has said all, too.
            Ok(0) | Err(_) => pieces.push(self.cutter.end()?),
            Ok(_) => self.cutter.push(&self.buffer, |piece| pieces.push(piece)),
        }
        Some(pieces)
    }
}

/// What goes to the agent.
pub(super) struct Agent {
    output: Output<'static>,
    unwritten: Vec<u8>,
    /// How much of that is written.
    written: usize,
    is_gone: bool,
}

impl Agent {
    pub(super) fn new() -> Self {
        let output = Output::new(rustix::stdio::stdout());
        Self { output, unwritten: Vec::new(), written: 0, is_gone: false }
    }

    /// Queues a line; [`Self::write`] sends it.
    pub(super) fn send(&mut self, mut line: Vec<u8>) {
        line.push(b'\n');
        if self.unwritten.is_empty() {
            self.unwritten = line;
            return;
        }
        // An agent that is always a little behind must not make it grow.
        if self.written > UNREAD {
            self.unwritten.drain(..std::mem::take(&mut self.written));
        }
        self.unwritten.extend_from_slice(&line);
    }

    /// Writes what is queued as far as the agent reads.
    pub(super) fn write(&mut self) {
        while let Some(rest) = self.unwritten.get(self.written..)
            && !rest.is_empty()
            && !self.is_gone
        {
            match self.output.write(rest) {
                Ok(count) => self.written += count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(_) => self.is_gone = true,
            }
        }
        self.unwritten.clear();
        self.unwritten.shrink_to(CHUNK);
        self.written = 0;
    }

    /// Where it reads.
    pub(super) fn output(&self) -> BorrowedFd<'static> {
        self.output.stream
    }

    /// Whether something is queued still.
    pub(super) fn is_behind(&self) -> bool {
        !self.unwritten.is_empty()
    }

    /// It is known to read no more.
    pub(super) fn lose(&mut self) {
        self.is_gone = true;
    }

    /// Whether more may be queued.
    pub(super) fn takes_more(&self) -> bool {
        self.unwritten.len() - self.written < UNREAD
    }

    /// Whether the agent reads no more.
    pub(super) fn is_gone(&self) -> bool {
        self.is_gone
    }

    /// Waits a moment until what is queued is written.
    pub(super) fn finish(mut self) {
        let until = Instant::now() + LAST;
        self.write();
        while self.is_behind() && Instant::now() < until {
            ready([Some((self.output(), WRITE))], Some(until));
            self.write();
        }
    }
}
