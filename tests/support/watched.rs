//! Files that a run must leave as they are.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// What is known of a path without following a link: its kind, mode, times, bytes or target.
#[derive(Debug, PartialEq, Eq)]
struct State {
    inode: u64,
    mode: u32,
    links: u64,
    modified: (i64, i64),
    content: Option<Vec<u8>>,
    target: Option<PathBuf>,
}

/// Paths and how they were.
pub(crate) struct Watched(Vec<(PathBuf, Option<State>)>);

impl Watched {
    pub(crate) fn new(paths: impl IntoIterator<Item = PathBuf>) -> Self {
        Self(paths.into_iter().map(|path| (path.clone(), state(&path))).collect())
    }

    /// Same bytes, same time of change, same inode; what was absent is absent.
    #[track_caller]
    pub(crate) fn assert_untouched(&self) {
        for (path, before) in &self.0 {
            assert_eq!(state(path), *before, "{} was touched", path.display());
        }
    }
}

fn state(path: &Path) -> Option<State> {
    let metadata = fs::symlink_metadata(path).ok()?;
    Some(State {
        inode: metadata.ino(),
        mode: metadata.mode(),
        links: metadata.nlink(),
        modified: (metadata.mtime(), metadata.mtime_nsec()),
        content: metadata.is_file().then(|| fs::read(path).unwrap()),
        target: metadata.is_symlink().then(|| fs::read_link(path).unwrap()),
    })
}
