//! A process that is spoken to through its pipes.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::link::{HELLO, INITIALIZED, Link, WINDOW, is_answer, tool_call};

/// How long a process may take to end once nobody speaks to it.
const PATIENCE: Duration = Duration::from_secs(5);

pub(super) struct Pipes {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    number: usize,
    line: String,
}

impl Pipes {
    /// Starts and greets it.
    pub(super) fn begin(mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let (input, output) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        let mut pipes = Self { child, input, output, number: 0, line: String::new() };
        pipes.say(HELLO);
        pipes.hear();
        pipes.say(INITIALIZED);
        pipes
    }

    fn say(&mut self, line: &str) {
        self.input.as_mut().unwrap().write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    fn ask(&mut self) {
        self.number += 1;
        self.say(&tool_call(self.number));
    }

    fn hear(&mut self) {
        loop {
            self.line.clear();
            assert!(self.output.read_line(&mut self.line).unwrap() > 0, "it has ended");
            if is_answer(&self.line) {
                return;
            }
        }
    }
}

impl Link for Pipes {
    fn call(&mut self) {
        self.ask();
        self.hear();
    }

    fn call_many(&mut self, calls: usize) {
        for call in 0..calls + WINDOW {
            if call < calls {
                self.ask();
            }
            if call >= WINDOW {
                self.hear();
            }
        }
    }

    fn process(&self) -> Option<u32> {
        Some(self.child.id())
    }
}

impl Drop for Pipes {
    fn drop(&mut self) {
        self.input = None;
        let start = Instant::now();
        while start.elapsed() < PATIENCE {
            if self.child.try_wait().unwrap().is_some() {
                return;
            }
            thread::sleep(Duration::from_millis(1));
        }
        // It may have ended at last.
        let _ = self.child.kill();
        self.child.wait().unwrap();
    }
}
