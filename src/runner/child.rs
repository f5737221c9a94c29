//! Stays as the agent's parent while something has to be put back afterwards.
//!
//! The agent stays in squire's process group, so a terminal's signals reach it by themselves and are not sent twice;
//! a signal that a process sent to squire alone is forwarded once. A stop of the agent stops squire, so that the
//! shell sees it, and both go on together. The agent's status becomes squire's.

use std::collections::BTreeSet;
use std::io;
use std::process::Command;

use anyhow::{Context, Result};
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, getpid, kill_process, waitpid};
use signal_hook::consts::signal::{SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::WithOrigin;
use signal_hook::low_level::siginfo::{Cause, Origin};

use crate::exit::Exit;
use crate::files;

/// The signals that squire passes on.
const FORWARDED: &[i32] = &[SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2];

/// The signals that are waited for, from before anything is staged until everything is put back.
pub(super) struct Watch(SignalsInfo<WithOrigin>);

impl Watch {
    /// From here on no signal ends squire by itself.
    pub(super) fn begin() -> Result<Self> {
        // What the caller ignores stays ignored, here and in the agent.
        let ignored = ignored_signals();
        let handled = FORWARDED.iter().copied().filter(|signal| !ignored.contains(signal)).chain([SIGCHLD]);
        Ok(Self(SignalsInfo::new(handled).context("signals can't be watched")?))
    }

    /// A signal that came before there was an agent to pass it on to.
    pub(super) fn interruption(&mut self) -> Option<i32> {
        self.0.pending().map(|origin| origin.signal).find(|signal| *signal != SIGCHLD)
    }

    /// Starts the agent and waits for its end. The inner error is that of the start.
    pub(super) fn run(mut self, command: &mut Command) -> Result<io::Result<Exit>> {
        let child = match command.spawn() {
            Ok(child) => child,
            Err(error) => return Ok(Err(error)),
        };
        let agent = Pid::from_child(&child);
        loop {
            for origin in self.0.wait() {
                if origin.signal != SIGCHLD {
                    forward(&origin, agent);
                } else if let Some(exit) = reap(agent)? {
                    return Ok(Ok(exit));
                }
            }
        }
    }
}

fn forward(origin: &Origin, agent: Pid) {
    let by_process = matches!(origin.cause, Cause::Sent(_));
    // The terminal sends these to the whole group, the agent included.
    let of_terminal = matches!(origin.signal, SIGINT | SIGQUIT | SIGHUP) && !by_process;
    if let Some(signal) = Signal::from_named_raw(origin.signal).filter(|_| !of_terminal) {
        // The agent may have ended meanwhile, which its SIGCHLD will tell.
        let _ = kill_process(agent, signal);
    }
}

/// The agent's end, if it ended; its stops are mirrored.
fn reap(agent: Pid) -> Result<Option<Exit>> {
    let options = WaitOptions::NOHANG | WaitOptions::UNTRACED;
    while let Some((_, status)) = waitpid(Some(agent), options).context("the agent can't be waited for")? {
        if let Some(exit) = ended(status) {
            return Ok(Some(exit));
        }
        if status.stopped() {
            // Ends with the SIGCONT of the shell, which reaches the group; the agent may have been stopped alone.
            kill_process(getpid(), Signal::STOP).context("squire can't stop with the agent")?;
            let _ = kill_process(agent, Signal::CONT);
        }
    }
    Ok(None)
}

fn ended(status: WaitStatus) -> Option<Exit> {
    let code = status.exit_status().and_then(|code| u8::try_from(code).ok()).map(Exit::Code);
    code.or_else(|| status.terminating_signal().map(Exit::Signal))
}

/// The signals that this process ignores, as far as the system tells (Linux does).
fn ignored_signals() -> BTreeSet<i32> {
    let status = files::read_of_user("/proc/self/status".as_ref()).ok().flatten().unwrap_or_default();
    let status = String::from_utf8_lossy(&status);
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    FORWARDED.iter().copied().filter(|signal| mask >> (signal - 1) & 1 == 1).collect()
}
