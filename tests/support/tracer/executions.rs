//! Every program that a command and its descendants become, with its words and its environment.

use std::fs;
use std::io::{Seek, Write};
use std::process::Command;

use nix::sys::ptrace::{self, Options};
use nix::sys::signal::Signal;
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

use super::{Ending, Watchdog, read};

/// A program as it was started.
#[derive(Debug)]
pub(crate) struct Execution {
    /// Its words, each with a NUL behind it.
    pub(crate) words: Vec<u8>,
    /// Its variables, each with a NUL behind it.
    pub(crate) environment: Vec<u8>,
}

impl Execution {
    /// The words for people, and for a test that looks for one of them.
    pub(crate) fn shown(&self) -> String {
        String::from_utf8_lossy(&self.words).replace('\0', " ")
    }

    /// The variables that satisfy a test.
    pub(crate) fn variables(&self, satisfies: impl Fn(&[u8]) -> bool) -> Vec<String> {
        let variables = self.environment.split(|byte| *byte == 0).filter(|variable| satisfies(variable));
        variables.map(|variable| String::from_utf8_lossy(variable).into_owned()).collect()
    }
}

/// All that a run did.
#[derive(Debug)]
pub(crate) struct Executions {
    pub(crate) all: Vec<Execution>,
    pub(crate) ending: Ending,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Runs a command, which starts with the program `traced`, to its end and to that of all that it starts.
#[expect(clippy::zombie_processes, reason = "the tracee waits for it by its number")]
pub(crate) fn executions(command: &mut Command, input: &[u8]) -> Executions {
    let [mut stdin, stdout, stderr] = [(); 3].map(|()| tempfile::tempfile().unwrap());
    stdin.write_all(input).unwrap();
    stdin.rewind().unwrap();
    command.stdin(stdin).stdout(stdout.try_clone().unwrap()).stderr(stderr.try_clone().unwrap());
    let child = command.spawn().unwrap();
    let first = Pid::from_raw(i32::try_from(child.id()).unwrap());
    let watchdog = Watchdog::set(first);
    assert_eq!(waitpid(first, None), Ok(WaitStatus::Stopped(first, Signal::SIGTRAP)), "not traced");
    let options = Options::PTRACE_O_TRACEEXEC
        | Options::PTRACE_O_TRACEFORK
        | Options::PTRACE_O_TRACEVFORK
        | Options::PTRACE_O_TRACECLONE
        | Options::PTRACE_O_EXITKILL;
    ptrace::setoptions(first, options).unwrap();
    let mut all = vec![execution(first)];
    go_on(first, None);
    let mut ending = None;
    // Those of this thread alone: other tests have children too.
    let any = WaitPidFlag::__WALL | WaitPidFlag::__WNOTHREAD;
    while let Ok(status) = waitpid(None, Some(any)) {
        match status {
            WaitStatus::PtraceEvent(process, Signal::SIGTRAP, event) => {
                if event == nix::libc::PTRACE_EVENT_EXEC {
                    all.push(execution(process));
                }
                go_on(process, None);
            }
            // What a new child begins with.
            WaitStatus::Stopped(process, Signal::SIGSTOP) => go_on(process, None),
            WaitStatus::Stopped(process, signal) => go_on(process, Some(signal)),
            WaitStatus::Exited(process, code) if process == first => ending = Some(Ending::Code(code)),
            WaitStatus::Signaled(process, signal, _) if process == first => {
                ending = Some(Ending::Signal(signal));
            }
            _ => {}
        }
    }
    let ending = if watchdog.stop() { Ending::Hung } else { ending.unwrap() };
    Executions { all, ending, stdout: read(stdout), stderr: read(stderr) }
}

/// At its first instruction, a program is what it was started as.
fn execution(process: Pid) -> Execution {
    let of = |what: &str| fs::read(format!("/proc/{process}/{what}")).unwrap_or_default();
    Execution { words: of("cmdline"), environment: of("environ") }
}

/// One that was killed meanwhile can't be told to go on, which its end tells.
fn go_on(process: Pid, signal: Option<Signal>) {
    let _ = ptrace::cont(process, signal);
}
