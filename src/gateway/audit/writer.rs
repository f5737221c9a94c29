//! The thread that writes the audit's lines, and turns its files.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::Receiver;
use std::thread;
use std::time::{Duration, SystemTime};

use super::key::Digests;
use super::line::{Entry, What, Whose, line};
use super::{DIRECTORY, FILES};
use crate::files::{self, Lock};
use crate::output::Output;
use crate::runner;

/// From this length on a file gets the next name: 32 MiB are kept in all.
pub(super) const LARGEST_FILE: u64 = 8 * 1024 * 1024;
/// What is written in one go, unless one line alone is longer.
const BATCH: usize = 64 * 1024;
/// How long more is waited for once something is there. A call that wakes nobody is a call that waits for nobody: where
/// both are on one core, that is what an audit costs most.
const GATHERING: Duration = Duration::from_millis(50);
/// How much may gather, in bytes: many calls at once would come to megabytes.
pub(super) const GATHERED: usize = 16 * 1024;
/// How long another gateway may take to turn the files.
const PATIENCE: Duration = Duration::from_millis(200);

pub(super) struct Writer {
    directory: PathBuf,
    whose: Whose,
    /// What stands for arguments; none where they are kept.
    digests: Option<Arc<Digests>>,
    pub(super) largest_file: u64,
    /// What went wrong is said once.
    has_complained: bool,
}

impl Writer {
    pub(super) fn new(
        state: &Path,
        launch: Option<&str>,
        agent: &str,
        server: &str,
        digests: Option<Arc<Digests>>,
    ) -> Self {
        // The id comes out of an environment that an agent passes on.
        let launch = launch.filter(|id| runner::is_id(id)).map(str::to_owned);
        let whose = Whose { launch, agent: agent.to_owned(), server: server.to_owned() };
        let directory = state.join(DIRECTORY);
        Self { directory, whose, digests, largest_file: LARGEST_FILE, has_complained: false }
    }

    /// Writes until nobody is left who could send more.
    pub(super) fn run(mut self, entries: &Receiver<Entry>, waiting: &AtomicUsize, lost: &AtomicUsize) {
        while let Ok(first) = entries.recv() {
            thread::park_timeout(GATHERING);
            let mut next = Some(first);
            while let Some(first) = next.take() {
                next = self.write_some(first, entries, waiting, lost);
            }
        }
    }

    /// Writes an entry and what waits behind it, as much as goes in one piece; gives the first of what is left.
    fn write_some(
        &mut self,
        first: Entry,
        entries: &Receiver<Entry>,
        waiting: &AtomicUsize,
        lost: &AtomicUsize,
    ) -> Option<Entry> {
        let (mut lines, mut count, mut next) = (String::new(), 0, Some(first));
        let missing = lost.swap(0, Ordering::Relaxed);
        if missing > 0 {
            let what = What::Event("lost", format!("{missing} lines could not be written"));
            self.add(Entry { time: SystemTime::now(), what }, &mut lines);
            self.complain("too much waits for the disk");
        }
        while lines.len() < BATCH
            && let Some(entry) = next.take()
        {
            waiting.fetch_sub(entry.size(), Ordering::Relaxed);
            self.add(entry, &mut lines);
            count += 1;
            next = entries.try_recv().ok();
        }
        if let Err(error) = self.write(&lines) {
            lost.fetch_add(count + missing, Ordering::Relaxed);
            self.complain(&error.to_string());
        }
        next
    }

    fn add(&self, mut entry: Entry, lines: &mut String) {
        if let Some(digests) = &self.digests {
            entry.shorten(digests);
        }
        lines.push_str(&line(&entry, &self.whose));
        lines.push('\n');
    }

    fn write(&mut self, lines: &str) -> io::Result<()> {
        let length = files::append_private(&self.directory, FILES[0], lines.as_bytes())?;
        // The lines are safe: what hinders the turning is told, and is no loss.
        if length >= self.largest_file
            && let Err(error) = self.turn()
        {
            self.complain(&format!("its files can't be renamed: {error}"));
        }
        Ok(())
    }

    /// Gives each file the next name, the oldest first, whose lines go. A gateway that has a file open meanwhile adds
    /// its line there.
    fn turn(&self) -> io::Result<()> {
        // Whoever holds the lock for so long is doing the same.
        let Some(_lock) = Lock::take(&self.directory, "turn.lock", PATIENCE)? else { return Ok(()) };
        let current = files::length_and_time(&self.directory.join(FILES[0]));
        // Another gateway may have done it while this one waited.
        if current.is_some_and(|(length, _)| length >= self.largest_file) {
            for (name, next) in FILES.iter().zip(&FILES[1..]).rev() {
                if files::exists(&self.directory.join(name)) {
                    files::move_private(&self.directory, name, next)?;
                }
            }
        }
        Ok(())
    }

    fn complain(&mut self, reason: &str) {
        if !self.has_complained {
            self.has_complained = true;
            let (server, directory) = (&self.whose.server, self.directory.display());
            let what = format!("{server}: not every call gets into the audit in {directory}: {reason}");
            Output::default().message(&what);
        }
    }
}
