//! Pins: what a server's tools, prompts and instructions were when they were believed, one record for each declaration,
//! and what differs from that and waits for the user's word.
//!
//! The first list is believed. Later a server of a repository has what it changes or adds held back, one of the user's
//! own of the tier community has it noted, and one that the user wrote himself is believed whatever it says; `pin` says
//! otherwise. A new declaration has a record of its own.

mod difference;
mod record;

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use squire_relay::{Believed, Definition, Pin};
use squire_strategies::Tier;

pub use difference::differences;
pub use record::{Definitions, Kept, Record};

use super::Court;
use super::approvals::{Place, file_name};
use super::claim::Claim;
use super::digest::digest;
use crate::config::Declaration;
use crate::files;

/// The directory of records in the state directory.
pub const DIRECTORY: &str = "tools";

/// The name of its lock, and how long another process may hold it.
const LOCK: &str = "lock";
const PATIENCE: Duration = Duration::from_secs(2);

/// What a record is of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    /// The server's name.
    pub name: String,
    /// Where it is declared.
    pub place: Place,
    /// The digest of its declaration.
    pub digest: String,
}

impl Subject {
    /// A declaration, in the place where it is judged.
    pub fn of(declaration: &Declaration, court: Court<'_>) -> Self {
        let Claim { name, place, canonical, .. } = Claim::of(declaration, court);
        Self { name, place, digest: digest(&canonical) }
    }

    /// The name of its file.
    pub fn file(&self) -> String {
        file_name(&self.place, &self.name, &self.digest)
    }
}

/// What happens when this server changes or adds a definition: what its declaration says, else what its layer gets.
pub fn pin_of(declaration: &Declaration, tier: Tier) -> Pin {
    match declaration.pin.as_ref().map(|pin| pin.value.as_str()) {
        Some("block") => Pin::Block,
        Some("warn") => Pin::Warn,
        None if declaration.origin.layer.is_project() => Pin::Block,
        None if tier == Tier::Community => Pin::Warn,
        Some(_) | None => Pin::Off,
    }
}

/// The records in a state directory.
#[derive(Clone, Debug)]
pub struct Pins {
    directory: PathBuf,
}

/// What was read of a record.
#[derive(Debug, Default)]
pub struct Read {
    /// The record, or its copy; `None` where nothing was ever recorded, or none can be read.
    pub record: Option<Record>,
    /// Which file can't be read, and why.
    pub trouble: Option<(PathBuf, String)>,
}

impl Pins {
    /// Those of a state directory.
    pub fn of(state: &Path) -> Self {
        Self { directory: state.join(DIRECTORY) }
    }

    /// Reads a server's record. One that can't be read neither trusts nor blocks anything: its copy stands in for it, and
    /// the trouble is told.
    pub fn read(&self, subject: &Subject) -> Read {
        self.read_file(&subject.file(), Some(subject))
    }

    fn read_file(&self, file: &str, subject: Option<&Subject>) -> Read {
        let path = self.directory.join(file);
        let copy = || read(&self.directory.join(copy_of(file)), subject);
        match read(&path, subject) {
            Ok(Some(record)) => Read { record: Some(record), trouble: None },
            // Both were written, so that one of them alone is a sign.
            Ok(None) => match copy() {
                Ok(None) => Read::default(),
                Ok(record) => Read { record, trouble: Some((path, "it is gone".into())) },
                Err(error) => Read { record: None, trouble: Some((path, format!("{error:#}"))) },
            },
            Err(error) => Read { record: copy().ok().flatten(), trouble: Some((path, format!("{error:#}"))) },
        }
    }

    /// Every record, and every trouble.
    pub fn all(&self) -> Vec<Read> {
        let names = files::names_in(&self.directory).unwrap_or_default();
        let names = names.into_iter().filter_map(|name| name.into_string().ok());
        let mut names: Vec<String> = names.map(|name| name.replace(COPY, ".json")).collect();
        names.retain(|name| Path::new(name).extension().is_some_and(|ending| ending == "json"));
        names.sort();
        names.dedup();
        names.iter().map(|name| self.read_file(name, None)).collect()
    }

    /// When a server's record was changed last, as the file system has it.
    pub fn changed(&self, subject: &Subject) -> Option<std::time::SystemTime> {
        files::length_and_time(&self.directory.join(subject.file())).map(|(_, time)| time)
    }

    /// Takes in a whole list of tools or prompts, or instructions.
    pub fn saw(&self, subject: &Subject, pin: Pin, seen: Seen) -> io::Result<()> {
        self.change(subject, |record| record.saw(pin, seen))
    }

    /// The user believes what differs.
    pub fn accept(&self, subject: &Subject, differing: &Definitions) -> io::Result<()> {
        self.change(subject, |record| record.accept(differing))
    }

    fn change(&self, subject: &Subject, change: impl FnOnce(&mut Record) -> bool) -> io::Result<()> {
        let lock = files::Lock::take(&self.directory, LOCK, PATIENCE)?;
        if lock.is_none() {
            return Err(io::Error::new(
                io::ErrorKind::WouldBlock,
                "another process holds the records of tools",
            ));
        }
        let Read { record, trouble } = self.read(subject);
        let is_whole = trouble.is_none();
        let mut record = record.unwrap_or_else(|| Record::new(subject, is_whole));
        if !change(&mut record) && is_whole {
            return Ok(());
        }
        // A copy beside it: whatever happens to one of them, the other says the same.
        let (file, text) = (subject.file(), record.text());
        self.write(&copy_of(&file), &text)?;
        self.write(&file, &text)
    }

    fn write(&self, file: &str, text: &str) -> io::Result<()> {
        files::write_lasting(
            &self.directory,
            file,
            &format!(".{}.new", files::random_name()?),
            text.as_bytes(),
        )
    }
}

/// What a server was seen to tell.
#[derive(Clone, Debug)]
pub enum Seen {
    /// All of its tools.
    Tools(Vec<Definition>),
    /// All of its prompts.
    Prompts(Vec<Definition>),
    /// Its instructions.
    Instructions(Option<String>),
}

fn read(path: &Path, subject: Option<&Subject>) -> Result<Option<Record>> {
    let Some(bytes) = files::read_private(path)? else { return Ok(None) };
    let record = Record::read(&bytes)?;
    let own = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let is_of = |subject: &Subject| record.is_of(subject);
    let fits = subject.map_or_else(|| record.file() == own.replace(COPY, ".json"), is_of);
    fits.then_some(record).context("it is the record of another server").map(Some)
}

const COPY: &str = ".last";

fn copy_of(file: &str) -> String {
    file.replace(".json", COPY)
}

impl Read {
    /// What the relay holds a server to. Of one that was recorded, and whose record nobody can read, nothing is believed.
    pub fn believed(&self) -> Believed {
        match (&self.record, &self.trouble) {
            (Some(record), _) => record.believed.hashes(),
            (None, Some(_)) => Definitions::nothing().hashes(),
            (None, None) => Believed::default(),
        }
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test breaks a file")]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    fn subject() -> Subject {
        Subject { name: "docs".into(), place: Place::Project("/p".into()), digest: "ab".repeat(32) }
    }

    fn tools(of: &[&str]) -> Seen {
        let page = squire_relay::Page { cursor: None, result: format!("{{\"tools\":[{}]}}", of.join(",")) };
        Seen::Tools(squire_relay::definitions(squire_relay::List::Tools, &[page]))
    }

    fn state() -> (tempfile::TempDir, Pins) {
        let state = tempfile::tempdir().unwrap();
        fs::set_permissions(state.path(), fs::Permissions::from_mode(0o700)).unwrap();
        let pins = Pins::of(state.path());
        (state, pins)
    }

    fn names(definitions: &Definitions) -> Vec<String> {
        definitions.tools.iter().flat_map(|tools| tools.keys().cloned()).collect()
    }

    #[test]
    fn the_first_list_is_believed_and_what_comes_later_waits() {
        let (_state, pins) = state();
        assert!(pins.read(&subject()).record.is_none());
        pins.saw(&subject(), Pin::Block, tools(&[r#"{"name":"a"}"#])).unwrap();
        pins.saw(&subject(), Pin::Block, tools(&[r#"{"name":"a","x":1}"#, r#"{"name":"b"}"#])).unwrap();
        let record = pins.read(&subject()).record.unwrap();
        assert_eq!(
            (names(&record.believed), names(&record.differing)),
            (vec!["a".into()], vec!["a".into(), "b".into()])
        );
        // As it was: nothing waits any more, but for what another agent saw.
        pins.saw(&subject(), Pin::Block, tools(&[r#"{"name":"a"}"#])).unwrap();
        let record = pins.read(&subject()).record.unwrap();
        assert_eq!(names(&record.differing), ["b"]);
        pins.accept(&subject(), &record.differing).unwrap();
        let record = pins.read(&subject()).record.unwrap();
        assert_eq!(
            (names(&record.believed), names(&record.differing)),
            (vec!["a".into(), "b".into()], vec![])
        );
        assert_eq!(pins.all().len(), 1);
    }

    #[test]
    fn what_differs_since_the_question_was_put_is_not_believed_with_it() {
        let (_state, pins) = state();
        pins.saw(&subject(), Pin::Block, tools(&[r#"{"name":"a"}"#])).unwrap();
        pins.saw(&subject(), Pin::Block, tools(&[r#"{"name":"a","x":1}"#])).unwrap();
        let shown = pins.read(&subject()).record.unwrap().differing;
        pins.saw(&subject(), Pin::Block, tools(&[r#"{"name":"a","x":2}"#])).unwrap();
        pins.accept(&subject(), &shown).unwrap();
        let record = pins.read(&subject()).record.unwrap();
        assert_eq!(record.believed.tools.unwrap()["a"].definition.get(), r#"{"name":"a","x":1}"#);
        assert_eq!(record.differing.tools.unwrap()["a"].definition.get(), r#"{"name":"a","x":2}"#);
    }

    #[test]
    fn without_pins_the_latest_is_believed() {
        let (_state, pins) = state();
        pins.saw(&subject(), Pin::Off, tools(&[r#"{"name":"a"}"#])).unwrap();
        pins.saw(&subject(), Pin::Off, tools(&[r#"{"name":"a","x":1}"#])).unwrap();
        let record = pins.read(&subject()).record.unwrap();
        assert_eq!(record.believed.tools.unwrap()["a"].definition.get(), r#"{"name":"a","x":1}"#);
    }

    #[test]
    fn a_record_that_cannot_be_read_is_stood_in_for_by_its_copy() {
        let (state, pins) = state();
        let path = state.path().join(DIRECTORY).join(subject().file());
        let copy = state.path().join(DIRECTORY).join(copy_of(&subject().file()));
        pins.saw(&subject(), Pin::Block, Seen::Instructions(None)).unwrap();
        pins.saw(&subject(), Pin::Block, tools(&[r#"{"name":"a"}"#])).unwrap();
        let good = fs::read_to_string(&path).unwrap();
        let broken = [
            String::new(),
            "{".into(),
            good.replace("docs", "dogs"),
            good.replace("\"name\":\"a\"", "\"name\":\"z\""),
        ];
        for broken in broken.iter().map(Some).chain([None]) {
            match broken {
                Some(broken) => fs::write(&path, broken).unwrap(),
                None => fs::remove_file(&path).unwrap(),
            }
            let Read { record, trouble } = pins.read(&subject());
            assert_eq!(names(&record.unwrap().believed), ["a"], "{broken:?}");
            assert_eq!(trouble.unwrap().0, path);
            assert_eq!(pins.all().len(), 1);
        }
        // What is recorded next makes it whole.
        pins.saw(&subject(), Pin::Block, tools(&[r#"{"name":"a"}"#])).unwrap();
        let Read { record, trouble } = pins.read(&subject());
        assert_eq!((names(&record.unwrap().believed), trouble.is_none()), (vec!["a".into()], true));
        // Where neither can be read nothing is believed: what the server tells waits for the user.
        fs::write(&path, "{").unwrap();
        fs::write(&copy, "{").unwrap();
        assert_eq!(pins.read(&subject()).believed().tools, Some(std::collections::BTreeMap::new()));
        pins.saw(&subject(), Pin::Block, tools(&[r#"{"name":"a"}"#])).unwrap();
        let record = pins.read(&subject()).record.unwrap();
        assert_eq!((names(&record.believed), names(&record.differing)), (vec![], vec!["a".into()]));
    }
}
