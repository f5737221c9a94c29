//! What a launch with a fault must have come to.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use nix::errno::Errno;
use serde_json::Value;

use super::AGENT;
use crate::support::tracer::{Call, Ending, Trace};
use crate::support::{Test, normal};

/// The launch without a fault.
pub(super) struct Clean {
    pub(super) before: BTreeMap<String, (String, Vec<u8>)>,
    pub(super) seen: Seen,
    pub(super) stderr: String,
    pub(super) trace: Trace,
}

/// What the agent was given: its arguments and its files.
pub(super) type Seen = (Vec<String>, Vec<String>);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Verdict {
    /// The agent was not started, and a reason was told.
    Refused,
    /// The agent ran with all its servers, and nothing was told.
    Tolerated,
    /// The agent ran, and something was told.
    Told,
    /// Something was left, which was told, and which the next command settled.
    Settled,
}

impl Clean {
    pub(super) fn judge(
        &self,
        test: &Test,
        trace: &Trace,
        call: &Call,
        errno: Errno,
    ) -> Result<Verdict, String> {
        let stderr = normal(&trace.stderr, &test.root());
        let told = stderr.trim_end();
        let fail = |what: &str| Err(format!("{what}: {:?}, stderr: {told}", trace.ending));
        if told.contains("panicked") {
            return fail("a panic");
        }
        let Ending::Code(code) = trace.ending else { return fail("no end of its own") };
        let seen = seen(test);
        match &seen {
            Some(_) if code != AGENT => return fail("the agent's status is lost"),
            Some(seen) if *seen != self.seen && stderr == self.stderr => {
                return fail(&format!("the agent was silently given {seen:?}"));
            }
            None if !names(&trace.stderr, call, errno) => return fail("it does not say what failed"),
            None if code != 125 && !(of_the_agent(call) && matches!(code, 126 | 127)) => {
                return fail("a wrong status");
            }
            _ => {}
        }
        let verdict = match seen {
            None => Verdict::Refused,
            Some(_) if stderr == self.stderr => Verdict::Tolerated,
            Some(_) => Verdict::Told,
        };
        if self.is_as_before(test) {
            return Ok(verdict);
        }
        if verdict == Verdict::Tolerated {
            return fail(&format!("what is left was not told: {:?}", left(test)));
        }
        let next = test.command_of(&["list"]).output().unwrap();
        if !next.status.success() {
            return fail(&format!("the next command failed: {}", String::from_utf8_lossy(&next.stderr)));
        }
        if self.is_as_before(test) {
            return Ok(Verdict::Settled);
        }
        let found = test.project_by_path();
        let all = self.before.keys().chain(found.keys());
        let changed: BTreeSet<&String> =
            all.filter(|path| found.get(*path) != self.before.get(*path)).collect();
        fail(&format!("after the next command: changed {changed:?}, left {:?}", left(test)))
    }

    fn is_as_before(&self, test: &Test) -> bool {
        test.project_by_path() == self.before && left(test).is_empty()
    }
}

/// Whether the agent's own program is looked at or started, which has statuses of its own.
fn of_the_agent(call: &Call) -> bool {
    call.paths.first().is_some_and(|path| path.contains("/bin/"))
}

/// Whether a message names the error, or what it befell.
fn names(told: &str, call: &Call, errno: Errno) -> bool {
    let name = match call.name {
        "getcwd" => Some("working directory"),
        _ => call.paths.first().and_then(|path| path.rsplit('/').next()).filter(|name| !name.is_empty()),
    };
    let reason = std::io::Error::from_raw_os_error(errno as i32).to_string();
    let reason = reason.split(" (").next().unwrap_or_default();
    told.starts_with("squire: ") && (told.contains(reason) || name.is_some_and(|name| told.contains(name)))
}

/// What the agent was given, if it was started.
pub(super) fn seen(test: &Test) -> Option<Seen> {
    let root = test.root();
    let log: Value = serde_json::from_slice(&std::fs::read(root.join("agent.json")).ok()?).unwrap();
    let texts = |values: &Value, text: fn(&Value) -> Option<&str>| {
        let values = values.as_array().unwrap().iter();
        values.map(|value| normal(text(value).unwrap_or_default(), &root)).collect()
    };
    Some((texts(&log["argv"], Value::as_str), texts(&log["files"], |file| file["content"].as_str())))
}

/// What must not outlive a launch in the state directory: its private files, copies of the user's text, and files that
/// were being written. A launch's record and a file's journal may, for what comes later.
fn left(test: &Test) -> Vec<String> {
    let state = test.path("home/.local/state/squire");
    let entries = |name: &str| {
        let entries = std::fs::read_dir(state.join(name)).into_iter().flatten().flatten();
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect::<Vec<_>>()
    };
    let may_stay = |name: &String| {
        let name = Path::new(name);
        name.extension().is_some_and(|ending| ending == "json" || ending == "lock")
    };
    let others = entries("merges").into_iter().chain(entries("launches")).filter(|name| !may_stay(name));
    entries("private").into_iter().chain(others).collect()
}
