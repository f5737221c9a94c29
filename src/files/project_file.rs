//! A file of the project that launches change and put back.
//!
//! Whatever was saved in between comes out of the exchange, is noticed there and goes back: no save is lost. Three names
//! of ours may stand beside the file while it is being changed: `.new`, being written and always ours; `.swap`, what is
//! exchanged with the file, and afterwards what came out of it; `.dir`, a directory before it has its name. Should the
//! process die, [`ProjectFile::recover`] tells by the bytes what each is.

use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags, Stat};
use rustix::io::Errno;

use super::beneath::open_beneath;
use super::writers::wait_for_no_writer;
use super::{
    DIRECTORY, LIMIT, READ, attributes, is_ours, other, read_regular, sync_directory, unless_gone, write_new,
};

/// How often in a row a file may be replaced while it is read.
const ATTEMPTS: usize = 100;

/// A file `DIRECTORY/NAME` below a root.
#[derive(Debug)]
pub struct ProjectFile {
    root: OwnedFd,
    directory: Option<OwnedFd>,
    directory_name: String,
    name: String,
    token: String,
}

/// What a file held, and its permissions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Its permissions.
    pub mode: u32,
}

/// Which file or directory it is, whatever its name.
pub type Identity = (u64, u64);

/// What lies at our name, compared to know a save from what we put there ourselves.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Aside {
    identity: Option<Identity>,
    /// None for what is no plain file: a link, a directory.
    bytes: Option<Vec<u8>>,
}

impl ProjectFile {
    /// Opens the root, a real path, and the directory of `DIRECTORY/NAME` where it exists. `token` makes the names of
    /// our own that stand beside the file for a moment.
    pub fn open(root: &Path, relative: &str, token: &str) -> io::Result<Self> {
        let (directory_name, name) =
            relative.split_once('/').ok_or_else(|| other("the file wants a directory of its own"))?;
        let root = rustix::fs::open(root, DIRECTORY | OFlags::NOFOLLOW, Mode::empty())?;
        let directory = open_beneath(&root, directory_name.as_ref(), DIRECTORY)?;
        let (directory_name, name, token) = (directory_name.to_owned(), name.to_owned(), token.to_owned());
        Ok(Self { root, directory, directory_name, name, token })
    }

    /// What the file holds now; `None` where it does not exist. It must be a regular file of ours with one link.
    pub fn read(&self) -> io::Result<Option<Held>> {
        let Some(directory) = &self.directory else { return Ok(None) };
        for _ in 0..ATTEMPTS {
            let Some(file) = open_beneath(directory, self.name.as_ref(), READ)? else { return Ok(None) };
            if !wait_for_no_writer(&file) {
                return Err(other("somebody keeps it open to write it"));
            }
            let (bytes, stat) = read_regular(file, LIMIT)?;
            if !is_ours(&stat) {
                return Err(other("it belongs to somebody else"));
            }
            match stat.st_nlink {
                1 => {
                    let mode = Mode::from_raw_mode(stat.st_mode).as_raw_mode();
                    return Ok(Some(Held { bytes, mode }));
                }
                // Another one stands in its place by now.
                0 => {}
                _ => return Err(other("it has several hard links, and replacing it would part them")),
            }
        }
        Err(other("somebody keeps replacing it"))
    }

    /// Makes the file's directory where it is missing. `remember` is told which directory it is before that has its
    /// name, or `None` where somebody else made one meanwhile.
    pub fn make_directory(
        &mut self,
        mut remember: impl FnMut(Option<Identity>) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        if self.directory.is_some() {
            return Ok(());
        }
        let temporary = self.temporary("dir");
        let made = make_directory(&self.root, &temporary)?;
        let named = rustix::fs::fstat(&made).map_err(anyhow::Error::from).and_then(|stat| {
            remember(Some(identity(&stat)))?;
            let (root, name) = (&self.root, self.directory_name.as_str());
            match rustix::fs::renameat_with(root, &temporary, root, name, RenameFlags::NOREPLACE) {
                Ok(()) => Ok(true),
                Err(Errno::EXIST) => Ok(false),
                Err(error) => Err(unsupported(error).into()),
            }
        });
        if !matches!(named, Ok(true)) {
            rustix::fs::unlinkat(&self.root, &temporary, AtFlags::REMOVEDIR)?;
        }
        if named? {
            sync_directory(&self.root)?;
            self.directory = Some(made);
        } else {
            remember(None)?;
            self.directory = open_beneath(&self.root, self.directory_name.as_ref(), DIRECTORY)?;
        }
        Ok(())
    }

    /// Puts `new` where `read` stands; `None` is no file. `false` where somebody saved in between: then the newest
    /// save stands.
    pub fn replace(&self, read: Option<&Held>, new: Option<&Held>) -> io::Result<bool> {
        let directory = match &self.directory {
            Some(directory) => directory,
            None if new.is_none() => return Ok(read.is_none()),
            None => return Ok(false),
        };
        let replaced = match (read, new) {
            (None, None) => return Ok(true),
            (None, Some(new)) => self.create(directory, new),
            (Some(read), Some(new)) => self.exchange(directory, read, new),
            (Some(read), None) => self.remove(directory, read),
        }?;
        sync_directory(directory)?;
        Ok(replaced)
    }

    fn create(&self, directory: &OwnedFd, new: &Held) -> io::Result<bool> {
        self.stage(directory, new, None)?;
        match rename(directory, &self.temporary("swap"), &self.name) {
            Ok(()) => Ok(true),
            Err(Errno::EXIST) => self.discard(directory).map(|()| false),
            Err(error) => self.discard(directory).and(Err(unsupported(error))),
        }
    }

    fn exchange(&self, directory: &OwnedFd, read: &Held, new: &Held) -> io::Result<bool> {
        let Some(replaced) = open_beneath(directory, self.name.as_ref(), READ)? else { return Ok(false) };
        let identity = self.stage(directory, new, Some(&replaced))?;
        if !self.swap(directory).or_else(|error| self.discard(directory).and(Err(error)))? {
            return self.discard(directory).map(|()| false);
        }
        let came_out = self.aside(directory)?;
        if came_out.bytes.as_ref() == Some(&read.bytes) {
            return self.discard(directory).map(|()| true);
        }
        let ours = Aside { identity: Some(identity), bytes: Some(new.bytes.clone()) };
        self.give_back(directory, ours, came_out).map(|()| false)
    }

    /// Ends with the newest save in the file. `came_out` lies aside and is newer than `put_in`, which is in the file.
    fn give_back(&self, directory: &OwnedFd, mut put_in: Aside, mut came_out: Aside) -> io::Result<()> {
        loop {
            // Where the file was deleted meanwhile, that is the newest word.
            if !self.swap(directory)? {
                return self.discard(directory);
            }
            let now = self.aside(directory)?;
            if now == put_in {
                return self.discard(directory);
            }
            put_in = std::mem::replace(&mut came_out, now);
        }
    }

    fn remove(&self, directory: &OwnedFd, read: &Held) -> io::Result<bool> {
        let swap = self.temporary("swap");
        match rename(directory, &self.name, &swap) {
            Ok(()) => {}
            Err(Errno::NOENT) => return Ok(false),
            Err(error) => return Err(unsupported(error)),
        }
        if self.aside(directory)?.bytes.as_ref() == Some(&read.bytes) {
            return self.discard(directory).map(|()| true);
        }
        match rename(directory, &swap, &self.name) {
            Ok(()) => Ok(false),
            // A newer save stands there already.
            Err(Errno::EXIST) => self.discard(directory).map(|()| false),
            Err(error) => Err(error.into()),
        }
    }

    /// Whether a process that died left something beside the file.
    pub fn has_leftovers(&self) -> bool {
        let is_there = |directory: &OwnedFd, kind| {
            rustix::fs::statat(directory, self.temporary(kind), AtFlags::SYMLINK_NOFOLLOW).is_ok()
        };
        let beside = |directory| is_there(directory, "new") || is_there(directory, "swap");
        is_there(&self.root, "dir") || self.directory.as_ref().is_some_and(beside)
    }

    /// Clears away what a process that died left beside the file. `is_ours` knows the bytes that may be thrown away.
    ///
    /// Of two saves the newer stays in the file; the other is returned, to be kept elsewhere.
    pub fn recover(&self, is_ours: impl Fn(&[u8]) -> bool) -> io::Result<Option<Vec<u8>>> {
        unless_gone(rustix::fs::unlinkat(&self.root, self.temporary("dir"), AtFlags::REMOVEDIR))?;
        let Some(directory) = &self.directory else { return Ok(None) };
        unless_gone(rustix::fs::unlinkat(directory, self.temporary("new"), AtFlags::empty()))?;
        let aside = self.aside(directory)?;
        if aside.identity.is_none() {
            return Ok(None);
        }
        let known = |bytes: &Option<Vec<u8>>| bytes.as_deref().is_some_and(&is_ours);
        if known(&aside.bytes) {
            return self.discard(directory).map(|()| None);
        }
        match rename(directory, &self.temporary("swap"), &self.name) {
            Ok(()) => return Ok(None),
            Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
        let standing = look(directory, &self.name)?;
        let older_stands = known(&standing.bytes)
            || modified(directory, &self.name)? < modified(directory, &self.temporary("swap"))?;
        if older_stands {
            self.swap(directory)?;
        }
        let left = self.aside(directory)?;
        match left.bytes {
            Some(bytes) if !is_ours(&bytes) => Ok(Some(bytes)),
            Some(_) => self.discard(directory).map(|()| None),
            None => Err(other(format!("{} is no file of squire", self.temporary("swap")))),
        }
    }

    /// Removes what [`Self::recover`] returned, once it is kept.
    pub fn discard_recovered(&self) -> io::Result<()> {
        self.directory.as_ref().map_or(Ok(()), |directory| self.discard(directory))
    }

    /// Removes the file's directory where it is the one that we made and nothing is in it.
    pub fn remove_directory(&self, made: Identity) -> io::Result<()> {
        match rustix::fs::statat(&self.root, self.directory_name.as_str(), AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) if identity(&stat) == made => {}
            Ok(_) | Err(Errno::NOENT) => return Ok(()),
            Err(error) => return Err(error.into()),
        }
        match rustix::fs::unlinkat(&self.root, self.directory_name.as_str(), AtFlags::REMOVEDIR) {
            Ok(()) | Err(Errno::NOTEMPTY | Errno::EXIST | Errno::NOENT) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    fn temporary(&self, kind: &str) -> String {
        format!(".squire-{}.{kind}", self.token)
    }

    /// Writes what is to be put in, whole and on the disk before it gets the name that is exchanged, with what else
    /// the file has that it replaces.
    fn stage(&self, directory: &OwnedFd, new: &Held, replaced: Option<&OwnedFd>) -> io::Result<Identity> {
        let (written, complete) = (self.temporary("new"), self.temporary("swap"));
        let file = write_new(directory, &written, &new.bytes, Mode::from_raw_mode(new.mode))?;
        let staged = replaced
            .map_or(Ok(()), |replaced| {
                keep_group(replaced, &file).and_then(|()| attributes::copy(replaced, &file))
            })
            .and_then(|()| Ok(rustix::fs::fsync(&file).and_then(|()| rustix::fs::fstat(&file))?))
            .and_then(|stat| {
                rename(directory, &written, &complete).map_err(unsupported)?;
                Ok(identity(&stat))
            });
        if staged.is_err() {
            // Of two failures the first is told.
            let _ = rustix::fs::unlinkat(directory, &written, AtFlags::empty());
        }
        staged
    }

    /// Exchanges the file with what lies aside; `false` where there is no file.
    fn swap(&self, directory: &OwnedFd) -> io::Result<bool> {
        let swap = self.temporary("swap");
        match rustix::fs::renameat_with(directory, &swap, directory, &self.name, RenameFlags::EXCHANGE) {
            Ok(()) => Ok(true),
            Err(Errno::NOENT) => Ok(false),
            Err(error) => Err(unsupported(error)),
        }
    }

    fn discard(&self, directory: &OwnedFd) -> io::Result<()> {
        unless_gone(rustix::fs::unlinkat(directory, self.temporary("swap"), AtFlags::empty()))
    }

    fn aside(&self, directory: &OwnedFd) -> io::Result<Aside> {
        look(directory, &self.temporary("swap"))
    }
}

/// Makes a directory as the user's own programs would, but usable by the user under any umask.
fn make_directory(parent: &OwnedFd, name: &str) -> io::Result<OwnedFd> {
    let usual = Mode::RWXU | Mode::RGRP | Mode::XGRP | Mode::ROTH | Mode::XOTH;
    let umask = rustix::process::umask(Mode::RWXG | Mode::RWXO);
    rustix::process::umask(umask - Mode::RWXU);
    let made = rustix::fs::mkdirat(parent, name, usual);
    rustix::process::umask(umask);
    made?;
    open_beneath(parent, name.as_ref(), DIRECTORY)?.ok_or_else(|| other(format!("{name} vanished")))
}

/// A file in another's place has its group; a setgid directory or the user's own may give it another.
fn keep_group(replaced: &OwnedFd, file: &std::fs::File) -> io::Result<()> {
    let (before, now) = (rustix::fs::fstat(replaced)?, rustix::fs::fstat(file)?);
    if before.st_gid == now.st_gid {
        return Ok(());
    }
    match rustix::fs::fchown(file, None, Some(rustix::fs::Gid::from_raw(before.st_gid))) {
        Err(Errno::PERM) => Err(other("its group is none of yours, and would be lost")),
        // A change of the group takes setuid and setgid away.
        changed => Ok(changed.and_then(|()| rustix::fs::fchmod(file, Mode::from_raw_mode(before.st_mode)))?),
    }
}

fn rename(directory: &OwnedFd, from: &str, to: &str) -> Result<(), Errno> {
    rustix::fs::renameat_with(directory, from, directory, to, RenameFlags::NOREPLACE)
}

fn look(directory: &OwnedFd, name: &str) -> io::Result<Aside> {
    let stat = match rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => stat,
        Err(Errno::NOENT) => return Ok(Aside { identity: None, bytes: None }),
        Err(error) => return Err(error.into()),
    };
    // What can't be read as a plain file of bounded size, or is being written, is nothing that squire put there.
    let opened = open_beneath(directory, name.as_ref(), READ).ok().flatten();
    let opened = opened.filter(wait_for_no_writer);
    let bytes = opened.and_then(|file| read_regular(file, LIMIT).ok()).map(|(bytes, _)| bytes);
    Ok(Aside { identity: Some(identity(&stat)), bytes })
}

fn identity(stat: &Stat) -> Identity {
    (stat.st_dev, stat.st_ino)
}

fn modified(directory: &OwnedFd, name: &str) -> io::Result<(i64, i64)> {
    let stat = rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)?;
    Ok((stat.st_mtime, stat.st_mtime_nsec.cast_signed()))
}

fn unsupported(error: Errno) -> io::Error {
    match error {
        Errno::INVAL | Errno::NOSYS | Errno::NOTSUP => {
            other("its file system can't exchange two files, so that a save in between would be lost")
        }
        error => error.into(),
    }
}
