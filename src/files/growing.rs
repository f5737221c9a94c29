//! A file of our own that others add to, read as far as it goes.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::Errno;

use super::private::refuse_written_by_others;
use super::project_file::Identity;
use super::{AGENT_LIMIT, READ, other};

/// Such a file, held open: it may get another name meanwhile.
#[derive(Debug)]
pub struct Growing {
    file: File,
    identity: Identity,
}

impl Growing {
    /// Opens one at its beginning; `None` where it does not exist. One that others could have written is refused.
    pub fn open(path: &Path) -> io::Result<Option<Self>> {
        let file = match rustix::fs::open(path, READ | OFlags::NOFOLLOW, Mode::empty()) {
            Err(Errno::NOENT) => return Ok(None),
            opened => opened?,
        };
        let stat = rustix::fs::fstat(&file)?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Err(other("it is no regular file"));
        }
        refuse_written_by_others(&stat)?;
        Ok(Some(Self { file: File::from(file), identity: (stat.st_dev, stat.st_ino) }))
    }

    /// What was added since the last time, at most 64 MiB of it.
    pub fn more(&mut self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.file.by_ref().take(AGENT_LIMIT).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// Whether both are one file.
    pub fn is_same(&self, other: &Self) -> bool {
        self.identity == other.identity
    }
}
