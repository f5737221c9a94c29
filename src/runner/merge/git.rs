//! Whether git was told of a file with our entries in it.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use sha1::Sha1;
use sha2::{Digest, Sha256};

use crate::files;

/// Whether one of these contents came into the index of the repository around a directory since: staged, or committed.
///
/// No program is run for it: a repository says what git itself would run. An index holds the name of each content, its
/// hash, as plain bytes in all its versions (gitformat-index(5)), and that no other bytes happen to be equal to.
pub(super) fn knows(directory: &Path, contents: &[&[u8]], since: SystemTime) -> bool {
    let Some(index) = directory.ancestors().find_map(index_of) else { return false };
    // Nothing to look for in an index that is as it was.
    if files::modified(&index).is_none_or(|modified| modified < since) {
        return false;
    }
    let Ok(Some(index)) = files::read_of_agent(&index) else { return false };
    contents.iter().any(|content| {
        let header = format!("blob {}\0", content.len());
        let sha1 = Sha1::new().chain_update(&header).chain_update(content).finalize();
        let sha256 = Sha256::new().chain_update(&header).chain_update(content).finalize();
        holds(&index, &sha1) || holds(&index, &sha256)
    })
}

fn holds(index: &[u8], name: &[u8]) -> bool {
    index.windows(name.len()).any(|window| window == name)
}

/// The index of a repository that a directory is the top of; in a linked worktree `.git` is a file that leads to it.
fn index_of(top: &Path) -> Option<PathBuf> {
    let git = top.join(".git");
    let index = git.join("index");
    if files::exists(&index) {
        return Some(index);
    }
    let link = files::read_of_agent(&git).ok().flatten()?;
    let link = String::from_utf8(link).ok()?;
    Some(top.join(link.strip_prefix("gitdir:")?.trim()).join("index"))
}
