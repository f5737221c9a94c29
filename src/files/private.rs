//! Directories of our own, which nobody else can enter.

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;

use super::{DIRECTORY, is_ours, other, write_new};

/// A directory of our own for one launch: 0700, with files that only the user can read.
#[derive(Debug)]
pub struct PrivateDirectory {
    path: PathBuf,
    handle: OwnedFd,
    files: Vec<String>,
}

impl PrivateDirectory {
    /// Makes a new directory below `base`, which is made where it is missing; the name should be unpredictable.
    pub fn create(base: &Path, name: &str) -> io::Result<Self> {
        let handle = private_base(base)?;
        rustix::fs::mkdirat(&handle, name, Mode::RWXU)?;
        let flags = DIRECTORY | OFlags::NOFOLLOW;
        let made = rustix::fs::openat(&handle, name, flags, Mode::empty())?;
        // An umask may have taken bits away; none can have been added.
        rustix::fs::fchmod(&made, Mode::RWXU)?;
        Ok(Self { path: base.join(name), handle: made, files: Vec::new() })
    }

    /// Where it lies.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a file of our own, 0600, which must not exist.
    pub fn write(&mut self, name: &str, bytes: &[u8]) -> io::Result<PathBuf> {
        write_new(&self.handle, name, bytes, Mode::RUSR | Mode::WUSR)?;
        self.files.push(name.to_owned());
        Ok(self.path.join(name))
    }

    /// Removes what was written and the directory, and nothing else.
    pub fn remove(self) -> io::Result<()> {
        for name in &self.files {
            unless_gone(rustix::fs::unlinkat(&self.handle, name, AtFlags::empty()))?;
        }
        unless_gone(rustix::fs::rmdir(&self.path))
    }
}

/// Opens a directory that nobody else can write, made with its missing parents.
fn private_base(base: &Path) -> io::Result<OwnedFd> {
    make_private(base)?;
    let flags = DIRECTORY | OFlags::NOFOLLOW;
    let handle = rustix::fs::open(base, flags, Mode::empty()).map_err(|error| match error {
        Errno::LOOP | Errno::NOTDIR => other(format!("{} is no directory of its own", base.display())),
        error => error.into(),
    })?;
    let stat = rustix::fs::fstat(&handle)?;
    if !is_ours(&stat) || Mode::from_raw_mode(stat.st_mode).intersects(Mode::WGRP | Mode::WOTH) {
        return Err(other(format!("{} is not ours alone to write", base.display())));
    }
    Ok(handle)
}

fn make_private(directory: &Path) -> io::Result<()> {
    match rustix::fs::mkdir(directory, Mode::RWXU) {
        Err(Errno::EXIST) => return Ok(()),
        Err(Errno::NOENT) => {
            make_private(directory.parent().ok_or_else(|| other("there is no such directory"))?)?;
            rustix::fs::mkdir(directory, Mode::RWXU)?;
        }
        made => made?,
    }
    // An umask may have taken bits away; none can have been added.
    rustix::fs::chmod(directory, Mode::RWXU)?;
    Ok(())
}

/// Removes named files of a private directory that an ended launch left, and the directory where it is empty then.
pub fn remove_left_behind(directory: &Path, names: &[&str]) {
    if is_private(directory) {
        // What can't be removed stays, and hurts nobody.
        for name in names {
            let _ = remove_private(directory, name);
        }
        let _ = rustix::fs::rmdir(directory);
    }
}

/// Whether a directory is ours and nobody else can enter it.
pub fn is_private(path: &Path) -> bool {
    rustix::fs::lstat(path).is_ok_and(|stat| {
        let others = Mode::RWXG | Mode::RWXO;
        FileType::from_raw_mode(stat.st_mode) == FileType::Directory
            && is_ours(&stat)
            && !Mode::from_raw_mode(stat.st_mode).intersects(others)
    })
}

/// Writes or replaces a file of our own below a private directory, which is made where it is missing.
pub fn write_private(directory: &Path, name: &str, bytes: &[u8]) -> io::Result<()> {
    let handle = private_base(directory)?;
    write_new(&handle, name, bytes, Mode::RUSR | Mode::WUSR)
}

/// Removes one file of our own, where it is still there.
pub fn remove_private(directory: &Path, name: &str) -> io::Result<()> {
    unless_gone(rustix::fs::unlink(directory.join(name)))
}

/// A removal of what somebody else removed already is done.
fn unless_gone(removed: Result<(), Errno>) -> io::Result<()> {
    match removed {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
