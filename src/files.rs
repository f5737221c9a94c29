//! The only code that writes to disk, and that reads for others: bounded, and without following links where a
//! repository could have laid one.
//!
//! Below a root that the user chose, every component is opened on its own without following a symbolic link, so that
//! nothing that changes meanwhile leads elsewhere. Symbolic links above the root, and of the user's own files, are the
//! user's business.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, RenameFlags, Stat};
use rustix::io::Errno;

/// More than any file of settings: what is larger is refused rather than read in part.
pub const LIMIT: u64 = 1024 * 1024;
/// An agent's own state file may hold its history.
const AGENT_LIMIT: u64 = 64 * 1024 * 1024;

const READ: OFlags = OFlags::RDONLY.union(OFlags::CLOEXEC).union(OFlags::NONBLOCK);
const DIRECTORY: OFlags = OFlags::RDONLY.union(OFlags::CLOEXEC).union(OFlags::DIRECTORY);

fn other(message: impl Into<String>) -> io::Error {
    io::Error::other(message.into())
}

/// Whether something is there, a dangling symbolic link included.
pub fn exists(path: &Path) -> bool {
    rustix::fs::lstat(path).is_ok()
}

/// Whether two paths lead to one file.
pub fn same_file(one: &Path, two: &Path) -> bool {
    match (rustix::fs::stat(one), rustix::fs::stat(two)) {
        (Ok(one), Ok(two)) => (one.st_dev, one.st_ino) == (two.st_dev, two.st_ino),
        _ => false,
    }
}

/// Whether a path is a program that this process may execute; an error says that it is there and may not be.
pub fn is_executable(path: &Path) -> Result<bool, Errno> {
    match rustix::fs::stat(path) {
        Err(_) => Ok(false),
        Ok(stat) if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile => Ok(false),
        Ok(_) => rustix::fs::access(path, rustix::fs::Access::EXEC_OK).map(|()| true),
    }
}

/// Whether a directory belongs to this user or to root, or does not exist.
pub fn is_ours_or_absent(path: &Path) -> bool {
    rustix::fs::stat(path).map_or(true, |stat| is_ours_or_roots(&stat))
}

/// The real path, where only the last components may be missing.
pub fn real_path_of_existing_part(path: &Path) -> PathBuf {
    for ancestor in path.ancestors() {
        if let (Ok(real), Ok(rest)) = (ancestor.canonicalize(), path.strip_prefix(ancestor)) {
            return if rest.as_os_str().is_empty() { real } else { real.join(rest) };
        }
    }
    path.to_path_buf()
}

fn is_ours_or_roots(stat: &Stat) -> bool {
    is_ours(stat) || stat.st_uid == 0
}

fn is_ours(stat: &Stat) -> bool {
    stat.st_uid == rustix::process::geteuid().as_raw()
}

/// Reads a file of the user; `None` where it does not exist. Links are followed: dotfiles are often linked.
///
/// One that somebody else owns or may write is refused: it says what runs.
pub fn read_of_user(path: &Path) -> io::Result<Option<Vec<u8>>> {
    let Some((bytes, stat)) = read_at_most(path, LIMIT)? else {
        return if exists(path) { Err(other("it is a symbolic link to nothing")) } else { Ok(None) };
    };
    if !is_ours_or_roots(&stat) {
        return Err(other("it belongs to somebody else"));
    }
    refuse_writable_by_others(&stat, "everybody may write it")?;
    Ok(Some(bytes))
}

/// Reads a file that belongs to an agent; `None` where it does not exist.
pub fn read_of_agent(path: &Path) -> io::Result<Option<Vec<u8>>> {
    Ok(read_at_most(path, AGENT_LIMIT)?.map(|(bytes, _)| bytes))
}

fn read_at_most(path: &Path, limit: u64) -> io::Result<Option<(Vec<u8>, Stat)>> {
    match rustix::fs::open(path, READ, Mode::empty()) {
        Err(Errno::NOENT) => Ok(None),
        Err(error) => Err(error.into()),
        Ok(file) => read_regular(file, limit).map(Some),
    }
}

fn read_regular(file: OwnedFd, limit: u64) -> io::Result<(Vec<u8>, Stat)> {
    let stat = rustix::fs::fstat(&file)?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Err(other("it is no regular file"));
    }
    // One read for a file that keeps its size, not a dozen of growing ones.
    let size = u64::try_from(stat.st_size).unwrap_or_default().min(limit);
    let mut bytes = Vec::with_capacity(usize::try_from(size + 1).unwrap_or_default());
    File::from(file).take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(other(format!("it is larger than {} KiB", limit / 1024)));
    }
    Ok((bytes, stat))
}

/// Reads a file of a repository; `None` where it does not exist. It must be the user's own, in directories that
/// nobody else can write, and no symbolic link leads to it.
pub fn read_of_project(root: &Path, relative: &Path) -> io::Result<Option<Vec<u8>>> {
    let mut directory = rustix::fs::open(root, DIRECTORY, Mode::empty())?;
    let refuse_open = |directory: &OwnedFd| -> io::Result<()> {
        refuse_writable_by_others(&rustix::fs::fstat(directory)?, "everybody may write in its directory")
    };
    refuse_open(&directory)?;
    let mut components = relative.components().peekable();
    while let Some(component) = components.next() {
        let Component::Normal(name) = component else { return Err(other("the path leaves the project")) };
        let flags = if components.peek().is_some() { DIRECTORY } else { READ };
        let opened = match open_no_follow(&directory, name, flags) {
            Ok(None) => return Ok(None),
            Ok(Some(opened)) => opened,
            Err(error) => return Err(error),
        };
        if components.peek().is_none() {
            let (bytes, stat) = read_regular(opened, LIMIT)?;
            if !is_ours(&stat) {
                return Err(other("it belongs to somebody else"));
            }
            refuse_writable_by_others(&stat, "everybody may write it")?;
            return Ok(Some(bytes));
        }
        directory = opened;
        refuse_open(&directory)?;
    }
    Ok(None)
}

fn refuse_writable_by_others(stat: &Stat, reason: &str) -> io::Result<()> {
    if Mode::from_raw_mode(stat.st_mode).contains(Mode::WOTH) { Err(other(reason)) } else { Ok(()) }
}

fn open_no_follow(directory: &OwnedFd, name: &OsStr, flags: OFlags) -> io::Result<Option<OwnedFd>> {
    match rustix::fs::openat(directory, name, flags | OFlags::NOFOLLOW, Mode::empty()) {
        Ok(opened) => Ok(Some(opened)),
        Err(Errno::NOENT) => Ok(None),
        Err(Errno::LOOP | Errno::NOTDIR) => {
            let kind = rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)
                .map(|stat| FileType::from_raw_mode(stat.st_mode));
            let shown = name.display();
            Err(other(match kind {
                Ok(FileType::Symlink) => format!("{shown} is a symbolic link, and squire follows none here"),
                _ => format!("{shown} is no directory"),
            }))
        }
        Err(error) => Err(error.into()),
    }
}

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

/// The names in a directory; none where it does not exist.
pub fn names_in(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().into_string().ok()).collect()
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

fn write_new(directory: &OwnedFd, name: &str, bytes: &[u8], mode: Mode) -> io::Result<()> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = rustix::fs::openat(directory, name, flags, Mode::RUSR | Mode::WUSR)?;
    let written = rustix::fs::fchmod(&file, mode)
        .map_err(io::Error::from)
        .and_then(|()| File::from(file).write_all(bytes));
    if written.is_err() {
        // What could not be written whole must not stay; the error that counts is the first.
        let _ = rustix::fs::unlinkat(directory, name, AtFlags::empty());
    }
    written
}

/// 128 random bits as text.
pub fn random_name() -> io::Result<String> {
    let mut bytes = [0_u8; 16];
    let filled = rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())?;
    if filled < bytes.len() {
        return Err(other("the system gave too little randomness"));
    }
    Ok(hexadecimal(&bytes))
}

/// Bytes as two digits each.
pub fn hexadecimal(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string can't fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

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
