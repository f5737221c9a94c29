//! Stays as the agent's parent while something has to be put back afterwards.
//!
//! The agent stays in squire's process group, so a terminal's signals reach it by themselves and are not sent twice;
//! a signal that a process sent to squire alone is forwarded once. A stop of the agent stops squire by the same signal,
//! so that the shell sees it, and both go on together. The agent's status becomes squire's. Where a signal ended the
//! agent, the terminal is put back as it was.

use std::collections::BTreeSet;
use std::os::unix::net::UnixStream;
use std::{io, mem};

use anyhow::{Context, Result};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, kill_process, waitpid};
use signal_hook::consts::signal::{SIGCHLD, SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
use signal_hook::iterator::backend::SignalDelivery;
use signal_hook::iterator::exfiltrator::WithOrigin;
use signal_hook::low_level::siginfo::{Cause, Origin};

use super::stops::{Agent, Stops, await_senders};
use super::terminal::Terminal;
use crate::exit::Exit;
use crate::files;
use crate::output::Output;

/// The signals that squire passes on.
const FORWARDED: &[i32] = &[SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2];

/// The signals that are waited for, from before anything is staged until everything is put back.
pub(super) struct Watch {
    signals: SignalDelivery<UnixStream, WithOrigin>,
    stops: Stops,
    /// The agent goes on after a stop, by a signal that squire has got or will get too.
    continued: bool,
}

impl Watch {
    /// From here on no signal ends squire by itself.
    pub(super) fn begin() -> Result<Self> {
        // What the caller ignores stays ignored, here and in the agent.
        let ignored = ignored_signals();
        let forwarded = FORWARDED.iter().copied().filter(|signal| !ignored.contains(signal));
        let watched = forwarded.chain([SIGCHLD, SIGCONT]).collect::<Vec<_>>();
        let (read, write) = UnixStream::pair().context("signals can't be watched")?;
        let signals = SignalDelivery::with_pipe(read, write, WithOrigin::default(), watched)
            .context("signals can't be watched")?;
        Ok(Self { signals, stops: Stops::begin(ignored)?, continued: false })
    }

    /// A signal that came before there was an agent to pass it on to.
    pub(super) fn interruption(&mut self) -> Option<i32> {
        self.signals.pending().map(|origin| origin.signal).find(|signal| FORWARDED.contains(signal))
    }

    /// Starts the agent and waits for its end. The inner error is that of the start.
    pub(super) fn run(mut self, agent: &Agent<'_>, output: Output) -> Result<io::Result<Exit>> {
        let terminal = Terminal::remember();
        let agent = match self.stops.spawn(agent) {
            Ok(agent) => agent,
            Err(error) => return Ok(Err(error)),
        };
        loop {
            self.wait()?;
            for signal in self.stops.sent(agent) {
                let _ = kill_process(agent, signal);
            }
            for origin in self.signals.pending().collect::<Vec<_>>() {
                let end = match origin.signal {
                    SIGCHLD => self.reap(agent)?,
                    SIGCONT if by_process(&origin) => self.pass_on_continue(agent)?,
                    SIGCONT => None,
                    _ => {
                        forward(&origin, agent);
                        None
                    }
                };
                if let Some(exit) = end {
                    if matches!(exit, Exit::Signal(_)) {
                        terminal.restore(output);
                    }
                    return Ok(Ok(exit));
                }
            }
        }
    }

    /// Continues the agent, unless the same signal did so already: a shell continues the whole group.
    fn pass_on_continue(&mut self, agent: Pid) -> Result<Option<Exit>> {
        await_senders();
        let end = self.reap(agent)?;
        if end.is_none() && !mem::take(&mut self.continued) {
            let _ = kill_process(agent, Signal::CONT);
        }
        Ok(end)
    }

    /// Returns once there may be a signal.
    fn wait(&self) -> Result<()> {
        let mut sources = vec![PollFd::new(self.signals.get_read(), PollFlags::IN)];
        sources.extend(self.stops.as_fd().map(|stops| PollFd::from_borrowed_fd(stops, PollFlags::IN)));
        match poll(&mut sources, None) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(error) => Err(error).context("signals can't be waited for"),
        }
    }

    /// The agent's end, if it ended; its stops are mirrored.
    fn reap(&mut self, agent: Pid) -> Result<Option<Exit>> {
        let options = WaitOptions::NOHANG | WaitOptions::UNTRACED | WaitOptions::CONTINUED;
        while let Some((_, status)) =
            waitpid(Some(agent), options).context("the agent can't be waited for")?
        {
            if let Some(exit) = ended(status) {
                return Ok(Some(exit));
            }
            self.continued = status.continued();
            if let Some(signal) = status.stopping_signal() {
                self.stops.stop_by(signal).context("squire can't stop with the agent")?;
            }
        }
        Ok(None)
    }
}

fn by_process(origin: &Origin) -> bool {
    matches!(origin.cause, Cause::Sent(_))
}

fn forward(origin: &Origin, agent: Pid) {
    // The terminal sends these to the whole group, the agent included.
    let of_terminal = matches!(origin.signal, SIGINT | SIGQUIT | SIGHUP) && !by_process(origin);
    // The agent knows what it sent: to its whole group, itself included.
    let of_agent = origin.process.as_ref().is_some_and(|process| process.pid == agent.as_raw_pid());
    if let Some(signal) = Signal::from_named_raw(origin.signal).filter(|_| !of_terminal && !of_agent) {
        // The agent may have ended meanwhile, which its SIGCHLD will tell.
        let _ = kill_process(agent, signal);
    }
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
    (1..=64).filter(|signal| mask >> (signal - 1) & 1 == 1).collect()
}
