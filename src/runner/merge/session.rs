//! A file and its journal in the hands of one process, which holds their lock.

use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Result, anyhow, bail};
use squire_strategies::Entries;

use super::journal::Journal;
use super::store::Store;
use super::{PATIENCE, git};
use crate::files::{Held, Lock, ProjectFile};
use crate::output::Output;
use crate::printable::printable;

/// A file and its journal, in the hands of one process.
pub(super) struct Session<'a> {
    store: &'a Store,
    pub(super) journal: Journal,
    file: ProjectFile,
    /// Whether the journal tells of a change.
    noted: bool,
    /// Whether the file was changed.
    pub(super) changed: bool,
    /// What was written last.
    pub(super) written: Option<Vec<u8>>,
    /// Contents with entries of ours that stood in the file.
    pub(super) held: Vec<Vec<u8>>,
    /// Entries of ours that somebody edited, each with the file as it was then.
    edited: Vec<(String, Vec<u8>)>,
}

impl<'a> Session<'a> {
    pub(super) fn open(store: &'a Store, journal: Journal) -> Result<Self> {
        let file = ProjectFile::open(Path::new(&journal.root), &journal.path, &journal.token)
            .map_err(|error| anyhow!("{}: {error}", journal.name()))?;
        Ok(Self {
            store,
            journal,
            file,
            noted: false,
            changed: false,
            written: None,
            held: Vec::new(),
            edited: Vec::new(),
        })
    }

    /// Whether a launch can put entries into the file as it is.
    pub(super) fn check(fresh: &Journal, entries: &Entries) -> Result<()> {
        let shown = fresh.name();
        let failed = |reason: &dyn std::fmt::Display| anyhow!("{shown}: {reason}");
        let file = ProjectFile::open(Path::new(&fresh.root), &fresh.path, &fresh.token);
        let current = file.and_then(|file| file.read()).map_err(|error| failed(&error))?;
        fresh.with(entries, current.as_ref()).map(drop).map_err(|reason| failed(&reason))
    }

    fn shown(&self) -> String {
        self.journal.name()
    }

    fn named(&self, error: &dyn std::fmt::Display) -> anyhow::Error {
        anyhow!("{}: {error}", self.shown())
    }

    /// Whether nothing of ours is there.
    pub(super) fn is_the_users(&self) -> Result<bool> {
        if self.file.has_leftovers() {
            return Ok(false);
        }
        let current = self.file.read().map_err(|error| self.named(&error))?;
        Ok(self.journal.users(current.as_ref()).map_err(|reason| self.named(&reason))? == current)
    }

    /// Clears away what a process left that died between two steps.
    pub(super) fn recover(&mut self, output: Output) -> Result<()> {
        let journal = &self.journal;
        let superseded = self.file.recover(|bytes| journal.stands_for_original(bytes));
        if let Some(save) = superseded.map_err(|error| self.named(&error))? {
            let kept = self.store.keep_save(&save)?;
            output.message(&format!("{}: an older save of it is kept as {}", self.shown(), kept.display()));
            self.file.discard_recovered().map_err(|error| self.named(&error))?;
        }
        Ok(())
    }

    /// Changes who runs, and the file accordingly.
    pub(super) fn change(&mut self, change: impl FnOnce(&mut Journal)) -> Result<()> {
        let before = self.journal.clone();
        change(&mut self.journal);
        let start = Instant::now();
        while start.elapsed() < PATIENCE {
            if self.attempt(&before)? {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        bail!("{}: somebody keeps saving it", self.shown())
    }

    /// One attempt; `false` where somebody saved the file in between.
    fn attempt(&mut self, before: &Journal) -> Result<bool> {
        let current = self.file.read().map_err(|error| self.named(&error))?;
        let users = before.users(current.as_ref()).map_err(|reason| self.named(&reason))?;
        let next = self.journal.with_entries(users.as_ref()).map_err(|reason| self.named(&reason))?;
        self.journal.step(users.as_ref(), current.as_ref(), next.as_ref());
        if self.journal != *before {
            self.noted = true;
            self.store.write(&self.journal)?;
        }
        if next == current {
            return Ok(true);
        }
        if next.is_some() {
            self.make_directory()?;
        }
        // A failure may come after the change.
        self.changed = true;
        let replaced = self.file.replace(current.as_ref(), next.as_ref());
        let replaced = replaced.map_err(|error| self.named(&error))?;
        if let Some(current) =
            current.as_ref().filter(|held| replaced && !before.stands_for_original(&held.bytes))
        {
            self.edited.extend(before.edited(current).into_iter().map(|name| (name, current.bytes.clone())));
        }
        if replaced && current != users {
            self.held.extend(current.map(|held: Held| held.bytes));
        }
        self.written = next.map(|held| held.bytes);
        Ok(replaced)
    }

    fn make_directory(&mut self) -> Result<()> {
        let Self { store, journal, file, .. } = self;
        let made = file.make_directory(|made| {
            journal.directory = made;
            store.write(journal)
        });
        made.map_err(|error| self.named(&format_args!("{error:#}")))
    }

    /// Undoes a beginning that failed. Of two failures the first is told; what is left the next command settles.
    pub(super) fn give_up(mut self, id: &str, lock: Lock) {
        let undone = if self.noted { self.change(|journal| journal.forget(id)) } else { Ok(()) };
        self.journal.forget(id);
        if undone.is_ok() {
            let _ = self.close(lock);
        }
    }

    /// Says which entries of ours went that somebody had edited, and where the edit is kept.
    pub(super) fn tell_of_edited(&mut self, output: Output) -> Result<()> {
        for (name, file) in std::mem::take(&mut self.edited) {
            let kept = self.store.keep_save(&file)?;
            output.message(&format!(
                "{}: the entry {} of squire was edited, and is taken out; the file with the edit: {}",
                self.shown(),
                printable(&name),
                kept.display()
            ));
        }
        Ok(())
    }

    /// Says so where git holds our entries: to the user the file then looks changed.
    pub(super) fn tell_of_git(&self, since: SystemTime, output: Output) {
        let held: Vec<&[u8]> = self.held.iter().map(Vec::as_slice).collect();
        if self.changed
            && self.journal.is_at_rest()
            && git::knows(Path::new(&self.journal.root), &held, since)
        {
            output.message(&format!(
                "{}: it was staged or committed with entries of squire, which are no longer in it: see git status",
                self.shown()
            ));
        }
    }

    /// Removes the directory that we made, where it is empty, and the journal, where nothing has to be remembered.
    pub(super) fn close(mut self, lock: Lock) -> Result<()> {
        if let Some(made) = self.journal.directory.filter(|_| self.journal.is_at_rest()) {
            self.file.remove_directory(made).map_err(|error| self.named(&error))?;
            // The number that told it from others may be given to another directory now.
            self.journal.directory = None;
            self.store.write(&self.journal)?;
        }
        if self.journal.is_spent() { self.store.remove(lock) } else { Ok(()) }
    }
}
