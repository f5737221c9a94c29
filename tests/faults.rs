//! Every system call of a launch that can fail, failed: on a full or read-only disk, a broken one, without
//! descriptors, without the right.
//!
//! The agent was not started, and a reason says what failed; or it ran with its servers. Afterwards the project is as
//! it was, at the latest after the next command. What is failed is compared with a trace of the launch, so that no
//! call is forgotten.

mod calls;
mod judgement;

use std::collections::{BTreeMap, BTreeSet};

use nix::errno::Errno;
use nix::sys::signal::Signal;
use rustix::fs::{XattrFlags, setxattr};

use crate::support::tracer::{Call, Ending, Order};
use crate::support::{Test, normal};
use calls::{CANNOT_FAIL, MEMORY, errnos};
use judgement::{Clean, Verdict};

/// What the agent ends with, so that its end is told from squire's own.
const AGENT: i32 = 7;

/// A launch whose calls are failed, one at a time.
struct Launch {
    name: &'static str,
    agent: &'static str,
    program: &'static str,
    file: Option<&'static str>,
    /// Whether one before it was killed once it had changed the file.
    behind_a_dead_one: bool,
}

const CURSOR: Launch = Launch {
    name: "cursor with a file",
    agent: "cursor",
    program: "cursor-agent",
    file: Some(FILE),
    behind_a_dead_one: false,
};

const LAUNCHES: [Launch; 5] = [
    CURSOR,
    Launch { name: "cursor without a file", file: None, ..CURSOR },
    Launch { name: "cursor behind a dead launch", behind_a_dead_one: true, ..CURSOR },
    Launch { name: "claude", agent: "claude", program: "claude", file: None, ..CURSOR },
    Launch { name: "codex", agent: "codex", program: "codex", file: None, ..CURSOR },
];

const FILE: &str = "// mine\n{\"mcpServers\": {\"own\": {\"command\": \"x\"},}}\n";

impl Launch {
    fn test(&self) -> Test {
        let test = Test::new()
            .config("[servers.docs]\nurl = \"https://docs.example.com/mcp\"\n")
            .write("home/.config/squire/servers.d/db.toml", "command = \"db\"\n")
            .project("[servers.team]\ncommand = \"team\"\n")
            .local("[servers.local]\ncommand = \"local\"\n")
            .agent(self.program, &format!("exit {AGENT}"))
            .args(["launch", self.agent]);
        match self.file {
            Some(text) => {
                let path = "project/.cursor/mcp.json";
                let test = test.write(path, text).mode(path, 0o640);
                // Where the file system has attributes, they are carried over, by calls that can fail, too.
                let _ = setxattr(test.path(path), "user.note", b"mine", XattrFlags::CREATE);
                test
            }
            None => test,
        }
    }

    /// The test, with what a dead launch left.
    fn prepared(&self) -> Test {
        let test = self.test();
        if self.behind_a_dead_one {
            let starts = |call: &Call| call.name.starts_with("clone");
            let kill = |call: &Call| if starts(call) { Order::KillBefore } else { Order::GoOn };
            assert_eq!(test.clone().traced(kill).ending, Ending::Signal(Signal::SIGKILL));
        }
        test
    }

    fn clean(&self) -> Clean {
        let before = self.test().project_by_path();
        let test = self.prepared();
        let trace = test.clone().traced(|_| Order::GoOn);
        assert_eq!(trace.ending, Ending::Code(AGENT), "{}", trace.stderr);
        assert_eq!(test.project_by_path(), before, "{}", trace.stderr);
        Clean {
            before,
            seen: judgement::seen(&test).unwrap(),
            stderr: normal(&trace.stderr, &test.root()),
            trace,
        }
    }

    /// Fails every call with an errno that fits, with another each time where it is called often, and with every one
    /// where `SQUIRE_FAULTS` is `all`; with `lasting` those of a disk, once it is full or read-only.
    fn fail_each(&self, lasting: bool) {
        let clean = self.clean();
        let mut table = Table::default();
        let mut wrong = Vec::new();
        let every = std::env::var_os("SQUIRE_FAULTS").is_some_and(|faults| faults == "all");
        for (occurrence, call) in numbered(&clean.trace.calls) {
            let same = clean.trace.calls.iter().filter(|other| other.name == call.name).count();
            let fitting = errnos(call);
            let fitting = match fitting.len() {
                count if every || same < 2 * count => fitting,
                0 => &[],
                count => &fitting[occurrence % count..=occurrence % count],
            };
            let lasts = |errno: &&Errno| matches!(errno, Errno::ENOSPC | Errno::EROFS) && !prints(call);
            for errno in fitting.iter().filter(|errno| !lasting || lasts(errno)) {
                let fault = Fault { name: call.name, occurrence, errno: *errno, lasting };
                match self.fail(&clean, &fault) {
                    Ok(verdict) => table.add(call.name, *errno, verdict),
                    Err(reason) => wrong.push(format!("{fault:?}, {:?}: {reason}", call.paths)),
                }
            }
        }
        table.print(self.name);
        assert!(wrong.is_empty(), "{}: {} wrong\n{}", self.name, wrong.len(), wrong.join("\n"));
    }

    /// Fails a call, and with `lasting` every later one that this errno befalls, too.
    fn fail(&self, clean: &Clean, fault: &Fault) -> Result<Verdict, String> {
        // Another number of reads of a file of the kernel's, or of attempts, is no fault.
        for _ in 0..5 {
            let test = self.prepared();
            let (mut count, mut reached) = (0, None);
            let trace = test.clone().traced(|call| {
                count += usize::from(call.name == fault.name);
                if reached.is_none() && count == fault.occurrence {
                    reached = Some(call.clone());
                    let fail = if fault.lasting { Order::Fail } else { Order::FailAndLetGo };
                    return fail(fault.errno);
                }
                let is_befallen = fault.lasting && reached.is_some() && !prints(call);
                if is_befallen && errnos(call).contains(&fault.errno) {
                    return Order::Fail(fault.errno);
                }
                Order::GoOn
            });
            if let Some(call) = reached {
                return clean.judge(&test, &trace, &call, fault.errno);
            }
        }
        Err("it was not reached again".into())
    }
}

/// What is failed.
#[derive(Debug)]
struct Fault {
    name: &'static str,
    occurrence: usize,
    errno: Errno,
    lasting: bool,
}

/// Whether a call is squire's own word to its user.
fn prints(call: &Call) -> bool {
    call.name == "write" && matches!(call.arguments[0], 1 | 2)
}

/// Each call with which of its name it is, from one on.
fn numbered(calls: &[Call]) -> impl Iterator<Item = (usize, &Call)> {
    let mut counts = BTreeMap::new();
    calls.iter().map(move |call| {
        let count = counts.entry(call.name).or_insert(0);
        *count += 1;
        (*count, call)
    })
}

/// How often each call was failed with each errno, and what came of it.
#[derive(Default)]
struct Table(BTreeMap<(&'static str, String), BTreeMap<Verdict, usize>>);

impl Table {
    fn add(&mut self, name: &'static str, errno: Errno, verdict: Verdict) {
        *self.0.entry((name, format!("{errno:?}"))).or_default().entry(verdict).or_default() += 1;
    }

    #[expect(clippy::print_stdout, reason = "the table is for whoever asks for it with --nocapture")]
    fn print(&self, launch: &str) {
        println!("{launch}\n  call         errno   injected  refused  tolerated  told  settled");
        for ((name, errno), verdicts) in &self.0 {
            let of = |verdict| verdicts.get(&verdict).copied().unwrap_or(0);
            let all: usize = verdicts.values().sum();
            println!(
                "  {name:12} {errno:8} {all:7}  {:7}  {:9}  {:4}  {:7}",
                of(Verdict::Refused),
                of(Verdict::Tolerated),
                of(Verdict::Told),
                of(Verdict::Settled)
            );
        }
        println!("  {} runs", self.0.values().flat_map(BTreeMap::values).sum::<usize>());
    }
}

#[test]
fn a_launch_of_cursor_that_changes_a_file() {
    LAUNCHES[0].fail_each(false);
}

#[test]
fn a_launch_of_cursor_that_makes_a_file() {
    LAUNCHES[1].fail_each(false);
}

#[test]
fn a_launch_of_cursor_that_settles_what_another_left() {
    LAUNCHES[2].fail_each(false);
}

#[test]
fn a_launch_of_claude() {
    LAUNCHES[3].fail_each(false);
}

#[test]
fn a_launch_of_codex() {
    LAUNCHES[4].fail_each(false);
}

#[test]
fn a_disk_that_stays_full_or_read_only_and_a_file_to_change() {
    LAUNCHES[0].fail_each(true);
}

#[test]
fn a_disk_that_stays_full_or_read_only_and_a_file_to_make() {
    LAUNCHES[1].fail_each(true);
}

#[test]
fn a_disk_that_stays_full_or_read_only_and_what_another_left() {
    LAUNCHES[2].fail_each(true);
}

#[test]
fn a_disk_that_stays_full_or_read_only_and_a_private_file() {
    LAUNCHES[3].fail_each(true);
}

/// What the launches call is what is failed and what can't fail: nothing is forgotten, and no reason is stale.
#[test]
fn no_call_of_a_launch_is_forgotten() {
    let mut found = BTreeSet::new();
    let mut failed = BTreeSet::new();
    for launch in &LAUNCHES {
        for call in launch.clean().trace.calls {
            if !errnos(&call).is_empty() {
                failed.insert(call.name);
            }
            found.insert(call.name);
        }
    }
    found.retain(|name| !MEMORY.contains(name));
    let exempt: BTreeSet<&str> = CANNOT_FAIL.iter().map(|(name, _)| *name).collect();
    assert_eq!(failed.intersection(&exempt).collect::<Vec<_>>(), Vec::<&&str>::new(), "failed and exempt");
    assert_eq!(failed.union(&exempt).copied().collect::<BTreeSet<_>>(), found);
}

/// The tool itself: killed before a call the process has not made it, killed after it it has.
#[test]
fn a_process_is_killed_before_and_after_a_call() {
    for (order, made) in [(Order::KillBefore, false), (Order::KillAfter, true)] {
        let test = LAUNCHES[1].test();
        let is_it = |call: &Call| call.name == "mkdirat" && call.paths[0].ends_with("/.local");
        let trace = test.clone().traced(|call| if is_it(call) { order } else { Order::GoOn });
        assert_eq!(trace.ending, Ending::Signal(Signal::SIGKILL));
        assert_eq!(test.path("home/.local").exists(), made, "{order:?}");
    }
}
