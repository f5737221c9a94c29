//! The audit: what an agent asked of a server, one line of JSON a call, in the state directory.
//!
//! It is written behind. The relay hands calls over once their answers are out; one thread writes, and whatever the disk
//! does, no call waits for it or fails. What could not be written is told once, and counted in the audit as soon as that
//! can be written again.

mod key;
mod line;
mod writer;

use std::cell::{Cell, OnceCell, RefCell};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, Thread};
use std::time::{Duration, SystemTime};

use squire_relay::{Call, Note, Seal, Sealed};

use crate::config::Declaration;
use crate::files::{self, Growing};
use crate::output::Output;
use key::{Digests, Key};
use line::{Entry, What};
use writer::{GATHERED, Writer};

/// Its directory below the state directory.
pub(crate) const DIRECTORY: &str = "audit";
/// Its files, the newest lines first.
pub(crate) const FILES: [&str; 4] = ["calls.jsonl", "calls.1.jsonl", "calls.2.jsonl", "calls.3.jsonl"];
pub(crate) use key::FILE as KEY_FILE;
pub(crate) use line::on_one_line;

/// Arguments above this are named by their digest alone.
const LARGEST_ARGUMENTS: usize = 1024 * 1024;
/// Arguments up to this are kept until their digest is made where nobody waits for it.
const SHORT_ARGUMENTS: usize = 1024;
/// How many entries are kept room for that are noted at once.
const AT_ONCE: usize = 16;
/// How much may wait for the disk, in bytes: of what comes on top the arguments are kept by their digest alone,
const LARGEST_QUEUE: usize = 8 * 1024 * 1024;
/// and from here on it is lost.
const FULL_QUEUE: usize = LARGEST_QUEUE + 1024 * 1024;
/// How long the end of a gateway waits for the disk.
const PATIENCE: Duration = Duration::from_secs(1);

/// What is written down of a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum AuditKind {
    /// Nothing.
    Off,
    /// All but its arguments, and of these a digest.
    #[default]
    Digest,
    /// All.
    Full,
}

impl AuditKind {
    /// As a server's declaration has it in `audit`.
    pub(crate) fn of(declaration: Option<&Declaration>) -> Self {
        let audit = declaration.and_then(|declaration| declaration.audit.as_ref());
        match audit.map(|word| word.value.as_str()) {
            Some("off") => Self::Off,
            Some("full") => Self::Full,
            Some(_) | None => Self::Digest,
        }
    }
}

/// The audit of one gateway.
pub(crate) struct Audit {
    kind: AuditKind,
    /// The server's name.
    server: String,
    digests: Arc<Digests>,
    /// Begun with the first line: most gateways of a session are asked nothing.
    queue: OnceCell<Option<Queue>>,
    /// What begins it.
    writer: Cell<Option<Writer>>,
    /// What is handed over next.
    noted: RefCell<Vec<Entry>>,
}

/// What waits for the disk.
struct Queue {
    entries: Sender<Entry>,
    /// How much that is, in bytes.
    waiting: Arc<AtomicUsize>,
    /// How many entries were never written.
    lost: Arc<AtomicUsize>,
    /// Hears of the writer's end.
    ended: Receiver<()>,
    /// Whoever waits for more to come is waked by the end.
    writer: Thread,
}

impl Audit {
    /// The audit of a gateway. What hinders it is said on stderr, and hinders nothing else.
    pub(crate) fn open(
        state: &Path,
        launch: Option<&str>,
        agent: &str,
        server: &str,
        kind: AuditKind,
    ) -> Self {
        let digests = Arc::new(Digests::new(state, server));
        let is_on = kind != AuditKind::Off;
        // The thread that writes makes what digests were not made yet.
        let made = (kind == AuditKind::Digest).then(|| Arc::clone(&digests));
        let writer = is_on.then(|| Writer::new(state, launch, agent, server, made));
        Self {
            kind,
            server: server.to_owned(),
            digests,
            queue: OnceCell::new(),
            writer: Cell::new(writer),
            noted: RefCell::default(),
        }
    }

    /// What the relay is to keep of arguments until a call is over.
    pub(crate) fn seal(&self) -> Seal {
        let digests = Arc::clone(&self.digests);
        let longest_text = match self.kind {
            AuditKind::Off => return Box::new(|_| None),
            AuditKind::Digest => SHORT_ARGUMENTS,
            AuditKind::Full => LARGEST_ARGUMENTS,
        };
        Box::new(move |arguments| {
            if arguments.len() <= longest_text {
                Some(Sealed::Text(arguments.to_owned()))
            } else {
                digests.of(arguments)
            }
        })
    }

    /// Notes a call that is over.
    pub(crate) fn record(&self, call: Call) {
        self.push(What::Call(call));
    }

    /// Notes what happened beside the calls.
    pub(crate) fn note(&self, note: &Note) {
        let what = match note {
            // What a server prints is no event, and may hold anything.
            Note::Noise(_) => return,
            Note::Sampling => What::Event("sampling", String::new()),
            Note::Refused(why) => What::Event("refused", why.clone()),
            Note::Different(what) => What::Event("different", what.clone()),
            Note::Unasked(id) => What::Event("unasked", id.clone()),
        };
        self.push(what);
    }

    fn push(&self, what: What) {
        self.noted.borrow_mut().push(Entry { time: SystemTime::now(), what });
    }

    /// Has what was noted written down. Returns at once, but may wake the thread that writes, so that nobody should be
    /// kept waiting behind it.
    pub(crate) fn hand_over(&self) {
        let mut noted = self.noted.borrow_mut();
        if noted.is_empty() {
            return;
        }
        let begin = || {
            let began = Queue::start(self.writer.take()?);
            began.map_err(|error| self.say(&format!("there is no audit of its calls: {error}"))).ok()
        };
        if let Some(queue) = self.queue.get_or_init(begin) {
            for mut entry in noted.drain(..) {
                if !queue.has_room_for(&entry) {
                    entry.shorten(&self.digests);
                }
                queue.push(entry);
            }
        }
        noted.clear();
        noted.shrink_to(AT_ONCE);
    }

    fn say(&self, what: &str) {
        Output::default().message(&format!("{}: {what}", self.server));
    }
}

/// What stands in the way of the audit below a state directory: files of it that can't be used, each with the reason.
pub(crate) fn hindrances(state: &Path) -> Vec<(PathBuf, String)> {
    let (lines, key) = (state.join(DIRECTORY).join(FILES[0]), state.join(KEY_FILE));
    // What lies in the place of the directory is found with all others of its kind.
    let of_lines =
        if files::is_directory(&state.join(DIRECTORY)) { Growing::open(&lines).map(drop) } else { Ok(()) };
    let of_key = Key::look(state);
    [(lines, of_lines), (key, of_key)]
        .into_iter()
        .filter_map(|(path, outcome)| Some((path, outcome.err()?.to_string())))
        .collect()
}

impl Queue {
    fn start(writer: Writer) -> std::io::Result<Self> {
        let (entries, to_write) = channel();
        let (alive, ended) = channel();
        let (waiting, lost) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let (written, given_up) = (Arc::clone(&waiting), Arc::clone(&lost));
        let thread = thread::Builder::new().name("audit".into()).spawn(move || {
            writer.run(&to_write, &written, &given_up);
            // Whoever waits for the end hears of it by this going away.
            drop(alive);
        })?;
        Ok(Self { entries, waiting, lost, ended, writer: thread.thread().clone() })
    }

    fn has_room_for(&self, entry: &Entry) -> bool {
        self.waiting.load(Ordering::Relaxed) + entry.size() <= LARGEST_QUEUE
    }

    fn push(&self, entry: Entry) {
        let size = entry.size();
        let waited = self.waiting.fetch_add(size, Ordering::Relaxed);
        if waited + size > FULL_QUEUE {
            self.waiting.fetch_sub(size, Ordering::Relaxed);
            self.lost.fetch_add(1, Ordering::Relaxed);
        } else if self.entries.send(entry).is_err() {
            self.lost.fetch_add(1, Ordering::Relaxed);
        } else if waited < GATHERED && waited + size >= GATHERED {
            self.writer.unpark();
        }
    }
}

impl Drop for Audit {
    fn drop(&mut self) {
        self.hand_over();
        if let Some(Some(Queue { entries, ended, writer, .. })) = self.queue.take() {
            drop(entries);
            writer.unpark();
            // Either the writer's end or the end of patience: there is nothing to do about the second.
            let _ = ended.recv_timeout(PATIENCE);
        }
    }
}

#[cfg(test)]
mod tests;
