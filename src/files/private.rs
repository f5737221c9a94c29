//! Directories of our own, which nobody else can enter.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use super::{
    AGENT_LIMIT, DIRECTORY, READ, hindrance, is_ours, other, read_regular, sync_directory, unless_gone,
    write_new,
};

/// Longer than one call takes to write a few lines.
const A_WRITE: Duration = Duration::from_millis(5);

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
        let made = rustix::fs::openat(&handle, name, DIRECTORY | OFlags::NOFOLLOW, Mode::empty())
            // An umask may have taken bits away; none can have been added.
            .and_then(|made| rustix::fs::fchmod(&made, Mode::RWXU).map(|()| made));
        let made = made.inspect_err(|_| {
            // Of two failures the first is told.
            let _ = rustix::fs::unlinkat(&handle, name, AtFlags::REMOVEDIR);
        })?;
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
pub(super) fn private_base(base: &Path) -> io::Result<OwnedFd> {
    let open = || rustix::fs::open(base, DIRECTORY | OFlags::NOFOLLOW, Mode::empty());
    let opened = match open() {
        Err(Errno::NOENT | Errno::NOTDIR) => {
            make_private(base)?;
            open()
        }
        opened => opened,
    };
    ours_alone(base, opened)
}

/// Why nothing would be written into a directory of our own that is there: what [`private_base`] refuses, and what
/// [`hindrance`] finds.
pub fn hindrance_of_ours(directory: &Path) -> Option<String> {
    match rustix::fs::open(directory, DIRECTORY | OFlags::NOFOLLOW, Mode::empty()) {
        Err(Errno::NOENT) => None,
        opened => match ours_alone(directory, opened) {
            Ok(_) => hindrance(directory),
            Err(error) => Some(error.to_string()),
        },
    }
}

fn ours_alone(base: &Path, opened: rustix::io::Result<OwnedFd>) -> io::Result<OwnedFd> {
    let handle = opened.map_err(|error| match error {
        Errno::LOOP | Errno::NOTDIR => other(format!("{} is no directory of its own", base.display())),
        error => error.into(),
    })?;
    let stat = rustix::fs::fstat(&handle)?;
    if !is_ours(&stat) || Mode::from_raw_mode(stat.st_mode).intersects(Mode::WGRP | Mode::WOTH) {
        return Err(other(format!("{} is not ours alone to write", base.display())));
    }
    Ok(handle)
}

pub(super) fn make_private(directory: &Path) -> io::Result<()> {
    match rustix::fs::mkdir(directory, Mode::RWXU) {
        Err(Errno::EXIST) => return Ok(()),
        Err(Errno::NOENT) => {
            make_private(directory.parent().ok_or_else(|| other("there is no such directory"))?)?;
            // Another squire may have made it meanwhile.
            match rustix::fs::mkdir(directory, Mode::RWXU) {
                Err(Errno::EXIST) => return Ok(()),
                made => made?,
            }
        }
        made => made?,
    }
    // An umask may have taken bits away; none can have been added.
    rustix::fs::chmod(directory, Mode::RWXU)?;
    Ok(())
}

/// Removes named files of a private directory that an ended launch left, and the directory where it is empty then. An
/// error says that something may still be there.
pub fn remove_left_behind(directory: &Path, names: &[&str]) -> io::Result<()> {
    if is_private(directory) {
        for name in names {
            remove_private(directory, name)?;
        }
        remove_empty(directory)?;
    }
    Ok(())
}

/// Whether a directory of ours lies there itself, and no link to one.
pub fn is_directory(path: &Path) -> bool {
    rustix::fs::lstat(path)
        .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Directory && is_ours(&stat))
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

/// Writes or replaces a file of our own below a private directory, which is made where it is missing: whoever reads it
/// finds the old bytes or the new. `temporary` is a name that nobody else uses.
pub fn write_private(directory: &Path, name: &str, temporary: &str, bytes: &[u8]) -> io::Result<()> {
    let handle = private_base(directory)?;
    write_whole(&handle, name, temporary, bytes, |_| Ok(()))
}

/// As [`write_private`], and whoever reads it after a crash of the machine finds the old bytes or the new, too.
pub fn write_lasting(directory: &Path, name: &str, temporary: &str, bytes: &[u8]) -> io::Result<()> {
    let handle = private_base(directory)?;
    write_whole(&handle, name, temporary, bytes, |file| Ok(rustix::fs::fsync(file)?))?;
    sync_directory(&handle)
}

fn write_whole(
    directory: &OwnedFd,
    name: &str,
    temporary: &str,
    bytes: &[u8],
    sync: impl FnOnce(&File) -> io::Result<()>,
) -> io::Result<()> {
    unless_gone(rustix::fs::unlinkat(directory, temporary, AtFlags::empty()))?;
    let file = write_new(directory, temporary, bytes, Mode::RUSR | Mode::WUSR)?;
    let written = sync(&file).and_then(|()| Ok(rustix::fs::renameat(directory, temporary, directory, name)?));
    if written.is_err() {
        // Of two failures the first is told.
        let _ = rustix::fs::unlinkat(directory, temporary, AtFlags::empty());
    }
    written
}

/// Adds lines to a file of our own below a private directory; both are made where they are missing. Gives the file's
/// length.
pub fn append_private(directory: &Path, name: &str, lines: &[u8]) -> io::Result<u64> {
    let handle = private_base(directory)?;
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::APPEND | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = rustix::fs::openat(&handle, name, flags | OFlags::NONBLOCK, Mode::RUSR | Mode::WUSR)?;
    let stat = rustix::fs::fstat(&file)?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Err(other("it is no regular file"));
    }
    // An umask may have taken bits away.
    rustix::fs::fchmod(&file, Mode::RUSR | Mode::WUSR)?;
    let mut file = File::from(file);
    // One call, so that the lines of two processes do not mix.
    if ends_with_half_a_line(&file)? {
        file.write_all(&[b"\n", lines].concat())?;
    } else {
        file.write_all(lines)?;
    }
    Ok(file.metadata()?.len())
}

/// Whether what is added would not begin a line: a disk that was full may have taken half of the last one. What another
/// process is writing at this moment is no such half, and grows.
fn ends_with_half_a_line(file: &File) -> io::Result<bool> {
    let mut before = None;
    loop {
        let length = file.metadata()?.len();
        let mut last = [0];
        let Some(end) = length.checked_sub(1) else { return Ok(false) };
        if file.read_at(&mut last, end)? == 0 || last == *b"\n" {
            return Ok(false);
        }
        if before == Some(length) {
            return Ok(true);
        }
        before = Some(length);
        std::thread::sleep(A_WRITE);
    }
}

/// Reads a file of our own; `None` where it does not exist. One that others could have written is refused.
pub fn read_private(path: &Path) -> io::Result<Option<Vec<u8>>> {
    let opened = rustix::fs::open(path, READ | OFlags::NOFOLLOW, Mode::empty());
    let file = match opened {
        Err(Errno::NOENT) => return Ok(None),
        opened => opened?,
    };
    let (bytes, stat) = read_regular(file, AGENT_LIMIT)?;
    refuse_written_by_others(&stat)?;
    Ok(Some(bytes))
}

pub(super) fn refuse_written_by_others(stat: &Stat) -> io::Result<()> {
    if !is_ours(stat) || Mode::from_raw_mode(stat.st_mode).intersects(Mode::WGRP | Mode::WOTH) {
        return Err(other("it is not ours alone to write"));
    }
    Ok(())
}

/// Gives a file of our own another name in its directory.
pub fn move_private(directory: &Path, from: &str, to: &str) -> io::Result<()> {
    Ok(rustix::fs::rename(directory.join(from), directory.join(to))?)
}

/// Moves a file of our own to another directory of our own, made where it is missing, under the same name. One that is
/// gone already is no error.
pub fn move_between(from: &Path, to: &Path, name: &str) -> io::Result<()> {
    let target = private_base(to)?;
    unless_gone(rustix::fs::renameat(rustix::fs::CWD, from.join(name), target, name))
}

/// Removes a directory where it is empty; `false` where it is not, or not there.
pub fn remove_empty(directory: &Path) -> io::Result<bool> {
    match rustix::fs::rmdir(directory) {
        Ok(()) => Ok(true),
        Err(Errno::NOENT | Errno::NOTEMPTY | Errno::EXIST) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Removes one file of our own, where it is still there.
pub fn remove_private(directory: &Path, name: &str) -> io::Result<()> {
    unless_gone(rustix::fs::unlink(directory.join(name)))
}
