//! What is remembered of a server from one launch to the next: its pins, and its greeting and lists, which answer an
//! agent before the server runs.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use squire_relay::{Believed, Learned, List, Memory, Page, Past, Pin, Told, definitions, instructions};

use crate::files;
use crate::output::Output;
use crate::trust::pins::{Pins, Seen, Subject};

/// The directory of answers in the state directory.
pub(crate) const DIRECTORY: &str = "answers";

const VERSION: u32 = 1;
/// How many askers are remembered: each agent of each version is one.
const ASKERS: usize = 8;
const LOCK: &str = "lock";
const PATIENCE: Duration = Duration::from_secs(2);

/// What one gateway remembers, and where.
pub(super) struct Remembered {
    subject: Subject,
    pin: Pin,
    pins: Pins,
    /// Where answers lie; none where the server itself is to answer.
    answers: Option<PathBuf>,
    /// When the pins were read.
    read: Option<SystemTime>,
    /// Whether there was a record that could be read.
    is_recorded: bool,
    has_complained: bool,
}

impl Remembered {
    /// Of a server that may be answered for: not one that the launch must have, or that is asked how it is.
    pub(super) fn new(state: &Path, subject: Subject, pin: Pin, is_answered_for: bool) -> Self {
        let answers = is_answered_for.then(|| state.join(DIRECTORY));
        Self {
            subject,
            pin,
            pins: Pins::of(state),
            answers,
            read: None,
            is_recorded: false,
            has_complained: false,
        }
    }

    /// What the relay is to know.
    pub(super) fn past(&mut self) -> Past {
        let believed = self.believed();
        // Without a record of its tools everything is to be told, and recorded, anew.
        let answers = self.answers.as_ref().filter(|_| self.is_recorded && believed.tools.is_some());
        let memory = answers.map(|answers| read(&answers.join(self.subject.file())));
        Past {
            pin: self.pin,
            believed,
            answers: self.answers.is_some(),
            memory: memory.unwrap_or_default(),
            is_kept: true,
        }
    }

    fn believed(&mut self) -> Believed {
        self.read = self.pins.changed(&self.subject);
        let read = self.pins.read(&self.subject);
        if let Some((path, reason)) = read.trouble.as_ref().filter(|_| self.pin != Pin::Off) {
            let stands = if read.record.is_some() {
                "its copy stands in for it"
            } else {
                "nothing of its server is believed"
            };
            let sentence = format!("{}: {reason}; {stands} (squire doctor)", path.display());
            self.complain(&sentence);
        }
        // One that is broken is written anew by what its server tells, and by nothing else.
        self.is_recorded = read.record.is_some() && read.trouble.is_none();
        read.believed()
    }

    /// What the user has come to believe since it was read, if anything.
    pub(super) fn news(&mut self) -> Option<Believed> {
        (self.pins.changed(&self.subject) != self.read).then(|| self.believed())
    }

    /// Keeps what the server has told.
    pub(super) fn keep(&mut self, learned: Learned) {
        let kept = self.pin_down(&learned).and_then(|()| self.keep_answer(learned));
        self.read = self.pins.changed(&self.subject);
        if let Err(error) = kept {
            self.complain(&format!("what {} tells can't be recorded: {error}", self.subject.name));
        }
    }

    /// What the server tells has a secret in it.
    pub(super) fn refuse(&mut self) {
        self.complain(&format!(
            "{} tells a secret of yours in what it says of itself: that is not recorded, and its tools are not pinned",
            self.subject.name
        ));
    }

    fn pin_down(&self, learned: &Learned) -> io::Result<()> {
        let seen = match learned {
            Learned::Greeting { result, .. } => Seen::Instructions(instructions(result)),
            Learned::List { list: List::Tools, pages, .. } => Seen::Tools(definitions(List::Tools, pages)),
            Learned::List { list: List::Prompts, pages, .. } => {
                Seen::Prompts(definitions(List::Prompts, pages))
            }
            Learned::List { .. } | Learned::Doubted { .. } => return Ok(()),
        };
        self.pins.saw(&self.subject, self.pin, seen)
    }

    fn keep_answer(&self, learned: Learned) -> io::Result<()> {
        let Some(directory) = &self.answers else { return Ok(()) };
        let _lock = files::Lock::take(directory, LOCK, PATIENCE)?;
        let file = self.subject.file();
        let mut memory = read(&directory.join(&file));
        let (asker, told) = match &learned {
            Learned::Greeting { asker, .. }
            | Learned::List { asker, .. }
            | Learned::Doubted { asker, .. } => (asker.clone(), memory.entry(asker.clone()).or_default()),
        };
        match learned {
            Learned::Greeting { result, .. } => told.greeting = Some(result),
            Learned::List { list, pages, .. } => {
                told.doubted.remove(&list);
                told.lists.insert(list, pages);
            }
            Learned::Doubted { list, hash, .. } => {
                told.doubted.insert(list, hash);
            }
        }
        // Whoever is too many is asked anew: that costs a start, once.
        while memory.len() > ASKERS {
            let other = memory.keys().find(|known| **known != asker).cloned();
            other.map(|other| memory.remove(&other));
        }
        let temporary = format!(".{}.new", files::random_name()?);
        files::write_private(directory, &file, &temporary, text(&memory).as_bytes())
    }

    fn complain(&mut self, sentence: &str) {
        if !std::mem::replace(&mut self.has_complained, true) {
            Output::default().message(sentence);
        }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    version: u32,
    askers: BTreeMap<String, Asker>,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Asker {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    greeting: Option<Box<RawValue>>,
    #[serde(default)]
    lists: BTreeMap<String, Vec<Answer>>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    doubted: BTreeMap<String, String>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Answer {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cursor: Option<String>,
    result: Box<RawValue>,
}

/// What is in a file of answers. One that can't be read answers nobody, and is written anew.
fn read(path: &Path) -> Memory {
    let bytes = files::read_private(path).ok().flatten().unwrap_or_default();
    let Ok(File { version: VERSION, askers }) = serde_json::from_slice(&bytes) else { return Memory::new() };
    let page = |Answer { cursor, result }| Page { cursor, result: result.get().into() };
    let told = |Asker { greeting, lists, doubted }| Told {
        greeting: greeting.map(|greeting| greeting.get().into()),
        lists: by_list(lists, |pages| pages.into_iter().map(page).collect()),
        doubted: by_list(doubted, |hash| hash),
    };
    askers.into_iter().map(|(asker, kept)| (asker, told(kept))).collect()
}

fn by_list<T, U>(methods: BTreeMap<String, T>, convert: impl Fn(T) -> U) -> BTreeMap<List, U> {
    let known = |(method, value): (String, T)| Some((List::of(&method)?, convert(value)));
    methods.into_iter().filter_map(known).collect()
}

fn text(memory: &Memory) -> String {
    let raw = |text: &String| RawValue::from_string(text.clone()).ok();
    let answer = |page: &Page| Some(Answer { cursor: page.cursor.clone(), result: raw(&page.result)? });
    let asker = |told: &Told| Asker {
        greeting: told.greeting.as_ref().and_then(raw),
        lists: told
            .lists
            .iter()
            .filter_map(|(list, pages)| {
                let answers: Option<Vec<Answer>> = pages.iter().map(answer).collect();
                Some((list.method().to_owned(), answers?))
            })
            .collect(),
        doubted: told.doubted.iter().map(|(list, hash)| (list.method().to_owned(), hash.clone())).collect(),
    };
    let askers = memory.iter().map(|(name, told)| (name.clone(), asker(told))).collect();
    // It is made of text and JSON alone.
    serde_json::to_string(&File { version: VERSION, askers }).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trust::approvals::Place;
    use std::os::unix::fs::PermissionsExt;

    fn remembered(state: &Path) -> Remembered {
        let subject = Subject { name: "a".into(), place: Place::User, digest: "d".into() };
        Remembered::new(state, subject, Pin::Block, true)
    }

    fn state() -> tempfile::TempDir {
        let state = tempfile::tempdir().unwrap();
        #[expect(clippy::disallowed_methods, reason = "a test makes its directory")]
        std::fs::set_permissions(state.path(), std::fs::Permissions::from_mode(0o700)).unwrap();
        state
    }

    #[test]
    fn what_was_told_is_there_for_the_next_one_byte_by_byte() {
        let state = state();
        let mut one = remembered(state.path());
        assert_eq!(one.past().memory, Memory::new());
        let greeting = r#"{ "n": 1.0, "instructions":"x" }"#;
        let pages = vec![Page { cursor: None, result: r#"{ "tools": [{"name":"t"}] }"#.into() }];
        one.keep(Learned::Greeting { asker: "who".into(), result: greeting.into() });
        one.keep(Learned::List { asker: "who".into(), list: List::Tools, pages: pages.clone() });
        one.keep(Learned::Doubted { asker: "who".into(), list: List::Tools, hash: "h".into() });
        assert!(one.news().is_none());
        let past = remembered(state.path()).past();
        let told = &past.memory["who"];
        assert_eq!((told.greeting.as_deref(), &told.lists[&List::Tools]), (Some(greeting), &pages));
        assert_eq!(told.doubted[&List::Tools], "h");
        assert!(past.answers && past.believed.tools.unwrap().contains_key("t"));
        let asked = Remembered::new(state.path(), one.subject.clone(), Pin::Block, false).past();
        assert!(!asked.answers && asked.memory.is_empty() && asked.believed.tools.is_some());
    }

    #[test]
    fn eight_askers_are_remembered() {
        let state = state();
        let mut one = remembered(state.path());
        // Without a record of its tools nobody is answered for it.
        let pages = vec![Page { cursor: None, result: r#"{"tools":[]}"#.into() }];
        one.keep(Learned::List { asker: "0".into(), list: List::Tools, pages });
        for number in 0..12 {
            one.keep(Learned::Greeting { asker: number.to_string(), result: "{}".into() });
        }
        let memory = one.past().memory;
        assert_eq!((memory.len(), memory.contains_key("11")), (ASKERS, true));
    }

    #[test]
    fn the_users_word_is_heard() {
        let state = state();
        let mut one = remembered(state.path());
        let tools = |text: &str| {
            let pages = vec![Page { cursor: None, result: format!("{{\"tools\":[{text}]}}") }];
            Learned::List { asker: "who".into(), list: List::Tools, pages }
        };
        one.keep(tools(r#"{"name":"t"}"#));
        one.keep(tools(r#"{"name":"u"}"#));
        let differing = one.pins.read(&one.subject).record.unwrap().differing;
        std::thread::sleep(Duration::from_millis(20));
        one.pins.accept(&one.subject, &differing).unwrap();
        assert!(one.news().unwrap().tools.unwrap().contains_key("u"));
        assert!(one.news().is_none());
    }
}
