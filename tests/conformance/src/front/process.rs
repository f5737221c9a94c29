//! One process that speaks stdio, and the streams that wait for what it says.

use std::io::{self, BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";
/// How long a process may take to end once its input has.
const GRACE: Duration = Duration::from_secs(5);

/// A process; its input ends when this is dropped.
pub(super) struct Process {
    stdin: Mutex<Option<ChildStdin>>,
    child: Mutex<Child>,
    streams: Arc<Mutex<Streams>>,
}

#[derive(Default)]
struct Streams {
    open: Vec<Stream>,
    opened: u64,
}

struct Stream {
    ticket: u64,
    /// The request that it answers, as JSON; none of the stream of a GET.
    id: Option<String>,
    lines: Sender<String>,
}

impl Process {
    pub(super) fn start(command: &mut Command) -> io::Result<Self> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        let streams = Arc::new(Mutex::new(Streams::default()));
        let reading = Arc::clone(&streams);
        thread::spawn(move || {
            let lines = stdout.into_iter().flat_map(|stdout| BufReader::new(stdout).lines());
            for line in lines.map_while(Result::ok) {
                lock(&reading).route(line);
            }
            lock(&reading).open.clear();
        });
        Ok(Self { stdin: Mutex::new(stdin), child: Mutex::new(child), streams })
    }

    /// Opens a stream for the answer to a request, or for what belongs to none.
    pub(super) fn open(&self, id: Option<&str>) -> (u64, Receiver<String>) {
        let (lines, received) = channel();
        loop {
            let mut streams = lock(&self.streams);
            // Clients of this wire are many, and one process has one space of ids.
            if id.is_none() || !streams.open.iter().any(|stream| stream.id.as_deref() == id) {
                streams.opened += 1;
                let ticket = streams.opened;
                streams.open.push(Stream { ticket, id: id.map(str::to_owned), lines });
                return (ticket, received);
            }
            drop(streams);
            thread::sleep(Duration::from_millis(5));
        }
    }

    pub(super) fn close(&self, ticket: u64) {
        lock(&self.streams).open.retain(|stream| stream.ticket != ticket);
    }

    /// Writes one message.
    pub(super) fn say(&self, message: &[u8]) -> io::Result<()> {
        let mut stdin = lock(&self.stdin);
        let Some(stdin) = stdin.as_mut() else { return Err(io::ErrorKind::BrokenPipe.into()) };
        stdin.write_all(&[message, b"\n"].concat())
    }
}

impl Streams {
    fn route(&mut self, line: String) {
        let Ok(message) = serde_json::from_str::<Value>(&line) else { return };
        let place = if message.get("method").is_none() {
            let id = message["id"].to_string();
            self.open.iter().position(|stream| stream.id.as_ref() == Some(&id))
        } else if let Some(id) = message["params"]["_meta"].get(SUBSCRIPTION).map(Value::to_string) {
            self.open.iter().position(|stream| stream.id.as_ref() == Some(&id))
        } else {
            let newest = self.open.iter().rposition(|stream| stream.id.is_some());
            newest.or_else(|| self.open.iter().rposition(|stream| stream.id.is_none()))
        };
        let Some(place) = place else { return };
        let is_answer = message.get("method").is_none();
        // A stream whose client is gone is closed by the one who holds its other end.
        let _ = self.open[place].lines.send(line);
        if is_answer {
            self.open.remove(place);
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        *lock(&self.stdin) = None;
        let mut child = lock(&self.child);
        let end = Instant::now() + GRACE;
        while Instant::now() < end && matches!(child.try_wait(), Ok(None)) {
            thread::sleep(Duration::from_millis(5));
        }
        // It may have ended by itself.
        child.kill().ok();
        child.wait().ok();
    }
}

fn lock<Locked>(mutex: &Mutex<Locked>) -> MutexGuard<'_, Locked> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
