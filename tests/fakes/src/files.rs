//! The ways in which the programs touch files that a test watches.

use std::ffi::OsString;
use std::path::Path;
use std::time::{Duration, Instant};
use std::{fs, io, process, thread};

const PATIENCE: Duration = Duration::from_secs(20);
const POLL: Duration = Duration::from_millis(5);

/// Writes a new file beside `path` and renames it over `path`: a reader sees all of it or none.
pub(crate) fn write_atomically(path: &Path, content: &str) -> io::Result<()> {
    let mut temporary = OsString::from(path);
    temporary.push(format!(".{}.new", process::id()));
    fs::write(&temporary, content)?;
    fs::rename(&temporary, path)
}

/// Returns once `path` exists; a file that never comes is an error.
pub(crate) fn wait_for(path: &Path) -> io::Result<()> {
    let start = Instant::now();
    while !path.exists() {
        if start.elapsed() > PATIENCE {
            return Err(io::Error::new(io::ErrorKind::TimedOut, "the file did not appear"));
        }
        thread::sleep(POLL);
    }
    Ok(())
}
