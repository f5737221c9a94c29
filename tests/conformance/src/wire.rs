//! The client's side of a server or a gateway, line by line.

use std::io::{self, BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

/// How long an answer may take; servers in Python need seconds to start.
const PATIENCE: Duration = Duration::from_secs(60);

/// A process that is talked to.
pub struct Wire {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    /// All that was heard.
    pub heard: Vec<String>,
    number: u64,
}

impl Wire {
    /// Starts it.
    pub fn start(command: &mut Command) -> io::Result<Self> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let (sender, lines) = channel();
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        thread::spawn(move || {
            let lines = stdout.into_iter().flat_map(|stdout| BufReader::new(stdout).lines());
            // Nobody listens once the other end is gone.
            lines.map_while(Result::ok).try_for_each(|line| sender.send(line)).ok();
        });
        Ok(Self { child, stdin, lines, heard: Vec::new(), number: 0 })
    }

    /// Says one line.
    pub fn say(&mut self, line: &str) -> io::Result<()> {
        let stdin = self.stdin.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
        stdin.write_all(format!("{line}\n").as_bytes())
    }

    /// Says a notification.
    pub fn notify(&mut self, method: &str, params: &Value) -> io::Result<()> {
        self.say(&json!({ "jsonrpc": "2.0", "method": method, "params": params }).to_string())
    }

    /// Sends a request; gives its id.
    pub fn send(&mut self, method: &str, params: &Value) -> io::Result<u64> {
        self.number += 1;
        let id = self.number;
        self.say(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string())?;
        Ok(id)
    }

    /// The next line.
    pub fn hear(&mut self) -> io::Result<Value> {
        let line = self
            .lines
            .recv_timeout(PATIENCE)
            .map_err(|error| io::Error::other(format!("{error}; heard so far: {:#?}", self.heard)))?;
        self.heard.push(line.clone());
        Ok(serde_json::from_str(&line)?)
    }

    /// The answer to a request of ours; the requests of the other side are answered by `reply` meanwhile.
    pub fn answer(&mut self, id: u64, reply: &dyn Fn(&Value) -> Option<Value>) -> io::Result<Value> {
        loop {
            let heard = self.hear()?;
            if heard.get("method").is_none() && heard["id"] == id {
                return Ok(heard);
            }
            if heard.get("method").is_some()
                && heard.get("id").is_some()
                && let Some(result) = reply(&heard)
            {
                let answer = json!({ "jsonrpc": "2.0", "id": heard["id"], "result": result });
                self.say(&answer.to_string())?;
            }
        }
    }

    /// Sends a request and waits for its answer.
    pub fn ask(&mut self, method: &str, params: &Value) -> io::Result<Value> {
        let id = self.send(method, params)?;
        self.answer(id, &|_| None)
    }

    /// Says no more, and waits for the end.
    pub fn finish(mut self) -> io::Result<(ExitStatus, Vec<String>)> {
        self.stdin = None;
        let rest: Vec<String> = self.lines.iter().collect();
        self.heard.extend(rest);
        Ok((self.child.wait()?, std::mem::take(&mut self.heard)))
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        // The end of its input ends it; one that failed is not waited for.
        self.stdin = None;
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
