//! A run of squire that is under way.

use std::fs;
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, ExitStatus};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::{AgentsOwn, Run, Snapshot, Test};

const PATIENCE: Duration = Duration::from_secs(20);

/// squire at work; it ends as the test says, or the test fails.
#[must_use = "a run ends when it is told how: success, code or signal"]
pub(crate) struct Running {
    test: Test,
    child: Child,
    before: Option<Snapshot>,
    agents_own: Vec<AgentsOwn>,
}

impl Running {
    pub(super) fn new(
        test: Test,
        child: Child,
        before: Option<Snapshot>,
        agents_own: Vec<AgentsOwn>,
    ) -> Self {
        Self { test, child, before, agents_own }
    }

    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        self.test.path(relative)
    }

    /// squire's own process.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits until the agent's log satisfies the test.
    #[track_caller]
    pub(crate) fn until(&mut self, satisfied: impl Fn(&Value) -> bool) -> Value {
        let path = self.path("agent.json");
        let log = || fs::read(&path).ok().and_then(|log| serde_json::from_slice::<Value>(&log).ok());
        let start = Instant::now();
        loop {
            if let Some(log) = log().filter(&satisfied) {
                return log;
            }
            if start.elapsed() > PATIENCE {
                let ended = self.child.try_wait().unwrap();
                let _ = self.child.kill();
                panic!("the agent did not get there; squire ended: {ended:?}; log: {:?}", log());
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Waits until the agent has received these signals, and no others.
    #[track_caller]
    pub(crate) fn until_signals(&mut self, expected: &[&str]) {
        self.until(|log| log["signals"].as_array().is_some_and(|signals| signals.len() >= expected.len()));
        // One that comes twice comes soon.
        std::thread::sleep(Duration::from_millis(50));
        let log = self.until(|_| true);
        assert_eq!(log["signals"], serde_json::json!(expected));
    }

    /// Sends a signal to squire's own process, and to no other.
    pub(crate) fn send(&self, signal: Signal) {
        let pid = Pid::from_raw(i32::try_from(self.pid()).unwrap()).unwrap();
        kill_process(pid, signal).unwrap();
    }

    #[track_caller]
    pub(crate) fn success(self) -> Run {
        self.code(0)
    }

    #[track_caller]
    pub(crate) fn code(self, code: i32) -> Run {
        self.end(Some(ExitStatus::from_raw(code << 8))).0
    }

    #[track_caller]
    pub(crate) fn signal(self, signal: i32) -> Run {
        self.end(Some(ExitStatus::from_raw(signal))).0
    }

    #[track_caller]
    pub(super) fn end(self, status: Option<ExitStatus>) -> (Run, ExitStatus) {
        let Self { test, mut child, before, agents_own } = self;
        // An agent may end without having read it all.
        let _ = child.stdin.take().unwrap().write_all(&test.stdin);
        let output = child.wait_with_output().unwrap();
        (test.judge(&output, status, before, &agents_own), output.status)
    }
}

/// Waits until something is so.
#[track_caller]
pub(crate) fn eventually(what: &str, so: impl Fn() -> bool) {
    let start = Instant::now();
    while !so() {
        assert!(start.elapsed() < PATIENCE, "it did not come to this: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
