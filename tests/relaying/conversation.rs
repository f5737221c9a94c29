//! An agent's side of a gateway, line by line.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::support::{Test, eventually, gateway_words};

/// Sixty megabytes take their time where nothing is optimized and all tests run at once.
const PATIENCE: Duration = Duration::from_secs(90);
/// What the agent begins with.
pub(super) const HELLO: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"roots":{}},"clientInfo":{"name":"t","version":"1"}}}"#;
pub(super) const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

/// A gateway under way. Its server's log is `<T>/log`, its own stderr `<T>/stderr`.
pub(super) struct Conversation {
    pub(super) test: Test,
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: Option<ChildStdout>,
    lines: Option<Receiver<Vec<u8>>>,
    is_listening: Arc<AtomicBool>,
    number: u64,
    /// While it is there, stdin stays open in the thread that has it.
    open: Option<Sender<()>>,
}

/// `[servers.a]` is a server that does what each call says, and what `more` declares.
pub(super) fn puppet(more: &str) -> Test {
    misbehaving("puppet", more)
}

/// The same in another mode of the fake server.
pub(super) fn misbehaving(mode: &str, more: &str) -> Test {
    Test::new().config(&format!(
        "[servers.a]\ncommand = [\"<server>\", \"stdio\", \"--log\", \"<T>/log\", \"--mode\", \"{mode}\"]\n{more}"
    ))
}

impl Conversation {
    /// An agent that has begun.
    #[track_caller]
    pub(super) fn begun(test: Test) -> Self {
        let mut conversation = Self::start(test);
        let welcome = conversation.begin();
        assert_eq!(welcome["result"]["serverInfo"]["name"], "fake-server", "{welcome}");
        conversation
    }

    /// An agent that has said nothing yet.
    pub(super) fn start(test: Test) -> Self {
        let mut conversation = Self::not_reading(test, &[]);
        conversation.listen();
        conversation
    }

    /// One whose gateway says on this stderr what it says there.
    pub(super) fn with_stderr(test: Test, stderr: impl Into<Stdio>) -> Self {
        let mut conversation = Self::spawn(test, &[], stderr);
        conversation.listen();
        conversation
    }

    /// One that does not read until it is told to; `words` are added to those of a gateway's entry.
    pub(super) fn not_reading(test: Test, words: &[&str]) -> Self {
        let stderr = File::create(test.path("stderr")).unwrap();
        Self::spawn(test, words, stderr)
    }

    fn spawn(test: Test, words: &[&str], stderr: impl Into<Stdio>) -> Self {
        let words: Vec<String> = gateway_words(&test, "a", "claude")
            .into_iter()
            .chain(words.iter().map(ToString::to_string))
            .collect();
        let test = test.args(words);
        let mut command = test.command();
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(stderr).spawn().unwrap();
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        Self { test, child, stdin, stdout, lines: None, is_listening: Arc::default(), number: 0, open: None }
    }

    /// From now on what the gateway says is read.
    pub(super) fn listen(&mut self) {
        let (sender, lines) = channel();
        let stdout = self.stdout.take().unwrap();
        self.is_listening = Arc::new(AtomicBool::new(true));
        let is_listening = Arc::clone(&self.is_listening);
        thread::spawn(move || {
            for line in BufReader::new(stdout).split(b'\n').map_while(Result::ok) {
                if sender.send(line).is_err() || !is_listening.load(Ordering::Relaxed) {
                    return;
                }
            }
        });
        self.lines = Some(lines);
    }

    /// What was never read is never read.
    pub(super) fn stop_reading(&mut self) {
        self.stdout = None;
    }

    /// The reading end closes with the next line.
    pub(super) fn stop_listening(&self) {
        self.is_listening.store(false, Ordering::Relaxed);
    }

    /// Says the first words; gives the answer.
    #[track_caller]
    pub(super) fn begin(&mut self) -> Value {
        self.say(HELLO);
        let welcome = self.hear();
        self.say(INITIALIZED);
        welcome
    }

    #[track_caller]
    pub(super) fn say(&mut self, line: &str) {
        self.stdin.as_mut().unwrap().write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    /// Says all from another thread: the one that hears does not wait for it.
    pub(super) fn say_beside(&mut self, lines: impl IntoIterator<Item = String> + Send + 'static) {
        let mut stdin = self.stdin.take().unwrap();
        let (open, is_over) = channel::<()>();
        thread::spawn(move || {
            for line in lines {
                if stdin.write_all(format!("{line}\n").as_bytes()).is_err() {
                    return;
                }
            }
            let _ = stdin.flush();
            // Open until the conversation is over.
            let _ = is_over.recv();
        });
        self.open = Some(open);
    }

    /// The next line.
    #[track_caller]
    pub(super) fn hear_line(&self) -> String {
        let line = self.lines.as_ref().unwrap().recv_timeout(PATIENCE);
        let line = line.unwrap_or_else(|error| panic!("{error}; stderr: {}", self.stderr()));
        String::from_utf8(line).unwrap()
    }

    #[track_caller]
    pub(super) fn hear(&self) -> Value {
        serde_json::from_str(&self.hear_line()).unwrap()
    }

    /// The answer to this id; what else is said before it is returned too.
    #[track_caller]
    pub(super) fn answer(&self, id: u64) -> (Value, Vec<Value>) {
        let mut others = Vec::new();
        loop {
            let heard = self.hear();
            if heard["id"] == id {
                return (heard, others);
            }
            others.push(heard);
        }
    }

    /// Asks; gives the id.
    #[track_caller]
    pub(super) fn ask(&mut self, method: &str, params: &Value) -> u64 {
        self.number += 1;
        let id = self.number;
        self.say(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string());
        id
    }

    #[track_caller]
    pub(super) fn ask_tool(&mut self, tool: &str, arguments: &Value) -> u64 {
        self.ask("tools/call", &json!({ "name": tool, "arguments": arguments }))
    }

    /// Calls a tool; the next line is its answer.
    #[track_caller]
    pub(super) fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        let id = self.ask_tool(tool, arguments);
        let answer = self.hear();
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    /// A call that works.
    #[track_caller]
    pub(super) fn works(&mut self) {
        let answer = self.call("echo", &json!({ "text": "hi" }));
        assert_eq!(text(&answer), "echo:hi", "{answer}");
    }

    /// What the server wrote down of this kind.
    pub(super) fn events(&self, kind: &str) -> Vec<Value> {
        let log = fs::read_to_string(self.test.path("log")).unwrap_or_default();
        let events = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        events.filter(|event| event["event"] == kind).collect()
    }

    /// The lines that the server got, of all its starts.
    pub(super) fn got(&self) -> Vec<String> {
        self.events("line").iter().map(|event| event["text"].as_str().unwrap().to_owned()).collect()
    }

    /// The methods that the server got.
    pub(super) fn got_methods(&self) -> Vec<String> {
        let method = |line: &String| {
            let message: Value = serde_json::from_str(line).unwrap();
            let tool = message["params"]["name"].as_str().map_or(String::new(), |tool| format!(" {tool}"));
            format!("{}{tool}", message["method"].as_str().unwrap_or("response"))
        };
        self.got().iter().map(method).collect()
    }

    pub(super) fn stderr(&self) -> String {
        fs::read_to_string(self.test.path("stderr")).unwrap()
    }

    /// How often the gateway has waited for something so far.
    pub(super) fn wakings(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let count = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
        count.unwrap().trim().parse().unwrap()
    }

    pub(super) fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    pub(super) fn signal(&self, signal: Signal) {
        kill_process(self.pid(), signal).unwrap();
    }

    /// Closes stdin, and leaves the gateway alone.
    pub(super) fn close_stdin(&mut self) {
        self.stdin = None;
    }

    /// Waits for the gateway's end.
    #[track_caller]
    pub(super) fn ends(&mut self) -> std::process::ExitStatus {
        let start = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(start.elapsed() < PATIENCE, "the gateway does not end");
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Says no more: nothing more may come, the gateway ends well, and its server has ended.
    #[track_caller]
    pub(super) fn finish(self) {
        self.finish_with(&[]);
    }

    /// The same, where calls of these ids are still open: the end of the server answers them.
    #[track_caller]
    pub(super) fn finish_with(mut self, open: &[u64]) {
        self.close_stdin();
        let start = Instant::now();
        let status = self.ends();
        assert!(status.success(), "{status}");
        assert!(start.elapsed() < Duration::from_secs(2), "its end took {:?}", start.elapsed());
        let rest: Vec<Value> =
            self.lines.iter().flatten().map(|line| serde_json::from_slice(&line).unwrap()).collect();
        assert!(rest.iter().map(|line| &line["id"]).eq(open), "{rest:?}");
        assert!(rest.iter().all(|line| failure(line) == (-32081, "perhaps")), "{rest:?}");
        self.nothing_is_left();
    }

    /// The processes of the server: itself, its parent, and a child that a survivor has.
    pub(super) fn processes(&self) -> Vec<u64> {
        let mut pids = Vec::new();
        for start in self.events("start") {
            pids.extend([&start["pid"], &start["ppid"]].map(|pid| pid.as_u64().unwrap()));
        }
        let child = fs::read_to_string(self.test.path("child")).ok();
        pids.extend(child.map(|child| child.trim().parse::<u64>().unwrap()));
        pids
    }

    /// The gateway's own children.
    pub(super) fn children(&self) -> Vec<u64> {
        let pid = self.child.id();
        let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
        children.split_whitespace().map(|child| child.parse().unwrap()).collect()
    }

    #[track_caller]
    pub(super) fn nothing_is_left(&self) {
        let processes = self.processes();
        eventually("no process of the server lives", || !processes.iter().any(|pid| lives(*pid)));
    }
}

impl Drop for Conversation {
    fn drop(&mut self) {
        // A failed test leaves nothing running: the end of its input ends a gateway, and its server with it.
        self.stdin = None;
        self.open = None;
        if std::thread::panicking() {
            let _ = self.child.kill();
        }
        let _ = self.child.wait();
    }
}

/// Whether a process is there and no zombie.
pub(super) fn lives(pid: u64) -> bool {
    let mut stat = String::new();
    let file = File::open(format!("/proc/{pid}/stat"));
    let is_read = file.and_then(|mut file| file.read_to_string(&mut stat)).is_ok();
    is_read && !stat.rsplit_once(')').is_some_and(|(_, fields)| fields.trim_start().starts_with(['Z', 'X']))
}

/// The text of a result.
pub(super) fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_default()
}

/// An error's code and whether the call may have been completed.
#[track_caller]
pub(super) fn failure(answer: &Value) -> (i64, &str) {
    let error = &answer["error"];
    let code = error["code"].as_i64().unwrap_or_else(|| panic!("{answer}"));
    (code, error["data"]["completed"].as_str().unwrap())
}
