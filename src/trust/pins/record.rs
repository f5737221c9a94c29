//! One record, and its text. Pure.

use std::collections::BTreeMap;

use anyhow::{Result, bail, ensure};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};
use squire_relay::{ALGORITHM, Believed, Definition, Pin, hash, hash_of_instructions};

use super::{Seen, Subject};
use crate::files::hexadecimal;
use crate::trust::approvals::{Place, file_name};

const VERSION: u32 = 1;

/// A definition as it was told, with its hash.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kept {
    /// The hash, of the record's algorithm.
    pub hash: String,
    /// The definition, as the server wrote it.
    pub definition: Box<RawValue>,
}

/// Definitions by their names; `None` where none were told yet.
pub(super) type Named = Option<BTreeMap<String, Kept>>;

/// What a server tells of itself.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Definitions {
    /// Its tools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Named,
    /// Its prompts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompts: Named,
    /// Its instructions: whether it has told them, and which.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "told")]
    pub instructions: Option<Option<String>>,
}

/// `null` is told too: that there are none.
#[expect(clippy::option_option, reason = "the outer one says whether it was told, the inner one what")]
fn told<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Option<String>>, D::Error> {
    Deserialize::deserialize(deserializer).map(Some)
}

impl Definitions {
    /// That there is nothing: not that nothing was told yet.
    pub(super) fn nothing() -> Self {
        Self { tools: Some(BTreeMap::new()), prompts: Some(BTreeMap::new()), instructions: Some(None) }
    }

    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        let has = |named: &Named| named.as_ref().is_some_and(|named| !named.is_empty());
        !has(&self.tools) && !has(&self.prompts) && self.instructions.is_none()
    }

    /// The hashes of all that is in it.
    pub fn hashes(&self) -> Believed {
        let hashes = |named: &Named| {
            let hashed = |named: &BTreeMap<String, Kept>| {
                named.iter().map(|(name, kept)| (name.clone(), kept.hash.clone())).collect()
            };
            named.as_ref().map(hashed)
        };
        let instructions = self.instructions.as_ref();
        Believed {
            tools: hashes(&self.tools),
            prompts: hashes(&self.prompts),
            instructions: instructions.map(|told| told.as_deref().map(hash_of_instructions)),
        }
    }

    /// How many differ, for a sentence.
    pub fn count(&self) -> usize {
        self.kept().count() + usize::from(self.instructions.is_some())
    }

    /// A digest of another digest and of all that is in it; that one where there is nothing.
    pub fn digest_with(&self, digest: String) -> String {
        if self.is_empty() {
            return digest;
        }
        let named = |named: &Named| {
            serde_json::json!(
                named.iter().flatten().map(|(name, kept)| (name, &kept.hash)).collect::<Vec<_>>()
            )
        };
        let all = serde_json::json!([digest, named(&self.tools), named(&self.prompts), self.instructions]);
        hexadecimal(&Sha256::digest(all.to_string()))
    }

    /// All kept definitions.
    fn kept(&self) -> impl Iterator<Item = &Kept> {
        self.tools.iter().chain(&self.prompts).flat_map(BTreeMap::values)
    }

    fn kept_mut(&mut self) -> impl Iterator<Item = &mut Kept> {
        self.tools.iter_mut().chain(&mut self.prompts).flat_map(BTreeMap::values_mut)
    }
}

/// The record of one declaration.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    version: u32,
    /// What the hashes are.
    algorithm: String,
    /// The server's name.
    pub name: String,
    /// Where it is declared.
    pub place: Place,
    /// The digest of its declaration.
    pub digest: String,
    /// When the first of it was recorded, in seconds since 1970.
    pub time: u64,
    /// What is believed.
    pub believed: Definitions,
    /// What was seen later, is different, and waits for the user's word.
    #[serde(default, skip_serializing_if = "Definitions::is_empty")]
    pub differing: Definitions,
}

impl Record {
    /// An empty one: what is told first is believed, unless there was one that can't be read any more.
    pub(super) fn new(subject: &Subject, is_first: bool) -> Self {
        let Subject { name, place, digest } = subject.clone();
        let believed = if is_first { Definitions::default() } else { Definitions::nothing() };
        let differing = Definitions::default();
        let time = crate::environment::time();
        Self { version: VERSION, algorithm: ALGORITHM.into(), name, place, digest, time, believed, differing }
    }

    /// Reads the text of one. Hashes of another algorithm are made anew from the definitions.
    pub fn read(bytes: &[u8]) -> Result<Self> {
        let mut record: Self = serde_json::from_slice(bytes)?;
        if record.version != VERSION {
            bail!("its version is {}, and this squire knows {VERSION}", record.version);
        }
        if record.algorithm == ALGORITHM {
            let fits = |kept: &Kept| kept.hash == hash(&kept.definition);
            let all_fit = record.believed.kept().chain(record.differing.kept()).all(fits);
            ensure!(all_fit, "a hash in it does not fit its definition");
        } else {
            for kept in record.believed.kept_mut().chain(record.differing.kept_mut()) {
                kept.hash = hash(&kept.definition);
            }
            record.algorithm = ALGORITHM.into();
        }
        Ok(record)
    }

    /// The text that [`Self::read`] reads.
    pub fn text(&self) -> String {
        // It is made of text, numbers and JSON alone.
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }

    /// Whether it is the record of this declaration.
    pub(super) fn is_of(&self, subject: &Subject) -> bool {
        (&self.name, &self.place, &self.digest) == (&subject.name, &subject.place, &subject.digest)
    }

    /// The name of its file.
    pub(super) fn file(&self) -> String {
        file_name(&self.place, &self.name, &self.digest)
    }

    /// Takes in what was seen; whether it is another record now.
    pub(super) fn saw(&mut self, pin: Pin, seen: Seen) -> bool {
        match seen {
            Seen::Tools(found) => take_in(pin, found, &mut self.believed.tools, &mut self.differing.tools),
            Seen::Prompts(found) => {
                take_in(pin, found, &mut self.believed.prompts, &mut self.differing.prompts)
            }
            Seen::Instructions(found) => {
                let (believed, differing) =
                    (&mut self.believed.instructions, &mut self.differing.instructions);
                let before = (believed.clone(), differing.clone());
                let is_known = believed.as_ref() == Some(&found) || found.is_none();
                if believed.is_none() || pin == Pin::Off {
                    (*believed, *differing) = (Some(found), None);
                } else if is_known {
                    *differing = None;
                } else {
                    *differing = Some(found);
                }
                before != (believed.clone(), differing.clone())
            }
        }
    }

    /// Believes what was shown to the user; what differs from that still waits.
    pub(super) fn accept(&mut self, shown: &Definitions) -> bool {
        if shown.is_empty() {
            return false;
        }
        believe(&shown.tools, &mut self.believed.tools, &mut self.differing.tools);
        believe(&shown.prompts, &mut self.believed.prompts, &mut self.differing.prompts);
        if let Some(instructions) = &shown.instructions {
            self.believed.instructions = Some(instructions.clone());
            self.differing.instructions.take_if(|waiting| waiting == instructions);
        }
        true
    }
}

fn believe(shown: &Named, believed: &mut Named, differing: &mut Named) {
    for (name, kept) in shown.iter().flatten() {
        believed.get_or_insert_default().insert(name.clone(), kept.clone());
        if let Some(differing) = differing
            && differing.get(name).is_some_and(|waiting| waiting.hash == kept.hash)
        {
            differing.remove(name);
        }
    }
    differing.take_if(|differing| differing.is_empty());
}

fn take_in(pin: Pin, found: Vec<Definition>, believed: &mut Named, differing: &mut Named) -> bool {
    let hashes = |named: &Named| -> Vec<(String, String)> {
        named.iter().flatten().map(|(name, kept)| (name.clone(), kept.hash.clone())).collect()
    };
    let before = (believed.is_some(), hashes(believed), hashes(differing));
    let is_first = believed.is_none();
    let believed = believed.get_or_insert_default();
    for Definition { name, hash, text } in found {
        let Ok(definition) = RawValue::from_string(text) else { continue };
        let is_known = believed.get(&name).is_some_and(|known| known.hash == hash);
        if is_known {
            differing.as_mut().map(|differing| differing.remove(&name));
        } else if is_first || pin == Pin::Off {
            differing.as_mut().map(|differing| differing.remove(&name));
            believed.insert(name, Kept { hash, definition });
        } else {
            differing.get_or_insert_default().insert(name, Kept { hash, definition });
        }
    }
    differing.take_if(|differing| differing.is_empty());
    let now: Vec<(String, String)> =
        believed.iter().map(|(name, kept)| (name.clone(), kept.hash.clone())).collect();
    before != (true, now, hashes(differing))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> Record {
        let subject = Subject { name: "a".into(), place: Place::User, digest: "d".into() };
        let mut record = Record::new(&subject, true);
        let text = r#"{ "name":"t", "n": 1.0 }"#.to_owned();
        let definition =
            Definition { name: "t".into(), hash: hash(&RawValue::from_string(text.clone()).unwrap()), text };
        assert!(record.saw(Pin::Warn, Seen::Tools(vec![definition])));
        assert!(record.saw(Pin::Warn, Seen::Instructions(None)));
        record
    }

    #[test]
    fn a_record_reads_back_with_every_byte_of_its_definitions() {
        let record = record();
        let again = Record::read(record.text().as_bytes()).unwrap();
        assert_eq!(again.text(), record.text());
        assert_eq!(again.believed.tools.unwrap()["t"].definition.get(), r#"{ "name":"t", "n": 1.0 }"#);
        assert_eq!(again.believed.instructions, Some(None));
    }

    #[test]
    fn hashes_of_another_algorithm_are_made_anew() {
        let text = record()
            .text()
            .replace(ALGORITHM, "squire-definition-v0")
            .replace("\"hash\": \"", "\"hash\": \"0");
        let read = Record::read(text.as_bytes()).unwrap();
        assert_eq!(read.text(), record().text());
    }

    #[test]
    fn what_is_no_record_is_told() {
        for (text, told) in [
            (
                record().text().replace("\"version\": 1", "\"version\": 2"),
                "its version is 2, and this squire knows 1",
            ),
            (record().text().replace("1.0", "1.5"), "a hash in it does not fit its definition"),
        ] {
            assert_eq!(Record::read(text.as_bytes()).unwrap_err().to_string(), told);
        }
    }

    #[test]
    fn later_instructions_wait_and_none_are_no_change() {
        let mut record = record();
        assert!(record.saw(Pin::Warn, Seen::Instructions(Some("x".into()))));
        assert_eq!(record.differing.instructions, Some(Some("x".into())));
        assert!(record.accept(&record.differing.clone()));
        assert_eq!(
            (record.believed.instructions.clone(), record.differing.is_empty()),
            (Some(Some("x".into())), true)
        );
        assert!(!record.saw(Pin::Warn, Seen::Instructions(None)));
    }
}
