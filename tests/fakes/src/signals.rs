//! Signals: their names, dying of one, outliving one, counting them.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use rustix::process::{Resource, Rlimit, Signal, kill_current_process_group, setrlimit};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGSTOP, SIGTERM, SIGUSR1, SIGUSR2};
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::WithOrigin;
use signal_hook::low_level::{emulate_default_handler, raise, signal_name};

/// The number of the signal called `name`, with or without its SIG.
pub(crate) fn number(name: &str) -> Option<i32> {
    let name = name.strip_prefix("SIG").unwrap_or(name);
    (1..32).find(|number| short_name(*number) == Some(name))
}

pub(crate) fn short_name(number: i32) -> Option<&'static str> {
    signal_name(number)?.strip_prefix("SIG")
}

/// Ends this process by `signal`, as if nothing had ever handled it, and without a core dump.
pub(crate) fn die_of(signal: i32) -> io::Result<()> {
    setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) })?;
    emulate_default_handler(signal)
}

/// Stops this process until somebody continues it.
pub(crate) fn stop() -> io::Result<()> {
    raise(SIGSTOP)
}

/// Sends a signal to this process, to be handled as it is.
pub(crate) fn send_to_self(signal: i32) -> io::Result<()> {
    raise(signal)
}

/// Sends a signal to this process's whole group.
pub(crate) fn send_to_group(signal: i32) -> io::Result<()> {
    let signal = Signal::from_named_raw(signal).ok_or(io::ErrorKind::InvalidInput)?;
    Ok(kill_current_process_group(signal)?)
}

/// From now on SIGTERM does nothing.
pub(crate) fn ignore_terminate() -> io::Result<()> {
    signal_hook::flag::register(SIGTERM, Arc::new(AtomicBool::new(false)))?;
    Ok(())
}

/// Receives signals instead of dying of them.
pub(crate) struct Trap(SignalsInfo<WithOrigin>);

impl Trap {
    pub(crate) fn set() -> io::Result<Self> {
        Self::of(&[SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2])
    }

    pub(crate) fn of(signals: &[i32]) -> io::Result<Self> {
        // Only with their origin are two signals of the same name two, and not one pending flag.
        SignalsInfo::new(signals).map(Self)
    }

    /// The name of the next signal, once there is one.
    pub(crate) fn next(&mut self) -> Option<&'static str> {
        self.0.forever().next().and_then(|origin| short_name(origin.signal))
    }
}
