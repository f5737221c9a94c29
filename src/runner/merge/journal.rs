//! What is known of a file of the project while launches have entries in it, and for a day afterwards. Pure.
//!
//! A journal is written before the file is changed. Its two contents of the step that comes next both stand for the
//! user's own text, so wherever a process dies, the user's text is known; a launch that ended stays in it, so that an
//! editor that read the file before and saves it later brings no entry of ours back.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use squire_strategies::{Entries, compact_json};

use super::super::json_edit;
use super::super::owner::{Now, Owner};
use crate::files::{Held, Identity, LIMIT, hexadecimal};
use crate::printable::printable;

/// How long an editor's stale copy is reckoned with, in seconds.
const REMEMBERED: u64 = 24 * 60 * 60;

/// The format that this squire writes and reads.
const VERSION: u32 = 1;

/// About as much as a journal takes, in bytes, and what stands around each entry in it.
const SMALLEST: usize = 1024;
const AROUND: usize = 8;

pub(super) const NOT_TEXT: &str = "it is not UTF-8";

/// The state of one file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Journal {
    version: u32,
    /// The real path of the directory that the agent was launched in.
    pub(super) root: String,
    /// The file below it.
    pub(super) path: String,
    /// The object at the file's top level that the entries are in.
    pub(super) at: String,
    /// What the names of our own that stand beside the file for a moment are made of.
    pub(super) token: String,
    /// What the user has.
    original: Option<Original>,
    /// The directory that we made for the file.
    pub(super) directory: Option<Identity>,
    /// The digests of the contents before and after the latest change; both stand for the original.
    step: Vec<String>,
    /// Those that have entries in the file.
    launches: Vec<Launch>,
    /// Those that had.
    ended: Vec<Rc<Ended>>,
    #[serde(skip)]
    hashed: Hashed,
}

/// The digests of contents that this process has met. Hashing is most of what a launch's entries cost.
#[derive(Clone, Debug, Default)]
struct Hashed(Rc<RefCell<Vec<Content>>>);

#[derive(Debug)]
struct Content {
    bytes: Vec<u8>,
    digest: String,
}

impl Hashed {
    fn digest(&self, bytes: &[u8]) -> String {
        let mut known = self.0.borrow_mut();
        if let Some(content) = known.iter().find(|content| content.bytes == bytes) {
            return content.digest.clone();
        }
        let digest = digest(bytes);
        known.push(Content { bytes: bytes.to_vec(), digest: digest.clone() });
        digest
    }
}

/// It says nothing of the file.
impl PartialEq for Hashed {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Original {
    text: String,
    mode: u32,
}

/// One launch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Launch {
    id: String,
    owner: Owner,
    entries: Rc<Entries>,
}

/// What an old copy of the file may bring back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Ended {
    /// In seconds since 1970.
    time: u64,
    /// The digest of each entry's text.
    entries: BTreeMap<String, String>,
}

impl Journal {
    /// Of a file that no launch has changed.
    pub(super) fn new(root: &str, path: &str, at: &str, token: String) -> Self {
        Self {
            version: VERSION,
            root: root.into(),
            path: path.into(),
            at: at.into(),
            token,
            original: None,
            directory: None,
            step: Vec::new(),
            launches: Vec::new(),
            ended: Vec::new(),
            hashed: Hashed::default(),
        }
    }

    /// Reads one; the error says why it can't be.
    pub fn read(bytes: &[u8]) -> Result<Self, String> {
        let journal: Self = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
        if journal.version == VERSION {
            Ok(journal)
        } else {
            Err(format!("its version is {}, and this squire knows {VERSION}", journal.version))
        }
    }

    /// Reads what this one was written into. Where no other process has changed it since, nothing is to be read; where one
    /// has, what was hashed for one serves the other.
    pub(super) fn read_again(&self, bytes: &[u8]) -> Result<Self, String> {
        if self.bytes().is_ok_and(|own| own == bytes) {
            return Ok(self.clone());
        }
        Ok(Self { hashed: self.hashed.clone(), ..Self::read(bytes)? })
    }

    /// The bytes that [`Self::read`] reads.
    pub fn bytes(&self) -> serde_json::Result<Vec<u8>> {
        let running = self.launches.iter().flat_map(|launch| launch.entries.iter());
        let ended = self.ended.iter().flat_map(|ended| &ended.entries);
        let all = running.chain(ended.map(|(name, digest)| (name.as_str(), digest.as_str())));
        let length: usize = all.map(|(name, entry)| name.len() + entry.len() + AROUND).sum();
        let mut bytes = Vec::with_capacity(SMALLEST + self.original().map_or(0, str::len) + length);
        serde_json::to_writer(&mut bytes, self)?;
        Ok(bytes)
    }

    /// Whether bytes are a content of the latest change: what the original stands behind.
    pub(super) fn stands_for_original(&self, bytes: &[u8]) -> bool {
        self.step.contains(&self.hashed.digest(bytes))
    }

    /// The file's path, for people: it may be a repository's.
    pub(super) fn name(&self) -> String {
        printable(&self.shown().display().to_string())
    }

    /// The file's path.
    pub(super) fn shown(&self) -> PathBuf {
        Path::new(&self.root).join(&self.path)
    }

    /// What the file held before launches changed it.
    pub(super) fn original(&self) -> Option<&str> {
        self.original.as_ref().map(|original| original.text.as_str())
    }

    /// What the user has of what the file holds now: to the byte where nobody edited it meanwhile, else all but our
    /// entries. The error says why they can't be told apart.
    pub fn users(&self, current: Option<&Held>) -> Result<Option<Held>, String> {
        // Deleted meanwhile: then that is what the user wants.
        let Some(Held { bytes, mode }) = current else { return Ok(None) };
        let own = |text: &str| Held { bytes: text.as_bytes().to_vec(), mode: *mode };
        if self.stands_for_original(bytes) {
            return Ok(self.original().map(own));
        }
        if self.is_spent() {
            return Ok(current.cloned());
        }
        let taken_out = std::str::from_utf8(bytes).map_err(|_| NOT_TEXT.to_owned()).and_then(|text| {
            let ours = match self.original() {
                Some(original) if !self.is_at_rest() => {
                    Some(json_edit::add(original, &self.at, &self.entries()).map_err(told)?)
                }
                Some(_) | None => None,
            };
            let servers = self.servers_in(bytes);
            let old_copies: Vec<&Rc<Ended>> =
                self.ended.iter().filter(|ended| Self::is_old_copy(ended, &servers)).collect();
            let is_ours = |name: &str, written: &str| self.is_ours(&old_copies, name, written);
            json_edit::take_out(text, &self.at, &is_ours, self.original(), ours.as_deref()).map_err(told)
        });
        match taken_out {
            Ok(text) => Ok(text.as_deref().map(own)),
            // Nobody's launch, and perhaps half an edit: no business of ours.
            Err(_) if self.is_at_rest() => Ok(current.cloned()),
            Err(reason) => Err(reason),
        }
    }

    /// What is to stand in the file for the launches that run. The error says why it can't.
    pub fn with_entries(&self, users: Option<&Held>) -> Result<Option<Held>, String> {
        if self.is_at_rest() { Ok(users.cloned()) } else { self.with(&self.entries(), users).map(Some) }
    }

    /// What these entries make of the user's text. The error says why they can't.
    pub(super) fn with(&self, entries: &Entries, users: Option<&Held>) -> Result<Held, String> {
        let text = users.map(|held| std::str::from_utf8(&held.bytes)).transpose().map_err(|_| NOT_TEXT)?;
        let text = json_edit::add(text.unwrap_or_default(), &self.at, entries).map_err(told)?;
        // What could not be read again could not be put back.
        if text.len() as u64 > LIMIT {
            return Err(format!("with the entries it would be larger than {} KiB", LIMIT / 1024));
        }
        Ok(Held { bytes: text.into_bytes(), mode: users.map_or(0o600, |held| held.mode) })
    }

    /// Notes what is about to be done, before it is done.
    pub(super) fn step(&mut self, users: Option<&Held>, current: Option<&Held>, next: Option<&Held>) {
        let text = |held: &Held| Original {
            text: String::from_utf8_lossy(&held.bytes).into_owned(),
            mode: held.mode,
        };
        self.original = users.map(text);
        self.step =
            [current, next].into_iter().flatten().map(|held| self.hashed.digest(&held.bytes)).collect();
    }

    /// Whether no launch has entries in the file.
    pub(super) fn is_at_rest(&self) -> bool {
        self.launches.is_empty()
    }

    /// Whether nothing has to be remembered.
    pub(super) fn is_spent(&self) -> bool {
        self.launches.is_empty() && self.ended.is_empty()
    }

    /// Whether all that is remembered is too old to matter.
    pub(super) fn is_of_long_ago(&self, time: u64) -> bool {
        self.ended.iter().all(|ended| ended.is_long_ago(time))
    }

    pub(super) fn holds(&self, id: &str) -> bool {
        self.launches.iter().any(|launch| launch.id == id)
    }

    /// Takes in a launch of this process.
    pub(super) fn enter(&mut self, id: &str, entries: &Rc<Entries>) {
        let launch = Launch { id: id.into(), owner: Owner::this(), entries: Rc::clone(entries) };
        self.launches.push(launch);
    }

    /// Names that a running launch gives another meaning, each with the launch's process.
    pub(super) fn clashes(&self, entries: &Entries) -> Vec<(String, i32)> {
        let differs = |launch: &Launch, (name, entry): (&str, &str)| {
            launch.entries.get(name).is_some_and(|theirs| theirs != entry).then(|| name.to_owned())
        };
        self.launches
            .iter()
            .flat_map(|launch| {
                entries
                    .iter()
                    .filter_map(|ours| differs(launch, ours))
                    .map(|name| (name, launch.owner.pid))
                    .collect::<Vec<_>>()
            })
            .collect()
    }

    /// Forgets a launch that never came to be.
    pub(super) fn forget(&mut self, id: &str) {
        self.launches.retain(|launch| launch.id != id);
    }

    /// Notes which launches have ended, by their id or their death, and forgets those of long ago.
    pub(super) fn end(&mut self, has_ended: impl Fn(&str, &Owner) -> bool, time: u64) {
        let launches = std::mem::take(&mut self.launches);
        let (ended, running) =
            launches.into_iter().partition(|launch: &Launch| has_ended(&launch.id, &launch.owner));
        self.launches = running;
        for launch in ended {
            let digests =
                launch.entries.iter().map(|(name, entry)| (name.to_owned(), digest(entry.as_bytes())));
            let entries = digests.collect();
            // Of launches with the same entries the last is enough.
            self.ended.retain(|ended| ended.entries != entries);
            self.ended.push(Rc::new(Ended { time, entries }));
        }
        self.ended.retain(|ended| !ended.is_long_ago(time));
    }

    /// Processes whose launch is noted as running.
    pub(super) fn owners(&self) -> impl Iterator<Item = &Owner> {
        self.launches.iter().map(|launch| &launch.owner)
    }

    /// Whether a launch that is noted as running has died.
    pub(super) fn has_dead(&self, now: &Now) -> bool {
        self.owners().any(|owner| !owner.is_alive(now))
    }

    /// The entries of all who run; of two of one name the later launch's.
    fn entries(&self) -> Cow<'_, Entries> {
        match self.launches.as_slice() {
            [alone] => Cow::Borrowed(&alone.entries),
            launches => {
                let overlaid = |all: Entries, launch: &Launch| all.overlaid(&launch.entries);
                Cow::Owned(launches.iter().fold(Entries::default(), overlaid))
            }
        }
    }

    /// Names of entries that somebody edited and that still lead to us: taken out with the others, they would be lost.
    pub(super) fn edited(&self, current: &Held) -> Vec<String> {
        let servers = self.servers_in(&current.bytes);
        let is_edited = |name: &str, value: &Value| {
            let of_launches = self.launches.iter().filter_map(|launch| read_entry(&launch.entries, name));
            let entries: Vec<Value> = of_launches.collect();
            entries.iter().all(|entry| entry != value)
                && entries.iter().any(|entry| leads_to_us(entry, value))
        };
        let edited = servers.iter().filter(|(name, value)| is_edited(name, value));
        edited.map(|(name, _)| name.clone()).collect()
    }

    /// The entries of a file, as far as it has any.
    fn servers_in(&self, bytes: &[u8]) -> Map<String, Value> {
        let parsed = squire_strategies::parse_jsonc(bytes).ok();
        let servers = parsed.as_ref().and_then(|parsed| parsed.get(&self.at)).and_then(Value::as_object);
        servers.cloned().unwrap_or_default()
    }

    /// Whether a file has all entries of a launch that ended, whatever their layout: then it is an old copy. A single
    /// one of the like the user may have written by hand.
    fn is_old_copy(ended: &Ended, servers: &Map<String, Value>) -> bool {
        let has = |(name, digest): (&String, &String)| {
            servers.get(name).is_some_and(|value| digest_of(value) == *digest)
        };
        ended.entries.iter().all(has)
    }

    /// While a launch runs, an entry that leads to us is ours, whatever an editor made of it; afterwards one of the same
    /// bytes, and any of an old copy.
    fn is_ours(&self, old_copies: &[&Rc<Ended>], name: &str, written: &str) -> bool {
        let mut of_running =
            self.launches.iter().filter_map(|launch| read_entry(&launch.entries, name)).peekable();
        let value = of_running.peek().and_then(|_| squire_strategies::parse_jsonc(written.as_bytes()).ok());
        let mut of_ended = self.ended.iter().filter_map(|ended| ended.entries.get(name)).peekable();
        let text = of_ended.peek().map(|_| digest(written.as_bytes()));
        let is_ours =
            |entry: Value| value.as_ref().is_some_and(|value| *value == entry || leads_to_us(&entry, value));
        of_running.any(is_ours)
            || of_ended.any(|entry| Some(entry) == text.as_ref())
            || old_copies.iter().any(|ended| ended.entries.contains_key(name))
    }
}

impl Ended {
    fn is_long_ago(&self, time: u64) -> bool {
        self.time.saturating_add(REMEMBERED) <= time
    }
}

/// Whether an entry that somebody edited still does what ours does: it starts the same gateway, or has the same address.
fn leads_to_us(entry: &Value, edited: &Value) -> bool {
    let words = |value: &Value| {
        let arguments = value["args"].as_array().map(Vec::as_slice).unwrap_or_default();
        (value["command"].clone(), arguments.get(..2).map(<[Value]>::to_vec))
    };
    let starts = entry["command"].is_string() && words(entry) == words(edited) && words(entry).1.is_some();
    starts || (entry["url"].is_string() && entry["url"] == edited["url"])
}

/// An entry of ours as a value.
fn read_entry(entries: &Entries, name: &str) -> Option<Value> {
    serde_json::from_str(entries.get(name)?).ok()
}

/// The digest of an entry as we write it.
fn digest_of(entry: &Value) -> String {
    digest(compact_json(entry).as_bytes())
}

fn digest(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes))
}

fn told(error: impl std::fmt::Display) -> String {
    error.to_string()
}
