//! What is kept of launches: the record of each while it runs and after it, and what its gateways have reported.
//!
//! Both are files of the state directory that bear the launch's id. The newest records of launches that are over stay,
//! for `squire status`; the rest go, and their reports with them.

use std::fmt::Display;
use std::io;
use std::path::Path;

use serde::Deserialize;

use super::owner::{Now, Owner};
use super::record::{self, is_id};
use crate::delivery::{Chain, Recorded, Report};
use crate::files;

/// Where the records of launches that are over are, and the reports of all.
pub(super) const PAST: &str = "past";
pub(super) const REPORTS: &str = "deliveries";
/// How many launches that are over are kept, and how many more there may be before they are looked through.
const KEPT: usize = 50;
const MORE: usize = 10;
/// The longest file of reports: an agent that starts its gateways again and again says nothing new.
const LONGEST: u64 = 256 * 1024;

/// A launch, running or over.
pub(crate) struct Remembered {
    pub(crate) id: String,
    pub(crate) agent: String,
    /// When it began, in milliseconds since 1970.
    pub(crate) began: u64,
    /// Its process where it runs: the agent, or squire as its parent.
    pub(crate) process: Option<i32>,
    pub(crate) servers: Vec<Chain>,
}

#[derive(Deserialize)]
struct Record {
    agent: String,
    #[serde(default)]
    time: u64,
    owner: Owner,
    #[serde(default)]
    servers: Vec<Recorded>,
}

/// Adds what a gateway has seen to the reports of its launch. One that is over, or that there never was, has none.
pub(crate) fn report(state: &Path, launch: &str, report: &Report) -> io::Result<()> {
    let is_known = || files::exists(&record::directory(state).join(format!("{launch}.json")));
    let (directory, name) = (state.join(REPORTS), reports_of(launch));
    let length = files::length_and_time(&directory.join(&name)).map_or(0, |(length, _)| length);
    if !is_id(launch) || length > LONGEST || !is_known() {
        return Ok(());
    }
    let line = serde_json::to_string(report).map_err(io::Error::other)?;
    files::append_private(&directory, &name, format!("{line}\n").as_bytes()).map(drop)
}

/// What the gateways of a launch have reported; a line that is none is passed over.
fn reports(state: &Path, launch: &str) -> Vec<Report> {
    let path = state.join(REPORTS).join(reports_of(launch));
    let bytes =
        is_id(launch).then(|| files::read_private(&path).ok().flatten()).flatten().unwrap_or_default();
    bytes.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect()
}

/// The launches that run and those that are remembered, the newest first, and what can't be read of them.
pub(crate) fn remembered(state: &Path) -> (Vec<Remembered>, Vec<String>) {
    let (now, mut launches, mut unreadable) = (Now::look(), Vec::new(), Vec::new());
    for directory in [record::directory(state), state.join(PAST)] {
        for id in ids_in(&directory) {
            match read(state, &directory, id, &now) {
                Ok(launch) => launches.extend(launch),
                Err(reason) => unreadable.push(reason),
            }
        }
    }
    launches.sort_by(|one, other| (other.began, &other.id).cmp(&(one.began, &one.id)));
    launches.dedup_by(|one, other| one.id == other.id);
    (launches, unreadable)
}

/// A launch that runs, or is about to end.
pub(crate) fn find(state: &Path, id: &str) -> Option<Remembered> {
    let read = is_id(id).then(|| read(state, &record::directory(state), id.to_owned(), &Now::look()));
    read.and_then(Result::ok).flatten()
}

/// One that another command has put away meanwhile is none; the error names the file.
fn read(state: &Path, directory: &Path, id: String, now: &Now) -> Result<Option<Remembered>, String> {
    let path = directory.join(format!("{id}.json"));
    let failed =
        |reason: &dyn Display| format!("{}: the record of a launch can't be read: {reason}", path.display());
    let Some(bytes) = files::read_private(&path).map_err(|error| failed(&error))? else { return Ok(None) };
    let Record { agent, time, owner, servers } =
        serde_json::from_slice(&bytes).map_err(|error| failed(&error))?;
    let process = owner.is_alive(now).then_some(owner.pid);
    let reports = reports(state, &id);
    let servers = servers.iter().map(|server| Chain::of(server, time, &reports)).collect();
    Ok(Some(Remembered { id, agent, began: time, process, servers }))
}

/// Keeps the record of a launch that is over.
pub(super) fn keep(state: &Path, id: &str) -> io::Result<()> {
    let past = state.join(PAST);
    files::move_between(&record::directory(state), &past, &format!("{id}.json"))?;
    let ids = ids_in(&past);
    if ids.len() > KEPT + MORE {
        let path = |id: &String| past.join(format!("{id}.json"));
        let mut by_time: Vec<(Option<std::time::SystemTime>, &String)> =
            ids.iter().map(|id| (files::modified(&path(id)), id)).collect();
        by_time.sort();
        for (_, id) in by_time.iter().take(ids.len() - KEPT) {
            // Another command may have done it.
            let _ = files::remove_private(&past, &format!("{id}.json"));
        }
        forget_reports(state);
    }
    Ok(())
}

/// Removes the reports of launches of which there is no record.
fn forget_reports(state: &Path) {
    let known: Vec<String> = [record::directory(state), state.join(PAST)].iter().flat_map(ids_in).collect();
    let directory = state.join(REPORTS);
    for name in files::names_in(&directory).unwrap_or_default() {
        if let Some(id) = name.to_str().and_then(|name| name.strip_suffix(".jsonl"))
            && !known.iter().any(|known| known == id)
        {
            let _ = files::remove_private(&directory, &reports_of(id));
        }
    }
}

fn reports_of(launch: &str) -> String {
    format!("{launch}.jsonl")
}

fn ids_in(directory: impl AsRef<Path>) -> Vec<String> {
    let names = files::names_in(directory.as_ref()).unwrap_or_default();
    let id = |name: &std::ffi::OsString| {
        name.to_str()?.strip_suffix(".json").filter(|id| is_id(id)).map(str::to_owned)
    };
    names.iter().filter_map(id).collect()
}
