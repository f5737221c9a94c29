//! A process that a server leaves behind: it holds stdout and stderr open and outlives SIGTERM.

use std::path::Path;
use std::process::{self, Command, Stdio};
use std::time::Duration;
use std::{env, fs, io, thread};

use crate::{files, signals};

/// How long a process stays that listens to nobody.
pub(crate) const LIFETIME: Duration = Duration::from_secs(60);

/// Starts the process; it is deaf already when this returns.
pub(crate) fn spawn(mode: &str, pid_file: &Path) -> io::Result<()> {
    if pid_file.exists() {
        fs::remove_file(pid_file)?;
    }
    let mode = format!("{mode}:{}", pid_file.display());
    let mut command = Command::new(env::current_exe()?);
    // The messages are for the server alone.
    command.args(["stdio", "--mode", &mode]).stdin(Stdio::null()).spawn()?;
    files::wait_for(pid_file)
}

/// The life of one that no signal to a group or a session reaches.
pub(crate) fn live_apart(pid_file: &Path) -> io::Result<u8> {
    rustix::process::setsid()?;
    live(pid_file)
}

/// The life of that process.
pub(crate) fn live(pid_file: &Path) -> io::Result<u8> {
    signals::ignore_terminate()?;
    files::write_atomically(pid_file, &process::id().to_string())?;
    thread::sleep(LIFETIME);
    Ok(0)
}
