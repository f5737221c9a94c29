//! The launch record: what a launch gave its agent, for the built-in server to tell.
//!
//! It holds names and reasons, never a value. An agent that squire became by exec leaves its record behind; the next
//! command puts the records of processes away that have ended.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use squire_strategies::{Code, File, Note, ResolvedServer, compact_json};

use super::owner::{Now, Owner};
use super::{Surroundings, history};
use crate::delivery::Step;
use crate::files;
use crate::plan::Plan;

/// The digests of declarations by the server's name: what a gateway of the launch may serve.
pub type Digests = BTreeMap<String, String>;

/// A record that was written.
#[derive(Debug)]
pub(super) struct Record {
    directory: PathBuf,
    /// The launch's id, which the agent's environment names.
    pub id: String,
}

impl Record {
    /// Writes the record of a plan below the state directory. `private` is where the launch's private files will be.
    pub(super) fn write(
        id: &str,
        plan: &Plan,
        surroundings: Surroundings<'_>,
        private: &Path,
    ) -> Result<Self> {
        let record = Self { directory: directory(&surroundings.directories.state), id: id.to_owned() };
        let owner = Owner::this();
        let text = compact_json(&content(plan, surroundings, &owner, private));
        let temporary = owner.temporary(&record.file());
        files::write_private(&record.directory, &record.file(), &temporary, text.as_bytes())
            .with_context(|| format!("the launch can't be recorded in {}", record.directory.display()))?;
        Ok(record)
    }

    fn file(&self) -> String {
        format!("{}.json", self.id)
    }

    /// Removes it: there was no launch.
    pub(super) fn remove(self) -> Result<()> {
        files::remove_private(&self.directory, &self.file()).context("the launch record can't be removed")
    }

    /// Puts it away, at the end of a launch.
    pub(super) fn put_away(self) -> Result<()> {
        let Some(state) = self.directory.parent() else { return Ok(()) };
        history::keep(state, &self.id).context("the launch record can't be put away")
    }
}

/// Reads the record of a launch; `None` where the id names none.
pub fn read(state: &Path, id: &str) -> Option<Value> {
    let path = directory(state).join(format!("{id}.json"));
    let bytes = is_id(id).then(|| files::read_private(&path).ok().flatten()).flatten()?;
    serde_json::from_slice(&bytes).ok()
}

/// Whether this can be the id of a launch.
pub(crate) fn is_id(id: &str) -> bool {
    files::is_hexadecimal(id, 16)
}

/// Reads the record of a launch whose process lives.
pub fn live_record(state: &Path, id: &str) -> Option<Value> {
    let record = read(state, id)?;
    let owner = Owner::deserialize(&record["owner"]).ok()?;
    owner.is_alive(&Now::look()).then_some(record)
}

/// Whether layers, profile, policy or trust keep a server out, and not the agent.
fn is_of_resolution(code: Code) -> bool {
    matches!(code, Code::NotApproved | Code::NameTaken | Code::Disabled | Code::Policy | Code::Unresolved)
}

/// A record, in the order in which it is written.
#[derive(Serialize)]
struct Content<'a> {
    agent: &'a str,
    /// In milliseconds since 1970.
    time: u64,
    owner: &'a Owner,
    private: PrivateFiles<'a>,
    /// The profiles whose filters hold in it.
    profiles: &'a [String],
    servers: Vec<Server<'a>>,
}

#[derive(Serialize)]
struct Server<'a> {
    name: &'a str,
    transport: &'static str,
    route: &'static str,
    delivered: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    required: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    digest: Option<&'a str>,
    /// The step that it does not reach.
    #[serde(skip_serializing_if = "Option::is_none")]
    missed: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'a str>,
}

fn content<'a>(
    plan: &'a Plan,
    surroundings: Surroundings<'a>,
    owner: &'a Owner,
    private: &'a Path,
) -> Content<'a> {
    let Surroundings { digests, required, profiles, .. } = surroundings;
    let obstacles = plan.obstacles();
    let server = |server: &'a Rc<ResolvedServer>| {
        let name = server.name.as_str();
        let obstacle = obstacles.get(&server.name);
        let missed =
            |note: &Note| if is_of_resolution(note.code) { Step::Resolved } else { Step::Translated };
        Server {
            name,
            transport: server.transport.as_str(),
            route: server.route.as_str(),
            delivered: obstacle.is_none(),
            required: required.iter().any(|required| required == name),
            digest: digests.get(name).filter(|_| obstacle.is_none()).map(String::as_str),
            missed: obstacle.map(|note| missed(note).as_str()),
            code: obstacle.map(|note| note.code.as_str()),
            reason: obstacle.map(|note| note.sentence.as_str()),
            description: server.description.as_deref(),
        }
    };
    let private_files = plan.artifacts.files.iter().filter_map(|file| match file {
        File::Private { name, .. } => Some(Cow::Borrowed(*name)),
        File::Merge { .. } => None,
    });
    let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
    Content {
        agent: &plan.agent,
        time: u64::try_from(time).unwrap_or(u64::MAX),
        owner,
        private: PrivateFiles {
            directory: private.to_str().map(Cow::Borrowed),
            files: private_files.collect(),
        },
        profiles,
        servers: plan.servers.iter().map(server).collect(),
    }
}

/// What a record says of what its process leaves behind.
#[derive(Deserialize)]
struct Left<'a> {
    owner: Owner,
    #[serde(borrow, default)]
    private: PrivateFiles<'a>,
}

#[derive(Default, Serialize, Deserialize)]
struct PrivateFiles<'a> {
    #[serde(borrow)]
    directory: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    files: Vec<Cow<'a, str>>,
}

impl PrivateFiles<'_> {
    /// The directory and the names in it: it bears the launch's own id, and they lead nowhere else. A record that says
    /// otherwise was not written by squire, and nothing is removed for it.
    fn of(&self, record: &str) -> Option<(&Path, Vec<&str>)> {
        let directory = Path::new(self.directory.as_deref()?);
        let id = record.strip_suffix(".json").filter(|id| is_id(id))?;
        let is_plain = |name: &&str| Path::new(name).file_name() == Some(OsStr::new(name));
        let names: Vec<&str> = self.files.iter().map(|name| &**name).collect();
        let is_ours = directory.file_name() == Some(OsStr::new(id)) && names.iter().all(is_plain);
        is_ours.then_some((directory, names))
    }
}

/// Puts the records away whose process has ended, and removes the private files that it left.
pub(super) fn settle(state: &Path) {
    let directory = directory(state);
    let names = files::names_in(&directory).unwrap_or_default();
    let now = Now::look();
    for name in names.iter().filter_map(|name| name.to_str()) {
        if Owner::is_left_behind(name) {
            // Another launch may have removed it first.
            let _ = files::remove_private(&directory, name);
        }
        let Ok(Some(bytes)) = files::read_private(&directory.join(name)) else { continue };
        let Ok(Left { owner, private }) = serde_json::from_slice::<Left<'_>>(&bytes) else { continue };
        if !owner.is_alive(&now) {
            // The record is all that knows of them: it stays as long as they do.
            let left = private.of(name);
            if left.is_none_or(|(left, names)| files::remove_left_behind(left, &names).is_ok()) {
                let id = name.strip_suffix(".json").filter(|id| is_id(id));
                let is_put_away = id.is_some_and(|id| history::keep(state, id).is_ok());
                if !is_put_away {
                    let _ = files::remove_private(&directory, name);
                }
            }
        }
    }
}

/// A launch whose process lives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Running {
    /// The launch's id.
    pub id: String,
    /// The agent's name as launched.
    pub agent: String,
    /// The process: the agent, or squire as its parent.
    pub process: i32,
}

/// The launches that run.
pub fn running(state: &Path) -> Vec<Running> {
    let directory = directory(state);
    let mut names = files::names_in(&directory).unwrap_or_default();
    names.sort_unstable();
    let now = Now::look();
    let running = |name: &std::ffi::OsString| {
        let id = name.to_str()?.strip_suffix(".json")?;
        let bytes = files::read_private(&directory.join(name)).ok().flatten()?;
        let record: Value = serde_json::from_slice(&bytes).ok()?;
        let owner = Owner::deserialize(&record["owner"]).ok().filter(|owner| owner.is_alive(&now))?;
        let agent = record["agent"].as_str().unwrap_or_default().to_owned();
        Some(Running { id: id.to_owned(), agent, process: owner.pid })
    };
    names.iter().filter_map(running).collect()
}

pub(super) fn directory(state: &Path) -> PathBuf {
    state.join("launches")
}
