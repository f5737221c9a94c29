//! The agent's side: this process's own stdin and stdout, which may be pipes, sockets or a terminal.

use std::io;
use std::time::Duration;

use anyhow::{Context, Result};

use super::lines::{Cutter, LINE_LIMIT, Piece};
use super::ready::Ready;

/// What one read takes.
const CHUNK: usize = 64 * 1024;
/// How many bytes may wait for an agent that does not read; then the server waits.
const UNREAD: usize = 8 * 1024 * 1024;
/// How long the last lines may take.
const LAST: Duration = Duration::from_secs(1);

/// What the agent says.
pub(super) struct Words {
    input: Ready<'static>,
    cutter: Cutter,
    buffer: Vec<u8>,
}

impl Words {
    pub(super) fn new() -> Result<Self> {
        let input = Ready::input(rustix::stdio::stdin()).context("stdin can't be read")?;
        Ok(Self { input, cutter: Cutter::new(LINE_LIMIT), buffer: Vec::with_capacity(CHUNK) })
    }

    /// The lines that the next read ends, if any; nothing once the agent has said all. Nothing is lost where it is
    /// dropped before.
    pub(super) async fn next(&mut self) -> Option<Vec<Piece>> {
        // Whoever goes in an unusual way has said all, too.
        self.buffer.clear();
        let count = self.input.read(&mut self.buffer).await.unwrap_or_default();
        let mut pieces = Vec::new();
        if count == 0 {
            let last = self.cutter.end()?;
            return Some(vec![last]);
        }
        self.cutter.push(&self.buffer, |piece| pieces.push(piece));
        Some(pieces)
    }
}

/// What goes to the agent.
pub(super) struct Agent {
    output: Ready<'static>,
    unwritten: Vec<u8>,
    /// How much of that is written.
    written: usize,
    is_gone: bool,
}

impl Agent {
    pub(super) fn new() -> Result<Self> {
        let output = Ready::output(rustix::stdio::stdout()).context("stdout can't be written")?;
        Ok(Self { output, unwritten: Vec::new(), written: 0, is_gone: false })
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

    /// Whether something is queued still.
    pub(super) fn is_behind(&self) -> bool {
        !self.unwritten.is_empty()
    }

    /// Waits until the agent reads on.
    pub(super) async fn has_room(&self) {
        // An error is told by the next write.
        let _ = self.output.has_room().await;
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
    pub(super) async fn finish(mut self) {
        let write_all = async {
            self.write();
            while self.is_behind() {
                self.has_room().await;
                self.write();
            }
        };
        // Either it is written or the time is over.
        let _ = tokio::time::timeout(LAST, write_all).await;
    }
}
