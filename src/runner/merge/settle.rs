//! What dead launches and old copies left in files of projects: taken out, forgotten, or told.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use anyhow::Result;

use super::super::owner::{Now, Owner};
use super::journal::Journal;
use super::put_back;
use super::session::Session;
use super::store::{Found, Store};
use crate::environment::time;
use crate::files;
use crate::output::Output;

/// What came of a file that was not as its user left it.
pub(in super::super) struct Settled {
    /// The file, or the journal where nothing more is known.
    pub(in super::super) file: PathBuf,
    /// Whose entries were taken out, or why they could not be.
    pub(in super::super) outcome: Result<Leaver, String>,
}

/// Who left entries behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Leaver {
    /// A launch that was killed.
    Launch,
    /// An editor that saved an old copy.
    Editor,
}

/// Settles what dead launches left in any project, and the stale copies that editors saved later. What another squire
/// is busy with is left to that one.
pub(in super::super) fn settle(state: &Path, output: Output) -> Vec<Settled> {
    let now = Now::look();
    let settle = |store: &Store| match settle_one(store, &now, output) {
        Ok((file, leaver)) => Some(Settled { file, outcome: Ok(leaver?) }),
        Err(error) => Some(Settled { file: store.file(), outcome: Err(format!("{error:#}")) }),
    };
    Store::all(state).iter().filter_map(settle).collect()
}

fn settle_one(store: &Store, now: &Now, output: Output) -> Result<(PathBuf, Option<Leaver>)> {
    let nothing = Ok((store.file(), None));
    let Some(lock) = store.lock(Duration::ZERO)? else { return nothing };
    // One that can't be read hinders nobody here; a launch in its project and `squire doctor` name it.
    let journal = match store.read()? {
        Found::Journal(journal) => *journal,
        Found::Nothing => return store.remove(lock).and(nothing),
        Found::Broken(_) => return nothing,
    };
    let has_dead = journal.has_dead(now);
    if (!has_dead && !journal.is_at_rest()) || !has_root(&journal) {
        return nothing;
    }
    let is_settled = !has_dead && journal.directory.is_none();
    // What can't be looked at now is the user's business: nothing of ours is known to be in it.
    let has_ours =
        || matches!(Session::open(store, journal.clone()).and_then(|it| it.is_the_users()), Ok(false));
    if is_settled && !has_ours() {
        store.tidy()?;
        return if journal.is_of_long_ago(time()) { store.remove(lock).and(nothing) } else { nothing };
    }
    let leaver = if has_dead { Leaver::Launch } else { Leaver::Editor };
    let mut session = put_back(store, journal, |_, owner| !owner.is_alive(now), output)?;
    session.tell_of_edited(output)?;
    session.tell_of_git(SystemTime::UNIX_EPOCH, output);
    let outcome = (session.journal.shown(), session.changed.then_some(leaver));
    session.close(lock)?;
    Ok(outcome)
}

/// Whether the directory is there that the file is below; it may be on a disk that is not there now.
fn has_root(journal: &Journal) -> bool {
    files::exists(Path::new(&journal.root))
}

/// Forgets the launches that ended; gives the files that they had entries in. What is not settled is not forgotten.
pub fn forget(state: &Path) -> Result<Vec<PathBuf>> {
    let (mut forgotten, now) = (Vec::new(), Now::look());
    for store in Store::all(state) {
        let Some(lock) = store.lock(Duration::ZERO)? else { continue };
        let Ok(Found::Journal(journal)) = store.read() else { continue };
        if !journal.is_at_rest() && journal.owners().all(|owner| !owner.is_alive(&now)) && !has_root(&journal)
        {
            // Nobody knows where it is now: what it was before is kept.
            forgotten.push(journal.shown());
            store.remove(lock)?;
            journal.original().map(|original| store.keep_original(original)).transpose()?;
            continue;
        }
        if journal.is_at_rest()
            && (!has_root(&journal) || Session::open(&store, Journal::clone(&journal))?.is_the_users()?)
        {
            forgotten.push(journal.shown());
            store.remove(lock)?;
        }
    }
    Ok(forgotten)
}

/// What is known of the files that launches have entries in, or had; for `squire doctor`.
pub fn survey(state: &Path) -> Vec<Surveyed> {
    let now = Now::look();
    let stores = Store::all(state);
    let mut surveyed: Vec<Surveyed> = stores.iter().filter_map(|store| Surveyed::of(store, &now)).collect();
    // A copy that a journal still speaks of is no finding of its own.
    let alone = |path: &PathBuf| !files::exists(&path.with_extension("json"));
    surveyed.extend(Store::kept(state).into_iter().filter(alone).map(Surveyed::Kept));
    surveyed
}

/// One thing that [`survey`] found.
pub enum Surveyed {
    /// Launches run that have entries in the file.
    Running {
        /// The file.
        file: PathBuf,
        /// Their processes.
        processes: Vec<i32>,
    },
    /// A launch died that had entries in the file, and they could not be taken out yet.
    Unsettled {
        /// The file.
        file: PathBuf,
        /// Its journal, which knows what it was before.
        journal: PathBuf,
    },
    /// Nothing is left in the file; that launches had entries in it is remembered for a day.
    Remembered {
        /// The file.
        file: PathBuf,
    },
    /// A journal can't be read.
    Unreadable {
        /// The journal.
        journal: PathBuf,
        /// Why.
        reason: String,
    },
    /// Something was kept that could not be put where it belongs: a journal that could not be read, a save.
    Kept(PathBuf),
}

impl Surveyed {
    fn of(store: &Store, now: &Now) -> Option<Self> {
        let unreadable = |reason| Some(Self::Unreadable { journal: store.file(), reason });
        let journal = match store.read() {
            Ok(Found::Journal(journal)) => journal,
            Ok(Found::Nothing) => return None,
            Ok(Found::Broken(reason)) => return unreadable(reason),
            Err(error) => return unreadable(format!("{error:#}")),
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
