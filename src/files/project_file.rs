//! A file of the project that a launch changes and puts back.

use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{AtFlags, Mode, RenameFlags};
use rustix::io::Errno;

use super::{DIRECTORY, LIMIT, READ, is_ours, open_no_follow, other, random_name, read_regular, write_new};

/// A file of the project that a launch changes and puts back.
#[derive(Debug)]
pub struct ProjectFile {
    directory: OwnedFd,
    parent: OwnedFd,
    directory_name: String,
    name: String,
    made_directory: bool,
}

/// Makes a directory as the user's own programs would, but usable by the user under any umask.
fn make_directory(parent: &OwnedFd, name: &str) -> io::Result<OwnedFd> {
    let usual = Mode::RWXU | Mode::RGRP | Mode::XGRP | Mode::ROTH | Mode::XOTH;
    let umask = rustix::process::umask(Mode::RWXG | Mode::RWXO);
    rustix::process::umask(umask - Mode::RWXU);
    let made = rustix::fs::mkdirat(parent, name, usual);
    rustix::process::umask(umask);
    made?;
    open_no_follow(parent, name.as_ref(), DIRECTORY)?.ok_or_else(|| other(format!("{name} vanished")))
}

/// What a file held, and its permissions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Its permissions.
    mode: Mode,
}

impl ProjectFile {
    /// Opens the directory of `DIRECTORY/NAME` below a root, made where it is missing.
    pub fn open(root: &Path, relative: &str) -> io::Result<Self> {
        let (directory_name, name) =
            relative.split_once('/').ok_or_else(|| other("the file wants a directory of its own"))?;
        let parent = rustix::fs::open(root, DIRECTORY, Mode::empty())?;
        let (directory, made_directory) = match open_no_follow(&parent, directory_name.as_ref(), DIRECTORY)? {
            Some(directory) => (directory, false),
            None => (make_directory(&parent, directory_name)?, true),
        };
        let (directory_name, name) = (directory_name.to_owned(), name.to_owned());
        Ok(Self { directory, parent, directory_name, name, made_directory })
    }

    /// What the file holds now; `None` where it does not exist. It must be a regular file of ours with one link.
    pub fn read(&self) -> io::Result<Option<Held>> {
        let Some(file) = open_no_follow(&self.directory, self.name.as_ref(), READ)? else { return Ok(None) };
        let (bytes, stat) = read_regular(file, LIMIT)?;
        if !is_ours(&stat) {
            return Err(other("it belongs to somebody else"));
        }
        if stat.st_nlink != 1 {
            return Err(other("it has several hard links, and replacing it would part them"));
        }
        Ok(Some(Held { bytes, mode: Mode::from_raw_mode(stat.st_mode) }))
    }

    /// Replaces what was read by new bytes of the same permissions; 0600 for a new file. `false` where somebody
    /// saved in between: then theirs stands, and nothing was changed.
    pub fn replace(&self, read: Option<&Held>, bytes: &[u8]) -> io::Result<bool> {
        let temporary = format!(".squire-{}", random_name()?);
        let mode = read.map_or(Mode::RUSR | Mode::WUSR, |held| held.mode);
        write_new(&self.directory, &temporary, bytes, mode)?;
        let swapped = self.swap_in(&temporary, read);
        // Now the old bytes, or our own where nothing was changed.
        let removed = if swapped.as_ref().is_ok_and(|swapped| *swapped) && read.is_none() {
            Ok(())
        } else {
            rustix::fs::unlinkat(&self.directory, &temporary, AtFlags::empty())
        };
        let swapped = swapped?;
        removed?;
        Ok(swapped)
    }

    fn swap_in(&self, temporary: &str, read: Option<&Held>) -> io::Result<bool> {
        let rename =
            |flags| rustix::fs::renameat_with(&self.directory, temporary, &self.directory, &self.name, flags);
        let Some(read) = read else {
            return match rename(RenameFlags::NOREPLACE) {
                Ok(()) => Ok(true),
                Err(Errno::EXIST) => Ok(false),
                Err(error) => Err(error.into()),
            };
        };
        match rename(RenameFlags::EXCHANGE) {
            Ok(()) => {}
            Err(Errno::NOENT) => return Ok(false),
            Err(error) => return Err(error.into()),
        }
        let came_out = open_no_follow(&self.directory, temporary.as_ref(), READ)?
            .map(|file| read_regular(file, LIMIT))
            .transpose()?;
        if came_out.is_some_and(|(bytes, _)| bytes == read.bytes) {
            return Ok(true);
        }
        rename(RenameFlags::EXCHANGE)?;
        Ok(false)
    }

    /// Removes the file where it still holds what was read. `false` where somebody saved in between.
    pub fn remove(&self, read: &Held) -> io::Result<bool> {
        let aside = format!(".squire-{}", random_name()?);
        rustix::fs::renameat(&self.directory, &self.name, &self.directory, &aside)?;
        let held = open_no_follow(&self.directory, aside.as_ref(), READ)?
            .map(|file| read_regular(file, LIMIT))
            .transpose()?;
        if held.is_some_and(|(bytes, _)| bytes == read.bytes) {
            rustix::fs::unlinkat(&self.directory, &aside, AtFlags::empty())?;
            return Ok(true);
        }
        rustix::fs::renameat_with(
            &self.directory,
            &aside,
            &self.directory,
            &self.name,
            RenameFlags::NOREPLACE,
        )?;
        Ok(false)
    }

    /// Removes the directory where we made it and it is empty.
    pub fn close(self) -> io::Result<()> {
        if self.made_directory {
            match rustix::fs::unlinkat(&self.parent, &self.directory_name, AtFlags::REMOVEDIR) {
                Ok(()) | Err(Errno::NOTEMPTY | Errno::EXIST | Errno::NOENT) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
}

impl ProjectFile {
    /// What the file holds, under the rules of [`ProjectFile::open`] and [`ProjectFile::read`], where nothing is made.
    pub fn peek(root: &Path, relative: &str) -> io::Result<Option<Vec<u8>>> {
        let Some((directory_name, name)) = relative.split_once('/') else {
            return Err(other("the file wants a directory of its own"));
        };
        let parent = rustix::fs::open(root, DIRECTORY, Mode::empty())?;
        let Some(directory) = open_no_follow(&parent, directory_name.as_ref(), DIRECTORY)? else {
            return Ok(None);
        };
        let (directory_name, name) = (directory_name.to_owned(), name.to_owned());
        let file = Self { directory, parent, directory_name, name, made_directory: false };
        Ok(file.read()?.map(|held| held.bytes))
    }
}
