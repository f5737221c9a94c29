//! A lock among squire's processes, held for the moments in which one file is changed.

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::{AtFlags, FlockOperation, Mode, OFlags};
use rustix::io::Errno;

use super::private::private_base;

/// How long to wait before another look.
const PAUSE: Duration = Duration::from_millis(2);

/// A lock that is held until this goes away, however the process ends.
#[derive(Debug)]
pub struct Lock {
    _handle: OwnedFd,
    path: PathBuf,
}

impl Lock {
    /// Takes the lock of this name below a private directory, which is made where it is missing. `None` where another
    /// process holds it for longer than `patience`.
    pub fn take(directory: &Path, name: &str, patience: Duration) -> io::Result<Option<Self>> {
        let base = private_base(directory)?;
        let start = Instant::now();
        loop {
            let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let handle = rustix::fs::openat(&base, name, flags, Mode::RUSR | Mode::WUSR)?;
            // An umask may have taken bits away, and the next process could not open it.
            rustix::fs::fchmod(&handle, Mode::RUSR | Mode::WUSR)?;
            match rustix::fs::flock(&handle, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => {
                    // The last holder may have removed the file that we opened: then that is no lock any more.
                    let ours = rustix::fs::fstat(&handle)?;
                    let there = rustix::fs::statat(&base, name, AtFlags::SYMLINK_NOFOLLOW);
                    if there.is_ok_and(|there| (there.st_dev, there.st_ino) == (ours.st_dev, ours.st_ino)) {
                        return Ok(Some(Self { _handle: handle, path: directory.join(name) }));
                    }
                }
                Err(Errno::WOULDBLOCK | Errno::INTR) if start.elapsed() < patience => {
                    std::thread::sleep(PAUSE);
                }
                Err(Errno::WOULDBLOCK | Errno::INTR) => return Ok(None),
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Lets go, and removes the lock's file: there is nothing left to guard.
    pub fn remove(self) -> io::Result<()> {
        super::remove_private(self.path.parent().unwrap_or(&self.path), &self.name())
    }

    fn name(&self) -> String {
        self.path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test makes its files")]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    const NO_PATIENCE: Duration = Duration::ZERO;

    fn directory() -> tempfile::TempDir {
        let temp = tempfile::tempdir().unwrap();
        std::fs::set_permissions(temp.path(), std::fs::Permissions::from_mode(0o700)).unwrap();
        temp
    }

    #[test]
    fn one_holds_it_at_a_time() {
        let temp = directory();
        let take = || Lock::take(temp.path(), "file.lock", NO_PATIENCE).unwrap();
        let first = take().unwrap();
        assert!(take().is_none());
        drop(first);
        assert!(take().is_some());
    }

    #[test]
    fn a_removed_lock_is_no_lock() {
        let temp = directory();
        let take = || Lock::take(temp.path(), "file.lock", NO_PATIENCE).unwrap();
        take().unwrap().remove().unwrap();
        assert_eq!(std::fs::read_dir(temp.path()).unwrap().count(), 0);
        let _held = take().unwrap();
        assert!(take().is_none());
    }
}
