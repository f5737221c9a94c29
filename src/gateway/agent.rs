//! The agent's side: two plain threads for this process's own stdin and stdout, which may be pipes, sockets or a
//! terminal. An asynchronous reader of a terminal or a socket would have to reopen them, or would keep the process alive.

use std::io::{self, BufReader, Read};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc as blocking;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};
use tokio::sync::{Notify, mpsc};

use crate::mcp::LINE_LIMIT;
use crate::mcp::lines::{Line, Lines};

/// How many lines are read ahead.
const AHEAD: usize = 64;
/// How many bytes may wait for an agent that does not read; then the server waits.
const UNREAD: usize = 8 * 1024 * 1024;
/// How long the last lines may take.
const LAST: Duration = Duration::from_secs(1);

/// The lines that the agent sends; the channel closes with its stdin.
pub(super) fn lines() -> Result<mpsc::Receiver<Line>> {
    let (sender, lines) = mpsc::channel(AHEAD);
    let read = move || {
        for line in Lines::new(BufReader::with_capacity(64 * 1024, Stdin), LINE_LIMIT) {
            let Ok(line) = line else { return };
            if sender.blocking_send(line).is_err() {
                return;
            }
        }
    };
    thread::Builder::new().name("agent's words".into()).spawn(read).context("stdin can't be read")?;
    Ok(lines)
}

struct Stdin;

impl Read for Stdin {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        Ok(rustix::io::read(rustix::stdio::stdin(), buffer)?)
    }
}

/// What goes to the agent.
pub(super) struct Agent {
    lines: blocking::Sender<Vec<u8>>,
    waiting: Arc<AtomicUsize>,
    /// Told when there is room again, and when the agent reads no more.
    pub(super) news: Arc<Notify>,
    ended: blocking::Receiver<()>,
}

impl Agent {
    pub(super) fn new() -> Result<Self> {
        let (lines, unwritten) = blocking::channel::<Vec<u8>>();
        let (tell, ended) = blocking::channel();
        let (waiting, news) = (Arc::new(AtomicUsize::new(0)), Arc::new(Notify::new()));
        let (counter, room) = (Arc::clone(&waiting), Arc::clone(&news));
        let write = move || {
            write_all(&unwritten, &counter, &room);
            // Whoever waits for room, or for the end, goes on.
            drop(tell);
            drop(unwritten);
            room.notify_one();
        };
        thread::Builder::new()
            .name("words to the agent".into())
            .spawn(write)
            .context("stdout can't be written")?;
        Ok(Self { lines, waiting, news, ended })
    }

    /// Queues a line; `false` once the agent reads no more.
    pub(super) fn send(&self, mut line: Vec<u8>) -> bool {
        line.push(b'\n');
        self.waiting.fetch_add(line.len(), Ordering::Relaxed);
        self.lines.send(line).is_ok()
    }

    /// Whether more may be queued.
    pub(super) fn has_room(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) < UNREAD
    }

    /// Whether the agent reads no more.
    pub(super) fn is_gone(&self) -> bool {
        matches!(self.ended.try_recv(), Err(blocking::TryRecvError::Disconnected))
    }

    /// Waits a moment until what is queued is written.
    pub(super) fn finish(self) {
        drop(self.lines);
        // Either it is written or the time is over.
        let _ = self.ended.recv_timeout(LAST);
    }
}

/// Writes what is queued, as much at once as is there.
fn write_all(unwritten: &blocking::Receiver<Vec<u8>>, waiting: &AtomicUsize, room: &Notify) {
    while let Ok(mut lines) = unwritten.recv() {
        while lines.len() < 64 * 1024
            && let Ok(more) = unwritten.try_recv()
        {
            lines.extend_from_slice(&more);
        }
        let mut rest = lines.as_slice();
        while !rest.is_empty() {
            match rustix::io::write(rustix::stdio::stdout().as_fd(), rest) {
                Ok(count) => rest = rest.get(count..).unwrap_or_default(),
                Err(rustix::io::Errno::INTR) => {}
                Err(rustix::io::Errno::AGAIN) => thread::sleep(Duration::from_millis(1)),
                Err(_) => return,
            }
        }
        if waiting.fetch_sub(lines.len(), Ordering::Relaxed) >= UNREAD {
            room.notify_one();
        }
    }
}
