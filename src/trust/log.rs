//! What was said of trust, one JSON object a line, in the state directory.

use std::path::Path;

use anyhow::{Context, Result};
use serde_json::json;

use super::approvals::Place;
use crate::files;

/// Its name in the state directory.
pub const FILE: &str = "trust.log";

/// What was said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Said {
    /// Yes to a declaration.
    Approved,
    /// No to one that was asked about.
    Refused,
    /// An approval was taken back.
    Revoked,
}

impl Said {
    fn as_str(self) -> &'static str {
        match self {
            Self::Approved => "approved",
            Self::Refused => "refused",
            Self::Revoked => "revoked",
        }
    }
}

/// Adds a line.
pub fn write(state: &Path, said: Said, name: &str, place: &Place, digest: &str) -> Result<()> {
    let line = json!({ "time": crate::environment::time(), "said": said.as_str(), "server": name, "place": place, "digest": digest });
    // The state directory itself may be reached by a link.
    files::append_private(&files::real_path_of_existing_part(state), FILE, format!("{line}\n").as_bytes())
        .map(drop)
        .with_context(|| format!("{} can't be written", state.join(FILE).display()))
}
