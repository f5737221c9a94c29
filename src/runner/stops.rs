//! Stops: the agent decides whether one stops it, and squire then stops by the same signal, so that the shell is told
//! what it would be told of the bare agent.
//!
//! The stopping signals stay blocked, not handled: only a signal with its default disposition stops a process by that
//! very signal, and a handler can't be taken back without unsafe code.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{CString, OsStr};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::process::Command;
use std::{io, iter};

use anyhow::{Context, Result};
use nix::spawn::{PosixSpawnAttr, PosixSpawnFileActions, PosixSpawnFlags, posix_spawn};
use nix::sys::signal::{SigSet, Signal as Named};
use rustix::process::{Pid, Signal, getpgrp, getpid, kill_process, setpgid};
use signal_hook::low_level::raise;

use crate::environment::Environment;

const STOPPING: &[Named] = &[Named::SIGTSTP, Named::SIGTTIN, Named::SIGTTOU];

/// The agent's command, and what a command doesn't tell of itself.
pub(super) struct Agent<'a> {
    pub(super) command: &'a Command,
    /// What it is called as.
    pub(super) name: &'a OsStr,
    pub(super) environment: &'a Environment,
}

/// What is needed to stop as the agent was stopped, and not otherwise.
pub(super) struct Stops {
    sent: Sent,
    /// What was blocked before, and is for the agent.
    before: SigSet,
    ignored: BTreeSet<i32>,
}

impl Stops {
    pub(super) fn begin(ignored: BTreeSet<i32>) -> Result<Self> {
        let before = SigSet::thread_get_mask().context("the signal mask can't be read")?;
        let stopping = STOPPING.iter().copied().collect::<SigSet>();
        stopping.thread_block().context("signals can't be blocked")?;
        Ok(Self { sent: Sent::begin(&stopping)?, before, ignored })
    }

    /// Starts the agent with nothing of this: the standard library would hand the blocked signals on.
    pub(super) fn spawn(&self, agent: &Agent<'_>) -> io::Result<Pid> {
        let mut attributes = PosixSpawnAttr::init()?;
        attributes
            .set_flags(PosixSpawnFlags::POSIX_SPAWN_SETSIGMASK | PosixSpawnFlags::POSIX_SPAWN_SETSIGDEF)?;
        attributes.set_sigmask(&self.before)?;
        // Ignored by the language's runtime, as in what the standard library starts.
        attributes.set_sigdefault(&SigSet::from(Named::SIGPIPE))?;
        let text = |text: &OsStr| CString::new(text.as_bytes());
        let path = text(agent.command.get_program())?;
        let words = iter::once(agent.name).chain(agent.command.get_args());
        let words = words.map(text).collect::<Result<Vec<_>, _>>()?;
        let mut variables: BTreeMap<&OsStr, &OsStr> = agent.environment.variables().collect();
        for (name, value) in agent.command.get_envs() {
            match value {
                Some(value) => variables.insert(name, value),
                None => variables.remove(name),
            };
        }
        let variable = |(name, value): (&OsStr, &OsStr)| {
            CString::new([name.as_bytes(), b"=", value.as_bytes()].concat())
        };
        let variables = variables.into_iter().map(variable).collect::<Result<Vec<_>, _>>()?;
        let actions = PosixSpawnFileActions::init()?;
        let pid = posix_spawn(path.as_c_str(), &actions, &attributes, &words, &variables)?;
        Pid::from_raw(pid.as_raw()).ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// Readable where a stopping signal came.
    pub(super) fn as_fd(&self) -> Option<BorrowedFd<'_>> {
        self.sent.as_fd()
    }

    /// The stopping signals that other processes than the agent sent to squire; the terminal's, and those that the agent
    /// sends to its group, reach the agent by themselves.
    pub(super) fn sent(&self, agent: Pid) -> Vec<Signal> {
        let by_others =
            self.sent.by_processes().into_iter().filter(|(_, sender)| *sender != agent.as_raw_pid());
        by_others.map(|(signal, _)| signal).collect()
    }

    /// Stops squire as the agent was stopped, until somebody continues it. Who can't be stopped by that signal, as its
    /// caller ignores it, is by the one that nobody can ignore. Not told by a SIGCONT: a stop that follows at once
    /// discards it.
    pub(super) fn stop_by(&self, signal: i32) -> io::Result<()> {
        let held_back = STOPPING.iter().find(|stopping| **stopping as i32 == signal);
        match held_back.filter(|_| !self.ignored.contains(&signal)) {
            Some(stopping) => {
                raise(signal)?;
                let only = SigSet::from(*stopping);
                only.thread_unblock()?;
                Ok(only.thread_block()?)
            }
            None => Ok(kill_process(getpid(), Signal::STOP)?),
        }
    }
}

/// Who signals a group signals its processes one after the other, under a lock that `setpgid` waits for: once this
/// returns, all of them have what squire got.
pub(super) fn await_senders() {
    // Changes nothing, and fails for the leader of a session, behind the lock.
    let _ = setpgid(None, Some(getpgrp()));
}

#[cfg(target_os = "linux")]
struct Sent(nix::sys::signalfd::SignalFd);

#[cfg(target_os = "linux")]
impl Sent {
    fn begin(stopping: &SigSet) -> Result<Self> {
        use nix::sys::signalfd::{SfdFlags, SignalFd};
        let flags = SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC;
        SignalFd::with_flags(stopping, flags).map(Self).context("signals can't be watched")
    }

    #[expect(clippy::unnecessary_wraps, reason = "elsewhere there is none")]
    fn as_fd(&self) -> Option<BorrowedFd<'_>> {
        Some(self.0.as_fd())
    }

    /// Each with its sender.
    fn by_processes(&self) -> Vec<(Signal, i32)> {
        let mut signals = Vec::new();
        while let Ok(Some(information)) = self.0.read_signal() {
            // SI_USER, SI_QUEUE and SI_TKILL; the kernel's own codes are above.
            let signal = i32::try_from(information.ssi_signo).ok().and_then(Signal::from_named_raw);
            let sender = i32::try_from(information.ssi_pid).unwrap_or_default();
            signals.extend(signal.filter(|_| information.ssi_code <= 0).map(|signal| (signal, sender)));
        }
        signals
    }
}

/// Elsewhere nobody tells who sent a blocked signal: one that was sent to squire alone waits for the agent's next stop.
#[cfg(not(target_os = "linux"))]
struct Sent;

#[cfg(not(target_os = "linux"))]
impl Sent {
    #[expect(clippy::unnecessary_wraps, reason = "elsewhere it may fail")]
    fn begin(_: &SigSet) -> Result<Self> {
        Ok(Self)
    }

    #[expect(clippy::unused_self, reason = "elsewhere there is something")]
    fn as_fd(&self) -> Option<BorrowedFd<'_>> {
        None
    }

    #[expect(clippy::unused_self, reason = "elsewhere there is something")]
    fn by_processes(&self) -> Vec<(Signal, i32)> {
        Vec::new()
    }
}
