//! The launch record: what a launch gave its agent, for the built-in server to tell.
//!
//! It holds names and reasons, never a value. An agent that squire became by exec leaves its record behind; the next
//! launch removes the records of processes that have ended.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::{Value, json};
use squire_strategies::File;

use crate::files;
use crate::plan::Plan;

/// A record that was written.
#[derive(Debug)]
pub(super) struct Record {
    directory: PathBuf,
    /// The launch's id, which the agent's environment names.
    pub id: String,
}

impl Record {
    /// Writes the record of a plan below the state directory, and removes what ended launches left. `private` is
    /// where the launch's private files will be.
    pub(super) fn write(state: &Path, id: &str, plan: &Plan, private: &Path) -> Result<Self> {
        let directory = state.join("launches");
        sweep(&directory);
        let record = Self { directory, id: id.to_owned() };
        let text = content(plan, private).to_string();
        files::write_private(&record.directory, &record.file(), text.as_bytes())
            .with_context(|| format!("the launch can't be recorded in {}", record.directory.display()))?;
        Ok(record)
    }

    fn file(&self) -> String {
        format!("{}.json", self.id)
    }

    /// Removes it, at the end of a launch.
    pub(super) fn remove(self) -> Result<()> {
        files::remove_private(&self.directory, &self.file()).context("the launch record can't be removed")
    }
}

/// Reads the record of a launch; `None` where the id names none.
pub fn read(state: &Path, id: &str) -> Option<Value> {
    let is_id = id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    let path = state.join("launches").join(format!("{id}.json"));
    let bytes = is_id.then(|| files::read_of_user(&path).ok().flatten()).flatten()?;
    serde_json::from_slice(&bytes).ok()
}

fn content(plan: &Plan, private: &Path) -> Value {
    let pid = rustix::process::getpid().as_raw_nonzero().get();
    let obstacles = plan.obstacles();
    let servers: Vec<Value> = plan
        .servers
        .iter()
        .map(|server| {
            let obstacle = obstacles.get(&server.name);
            let mut told = json!({
                "name": server.name.as_str(),
                "transport": server.transport.as_str(),
                "delivered": obstacle.is_none(),
            });
            if let Some(note) = obstacle {
                told["code"] = note.code.as_str().into();
                told["reason"] = note.sentence.as_str().into();
            }
            if let Some(description) = &server.description {
                told["description"] = description.as_str().into();
            }
            told
        })
        .collect();
    let private_files = plan.artifacts.files.iter().filter_map(|file| match file {
        File::Private { name, .. } => Some(*name),
        File::Merge { .. } => None,
    });
    let private = json!({ "directory": private.to_str(), "files": private_files.collect::<Vec<_>>() });
    let mut record = json!({ "agent": plan.agent, "pid": pid, "started": started(pid), "boot": boot(), "private": private });
    record["servers"] = servers.into();
    record
}

/// When a process began, in clock ticks since the boot; field 22 of proc(5)'s stat, behind the name in parentheses.
fn started(pid: i32) -> Option<u64> {
    let stat = files::read_of_user(format!("/proc/{pid}/stat").as_ref()).ok().flatten()?;
    let stat = String::from_utf8_lossy(&stat).into_owned();
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_ascii_whitespace();
    let state = fields.next()?;
    (state != "Z").then(|| fields.nth(18)?.parse().ok()).flatten()
}

fn boot() -> Option<String> {
    let id = files::read_of_user("/proc/sys/kernel/random/boot_id".as_ref()).ok().flatten()?;
    Some(String::from_utf8_lossy(&id).trim().to_owned())
}

/// Removes the records whose process has ended, and the private files that it left: another start time or another boot is another process.
fn sweep(directory: &Path) {
    // A system that does not tell which processes live (no proc) keeps the records.
    let Some(boot) = boot() else { return };
    let alive = |record: &Value| {
        let pid = record["pid"].as_i64().and_then(|pid| i32::try_from(pid).ok());
        record["boot"].as_str() == Some(&boot)
            && pid.is_some_and(|pid| started(pid).is_some() && started(pid) == record["started"].as_u64())
    };
    let names = files::names_in(directory).unwrap_or_default();
    for name in names.iter().filter_map(|name| name.to_str()) {
        let Ok(Some(bytes)) = files::read_of_user(&directory.join(name)) else { continue };
        let Ok(record) = serde_json::from_slice::<Value>(&bytes) else { continue };
        if record.is_object() && !alive(&record) {
            let private = &record["private"];
            let names: Vec<&str> =
                private["files"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
            if let Some(left) = private["directory"].as_str() {
                files::remove_left_behind(left.as_ref(), &names);
            }
            // Another launch may have removed it first.
            let _ = files::remove_private(directory, name);
        }
    }
}
