//! A file of the project during a launch: entries in, and afterwards what the user had.

use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, bail};
use serde_json::{Map, Value};

use super::json_edit;
use crate::files::{Held, ProjectFile};

/// How often a save by somebody else may get in between before squire gives up.
const ATTEMPTS: usize = 16;

const NOT_TEXT: &str = "it is not UTF-8";

/// A file with our entries in it.
#[derive(Debug)]
pub(super) struct Merged<'plan> {
    file: ProjectFile,
    shown: String,
    at: &'static str,
    entries: &'plan Map<String, Value>,
    original: Option<Held>,
    ours: Vec<u8>,
}

impl<'plan> Merged<'plan> {
    /// Puts entries into the file `path` below the project's directory; it is made where it is missing. `keep` gets
    /// what the file holds before it is changed.
    pub(super) fn apply(
        directory: &Path,
        path: &str,
        at: &'static str,
        entries: &'plan Map<String, Value>,
        keep: impl FnOnce(&[u8]) -> Result<PathBuf>,
    ) -> Result<Self> {
        let shown = directory.join(path).display().to_string();
        let failed = |error: &dyn std::fmt::Display| anyhow!("{shown}: {error}");
        let file = ProjectFile::open(directory, path).map_err(|error| failed(&error))?;
        match Self::put_in(&file, at, entries, keep) {
            Ok((original, ours)) => Ok(Self { file, shown, at, entries, original, ours }),
            Err(error) => {
                let error = failed(&error);
                // Of two failures the first is told.
                let _ = file.close();
                Err(error)
            }
        }
    }

    fn put_in(
        file: &ProjectFile,
        at: &str,
        entries: &Map<String, Value>,
        keep: impl FnOnce(&[u8]) -> Result<PathBuf>,
    ) -> Result<(Option<Held>, Vec<u8>)> {
        let mut keep = Some(keep);
        for _ in 0..ATTEMPTS {
            let original = file.read()?;
            let held = original.as_ref().map(|held| held.bytes.as_slice()).unwrap_or_default();
            let text = std::str::from_utf8(held).map_err(|_| anyhow!(NOT_TEXT))?;
            let ours = json_edit::add(text, at, entries).map_err(|reason| anyhow!(reason))?.into_bytes();
            if let Some(held) = &original
                && let Some(keep) = keep.take()
            {
                keep(&held.bytes)?;
            }
            if file.replace(original.as_ref(), &ours)? {
                return Ok((original, ours));
            }
        }
        bail!("somebody keeps saving it")
    }

    /// Puts back what the user had: to the byte where nobody edited meanwhile, else without our entries alone.
    pub(super) fn undo(self) -> Result<()> {
        let undone = self
            .take_out()
            .map_err(|error| anyhow!("{}: {error}; entries of squire may be left in it", self.shown));
        let closed = self.file.close().map_err(|error| anyhow!("{}: {error}", self.shown));
        undone.and(closed)
    }

    fn take_out(&self) -> Result<()> {
        for _ in 0..ATTEMPTS {
            // Deleted meanwhile: then that is what the user wants.
            let Some(now) = self.file.read()? else { return Ok(()) };
            let settled = match self.without_ours(&now)? {
                Some(bytes) => self.file.replace(Some(&now), &bytes)?,
                None => self.file.remove(&now)?,
            };
            if settled {
                return Ok(());
            }
        }
        bail!("somebody keeps saving it")
    }

    /// What is to stand in the file, or `None` where it is to go.
    fn without_ours(&self, now: &Held) -> Result<Option<Vec<u8>>> {
        let original = self.original.as_ref().map(|held| held.bytes.clone());
        if now.bytes == self.ours {
            return Ok(original);
        }
        let text = |bytes| std::str::from_utf8(bytes).map_err(|_| anyhow!(NOT_TEXT));
        let original = original.as_deref().map(text).transpose()?;
        json_edit::take_out(text(&now.bytes)?, self.at, self.entries, original, text(&self.ours)?)
            .map(|text| text.map(String::into_bytes))
            .map_err(|reason| anyhow!(reason))
    }
}
