//! Where journals lie: in the state directory, one a file, with a lock beside it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use sha2::{Digest, Sha256};

use super::journal::Journal;
use crate::files::{self, Lock};

/// What lies in the place of a journal.
pub(super) enum Found {
    /// A journal.
    Journal(Box<Journal>),
    /// Nothing.
    Nothing,
    /// Something that is no journal, for this reason.
    Broken(String),
}

/// The place of one file's journal.
#[derive(Clone, Debug)]
pub(super) struct Store {
    directory: PathBuf,
    key: String,
}

impl Store {
    /// The place for a file, by the real path of its root and its path below that.
    pub(super) fn of(state: &Path, root: &str, path: &str) -> Self {
        let digest = Sha256::new().chain_update(root).chain_update("\0").chain_update(path).finalize();
        let key = files::hexadecimal(digest.get(..16).unwrap_or_default());
        Self { directory: directory(state), key }
    }

    /// The places of all journals, those included of which a process that died left no more than a beginning.
    pub(super) fn all(state: &Path) -> Vec<Self> {
        let directory = directory(state);
        let names = files::names_in(&directory).unwrap_or_default();
        let keys = names.iter().filter_map(|name| name.to_str()?.split_once('.')).map(|(key, _)| key);
        let mut keys: Vec<&str> = keys.filter(|key| is_key(key)).collect();
        keys.sort_unstable();
        keys.dedup();
        keys.into_iter().map(|key| Self { directory: directory.clone(), key: key.into() }).collect()
    }

    /// The journals that could not be read and were laid aside, and what was kept of the user's.
    pub(super) fn kept(state: &Path) -> Vec<PathBuf> {
        let directory = directory(state);
        let names = files::names_in(&directory).unwrap_or_default();
        let is_kept =
            |name: &&str| name.ends_with(UNREADABLE) || name.ends_with(SAVED) || name.ends_with(BEFORE);
        let mut kept: Vec<&str> = names.iter().filter_map(|name| name.to_str()).filter(is_kept).collect();
        kept.sort_unstable();
        kept.into_iter().map(|name| directory.join(name)).collect()
    }

    /// Takes the lock; `None` where another squire holds it for longer than that.
    pub(super) fn lock(&self, patience: Duration) -> Result<Option<Lock>> {
        let name = format!("{}.lock", self.key);
        Lock::take(&self.directory, &name, patience)
            .with_context(|| format!("no journal can be kept in {}", self.directory.display()))
    }

    /// Where the journal lies.
    pub(super) fn file(&self) -> PathBuf {
        self.directory.join(self.name())
    }

    fn name(&self) -> String {
        format!("{}.json", self.key)
    }

    fn temporary(&self) -> String {
        format!("{}.new", self.key)
    }

    /// The journal, where there is one. An error is the system's, and may pass.
    pub(super) fn read(&self) -> Result<Found> {
        self.read_by(Journal::read)
    }

    /// As [`Self::read`], of one that this process wrote.
    pub(super) fn read_again(&self, written: &Journal) -> Result<Found> {
        self.read_by(|bytes| written.read_again(bytes))
    }

    fn read_by(&self, read: impl FnOnce(&[u8]) -> Result<Journal, String>) -> Result<Found> {
        let file = self.file();
        let broken = |reason: &str| {
            Found::Broken(format!("{}: it can't be read as a journal: {reason}", file.display()))
        };
        match files::read_private(&file) {
            Ok(None) => Ok(Found::Nothing),
            Ok(Some(bytes)) => Ok(read(&bytes)
                .map_or_else(|reason| broken(&reason), |journal| Found::Journal(Box::new(journal)))),
            Err(error) if error.raw_os_error().is_none() || !files::is_readable(&file) => {
                Ok(broken(&error.to_string()))
            }
            Err(error) => Err(error).with_context(|| format!("{} can't be read", file.display())),
        }
    }

    /// Removes what a process left that died while it wrote here, and a copy that is no longer needed.
    pub(super) fn tidy(&self) -> Result<()> {
        for name in [self.temporary(), format!("{}{BEFORE}", self.key)] {
            files::remove_private(&self.directory, &name)
                .with_context(|| format!("a copy in {} can't be removed", self.directory.display()))?;
        }
        Ok(())
    }

    /// Writes the journal; it is on the disk afterwards.
    pub(super) fn write(&self, journal: &Journal) -> Result<()> {
        let bytes = journal.bytes()?;
        files::write_lasting(&self.directory, &self.name(), &self.temporary(), &bytes)
            .with_context(|| format!("the journal {} can't be written", self.file().display()))
    }

    /// Removes the journal, and a beginning of one, and lets go of the lock, whose file goes too.
    pub(super) fn remove(&self, lock: Lock) -> Result<()> {
        for name in [self.name(), self.temporary(), format!("{}{BEFORE}", self.key)] {
            files::remove_private(&self.directory, &name)
                .with_context(|| format!("the journal {} can't be removed", self.file().display()))?;
        }
        lock.remove().context("the journal's lock can't be removed")
    }

    /// Lays a journal that can't be read aside, where it hinders nobody and is lost to nobody. Gives its new path.
    pub(super) fn lay_aside(&self) -> Result<PathBuf> {
        let name = format!("{}-{}{UNREADABLE}", self.key, files::random_name()?);
        files::move_private(&self.directory, &self.name(), &name)
            .with_context(|| format!("{} can't be laid aside", self.file().display()))?;
        Ok(self.directory.join(name))
    }

    /// Keeps a save of the user's that a newer one stands in place of. Gives its path.
    pub(super) fn keep_save(&self, bytes: &[u8]) -> Result<PathBuf> {
        self.keep(&format!("{}-{}{SAVED}", self.key, files::random_name()?), bytes)
    }

    /// Keeps what a file was before launches changed it. Gives its path.
    pub(super) fn keep_original(&self, text: &str) -> Result<PathBuf> {
        self.keep(&format!("{}{BEFORE}", self.key), text.as_bytes())
    }

    fn keep(&self, name: &str, bytes: &[u8]) -> Result<PathBuf> {
        files::write_lasting(&self.directory, name, &self.temporary(), bytes)
            .with_context(|| format!("nothing can be kept in {}", self.directory.display()))?;
        Ok(self.directory.join(name))
    }
}

const UNREADABLE: &str = ".unreadable";
const SAVED: &str = ".saved";
const BEFORE: &str = ".before";

fn directory(state: &Path) -> PathBuf {
    state.join("merges")
}

fn is_key(key: &str) -> bool {
    files::is_hexadecimal(key, 16)
}
