//! A file of the project during launches: entries in, and afterwards what the user had.
//!
//! All launches that use one file share its journal, and change both under one lock: what stands in the file is always
//! the user's text with the entries of those who run. The last one out leaves the user's text alone. Whoever comes next
//! does the same for those who died.

mod git;
mod journal;
mod store;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context, Result, anyhow, bail};

use super::owner::{Now, Owner};
use crate::environment::utf8;
use crate::files::{self, Held, Lock, ProjectFile};
use crate::output::Output;
use journal::{Entries, Journal};
use store::Store;

/// How long another squire may take for the same file, or somebody may keep saving it.
const PATIENCE: Duration = Duration::from_secs(10);

/// A file of the project that a launch has entries in.
#[derive(Debug)]
pub(super) struct Merged {
    store: Store,
    id: String,
    /// The journal as it was at the beginning, should somebody remove it.
    journal: Journal,
    /// What was written into the file then.
    written: Option<Vec<u8>>,
    began: SystemTime,
}

/// What entries are put into.
pub(super) struct Target<'a> {
    /// The directory that the agent runs in.
    pub(super) directory: &'a Path,
    /// The file below it.
    pub(super) path: &'a str,
    /// The object at its top level.
    pub(super) at: &'a str,
}

impl Merged {
    /// Puts a launch's entries into a file, which is made where it is missing.
    ///
    /// On an error the file is as it was.
    pub(super) fn enter(
        state: &Path,
        target: &Target<'_>,
        id: &str,
        entries: &Entries,
        output: Output,
    ) -> Result<Self> {
        let root = utf8(target.directory)?;
        let fresh = Journal::new(&root, target.path, target.at, files::random_name()?);
        // What can't be edited is refused before anything is made for it.
        Session::check(&fresh, id, entries)?;
        let store = Store::of(state, &root, target.path);
        let lock = lock(&store, &fresh.shown())?;
        let (journal, began) = (journal_of(&store, fresh, output)?, SystemTime::now());
        for (name, pid) in journal.clashes(entries) {
            output.notice(&format!(
                "{name} means something else in the launch of process {pid}, whose agent finds this one if it reads {} again",
                journal.shown().display()
            ));
        }
        let mut session = Session::open(&store, journal)?;
        let now = Now::look();
        let entered = session.recover(output).and_then(|()| {
            session.change(|journal| {
                journal.end(|_, owner| !owner.is_alive(&now), time());
                journal.enter(id, entries);
            })
        });
        if let Err(error) = entered {
            session.give_up(id, lock);
            return Err(error);
        }
        let Session { journal, written, .. } = session;
        Ok(Self { store, id: id.to_owned(), journal, written, began })
    }

    /// Takes the launch's entries out: to the byte where nobody edited the file meanwhile and no other launch runs.
    pub(super) fn leave(self, output: Output) -> Result<()> {
        let lock = lock(&self.store, &self.journal.shown())?;
        // What was removed or broken meanwhile is known from the beginning of the launch.
        let journal = self.store.read().ok().flatten().filter(|journal| journal.holds(&self.id));
        let journal = journal.unwrap_or(self.journal);
        let now = Now::look();
        let ended = |id: &str, owner: &Owner| id == self.id || !owner.is_alive(&now);
        let mut session = put_back(&self.store, journal, ended, output)?;
        session.held.extend(self.written);
        session.tell_of_git(self.began, output);
        session.close(lock)
    }
}

/// Takes the entries of ended launches out.
fn put_back<'a>(
    store: &'a Store,
    journal: Journal,
    ended: impl Fn(&str, &Owner) -> bool,
    output: Output,
) -> Result<Session<'a>> {
    let original = journal.original().map(str::to_owned);
    let attempt = || {
        let mut session = Session::open(store, journal)?;
        session.recover(output)?;
        session.change(|journal| journal.end(&ended, time()))?;
        Ok(session)
    };
    attempt().map_err(|error: anyhow::Error| {
        let kept = original.and_then(|original| store.keep_original(&original).ok());
        let kept = kept.map(|kept| format!("; as it was: {}", kept.display())).unwrap_or_default();
        anyhow!("{error:#}; entries of squire may be left in it{kept}")
    })
}

/// Settles what dead launches left in any project, and the stale copies that editors saved later. What another squire
/// is busy with is left to that one.
pub(super) fn settle(state: &Path, output: Output) {
    let now = Now::look();
    for store in Store::all(state) {
        if let Err(error) = settle_one(&store, &now, output) {
            output.message(&format!("{error:#}"));
        }
    }
}

fn settle_one(store: &Store, now: &Now, output: Output) -> Result<()> {
    let Some(lock) = store.lock(Duration::ZERO)? else { return Ok(()) };
    // One that can't be read hinders nobody here; a launch in its project and `squire doctor` name it.
    let Ok(journal) = store.read() else { return Ok(()) };
    let Some(journal) = journal else { return store.remove(lock) };
    let has_dead = journal.has_dead(now);
    // Where the whole directory is gone it may be on a disk that is not there now.
    if (!has_dead && !journal.is_at_rest()) || !files::exists(Path::new(&journal.root)) {
        return Ok(());
    }
    if !has_dead && Session::open(store, journal.clone())?.is_the_users()? {
        return if journal.is_of_long_ago(time()) { store.remove(lock) } else { Ok(()) };
    }
    let session = put_back(store, journal, |_, owner| !owner.is_alive(now), output)?;
    if session.changed {
        let left = if has_dead { "a launch that was killed left" } else { "an old copy brought back" };
        output.notice(&format!("{}: what {left} is taken out", session.shown()));
    }
    session.tell_of_git(SystemTime::UNIX_EPOCH, output);
    session.close(lock)
}

/// The journal of a file, or the fresh one.
fn journal_of(store: &Store, fresh: Journal, output: Output) -> Result<Journal> {
    match store.read() {
        Ok(journal) => Ok(journal.unwrap_or(fresh)),
        Err(reason) => {
            let aside = store.lay_aside()?;
            output.message(&format!("{reason:#}; it was laid aside as {}: squire doctor", aside.display()));
            Ok(fresh)
        }
    }
}

fn lock(store: &Store, shown: &Path) -> Result<Lock> {
    let shown = shown.display();
    store.lock(PATIENCE)?.with_context(|| {
        format!("{shown}: another squire has been changing it for {} s; is one stopped?", PATIENCE.as_secs())
    })
}

fn time() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// A file and its journal, in the hands of one process.
struct Session<'a> {
    store: &'a Store,
    journal: Journal,
    file: ProjectFile,
    /// Whether the journal tells of a change.
    noted: bool,
    /// Whether the file was changed.
    changed: bool,
    /// What was written last.
    written: Option<Vec<u8>>,
    /// Contents with entries of ours that stood in the file.
    held: Vec<Vec<u8>>,
}

impl<'a> Session<'a> {
    fn open(store: &'a Store, journal: Journal) -> Result<Self> {
        let file = ProjectFile::open(Path::new(&journal.root), &journal.path, &journal.token)
            .map_err(|error| anyhow!("{}: {error}", journal.shown().display()))?;
        Ok(Self { store, journal, file, noted: false, changed: false, written: None, held: Vec::new() })
    }

    /// Whether a launch can put entries into the file as it is.
    fn check(fresh: &Journal, id: &str, entries: &Entries) -> Result<()> {
        let shown = fresh.shown().display().to_string();
        let failed = |reason: &dyn std::fmt::Display| anyhow!("{shown}: {reason}");
        let file = ProjectFile::open(Path::new(&fresh.root), &fresh.path, &fresh.token);
        let current = file.and_then(|file| file.read()).map_err(|error| failed(&error))?;
        let mut entered = fresh.clone();
        entered.enter(id, entries);
        entered.with_entries(current.as_ref()).map(drop).map_err(|reason| failed(&reason))
    }

    fn shown(&self) -> String {
        self.journal.shown().display().to_string()
    }

    fn named(&self, error: &dyn std::fmt::Display) -> anyhow::Error {
        anyhow!("{}: {error}", self.shown())
    }

    /// Whether nothing of ours is there.
    fn is_the_users(&self) -> Result<bool> {
        if self.file.has_leftovers() {
            return Ok(false);
        }
        let current = self.file.read().map_err(|error| self.named(&error))?;
        Ok(self.journal.users(current.as_ref()).map_err(|reason| self.named(&reason))? == current)
    }

    /// Clears away what a process left that died between two steps.
    fn recover(&mut self, output: Output) -> Result<()> {
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
    fn change(&mut self, change: impl FnOnce(&mut Journal)) -> Result<()> {
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
    fn give_up(mut self, id: &str, lock: Lock) {
        let undone = if self.noted { self.change(|journal| journal.forget(id)) } else { Ok(()) };
        self.journal.forget(id);
        if undone.is_ok() {
            let _ = self.close(lock);
        }
    }

    /// Says so where git holds our entries: to the user the file then looks changed.
    fn tell_of_git(&self, since: SystemTime, output: Output) {
        let held: Vec<&[u8]> = self.held.iter().map(Vec::as_slice).collect();
        if self.changed
            && self.journal.is_at_rest()
            && git::knows(Path::new(&self.journal.root), &held, since)
        {
            output.message(&format!(
                "{}: it was staged or committed with entries of squire, which are no longer in it: git diff HEAD -- {}",
                self.shown(), self.journal.path
            ));
        }
    }

    /// Removes the directory that we made, where it is empty, and the journal, where nothing has to be remembered.
    fn close(mut self, lock: Lock) -> Result<()> {
        if let Some(made) = self.journal.directory.filter(|_| self.journal.is_at_rest()) {
            self.file.remove_directory(made).map_err(|error| self.named(&error))?;
            // The number that told it from others may be given to another directory now.
            self.journal.directory = None;
            self.store.write(&self.journal)?;
        }
        if self.journal.is_spent() { self.store.remove(lock) } else { Ok(()) }
    }
}

impl Journal {
    /// The file's path.
    fn shown(&self) -> PathBuf {
        Path::new(&self.root).join(&self.path)
    }
}

/// What is known of the files that launches have entries in, or had; for `squire doctor`.
pub(super) fn survey(state: &Path) -> Vec<Surveyed> {
    let now = Now::look();
    let stores = Store::all(state);
    let mut surveyed: Vec<Surveyed> = stores.iter().filter_map(|store| Surveyed::of(store, &now)).collect();
    surveyed.extend(Store::kept(state).into_iter().map(Surveyed::Kept));
    surveyed
}

/// One thing that [`survey`] found.
pub(super) enum Surveyed {
    /// Launches run that have entries in the file.
    Running { file: PathBuf, processes: Vec<i32> },
    /// A launch died that had entries in the file, and they could not be taken out yet.
    Unsettled { file: PathBuf, journal: PathBuf },
    /// Nothing is left; the launches are remembered for a day.
    Remembered { file: PathBuf },
    /// A journal can't be read.
    Unreadable { journal: PathBuf, reason: String },
    /// Something of the user's was kept.
    Kept(PathBuf),
}

impl Surveyed {
    fn of(store: &Store, now: &Now) -> Option<Self> {
        let journal = match store.read() {
            Ok(journal) => journal?,
            Err(error) => {
                return Some(Self::Unreadable { journal: store.file(), reason: format!("{error:#}") });
            }
        };
        let file = journal.shown();
        Some(if journal.has_dead(now) {
            Self::Unsettled { file, journal: store.file() }
        } else if journal.is_at_rest() {
            Self::Remembered { file }
        } else {
            Self::Running { file, processes: journal.owners().map(|owner: &Owner| owner.pid).collect() }
        })
    }
}
