//! A server that is a child process.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::io::{self, BufReader, ErrorKind, Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use serde_json::Value;

use super::connection::{Connection, Wait};
use super::error::{Error, Evidence};
use super::groups::Groups;
use super::lines::{Line, Lines};
use super::message::to_line;
use super::{ABORT_GRACE, LINE_LIMIT, STDERR_LIMIT};
use crate::printable::excerpt;

/// How many of our messages may lie before a server that does not read them.
const UNREAD_LIMIT: usize = 64;
/// How long the status and the last words of a server whose output has ended are waited for.
const LAST_WORDS: Duration = Duration::from_millis(500);
/// How many lines of stderr are told of it.
const LAST_LINES: usize = 10;
/// How often a process that is to end is looked at.
const POLL: Duration = Duration::from_millis(5);

/// A running server in a process group of its own, so that what it started ends with it (case B40).
pub(crate) struct Process {
    child: Child,
    /// The group, until it was ended. Its leader is not reaped before, so the number stays ours.
    group: Option<Pid>,
    groups: Groups,
    input: Option<SyncSender<Vec<u8>>>,
    output: Option<Receiver<io::Result<Line>>>,
    stderr: Arc<Mutex<VecDeque<u8>>>,
    readers: Vec<JoinHandle<()>>,
}

impl Process {
    /// Starts `command` with exactly the environment `env`.
    pub(crate) fn start(
        command: &OsStr,
        args: &[OsString],
        env: &[(OsString, OsString)],
        directory: Option<&Path>,
        groups: &Groups,
    ) -> Result<Self, Error> {
        let mut builder = Command::new(command);
        builder.args(args).env_clear().envs(env.iter().map(|(name, value)| (name, value)));
        builder.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        if let Some(directory) = directory {
            builder.current_dir(directory);
        }
        let child = builder.spawn().map_err(|source| refusal(command, directory, source))?;
        let group = Pid::from_child(&child);
        groups.add(group);
        let mut process = Self {
            group: Some(group),
            groups: groups.clone(),
            child,
            input: None,
            output: None,
            stderr: Arc::default(),
            readers: Vec::new(),
        };
        process.attach().map_err(|source| Error::NotStarted { command: command.to_owned(), source })?;
        Ok(process)
    }

    /// One thread for each stream: a server that does not read, or does not stop writing, blocks nobody (case B46).
    fn attach(&mut self) -> io::Result<()> {
        let (Some(stdin), Some(stdout), Some(stderr)) =
            (self.child.stdin.take(), self.child.stdout.take(), self.child.stderr.take())
        else {
            return Err(io::Error::other("its standard streams are not there"));
        };
        let (input, unsent) = sync_channel(UNREAD_LIMIT);
        // One line in advance: a flood waits in the pipe, not in memory.
        let (lines, output) = sync_channel(1);
        let tail = Arc::clone(&self.stderr);
        self.input = Some(input);
        self.output = Some(output);
        thread::Builder::new().name("server stdin".into()).spawn(move || feed(stdin, &unsent))?;
        self.readers
            .push(thread::Builder::new().name("server stdout".into()).spawn(move || read(stdout, lines))?);
        self.readers
            .push(thread::Builder::new().name("server stderr".into()).spawn(move || keep(stderr, &tail))?);
        Ok(())
    }

    /// How the process that was started has ended, none while it runs.
    fn status(&self) -> Option<ExitStatus> {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        let status = waitid(WaitId::Pid(self.group?), options).ok().flatten()?;
        // The layout of wait(2): the code in the second byte, a signal in the first.
        let exit = status.exit_status().map(|code| ExitStatus::from_raw(code << 8));
        exit.or_else(|| status.terminating_signal().map(ExitStatus::from_raw))
    }

    /// Waits until the process has ended and nobody holds its output and stderr any more, for at most `limit`.
    fn settle(&self, limit: Duration) {
        let until = Instant::now() + limit;
        let settled = || self.status().is_some() && self.readers.iter().all(JoinHandle::is_finished);
        while !settled() && Instant::now() < until {
            thread::sleep(POLL);
        }
    }

    fn exited(&self, wait: Wait) -> Error {
        self.settle(LAST_WORDS.min(wait.remaining()));
        Error::Exited { step: wait.step(), status: self.status(), evidence: self.evidence() }
    }

    fn evidence(&self) -> Evidence {
        Evidence { output: None, stderr: last_lines(lock(&self.stderr).make_contiguous(), LAST_LINES) }
    }

    /// Closes stdin, then asks the group to end, then ends it; `grace` lies between. Once the process and the
    /// holders of its streams are gone nothing is waited for, so helpers that closed them get no grace.
    fn end(&mut self, grace: Duration) {
        self.input = None;
        self.output = None;
        let Some(group) = self.group else { return };
        self.settle(grace);
        // Here and below, an error says that there is nobody left.
        let _ = kill_process_group(group, Signal::TERM);
        self.settle(grace);
        let _ = kill_process_group(group, Signal::KILL);
        // One that has left its group would be waited for without end.
        let _ = self.child.kill();
        let _ = self.child.wait();
        self.groups.remove(group);
        self.group = None;
    }
}

impl Connection for Process {
    fn send(&mut self, message: &Value, _: Wait) -> Result<(), Error> {
        match self.input.as_ref().map(|input| input.try_send(to_line(message))) {
            Some(Err(TrySendError::Full(_))) => Err(Error::Transport("does not read its input".into())),
            // A closed input shows as the end of the output, which says more.
            Some(Ok(()) | Err(TrySendError::Disconnected(_))) | None => Ok(()),
        }
    }

    fn receive(&mut self, wait: Wait) -> Result<Vec<u8>, Error> {
        let remaining = wait.remaining();
        let Some(output) = self.output.as_ref().filter(|_| !remaining.is_zero()) else {
            return Err(wait.timed_out(self.evidence()));
        };
        match output.recv_timeout(remaining) {
            Ok(Ok(Line::Whole(line))) => Ok(line),
            Ok(Ok(Line::TooLong)) => Err(Error::TooLong { limit: LINE_LIMIT }),
            Ok(Err(error)) => Err(Error::Transport(format!("its output could not be read: {error}"))),
            Err(RecvTimeoutError::Disconnected) => Err(self.exited(wait)),
            // Something that the server left behind holds its output.
            Err(RecvTimeoutError::Timeout) if self.status().is_some() => Err(self.exited(wait)),
            Err(RecvTimeoutError::Timeout) => Err(wait.timed_out(self.evidence())),
        }
    }

    fn negotiated(&mut self, _: &str) {}

    fn close(mut self: Box<Self>, grace: Duration) -> Vec<u8> {
        self.end(grace);
        lock(&self.stderr).drain(..).collect()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end(ABORT_GRACE);
    }
}

fn refusal(command: &OsStr, directory: Option<&Path>, source: io::Error) -> Error {
    if let Some(directory) = directory.filter(|directory| !directory.is_dir()) {
        return Error::NoDirectory { directory: directory.to_owned() };
    }
    let command = command.to_owned();
    if source.kind() != ErrorKind::NotFound {
        return Error::NotStarted { command, source };
    }
    if Path::new(&command).is_absolute() && Path::new(&command).exists() {
        let source = io::Error::other("the interpreter that its first line names was not found");
        return Error::NotStarted { command, source };
    }
    Error::NotFound { command }
}

fn feed(mut stdin: ChildStdin, unsent: &Receiver<Vec<u8>>) {
    for line in unsent {
        if stdin.write_all(&line).is_err() {
            return;
        }
    }
}

fn read(stdout: ChildStdout, lines: SyncSender<io::Result<Line>>) {
    let mut output = Lines::new(BufReader::new(stdout), LINE_LIMIT);
    for line in output.by_ref() {
        let failed = line.is_err();
        if lines.send(line).is_err() || failed {
            break;
        }
    }
    drop(lines);
    // Nobody listens any more. A server that still has something to say must be able to end.
    let _ = io::copy(&mut output.into_inner(), &mut io::sink());
}

fn keep(mut stderr: ChildStderr, tail: &Mutex<VecDeque<u8>>) {
    let mut buffer = [0; 8192];
    loop {
        match stderr.read(&mut buffer) {
            Ok(0) => return,
            Ok(count) => {
                let mut tail = lock(tail);
                tail.extend(&buffer[..count]);
                let surplus = tail.len().saturating_sub(STDERR_LIMIT);
                tail.drain(..surplus);
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}

/// A thread that panicked left whole bytes behind: they are good enough for an error text.
fn lock(tail: &Mutex<VecDeque<u8>>) -> MutexGuard<'_, VecDeque<u8>> {
    tail.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The last lines that say something, printable and of a bounded length. A progress bar's `\r` ends a line too.
pub(crate) fn last_lines(tail: &[u8], count: usize) -> Vec<String> {
    let lines = tail.rsplit(|byte| matches!(byte, b'\n' | b'\r'));
    let mut last: Vec<_> = lines
        .filter(|line| !line.trim_ascii().is_empty())
        .take(count)
        .map(|line| excerpt(line, 200))
        .collect();
    last.reverse();
    last
}

#[cfg(test)]
mod tests {
    use rustix::process::test_kill_process;

    use super::super::{Endpoint, Listing, inspect};
    use super::*;

    /// Answers initialize and one page of tools, whatever it is asked; ends at EOF.
    const SERVER: &str = r#"
hello='{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"sh","version":"1"}}}'
tools='{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"\350\252\255\342\200\224\360\237\231\202"}]}}'
serve() { read -r _; printf '%s\r\n' "$hello"; read -r _; read -r _; printf "$tools\n"; while read -r _; do :; done; }
"#;

    fn shell(script: &str, timeout: Duration) -> Result<Listing, Error> {
        let env = vec![("PATH".into(), "/usr/bin:/bin".into())];
        let args = vec!["-c".into(), format!("{SERVER}\n{script}").into()];
        inspect(
            &Endpoint::Stdio { command: "sh".into(), args, env, directory: None },
            timeout,
            &Groups::default(),
        )
    }

    const LONG: Duration = Duration::from_secs(20);

    #[test]
    fn lists_the_tools_of_a_child() {
        let started = Instant::now();
        let listing = shell("serve", LONG).unwrap();
        assert_eq!(listing.tools.shown[0].name, "読—🙂");
        assert_eq!(listing.warnings, Vec::<String>::new());
        assert!(started.elapsed() < Duration::from_secs(2), "{:?}", started.elapsed());
    }

    #[test]
    fn a_character_may_arrive_byte_by_byte() {
        let script = r#"read -r _; printf '%s\n' "$hello"; read -r _; read -r _
printf '{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"'
for byte in '\360' '\237' '\231' '\202'; do printf "$byte"; sleep 0.01; done
printf '"}]}}\n'"#;
        assert_eq!(shell(script, LONG).unwrap().tools.shown[0].name, "🙂");
    }

    #[test]
    fn a_flood_on_stderr_blocks_nobody() {
        let script = r"head -c 1048576 /dev/zero | tr '\0' '\377' >&2; serve";
        assert_eq!(shell(script, LONG).unwrap().tools.shown.len(), 1);
    }

    #[test]
    fn an_early_end_is_told_at_once_with_the_last_words() {
        let started = Instant::now();
        let error = shell(r"printf 'first\nno module named \033[1mx\n' >&2; exit 3", LONG).unwrap_err();
        assert_eq!(
            error.to_string(),
            "ended before it answered initialize (exit status: 3); its stderr ended with:\n    first\n    \
             no module named \\u{1b}[1mx"
        );
        let error = shell("echo hello; kill -9 $$", LONG).unwrap_err().to_string();
        assert!(error.contains("(signal: 9 (SIGKILL)); its output held a line that is not"), "{error}");
        assert!(started.elapsed() < Duration::from_secs(2), "{:?}", started.elapsed());
    }

    #[test]
    fn a_closed_output_is_told_apart() {
        let error = shell("exec >&-; exec sleep 60", LONG).unwrap_err();
        assert!(matches!(error, Error::Exited { status: None, .. }), "{error}");
    }

    #[test]
    fn silence_ends_in_time() {
        let started = Instant::now();
        let error =
            shell("echo waiting >&2; trap '' TERM; while :; do sleep 60; done", Duration::from_secs(1));
        let text = error.unwrap_err().to_string();
        assert_eq!(text, "timed out after 1s in initialize; its stderr ended with:\n    waiting");
        assert!(started.elapsed() < Duration::from_secs(3), "{:?}", started.elapsed());
    }

    #[test]
    fn what_is_not_there_is_named() {
        let start = |command: &str, directory: Option<&str>| {
            let path = [("PATH".into(), "/usr/bin:/bin".into())];
            Process::start(command.as_ref(), &[], &path, directory.map(Path::new), &Groups::default())
                .map(|_| ())
                .unwrap_err()
                .to_string()
        };
        assert_eq!(start("no-such-program-here", None), "`no-such-program-here` was not found");
        assert_eq!(start("sh", Some("/no/such")), "its working directory `/no/such` does not exist");
        assert!(start("/etc/passwd", None).starts_with("`/etc/passwd` could not be started: "));
    }

    #[test]
    fn a_line_without_an_end_is_refused() {
        let error = shell("exec cat /dev/zero", LONG).unwrap_err();
        assert_eq!(error.to_string(), "sent a message of more than 16 MiB");
    }

    #[test]
    fn a_server_that_stays_after_the_end_of_its_input_is_asked_to_leave() {
        let scratch = tempfile::tempdir().unwrap();
        let note = scratch.path().join("note");
        let script = format!("trap 'printf asked >\"{}\"; exit' TERM; serve; sleep 60", note.display());
        assert_eq!(shell(&script, LONG).unwrap().tools.shown.len(), 1);
        assert_eq!(file(&note), b"asked");
    }

    #[test]
    fn dropping_leaves_nothing_behind() {
        let args = ["-c".into(), "trap '' TERM; while :; do sleep 1; done".into()];
        let env = [("PATH".into(), "/usr/bin:/bin".into())];
        let process = Process::start("sh".as_ref(), &args, &env, None, &Groups::default()).unwrap();
        let leader = process.group.unwrap();
        drop(process);
        assert!(test_kill_process(leader).is_err());
    }

    #[test]
    fn deaf_grandchildren_end_with_their_server() {
        let scratch = tempfile::tempdir().unwrap();
        let note = scratch.path().join("pid");
        // The helper ignores EOF and TERM, once with the server's streams and once without.
        for streams in ["", ">/dev/null 2>&1 </dev/null"] {
            let script = format!(
                "sh -c 'trap \"\" TERM; while :; do sleep 1; done' {streams} & printf %s $! >'{}'; serve",
                note.display()
            );
            assert_eq!(shell(&script, LONG).unwrap().tools.shown.len(), 1);
            let text: String = String::from_utf8(file(&note)).unwrap();
            let helper = Pid::from_raw(text.parse().unwrap()).unwrap();
            let until = Instant::now() + Duration::from_secs(2);
            while test_kill_process(helper).is_ok() && Instant::now() < until {
                // Killed already: it waits for whoever inherited it to take notice.
                if String::from_utf8_lossy(&file(Path::new(&format!("/proc/{text}/stat")))).contains(") Z ") {
                    break;
                }
                thread::sleep(POLL);
            }
            assert!(Instant::now() < until, "the helper lives on");
        }
    }

    fn file(path: &Path) -> Vec<u8> {
        let output = Command::new("cat").arg(path).output().unwrap();
        output.stdout
    }
}
