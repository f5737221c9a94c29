//! A file of the user's that is changed as a whole: locked against another squire, replaced in one step, its permissions
//! and attributes kept, and read back. What another program saves in between is not lost.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::{AtFlags, FlockOperation, Mode, OFlags, RenameFlags};
use rustix::io::Errno;
use zeroize::Zeroizing;

use super::beneath::open_beneath;
use super::private::make_private;
use super::{
    DIRECTORY, LIMIT, READ, attributes, is_hexadecimal, is_ours, other, random_name, read_regular,
    refuse_writable_by_others, sync_directory, unless_gone, write_new,
};

/// How long another change may take, and how long to wait before another look.
const PATIENCE: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(2);

/// A file that is being changed. Its directory is locked, without a file for it, until this goes away.
#[derive(Debug)]
pub struct Rewrite {
    directory: OwnedFd,
    name: String,
    before: Option<Before>,
}

#[derive(Debug)]
struct Before {
    file: OwnedFd,
    bytes: Zeroizing<Vec<u8>>,
    mode: Mode,
}

impl Rewrite {
    /// Begins to change a file of the user at a real path; missing directories are made for the user alone.
    pub fn of_user(path: &Path) -> io::Result<Self> {
        let parent = path.parent().ok_or_else(|| other("it has no directory"))?;
        let open = || rustix::fs::open(parent, DIRECTORY | OFlags::NOFOLLOW, Mode::empty());
        let directory = match open() {
            Err(Errno::NOENT) => {
                make_private(parent)?;
                open()?
            }
            opened => opened?,
        };
        Self::begin(directory, path)
    }

    /// Begins to change a file of a project, `relative` to its root; no symbolic link is followed below that.
    pub fn of_project(root: &Path, relative: &Path) -> io::Result<Self> {
        let root = rustix::fs::open(root, DIRECTORY | OFlags::NOFOLLOW, Mode::empty())?;
        let parent = relative.parent().filter(|parent| !parent.as_os_str().is_empty());
        let directory = match parent {
            Some(parent) => {
                open_beneath(&root, parent, DIRECTORY)?.ok_or_else(|| other("its directory is gone"))?
            }
            None => root,
        };
        Self::begin(directory, relative)
    }

    fn begin(directory: OwnedFd, path: &Path) -> io::Result<Self> {
        let name =
            path.file_name().and_then(|name| name.to_str()).ok_or_else(|| other("its name is not UTF-8"))?;
        let stat = rustix::fs::fstat(&directory)?;
        if !is_ours(&stat) {
            return Err(other("its directory belongs to somebody else"));
        }
        refuse_writable_by_others(&stat, "everybody may write in its directory")?;
        lock(&directory)?;
        remove_left_behind(&directory, name);
        let before = read(&directory, name)?;
        Ok(Self { directory, name: name.to_owned(), before })
    }

    /// What the file holds; nothing where it is not there.
    pub fn bytes(&self) -> &[u8] {
        self.before.as_ref().map_or(&[], |before| &before.bytes)
    }

    /// Whether the file is there.
    pub fn exists(&self) -> bool {
        self.before.is_some()
    }

    /// Puts new bytes in its place. A new file gets the permissions `mode`, as they are in octal digits.
    pub fn finish(self, bytes: &[u8], mode: u32) -> io::Result<()> {
        if bytes.len() as u64 > LIMIT {
            return Err(other(format!("it would be larger than {} KiB", LIMIT / 1024)));
        }
        let temporary = format!(".{}.{}", self.name, random_name()?);
        let mode = self.before.as_ref().map_or(Mode::from_raw_mode(mode), |before| before.mode);
        let file = write_new(&self.directory, &temporary, bytes, mode)?;
        let replaced = self.replace(&file, &temporary);
        // The old bytes, or the new ones where it failed; of two failures the first is told.
        let removed = unless_gone(rustix::fs::unlinkat(&self.directory, &temporary, AtFlags::empty()));
        replaced.and(removed)?;
        sync_directory(&self.directory)?;
        match read(&self.directory, &self.name)? {
            Some(found) if *found.bytes == bytes => Ok(()),
            _ => Err(other("it does not hold what was written: another program writes it")),
        }
    }

    fn replace(&self, new: &File, temporary: &str) -> io::Result<()> {
        let (directory, name) = (&self.directory, self.name.as_str());
        let Some(before) = &self.before else {
            rustix::fs::fsync(new)?;
            return match rustix::fs::renameat_with(
                directory,
                temporary,
                directory,
                name,
                RenameFlags::NOREPLACE,
            ) {
                Err(Errno::EXIST) => Err(saved_meanwhile()),
                Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
                    Ok(rustix::fs::renameat(directory, temporary, directory, name)?)
                }
                renamed => Ok(renamed?),
            };
        };
        attributes::copy(&before.file, new)?;
        rustix::fs::fsync(new)?;
        if read(directory, name)?.is_none_or(|now| now.bytes != before.bytes) {
            return Err(saved_meanwhile());
        }
        let exchange =
            || rustix::fs::renameat_with(directory, temporary, directory, name, RenameFlags::EXCHANGE);
        match exchange() {
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
                return Ok(rustix::fs::renameat(directory, temporary, directory, name)?);
            }
            exchanged => exchanged?,
        }
        if read(directory, temporary).is_ok_and(|out| out.is_some_and(|out| out.bytes == before.bytes)) {
            return Ok(());
        }
        exchange()?;
        Err(saved_meanwhile())
    }
}

fn saved_meanwhile() -> io::Error {
    other("another program saved it meanwhile, and nothing was changed; try again")
}

/// Removes what a change that was killed left beside the file: nobody else has the lock.
fn remove_left_behind(directory: &OwnedFd, name: &str) {
    let prefix = format!(".{name}.");
    let Ok(entries) = rustix::fs::Dir::read_from(directory) else { return };
    for entry in entries.flatten() {
        let Ok(found) = entry.file_name().to_str() else { continue };
        let is_ours = found.strip_prefix(&prefix).is_some_and(|random| is_hexadecimal(random, 16));
        if is_ours {
            // What can't be removed stays as it was.
            let _ = rustix::fs::unlinkat(directory, found, AtFlags::empty());
        }
    }
}

/// Locks a directory among squire's processes. A file system that knows no such lock has the comparison before the file
/// is replaced.
fn lock(directory: &OwnedFd) -> io::Result<()> {
    let start = Instant::now();
    loop {
        match rustix::fs::flock(directory, FlockOperation::NonBlockingLockExclusive) {
            Err(Errno::WOULDBLOCK | Errno::INTR) if start.elapsed() < PATIENCE => std::thread::sleep(PAUSE),
            Err(Errno::WOULDBLOCK | Errno::INTR) => {
                return Err(other("it is being changed by another process"));
            }
            Ok(()) | Err(Errno::BADF | Errno::NOLCK | Errno::NOTSUP | Errno::INVAL | Errno::NOSYS) => {
                return Ok(());
            }
            Err(error) => return Err(error.into()),
        }
    }
}

fn read(directory: &OwnedFd, name: &str) -> io::Result<Option<Before>> {
    let file = match rustix::fs::openat(directory, name, READ | OFlags::NOFOLLOW, Mode::empty()) {
        Err(Errno::NOENT) => return Ok(None),
        Err(Errno::LOOP) => return Err(other("it is a symbolic link, which squire does not follow here")),
        opened => opened?,
    };
    let (bytes, stat) = read_regular(file.try_clone()?, LIMIT)?;
    if !is_ours(&stat) {
        return Err(other("it belongs to somebody else"));
    }
    refuse_writable_by_others(&stat, "everybody may write it")?;
    if stat.st_nlink != 1 {
        return Err(other("it has several hard links, and replacing it would part them"));
    }
    Ok(Some(Before { file, bytes: Zeroizing::new(bytes), mode: Mode::from_raw_mode(stat.st_mode) }))
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test makes its files")]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    fn text(rewrite: &Rewrite) -> String {
        String::from_utf8(rewrite.bytes().to_vec()).unwrap()
    }

    #[test]
    fn a_file_is_replaced_whole_and_keeps_its_permissions() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().canonicalize().unwrap().join("new/file");
        let rewrite = Rewrite::of_user(&path).unwrap();
        assert!(!rewrite.exists());
        rewrite.finish(b"one", 0o600).unwrap();
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o7777;
        assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
        let rewrite = Rewrite::of_user(&path).unwrap();
        assert_eq!(text(&rewrite), "one");
        rewrite.finish(b"two", 0o600).unwrap();
        assert_eq!((std::fs::read(&path).unwrap(), mode(&path)), (b"two".to_vec(), 0o640));
        assert_eq!(std::fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    }

    #[test]
    fn a_save_in_between_is_kept() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().canonicalize().unwrap().join("file");
        for before in [None, Some("old")] {
            let _ = std::fs::remove_file(&path);
            if let Some(text) = before {
                std::fs::write(&path, text).unwrap();
            }
            let rewrite = Rewrite::of_user(&path).unwrap();
            std::fs::write(&path, "saved").unwrap();
            let told = rewrite.finish(b"new", 0o600).unwrap_err().to_string();
            assert!(told.contains("saved it meanwhile"), "{told}");
            assert_eq!(std::fs::read(&path).unwrap(), b"saved");
            assert_eq!(std::fs::read_dir(temp.path()).unwrap().count(), 1);
        }
    }

    #[test]
    fn b27_links_are_refused() {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().canonicalize().unwrap();
        std::fs::write(root.join("target"), "t").unwrap();
        symlink("target", root.join("link")).unwrap();
        std::fs::create_dir(root.join("d")).unwrap();
        symlink("d", root.join("dl")).unwrap();
        for relative in ["link", "dl/file"] {
            assert!(Rewrite::of_project(&root, Path::new(relative)).is_err(), "{relative}");
        }
        assert!(Rewrite::of_user(&root.join("link")).is_err());
        std::fs::hard_link(root.join("target"), root.join("other")).unwrap();
        assert!(Rewrite::of_user(&root.join("target")).unwrap_err().to_string().contains("hard links"));
    }
}
