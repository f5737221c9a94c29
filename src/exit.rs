//! How squire ends. Values travel to `main`, which alone ends the process.

use std::process::ExitCode;

use rustix::process::{Resource, Rlimit, Signal, getpid, kill_process, setrlimit};
use signal_hook::consts::signal::SIGKILL;
use signal_hook::low_level::emulate_default_handler;

/// An exit code, or the signal that ended the agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Ends with this code.
    Code(u8),
    /// Ends by this signal, as the agent did.
    Signal(i32),
}

impl Exit {
    /// Done.
    pub const DONE: Self = Self::Code(0);
    /// Something is wrong with what was looked at.
    pub const FINDINGS: Self = Self::Code(1);
    /// The command line is wrong.
    pub const USAGE: Self = Self::Code(2);
    /// `launch` itself failed, before there was an agent; as env(1) does.
    pub const LAUNCH: Self = Self::Code(125);
    /// The agent's program can't be executed.
    pub const NOT_EXECUTABLE: Self = Self::Code(126);
    /// The agent's program was not found.
    pub const NOT_FOUND: Self = Self::Code(127);

    /// Ends the process's work: the code for `main` to return, or the signal's own death.
    pub fn finish(self) -> ExitCode {
        match self {
            Self::Code(code) => ExitCode::from(code),
            Self::Signal(signal) => {
                die_by(signal);
                // A signal that can't be taken on (a stopped kernel default) still shows as a shell would show it.
                ExitCode::from(u8::try_from(128 + signal).unwrap_or(u8::MAX))
            }
        }
    }
}

/// Ends this process by a signal, as the agent ended. A core file would be squire's, not the agent's.
fn die_by(signal: i32) {
    let none = Rlimit { current: Some(0), maximum: None };
    // Whatever fails here, the exit code says the same as the signal would have.
    let _ = setrlimit(Resource::Core, none);
    let _ = if signal == SIGKILL {
        kill_process(getpid(), Signal::KILL).map_err(Into::into)
    } else {
        emulate_default_handler(signal)
    };
}
