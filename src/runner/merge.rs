//! A file of the project during a launch: entries in, and afterwards what the user had.

use std::path::Path;

use anyhow::{Result, anyhow, bail};
use serde_json::{Map, Value};

use super::json_edit;
use crate::files::{Held, ProjectFile};

/// How often a save by somebody else may get in between before squire gives up.
const ATTEMPTS: usize = 16;

/// A file with our entries in it.
#[derive(Debug)]
pub(super) struct Merged {
    file: ProjectFile,
    shown: String,
    at: &'static str,
    entries: Map<String, Value>,
    original: Option<Held>,
    ours: Vec<u8>,
}

impl Merged {
    /// Puts entries into the file `path` below the project's directory; it is made where it is missing.
    pub(super) fn apply(
        directory: &Path,
        path: &str,
        at: &'static str,
        entries: &Map<String, Value>,
    ) -> Result<Self> {
        let shown = directory.join(path).display().to_string();
        let failed = |error: &dyn std::fmt::Display| anyhow!("{shown}: {error}");
        let file = ProjectFile::open(directory, path).map_err(|error| failed(&error))?;
        match Self::put_in(&file, at, entries) {
            Ok((original, ours)) => Ok(Self { file, shown, at, entries: entries.clone(), original, ours }),
            Err(error) => {
                let error = failed(&error);
                // Of two failures the first is told.
                let _ = file.close();
                Err(error)
            }
        }
    }

    fn put_in(file: &ProjectFile, at: &str, entries: &Map<String, Value>) -> Result<(Option<Held>, Vec<u8>)> {
        for _ in 0..ATTEMPTS {
            let original = file.read()?;
            let text = as_text(original.as_ref())?;
            let ours = json_edit::add(text, at, entries).map_err(|reason| anyhow!(reason))?.into_bytes();
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
            let settled = if now.bytes == self.ours {
                match &self.original {
                    Some(original) => self.file.replace(Some(&now), &original.bytes)?,
                    None => self.file.remove(&now)?,
                }
            } else {
                let original = as_text(self.original.as_ref())?;
                let without = json_edit::take_out(
                    as_text(Some(&now))?,
                    self.at,
                    &self.entries,
                    self.original.as_ref().map(|_| original),
                )
                .map_err(|reason| anyhow!(reason))?;
                self.file.replace(Some(&now), without.as_bytes())?
            };
            if settled {
                return Ok(());
            }
        }
        bail!("somebody keeps saving it")
    }
}

fn as_text(held: Option<&Held>) -> Result<&str> {
    held.map_or(Ok(""), |held| std::str::from_utf8(&held.bytes).map_err(|_| anyhow!("it is not UTF-8")))
}
