//! A file of the project during launches: entries in, and afterwards what the user had.
//!
//! All launches that use one file share its journal, and change both under one lock: what stands in the file is always
//! the user's text with the entries of those who run. The last one out leaves the user's text alone. Whoever comes next
//! does the same for those who died.

mod git;
mod journal;
mod session;
mod settle;
mod store;

use std::path::Path;
use std::rc::Rc;
use std::time::{Duration, SystemTime};

use anyhow::{Context, Result, anyhow};
use squire_strategies::Entries;

use super::owner::{Now, Owner};
use crate::environment::{time, utf8};
use crate::files::{self, Held, Lock};
use crate::output::Output;
pub use journal::Journal;
use session::Session;
pub(super) use settle::{Leaver, settle};
pub use settle::{Surveyed, forget, survey};
use store::{Found, Store};

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
        entries: &Rc<Entries>,
        output: Output,
    ) -> Result<Self> {
        let root = utf8(target.directory)?;
        let fresh = Journal::new(&root, target.path, target.at, files::random_name()?);
        // What can't be edited is refused before anything is made for it.
        Session::check(&fresh, entries)?;
        let store = Store::of(state, &root, target.path);
        let lock = lock(&store, &fresh)?;
        let (journal, began) = (journal_of(&store, fresh, output)?, SystemTime::now());
        for (name, pid) in journal.clashes(entries) {
            output.notice(&format!(
                "{name} means something else in the launch of process {pid}, whose agent finds this one if it reads {} again",
                journal.name()
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
        let lock = lock(&self.store, &self.journal)?;
        // What was removed or broken meanwhile is known from the beginning of the launch.
        let journal = match self.store.read_again(&self.journal)? {
            Found::Journal(journal) if journal.holds(&self.id) => *journal,
            Found::Journal(_) | Found::Nothing | Found::Broken(_) => self.journal,
        };
        let now = Now::look();
        let ended = |id: &str, owner: &Owner| id == self.id || !owner.is_alive(&now);
        let mut session = put_back(&self.store, journal, ended, output)?;
        session.held.extend(self.written);
        session.tell_of_edited(output)?;
        session.tell_of_git(self.began, output);
        session.close(lock)
    }
}

/// What the user has of a file that holds these bytes: without the entries that launches have in it. The bytes are read
/// before the journal, which knows of a change before it is made. The error says why they can't be told apart.
pub fn as_the_user_has_it(
    state: &Path,
    root: &Path,
    path: &str,
    bytes: Vec<u8>,
) -> Result<Option<Vec<u8>>, String> {
    // No launch has ever changed a file below such a root.
    let Some(root) = root.to_str() else { return Ok(Some(bytes)) };
    match Store::of(state, root, path).read().map_err(|error| format!("{error:#}"))? {
        // What can't be read hinders nobody here; a launch in its project and `squire doctor` name it.
        Found::Nothing | Found::Broken(_) => Ok(Some(bytes)),
        Found::Journal(journal) => {
            let users = journal.users(Some(&Held { bytes, mode: 0 }))?;
            Ok(users.map(|held| held.bytes))
        }
    }
}

/// Takes the entries of ended launches out.
fn put_back(
    store: &Store,
    journal: Journal,
    ended: impl Fn(&str, &Owner) -> bool,
    output: Output,
) -> Result<Session<'_>> {
    let original = journal.original().map(str::to_owned);
    let attempt = || {
        let mut session = Session::open(store, journal)?;
        session.recover(output)?;
        session.change(|journal| journal.end(&ended, time()))?;
        store.tidy()?;
        Ok(session)
    };
    attempt().map_err(|error: anyhow::Error| {
        let kept = original.and_then(|original| store.keep_original(&original).ok());
        let kept = kept.map(|kept| format!("; as it was: {}", kept.display())).unwrap_or_default();
        anyhow!("{error:#}; entries of squire may be left in it{kept}")
    })
}

/// The journal of a file, or the fresh one.
fn journal_of(store: &Store, fresh: Journal, output: Output) -> Result<Journal> {
    match store.read()? {
        Found::Journal(journal) => Ok(*journal),
        Found::Nothing => Ok(fresh),
        Found::Broken(reason) => {
            let aside = store.lay_aside()?;
            output.message(&format!("{reason}; it was laid aside as {}: squire doctor", aside.display()));
            Ok(fresh)
        }
    }
}

fn lock(store: &Store, journal: &Journal) -> Result<Lock> {
    let shown = journal.name();
    store.lock(PATIENCE)?.with_context(|| {
        format!("{shown}: another squire has been changing it for {} s; is one stopped?", PATIENCE.as_secs())
    })
}
