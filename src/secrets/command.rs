//! Runs the command that prints a secret: no shell, no input, a bounded time and a bounded output (case B95).

use std::ffi::OsStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::buffer::spare_capacity;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, kill_process_group, waitpid};
use zeroize::Zeroizing;

use super::fetch::Failure;
use super::{LARGEST, Value};
use crate::environment::Environment;
use crate::printable::excerpt;
use crate::runner::{Boundaries, look_up};

/// A fingerprint prompt takes its time.
const PATIENCE: Duration = Duration::from_secs(120);
/// How long to wait for output before the next look at the process.
const PAUSE: Timespec = Timespec { tv_sec: 0, tv_nsec: 5_000_000 };
/// What is kept of stderr, and what is shown of it.
const SAID: usize = 4096;
const SHOWN: usize = 500;

/// What the command printed. `project` is where no program is looked up.
pub(super) fn run(
    words: &[String],
    inherit_env: &[String],
    environment: &Environment,
    project: Option<&Path>,
) -> Result<Value, Failure> {
    let printed = run_within(PATIENCE, words, inherit_env, environment, project)?;
    let name = words.first().map(String::as_str).unwrap_or_default();
    Value::of_line(printed).map_err(|reason| format!("what {name} printed: {reason}").into())
}

fn run_within(
    patience: Duration,
    words: &[String],
    inherit_env: &[String],
    environment: &Environment,
    project: Option<&Path>,
) -> Result<Zeroizing<Vec<u8>>, Failure> {
    let Some((name, arguments)) = words.split_first() else { return Err("it has no command".into()) };
    let variables = environment.inherited(inherit_env);
    let path = variables.iter().find(|(name, _)| *name == "PATH").map(|(_, value)| *value);
    let program = find(name, path, environment, project)?;
    let mut command = Command::new(program);
    command
        .args(arguments)
        .env_clear()
        .envs(variables)
        // Far from any project, whose files could change what the command does.
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        // In a group of its own it can't read from the agent's terminal, and its children end with it.
        .process_group(0);
    let mut child = command.spawn().map_err(|error| format!("{name} can't be started: {error}"))?;
    let pid = Pid::from_child(&child);
    let mut running = Running {
        pid,
        stdout: child.stdout.take().map(OwnedFd::from),
        stderr: child.stderr.take().map(OwnedFd::from),
        printed: Zeroizing::new(Vec::with_capacity(LARGEST + 1)),
        said: Vec::with_capacity(SAID),
    };
    let status = running.finish(patience);
    let Running { printed, said, .. } = running;
    let failed = |reason: String| Failure { reason: format!("{name} {reason}"), said: told(&said, &printed) };
    let status = status.map_err(failed)?;
    if let Some(signal) = status.terminating_signal() {
        return Err(failed(format!("was ended by signal {signal}")));
    }
    match status.exit_status() {
        Some(0) if printed.iter().all(|byte| matches!(byte, b'\n' | b'\r')) => {
            Err(failed("printed nothing".into()))
        }
        Some(0) => Ok(printed),
        code => Err(failed(format!("ended with exit code {}", code.unwrap_or(-1)))),
    }
}

fn find(
    name: &str,
    path: Option<&OsStr>,
    environment: &Environment,
    project: Option<&Path>,
) -> Result<PathBuf, Failure> {
    if let Some(below_home) = name.strip_prefix("~/") {
        let home = environment.home().ok_or("there is no home directory")?;
        return Ok(home.join(below_home));
    }
    if name.contains('/') {
        return Ok(PathBuf::from(name));
    }
    look_up(name.as_ref(), path, Boundaries { project, squire: None })
        .map_err(|reason| Failure::from(reason.to_string()))
}

/// The end of what the command said on stderr, unless the value is in it.
fn told(said: &[u8], printed: &[u8]) -> Option<String> {
    let value = printed.trim_ascii();
    let shows_it = !value.is_empty() && said.windows(value.len()).any(|window| window == value);
    let text = excerpt(said, SHOWN);
    (!shows_it && !text.is_empty()).then_some(text)
}

struct Running {
    pid: Pid,
    stdout: Option<OwnedFd>,
    stderr: Option<OwnedFd>,
    printed: Zeroizing<Vec<u8>>,
    said: Vec<u8>,
}

impl Running {
    /// Waits for the command's own end: what it left in the background may keep the pipes open for ever.
    fn finish(&mut self, patience: Duration) -> Result<WaitStatus, String> {
        for pipe in [&self.stdout, &self.stderr].into_iter().flatten() {
            rustix::io::ioctl_fionbio(pipe, true).map_err(|error| error.to_string())?;
        }
        let start = Instant::now();
        loop {
            let ended = waitpid(Some(self.pid), WaitOptions::NOHANG | WaitOptions::UNTRACED);
            self.drain();
            let refusal = match ended {
                Ok(Some((_, status))) if !status.stopped() => return self.within_limit().map(|()| status),
                Ok(Some(_)) => "waits for an answer at the terminal, where nobody is asked".to_owned(),
                Ok(None) if start.elapsed() >= patience => {
                    format!("did not answer within {} s", patience.as_secs())
                }
                Ok(None) => match self.within_limit() {
                    Ok(()) => {
                        self.pause();
                        continue;
                    }
                    Err(reason) => reason,
                },
                Err(error) => error.to_string(),
            };
            // It may have ended by itself meanwhile.
            let _ = kill_process_group(self.pid, Signal::KILL);
            let _ = waitpid(Some(self.pid), WaitOptions::empty());
            return Err(refusal);
        }
    }

    fn within_limit(&self) -> Result<(), String> {
        if self.printed.len() > LARGEST {
            return Err(format!("printed more than {} KiB", LARGEST / 1024));
        }
        Ok(())
    }

    fn pause(&self) {
        let pipes: Vec<BorrowedFd<'_>> =
            [&self.stdout, &self.stderr].into_iter().flatten().map(OwnedFd::as_fd).collect();
        let mut polled: Vec<PollFd<'_>> =
            pipes.iter().map(|pipe| PollFd::from_borrowed_fd(*pipe, PollFlags::IN)).collect();
        // Interrupted, it is looked at a little sooner.
        let _ = poll(&mut polled, Some(&PAUSE));
    }

    /// Takes what is there; a pipe that was closed is looked at no more.
    fn drain(&mut self) {
        let mut scratch = [0_u8; 512];
        while let Some(pipe) = &self.stdout {
            if self.printed.len() > LARGEST {
                break;
            }
            match rustix::io::read(pipe, spare_capacity(&mut self.printed)) {
                Ok(0) => self.stdout = None,
                Err(Errno::INTR) | Ok(_) => {}
                Err(_) => break,
            }
        }
        while let Some(pipe) = &self.stderr {
            match rustix::io::read(pipe, &mut scratch) {
                Ok(0) => self.stderr = None,
                Ok(count) => {
                    let room = SAID - self.said.len();
                    self.said.extend_from_slice(&scratch[..count.min(room)]);
                }
                Err(Errno::INTR) => {}
                Err(_) => break,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b95_a_command_that_does_not_answer_is_ended_with_its_children() {
        let environment = Environment::of_this_process("squire".into());
        let words = ["sh", "-c", "sleep 60 | cat"].map(str::to_owned);
        let start = Instant::now();
        let failure = run_within(Duration::from_millis(200), &words, &[], &environment, None).err();
        assert_eq!(failure.map(|failure| failure.reason).as_deref(), Some("sh did not answer within 0 s"));
        assert!(start.elapsed() < Duration::from_secs(20));
    }

    #[test]
    fn what_a_command_says_is_not_told_where_the_value_is_in_it() {
        assert_eq!(told(b"not signed in\n", b"tok\n").as_deref(), Some("not signed in"));
        assert_eq!(told(b"+ echo tok\n", b"tok\n"), None);
        assert_eq!(told(b" \n", b""), None);
    }
}
