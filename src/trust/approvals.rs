//! Approvals: the user's recorded yes to one digest in one place, one file each in the state directory.
//!
//! A file that can't be read approves nothing. What is recorded is what was shown: the canonical declaration, and what it
//! was bound to.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use super::binding::Binding;
use crate::files;

const VERSION: u32 = 1;
const MISFIT: &str = "it does not fit its own content";

/// Where an approval holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Place {
    /// For the user's own layers, wherever squire runs.
    User,
    /// In the project of this real path.
    Project(String),
    /// In the files of this agent that the project of this real path has.
    Agent {
        /// The strategy that reads them.
        agent: String,
        /// The project.
        project: String,
    },
}

impl Place {
    /// The project that it is in.
    pub fn project(&self) -> Option<&str> {
        match self {
            Self::User => None,
            Self::Project(project) | Self::Agent { project, .. } => Some(project),
        }
    }
}

/// How the user said yes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Word {
    /// Answered on a terminal.
    Terminal,
    /// Gave the digest on the command line.
    Digest,
}

/// One recorded yes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Approval {
    version: u32,
    /// The server's name.
    pub name: String,
    /// Where it holds.
    pub place: Place,
    /// The digest of the declaration.
    pub digest: String,
    /// The canonical declaration, as it was shown.
    pub declaration: Map<String, Value>,
    /// What it was bound to.
    pub binding: Binding,
    /// When, in seconds since 1970.
    pub time: u64,
    /// How.
    pub word: Word,
}

impl Approval {
    /// An approval of a declaration, made now.
    pub fn new(
        name: &str,
        place: Place,
        declaration: Map<String, Value>,
        binding: Binding,
        word: Word,
    ) -> Self {
        let digest = super::digest::digest(&declaration);
        let time = crate::environment::time();
        Self { version: VERSION, name: name.into(), place, digest, declaration, binding, time, word }
    }

    /// Reads the text of one; what names another digest than its own declaration's is none. Pure.
    pub fn read(bytes: &[u8]) -> Result<Self> {
        let approval: Self = serde_json::from_slice(bytes)?;
        if approval.version != VERSION {
            bail!("its version is {}, and this squire knows {VERSION}", approval.version);
        }
        if approval.digest != super::digest::digest(&approval.declaration) {
            bail!("{MISFIT}");
        }
        Ok(approval)
    }

    /// The text that [`Self::read`] reads.
    pub fn text(&self) -> String {
        format!("{:#}\n", serde_json::json!(self))
    }

    fn file(&self) -> String {
        file_name(&self.place, &self.name, &self.digest)
    }

    /// Where it lies.
    pub fn path(&self, state: &Path) -> PathBuf {
        directory(state).join(self.file())
    }

    /// Records it.
    pub fn record(&self, state: &Path) -> Result<()> {
        let directory = directory(state);
        let temporary = format!(".{}.new", files::random_name()?);
        files::write_lasting(&directory, &self.file(), &temporary, self.text().as_bytes())
            .with_context(|| format!("the approval can't be recorded in {}", directory.display()))
    }

    /// Takes it back.
    pub fn remove(&self, state: &Path) -> Result<()> {
        let directory = directory(state);
        files::remove_private(&directory, &self.file())
            .with_context(|| format!("the approval can't be removed from {}", directory.display()))
    }
}

/// The name of a file about a declaration in a place.
pub(super) fn file_name(place: &Place, name: &str, digest: &str) -> String {
    let mut key = match place {
        Place::User => vec![""],
        Place::Project(root) => vec![root.as_str()],
        Place::Agent { agent, project } => vec![project.as_str(), agent],
    };
    key.extend([name, digest]);
    let key = key.join("\0");
    format!("{}.json", files::hexadecimal(Sha256::digest(key).get(..16).unwrap_or_default()))
}

/// All approvals, the latest last, and the files that can't be read, each with the reason.
pub fn load(state: &Path) -> (Vec<Approval>, Vec<(PathBuf, String)>) {
    let directory = directory(state);
    let (mut approvals, mut unreadable) = (Vec::new(), Vec::new());
    for name in files::names_in(&directory).unwrap_or_default() {
        let path = directory.join(&name);
        if path.extension().is_none_or(|ending| ending != "json") {
            continue;
        }
        match read(&path) {
            Ok(approval) => approvals.push(approval),
            Err(error) => unreadable.push((path, format!("{error:#}"))),
        }
    }
    approvals.sort_by(|one, other| (one.time, &one.digest).cmp(&(other.time, &other.digest)));
    unreadable.sort();
    (approvals, unreadable)
}

fn read(path: &Path) -> Result<Approval> {
    let bytes = files::read_private(path)?.context("it is gone")?;
    let approval = Approval::read(&bytes)?;
    // A file under another name than its content gives it is no approval.
    if path.file_name().is_none_or(|name| name != approval.file().as_str()) {
        bail!("{MISFIT}");
    }
    Ok(approval)
}

fn directory(state: &Path) -> PathBuf {
    state.join("approvals")
}
