//! One job, on a terminal or on pipes, and the facts about it that anybody outside could tell.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;
use std::{fs, thread};

use rustix::process::{Pid, Signal, WaitOptions, kill_process, kill_process_group, waitpid};
use rustix::termios::LocalModes;
use serde_json::{Value, json};

use super::terminal::Terminal;
use super::{Test, eventually, fake_shell, holds_canary};

const PATIENCE: Duration = Duration::from_secs(30);

/// Where a job runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// In the foreground of a terminal.
    Terminal,
    /// In the background of a terminal.
    Background,
    /// With a pipe for each stream, no terminal at all.
    Pipes,
}

/// A job under way.
pub(crate) struct Session {
    test: Test,
    pid: Pid,
    events: Receiver<Value>,
    side: Side,
    facts: Vec<String>,
    ended: bool,
}

enum Side {
    Terminal {
        terminal: Terminal,
        shell: Child,
        orders: ChildStdin,
    },
    /// The outputs are read from the end on, or closed before.
    Pipes {
        stdin: Option<ChildStdin>,
        outputs: Option<(ChildStdout, ChildStderr)>,
    },
    HungUp,
}

type Collected = JoinHandle<Vec<u8>>;

impl Session {
    /// Starts `command` as a job in its own process group.
    pub(crate) fn start(test: Test, command: Command, place: Place) -> Self {
        if place == Place::Pipes { on_pipes(test, command) } else { on_terminal(test, &command, place) }
    }

    /// What is known so far.
    pub(crate) fn note(&mut self, fact: impl Into<String>) {
        self.facts.push(fact.into());
    }

    /// Waits until the agent has logged this much.
    #[track_caller]
    pub(crate) fn until(&self, what: &str, so: impl Fn(&Value) -> bool) {
        eventually(what, || self.log().as_ref().is_some_and(&so));
    }

    /// What the agent logged so far.
    pub(crate) fn log(&self) -> Option<Value> {
        serde_json::from_slice(&fs::read(self.test.path("agent.json")).ok()?).ok()
    }

    /// The agent's own process.
    pub(crate) fn agent(&self) -> Pid {
        self.until("the agent started", |_| true);
        let pid = self.log().unwrap()["pid"].as_i64().unwrap();
        Pid::from_raw(i32::try_from(pid).unwrap()).unwrap()
    }

    /// Waits until the agent is stopped. Its caller sees the first process of the job stop; a stop of the agent that
    /// has not happened yet is undone by the continuation without a trace, and squire can't know that the agent got
    /// that already.
    #[track_caller]
    pub(crate) fn until_stopped(&self) {
        let status = format!("/proc/{}/stat", self.agent().as_raw_nonzero());
        let is_stopped = || {
            let stat = fs::read_to_string(&status).unwrap_or_default();
            stat.rsplit_once(')').is_some_and(|(_, fields)| fields.trim_start().starts_with('T'))
        };
        eventually("the agent is stopped", is_stopped);
    }

    /// Waits until the agent has counted so many signals.
    #[track_caller]
    pub(crate) fn until_signals(&self, count: usize) {
        self.until(&format!("{count} signals"), |log| {
            log["signals"].as_array().is_some_and(|signals| signals.len() >= count)
        });
    }

    /// Waits until the agent has read so often.
    #[track_caller]
    pub(crate) fn until_reads(&self, count: usize) {
        self.until(&format!("{count} reads"), |log| log["reads"].as_array().map_or(0, Vec::len) >= count);
    }

    /// Waits until this is on the screen.
    #[track_caller]
    pub(crate) fn until_shown(&self, text: &str) {
        let Side::Terminal { terminal, .. } = &self.side else { panic!("no terminal") };
        eventually(text, || terminal.screen().contains(text));
    }

    /// Signals the job's first process alone.
    pub(crate) fn send(&self, signal: Signal) {
        kill_process(self.pid, signal).unwrap();
    }

    /// Signals the whole job.
    pub(crate) fn send_to_group(&self, signal: Signal) {
        kill_process_group(self.pid, signal).unwrap();
    }

    /// Lets a step of the agent's script go on that waits for the file `go`.
    pub(crate) fn go(&self) {
        fs::write(self.test.path("go"), "").unwrap();
    }

    /// Writes to stdin, by keys or through the pipe.
    pub(crate) fn press(&mut self, keys: &[u8]) {
        match &mut self.side {
            Side::Terminal { terminal, .. } => terminal.press(keys),
            // The agent may have ended without having read it all.
            Side::Pipes { stdin: Some(stdin), .. } => drop(stdin.write_all(keys)),
            Side::Pipes { .. } | Side::HungUp => panic!("stdin is closed"),
        }
    }

    pub(crate) fn close_stdin(&mut self) {
        if let Side::Pipes { stdin, .. } = &mut self.side {
            *stdin = None;
        }
    }

    pub(crate) fn resize(&self, rows: u16, columns: u16) {
        let Side::Terminal { terminal, .. } = &self.side else { panic!("no terminal") };
        terminal.resize(rows, columns);
    }

    /// Closes the terminal's window; nobody is told the job's end any more.
    pub(crate) fn hang_up(&mut self) {
        if let Side::Terminal { terminal, orders, shell } = std::mem::replace(&mut self.side, Side::HungUp) {
            terminal.hang_up();
            drop(orders);
            let mut shell = shell;
            shell.wait().unwrap();
        }
    }

    /// Waits until the job's caller sees it stopped.
    #[track_caller]
    pub(crate) fn stopped(&mut self) {
        let event = self.event();
        assert!(event.get("stopped").is_some(), "not stopped: {event}; log: {:?}", self.log());
        let attributes = self.attributes();
        self.note(format!("{event} {attributes}"));
    }

    /// Tells the caller how the stopped job goes on: `foreground`, `background` or `one`.
    pub(crate) fn order(&mut self, order: &str) {
        match &mut self.side {
            Side::Terminal { orders, .. } => writeln!(orders, "{order}").unwrap(),
            Side::Pipes { .. } | Side::HungUp if order == "one" => self.send(Signal::CONT),
            Side::Pipes { .. } | Side::HungUp => self.send_to_group(Signal::CONT),
        }
    }

    /// Waits for the job's end; all that was seen of it.
    #[track_caller]
    pub(crate) fn finish(mut self) -> Vec<String> {
        let mut collected = Vec::new();
        if let Side::Pipes { outputs, .. } = &mut self.side
            && let Some((stdout, stderr)) = outputs.take()
        {
            collected = vec![collect(stdout), collect(stderr)];
        }
        if !matches!(self.side, Side::HungUp) {
            let event = self.event();
            assert!(event.get("stopped").is_none(), "{event}; log: {:?}", self.log());
            let attributes = self.attributes();
            self.note(format!("{event} {attributes}"));
        }
        self.ended = true;
        if let Side::Terminal { terminal, shell, orders } = std::mem::replace(&mut self.side, Side::HungUp) {
            drop(orders);
            let mut shell = shell;
            shell.wait().unwrap();
            self.note(format!("screen {:?}", terminal.finish()));
        }
        for stream in collected {
            let bytes = stream.join().unwrap();
            self.note(format!("stream of {}: {:?}", bytes.len(), String::from_utf8_lossy(&bytes)));
        }
        let log = self.log().unwrap_or_default();
        for key in ["signals", "reads", "windows", "terminals", "stdin"] {
            self.note(format!("{key} {}", log[key]));
        }
        let facts = std::mem::take(&mut self.facts);
        assert!(!holds_canary(facts.join("\n").as_bytes()), "a value of a secret was shown: {facts:?}");
        facts
    }

    /// Whether the agent's process and the job's are gone.
    pub(crate) fn is_gone(&self) -> bool {
        [self.pid, self.agent()].iter().all(|pid| {
            let stat = fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_pid()));
            // What a process that nobody waits for leaves until it is reaped.
            stat.is_err() || stat.is_ok_and(|stat| stat.contains(") Z "))
        })
    }

    #[track_caller]
    fn event(&self) -> Value {
        let event = self.events.recv_timeout(PATIENCE);
        event.unwrap_or_else(|_| panic!("the job neither stopped nor ended; log: {:?}", self.log()))
    }

    fn attributes(&self) -> String {
        let Side::Terminal { terminal, .. } = &self.side else { return String::new() };
        let attributes = terminal.attributes();
        let cooked =
            attributes.local_modes.contains(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG);
        format!(
            "{} {:?} {:?} {:?} {:?}",
            if cooked { "cooked" } else { "raw" },
            attributes.input_modes,
            attributes.output_modes,
            attributes.control_modes,
            attributes.local_modes
        )
    }

    /// Stops reading the job's output.
    pub(crate) fn without_readers(&mut self) {
        if let Side::Pipes { outputs, .. } = &mut self.side {
            *outputs = None;
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if !self.ended {
            // A failed scenario leaves nothing running.
            let _ = kill_process_group(self.pid, Signal::KILL);
            if let Side::Terminal { shell, .. } = &mut self.side {
                let _ = shell.kill();
                let _ = shell.wait();
            }
        }
    }
}

fn on_terminal(test: Test, command: &Command, place: Place) -> Session {
    let terminal = Terminal::new();
    let mut shell = Command::new(fake_shell());
    shell.arg(terminal.path());
    shell.arg(if place == Place::Background { "background" } else { "foreground" });
    shell.arg(command.get_program()).args(command.get_args()).env_clear();
    shell.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    shell.current_dir(command.get_current_dir().unwrap());
    let mut shell = shell.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (orders, reports) = (shell.stdin.take().unwrap(), shell.stdout.take().unwrap());
    let (sender, events) = channel();
    thread::spawn(move || {
        for line in BufReader::new(reports).lines().map_while(Result::ok) {
            let _ = sender.send(serde_json::from_str::<Value>(&line).unwrap());
        }
    });
    let started = events.recv_timeout(PATIENCE).expect("the shell starts the job");
    let pid = Pid::from_raw(i32::try_from(started["started"].as_i64().unwrap()).unwrap()).unwrap();
    Session {
        test,
        pid,
        events,
        side: Side::Terminal { terminal, shell, orders },
        facts: Vec::new(),
        ended: false,
    }
}

#[expect(clippy::zombie_processes, reason = "a thread of its own waits, for stops too")]
fn on_pipes(test: Test, mut command: Command) -> Session {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let mut child = command.spawn().unwrap();
    let pid = Pid::from_child(&child);
    let outputs = child.stdout.take().zip(child.stderr.take());
    let stdin = child.stdin.take();
    let (sender, events) = channel();
    thread::spawn(move || report(pid, &sender));
    Session { test, pid, events, side: Side::Pipes { stdin, outputs }, facts: Vec::new(), ended: false }
}

fn collect(mut from: impl Read + Send + 'static) -> Collected {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        from.read_to_end(&mut bytes).unwrap();
        bytes
    })
}

fn report(pid: Pid, to: &Sender<Value>) {
    loop {
        let Some((_, status)) = waitpid(Some(pid), WaitOptions::UNTRACED).unwrap() else { continue };
        let event = match (status.stopping_signal(), status.terminating_signal()) {
            (Some(signal), _) => json!({"stopped": signal}),
            (_, Some(signal)) => json!({"killed": signal}),
            _ => json!({"exited": status.exit_status()}),
        };
        if to.send(event).is_err() || !status.stopped() {
            return;
        }
    }
}
