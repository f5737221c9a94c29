//! Whether somebody has a file open to write it.
//!
//! An editor that saves in place empties the file first and fills it afterwards. Taken away in between, the file would
//! go, and the save with it. Only a lease, which the kernel refuses while there is a writer (fcntl(2), `F_SETLEASE`),
//! tells of one; no safe wrapper of it exists, so that this module has unsafe code.

use std::os::fd::{AsRawFd, OwnedFd};
use std::time::{Duration, Instant};

/// How long a save may take.
const PATIENCE: Duration = Duration::from_millis(500);

/// Waits until nobody has a file, opened to read it alone, open to write it. `false` where somebody keeps it open.
pub(super) fn wait_for_no_writer(file: &OwnedFd) -> bool {
    let start = Instant::now();
    while has_writer(file) {
        if start.elapsed() > PATIENCE {
            return false;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    true
}

/// Chooses the signal that tells of the end of a lease (fcntl(2)), the same number on all architectures of Rust's.
#[cfg(target_os = "linux")]
const F_SETSIG: libc::c_int = 10;

#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "leases have no safe wrapper")]
fn has_writer(file: &OwnedFd) -> bool {
    let descriptor = file.as_raw_fd();
    // SAFETY: both calls take plain numbers and a descriptor that is open while it is borrowed.
    let leased = unsafe {
        // A writer that comes while the lease stands waits for its end, and we are told by a signal: by this one, which
        // is ignored unless somebody asked for it, and not by SIGIO, which would end us.
        libc::fcntl(descriptor, F_SETSIG, libc::SIGURG) == 0
            && libc::fcntl(descriptor, libc::F_SETLEASE, libc::F_RDLCK) == 0
    };
    if !leased {
        // A file system without leases says something else, and nothing of writers.
        return std::io::Error::last_os_error().raw_os_error() == Some(libc::EAGAIN);
    }
    // SAFETY: as above. The lease ends with the descriptor at the latest.
    let _ = unsafe { libc::fcntl(descriptor, libc::F_SETLEASE, libc::F_UNLCK) };
    false
}

#[cfg(not(target_os = "linux"))]
fn has_writer(_: &OwnedFd) -> bool {
    false
}

#[cfg(all(test, target_os = "linux"))]
#[expect(clippy::disallowed_methods, reason = "a test makes its files")]
mod tests {
    use super::*;
    use std::fs::File;

    #[test]
    fn a_writer_is_seen_until_it_closes() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("file");
        std::fs::write(&path, "text").unwrap();
        let open = || OwnedFd::from(File::open(&path).unwrap());
        let (reader, another_reader) = (open(), open());
        assert!(!has_writer(&reader));
        let writer = File::options().append(true).open(&path).unwrap();
        assert!(has_writer(&reader));
        assert!(!wait_for_no_writer(&another_reader));
        drop(writer);
        assert!(!has_writer(&reader));
        assert!(wait_for_no_writer(&another_reader));
    }
}
