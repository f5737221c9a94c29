//! The only code that writes to disk, and that reads for others: bounded, and without following links where a
//! repository could have laid one.
//!
//! Below a root that the user chose, every component is opened on its own without following a symbolic link, so that
//! nothing that changes meanwhile leads elsewhere. Symbolic links above the root, and of the user's own files, are the
//! user's business.

mod attributes;
mod beneath;
mod growing;
mod lock;
mod private;
mod project_file;
mod results;
mod rewrite;
mod writers;

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{Access, AtFlags, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

use beneath::open_beneath;
pub use growing::Growing;
pub use lock::Lock;
pub use private::{
    PrivateDirectory, append_private, hindrance_of_ours, is_directory, is_private, move_between,
    move_private, read_private, remove_empty, remove_left_behind, remove_private, write_lasting,
    write_private,
};
pub use project_file::{Held, Identity, ProjectFile};
pub use results::Results;
pub use rewrite::Rewrite;

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

/// Whether a path is a symbolic link, a dangling one included.
pub fn is_link(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|metadata| metadata.is_symlink())
}

/// When a file was last changed, where that can be told.
pub fn modified(path: &Path) -> Option<std::time::SystemTime> {
    path.metadata().ok()?.modified().ok()
}

/// How long a regular file is and when it was last changed; `None` where there is no such file. No link is followed.
pub fn length_and_time(path: &Path) -> Option<(u64, std::time::SystemTime)> {
    let found = path.symlink_metadata().ok().filter(std::fs::Metadata::is_file)?;
    Some((found.len(), found.modified().ok()?))
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

/// Whether a path is a file that its permissions let its owner read: what is not stays so, while other errors pass.
pub fn is_readable(path: &Path) -> bool {
    rustix::fs::lstat(path).is_ok_and(|stat| {
        FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile
            && Mode::from_raw_mode(stat.st_mode).contains(Mode::RUSR)
    })
}

/// What makes a directory of squire's own unsafe, if it exists: that somebody else owns it or can write into it.
pub fn weakness(directory: &Path) -> Option<&'static str> {
    let stat = rustix::fs::stat(directory).ok()?;
    if !is_ours_or_roots(&stat) {
        Some("it belongs to somebody else")
    } else if Mode::from_raw_mode(stat.st_mode).intersects(Mode::WGRP | Mode::WOTH) {
        Some("others can write into it")
    } else {
        None
    }
}

/// Why nothing can be written into a directory, or, where it is not made yet, into the one that it would be made in: of
/// what can be known without writing.
pub fn hindrance(directory: &Path) -> Option<String> {
    let there = directory.ancestors().find(|ancestor| exists(ancestor))?;
    if let Err(error) = rustix::fs::access(there.join("."), Access::WRITE_OK | Access::EXEC_OK) {
        return Some(io::Error::from(error).to_string());
    }
    let space = rustix::fs::statvfs(there).ok()?;
    // Some file systems count no blocks, or no files.
    let is_full = (space.f_blocks > 0 && space.f_bavail == 0) || (space.f_files > 0 && space.f_favail == 0);
    is_full.then(|| io::Error::from(Errno::NOSPC).to_string())
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

/// A path without `.` and `..`, as it is written: links are not looked at.
pub fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            Component::RootDir | Component::Normal(_) | Component::Prefix(_) => plain.push(component),
        }
    }
    plain
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

/// Reads a file that holds secrets, wiped from memory with what is returned; `None` where it does not exist. Links are
/// followed: dotfiles are often linked. One that somebody else owns, or that others can read, is refused, as ssh(1)
/// refuses such a key.
pub fn read_secret(path: &Path, limit: u64) -> io::Result<Option<Zeroizing<Vec<u8>>>> {
    let Some((file, _)) = open_secret(path)? else { return Ok(None) };
    let (bytes, _) = read_regular(file, limit)?;
    Ok(Some(Zeroizing::new(bytes)))
}

/// Whether a file that holds a secret is there, as [`read_secret`] wants it, without reading it. The size is its own.
pub fn look_at_secret(path: &Path) -> io::Result<Option<u64>> {
    Ok(open_secret(path)?.map(|(_, stat)| u64::try_from(stat.st_size).unwrap_or_default()))
}

fn open_secret(path: &Path) -> io::Result<Option<(OwnedFd, Stat)>> {
    let file = match rustix::fs::open(path, READ, Mode::empty()) {
        Err(Errno::NOENT) if exists(path) => return Err(other("it is a symbolic link to nothing")),
        Err(Errno::NOENT) => return Ok(None),
        opened => opened?,
    };
    let stat = rustix::fs::fstat(&file)?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Err(other("it is no regular file"));
    }
    if !is_ours(&stat) {
        return Err(other("it belongs to somebody else"));
    }
    if Mode::from_raw_mode(stat.st_mode).intersects(Mode::RWXG | Mode::RWXO) {
        return Err(other(format!("others can read or write it; chmod 600 {}", path.display())));
    }
    Ok(Some((file, stat)))
}

/// Reads a file that belongs to an agent; `None` where it does not exist.
pub fn read_of_agent(path: &Path) -> io::Result<Option<Vec<u8>>> {
    Ok(read_at_most(path, AGENT_LIMIT)?.map(|(bytes, _)| bytes))
}

/// Reads a file of a repository that belongs to an agent, as the agent finds it; `None` where it does not exist.
pub fn read_of_repository(path: &Path) -> io::Result<Option<Vec<u8>>> {
    Ok(read_at_most(path, LIMIT)?.map(|(bytes, _)| bytes))
}

fn read_at_most(path: &Path, limit: u64) -> io::Result<Option<(Vec<u8>, Stat)>> {
    match rustix::fs::open(path, READ, Mode::empty()) {
        Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
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
    // Those of /proc say that they are empty.
    let mut bytes = Vec::with_capacity(usize::try_from(size + 1).unwrap_or_default().max(4096));
    File::from(file).take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(other(format!("it is larger than {} KiB", limit / 1024)));
    }
    Ok((bytes, stat))
}

/// Reads a file of a repository; `None` where it does not exist. It must be the user's own, in directories that
/// nobody else can write, and no symbolic link leads to it.
pub fn read_of_project(root: &Path, relative: &Path) -> io::Result<Option<Vec<u8>>> {
    let root = rustix::fs::open(root, DIRECTORY, Mode::empty())?;
    let open_to_others = "everybody may write in its directory";
    refuse_writable_by_others(&rustix::fs::fstat(&root)?, open_to_others)?;
    let above = relative.ancestors().skip(1).filter(|above| !above.as_os_str().is_empty());
    for directory in above.collect::<Vec<_>>().into_iter().rev() {
        let Some(directory) = open_beneath(&root, directory, DIRECTORY)? else { return Ok(None) };
        refuse_writable_by_others(&rustix::fs::fstat(&directory)?, open_to_others)?;
    }
    let Some(file) = open_beneath(&root, relative, READ)? else { return Ok(None) };
    let (bytes, stat) = read_regular(file, LIMIT)?;
    if !is_ours(&stat) {
        return Err(other("it belongs to somebody else"));
    }
    refuse_writable_by_others(&stat, "everybody may write it")?;
    Ok(Some(bytes))
}

/// The SHA-256 of a regular file of a project, in hexadecimal digits; `None` where no regular file is there. A symbolic
/// link on the way is an error, as it says nothing of what it leads to.
pub fn digest_of_project(root: &Path, relative: &Path) -> io::Result<Option<String>> {
    let root = rustix::fs::open(root, DIRECTORY, Mode::empty())?;
    let opened = match open_beneath(&root, relative, READ) {
        // A word that is longer than any name is no file.
        Err(error) if error.raw_os_error() == Some(Errno::NAMETOOLONG.raw_os_error()) => None,
        opened => opened?,
    };
    let Some(file) = opened else { return Ok(None) };
    if FileType::from_raw_mode(rustix::fs::fstat(&file)?.st_mode) != FileType::RegularFile {
        return Ok(None);
    }
    let (mut file, mut hasher, mut piece) = (File::from(file), Sha256::new(), vec![0; 64 * 1024]);
    loop {
        match file.read(&mut piece)? {
            0 => return Ok(Some(hexadecimal(&hasher.finalize()))),
            read => hasher.update(piece.get(..read).unwrap_or_default()),
        }
    }
}

fn refuse_writable_by_others(stat: &Stat, reason: &str) -> io::Result<()> {
    if Mode::from_raw_mode(stat.st_mode).contains(Mode::WOTH) { Err(other(reason)) } else { Ok(()) }
}

/// The names in a directory, in no order; none where it does not exist.
pub fn names_in(directory: &Path) -> io::Result<Vec<OsString>> {
    let entries = match std::fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut names = Vec::new();
    for entry in entries {
        names.push(entry?.file_name());
    }
    Ok(names)
}

/// Writes a file of the user's that must not exist, in a directory that does; others may read it.
pub fn write_new_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let name = path.file_name().and_then(|name| name.to_str()).ok_or_else(|| other("it names no file"))?;
    let directory = rustix::fs::open(directory, DIRECTORY, Mode::empty())?;
    write_new(&directory, name, bytes, Mode::from_raw_mode(0o644)).map(drop)
}

/// Writes a file that must not exist, with these permissions under any umask; on an error nothing is left.
fn write_new(directory: &OwnedFd, name: &str, bytes: &[u8], mode: Mode) -> io::Result<File> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut file = File::from(rustix::fs::openat(directory, name, flags, Mode::RUSR | Mode::WUSR)?);
    let written =
        rustix::fs::fchmod(&file, mode).map_err(io::Error::from).and_then(|()| file.write_all(bytes));
    if let Err(error) = written {
        // What could not be written whole must not stay; the error that counts is the first.
        let _ = rustix::fs::unlinkat(directory, name, AtFlags::empty());
        return Err(error);
    }
    Ok(file)
}

/// A rename is on the disk once its directory is. Some file systems have no such call, and nothing better.
fn sync_directory(directory: &OwnedFd) -> io::Result<()> {
    match rustix::fs::fsync(directory) {
        Ok(()) | Err(Errno::INVAL) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// A removal of what somebody else removed already is done.
fn unless_gone(removed: Result<(), Errno>) -> io::Result<()> {
    match removed {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// 128 random bits as text.
pub fn random_name() -> io::Result<String> {
    Ok(hexadecimal(&*random::<16>()?))
}

/// Random bytes, which may be a key.
pub fn random<const LENGTH: usize>() -> io::Result<Zeroizing<[u8; LENGTH]>> {
    let mut bytes = Zeroizing::new([0_u8; LENGTH]);
    let filled = rustix::rand::getrandom(&mut bytes[..], rustix::rand::GetRandomFlags::empty())?;
    if filled < LENGTH {
        return Err(other("the system gave too little randomness"));
    }
    Ok(bytes)
}

/// Whether a text is what [`hexadecimal`] makes of so many bytes, in digits of either case.
pub fn is_hexadecimal(text: &str, bytes: usize) -> bool {
    text.len() == bytes * 2 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Bytes as two digits each.
pub fn hexadecimal(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 2);
    let digit = |half: u8| char::from(if half < 10 { b'0' + half } else { b'a' - 10 + half });
    for byte in bytes {
        text.push(digit(byte >> 4));
        text.push(digit(byte & 15));
    }
    text
}
