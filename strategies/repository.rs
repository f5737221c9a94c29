//! Servers that a repository puts into an agent's own project files, which the agent would start for it (case B33).
//!
//! squire reads these files to learn names, and for nothing else. What is not the user's word is switched off for the
//! launch by name. Where the names can't be known for sure, a file that nobody can read as the agent does or too many
//! names, whatever the agent reads of its own is switched off as a whole: a repository can stop no launch, and start
//! nothing in one.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde_json::Value;

use crate::artifacts::{Artifacts, Code, Note, Switched, Whereabouts};
use crate::repository_server::Approved;
use crate::strategy::{Content, Read};

/// More than a project has any use for. Each costs the agent an entry, and Claude Code a process.
const NAMES: usize = 64;
/// The bytes of all names together.
const BYTES: usize = 8 * 1024;
/// How many names a sentence holds, and how much of each.
const SHOWN: usize = 8;
const SHOWN_CHARACTERS: usize = 40;

/// The servers of a file with all that it says of each.
pub(crate) type Entries = Vec<(String, Value)>;

/// A server of a project's file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Found<'a> {
    pub(crate) name: String,
    pub(crate) place: &'a str,
    /// Why the user's word does not cover it.
    pub(crate) why: &'static str,
}

/// Why the names of servers in a project's files can't be known, or switching them off by name would not do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unknowable<'a> {
    pub(crate) place: &'a str,
    pub(crate) reason: String,
}

impl<'a> Unknowable<'a> {
    /// A file that can't be read as the agent reads it.
    pub(crate) fn unread(place: &'a str, reason: &str) -> Self {
        Self { place, reason: format!("which servers it adds can't be known ({reason})") }
    }

    /// The reason behind its file.
    pub(crate) fn located(&self) -> String {
        format!("{}: {}", self.place, self.reason)
    }
}

/// The project's files of these names. One that is the user's own too, as below the home directory, is the user's.
pub(crate) fn files<'a>(
    contents: &'a [Content],
    names: &'static [&'static str],
) -> impl Iterator<Item = &'a Content> {
    let is_own = |file: &Content| {
        contents.iter().any(|other| matches!(other.read, Read::UserFile(..)) && other.place == file.place)
    };
    let is_named =
        move |content: &&Content| matches!(content.read, Read::Upward(name) if names.contains(&name));
    contents.iter().filter(is_named).filter(move |content| !is_own(content))
}

/// What a file declares.
pub(crate) fn located<'a>(
    content: &'a Content,
    declared: &dyn Fn(&[u8]) -> Result<Entries, String>,
) -> Result<Entries, Unknowable<'a>> {
    let entries = content.bytes.as_deref().map_err(Clone::clone).and_then(declared);
    entries.map_err(|reason| Unknowable::unread(&content.place, &reason))
}

/// The servers that the project's files declare and the user's word does not cover, each once, the nearest file first.
pub(crate) fn found<'a>(
    files: impl Iterator<Item = &'a Content>,
    declared: &dyn Fn(&[u8]) -> Result<Entries, String>,
    approved: &Approved,
    is_users_word: &dyn Fn(&str) -> bool,
) -> Result<Vec<Found<'a>>, Unknowable<'a>> {
    let mut found: Vec<Found<'a>> = Vec::new();
    for content in files {
        let place = content.place.as_str();
        for (name, _) in located(content, declared)? {
            if approved.as_they_are.contains(&name) || is_users_word(&name) {
                continue;
            }
            if found.len() == NAMES || found.iter().map(|found| found.name.len()).sum::<usize>() > BYTES {
                return Err(Unknowable { place, reason: "it adds too many servers".into() });
            }
            if !found.iter().any(|found| found.name == name) {
                let why = approved.why_not(&name);
                found.push(Found { name, place, why });
            }
        }
    }
    Ok(found)
}

/// Parses JSON as JavaScript does: a byte order mark is skipped, and what is not UTF-8 is replaced.
pub(crate) fn plain_json(bytes: &[u8]) -> Result<Value, String> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    serde_json::from_str(&String::from_utf8_lossy(bytes)).map_err(|error| error.to_string())
}

/// Says what is switched off: a note a file and reason, which names it. `keep` is what keeps one on.
pub(crate) fn tell(off: &[Found<'_>], keep: &str, artifacts: &mut Artifacts) {
    let mut told: Vec<(&str, &str)> = Vec::new();
    for Found { place, why, .. } in off {
        if !told.contains(&(place, why)) {
            told.push((place, why));
        }
    }
    let mend = format!("to keep it: squire approve NAME; {keep}");
    for (place, why) in told {
        let is_told = |found: &&Found<'_>| (found.place, found.why) == (place, why);
        let names: Vec<&str> = off.iter().filter(is_told).map(|found| found.name.as_str()).collect();
        artifacts.notes.push(note(place, format!("switched off, as {why}: {}", listed(&names)), &mend));
    }
    artifacts.switched_off.extend(off.iter().map(|found| Switched {
        name: found.name.clone(),
        file: found.place.to_string(),
        code: Code::RepositoryServer,
    }));
}

/// The note of a file whose servers can't be known.
pub(crate) fn unknowable(unknowable: &Unknowable<'_>, consequence: &str, mend: &str) -> Note {
    let Unknowable { place, reason } = unknowable;
    note(place, format!("{reason}, so {consequence}"), mend)
}

pub(crate) fn note(place: &str, sentence: String, mend: &str) -> Note {
    Note {
        code: Code::RepositoryServer,
        server: None,
        sentence,
        mend: Some(mend.into()),
        place: Some(Whereabouts { path: place.into(), position: None }),
    }
}

/// Names that somebody else chose, in a sentence: bounded, and nothing in them acts.
pub(crate) fn listed(names: &[&str]) -> String {
    let mut shown: Vec<String> = names.iter().take(SHOWN).map(|name| shown(name)).collect();
    if names.len() > SHOWN {
        shown.push(format!("and {} more", names.len() - SHOWN));
    }
    shown.join(", ")
}

fn shown(name: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    if !name.is_empty() && name.len() <= SHOWN_CHARACTERS && name.bytes().all(is_plain) {
        return name.to_string();
    }
    let start: String = name.chars().take(SHOWN_CHARACTERS).collect();
    let rest = if start.len() < name.len() { "…" } else { "" };
    format!("{start:?}{rest}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claude::tests::found as content;

    fn entries(bytes: &[u8]) -> Result<Entries, String> {
        let value = plain_json(bytes)?;
        Ok(value
            .as_object()
            .into_iter()
            .flatten()
            .map(|(name, entry)| (name.clone(), entry.clone()))
            .collect())
    }

    fn off<'a>(contents: &'a [Content], own: &str) -> Result<Vec<Found<'a>>, Unknowable<'a>> {
        let approved = Approved {
            as_they_are: ["yes".into()].into(),
            before: ["once".into()].into(),
            elsewhere: ["there".into()].into(),
            listed: ["unselected".into()].into(),
        };
        found(files(contents, &["f"]), &entries, &approved, &|name| name == own)
    }

    #[test]
    fn each_name_once_and_the_nearest_file_first() {
        const FILE: Read = Read::Upward("f");
        let contents = [
            content(FILE, "/p/f", r#"{"b": 1, "a": 1, "yes": 1, "once": 1, "there": 1}"#),
            content(FILE, "/f", r#"{"a": 1, "c": 1}"#),
        ];
        let found = off(&contents, "b").unwrap();
        let told: Vec<(&str, &str)> = found.iter().map(|found| (found.name.as_str(), found.place)).collect();
        assert_eq!(told, [("a", "/p/f"), ("once", "/p/f"), ("there", "/p/f"), ("c", "/f")]);
        let mut artifacts = Artifacts::default();
        tell(&found, "mend", &mut artifacts);
        let sentences: Vec<String> = artifacts.notes.iter().map(Note::located).collect();
        assert_eq!(
            sentences,
            [
                "/p/f: switched off, as you have not enabled it: a",
                "/p/f: switched off, as it has changed since you approved it: once",
                "/p/f: switched off, as you approved it for another directory than the agent is sent to: there",
                "/f: switched off, as you have not enabled it: c"
            ]
        );
    }

    #[test]
    fn a_file_of_the_user_is_none_of_the_project() {
        let own = Read::UserFile(crate::strategy::Base::Home, "x/f");
        let contents = [content(own, "/h/x/f", ""), content(Read::Upward("x/f"), "/h/x/f", "")];
        assert_eq!(files(&contents, &["x/f"]).count(), 0);
        assert_eq!(files(&contents[1..], &["x/f"]).count(), 1);
        assert_eq!(files(&contents[1..], &["y"]).count(), 0);
    }

    #[test]
    fn what_is_too_much_or_broken_is_unknowable() {
        const FILE: Read = Read::Upward("f");
        let entries: Vec<String> = (0..=NAMES).map(|index| format!("\"n{index}\": 1")).collect();
        let many = format!("{{{}}}", entries.join(","));
        let long = format!("{{\"{}\": 1, \"x\": 1}}", "y".repeat(BYTES + 1));
        let deep = format!("{{\"a\": 1, \"b\": {}{}}}", "[".repeat(200), "]".repeat(200));
        for text in [many.as_str(), long.as_str(), deep.as_str(), "{", r#"{"\ud800": 1}"#] {
            let contents = [content(FILE, "/p/f", text)];
            assert_eq!(off(&contents, "").unwrap_err().place, "/p/f", "{}", &text[..text.len().min(60)]);
        }
        let contents = [Content { bytes: Err("it is a riddle".into()), ..content(FILE, "/p/f", "") }];
        let reason = off(&contents, "").unwrap_err().reason;
        assert_eq!(reason, "which servers it adds can't be known (it is a riddle)");
    }

    #[test]
    fn names_that_act_are_escaped_and_bounded() {
        assert_eq!(
            listed(&["a.b", "a b", "", "\u{1b}[2J\u{202e}\n"]),
            r#"a.b, "a b", "", "\u{1b}[2J\u{202e}\n""#
        );
        assert_eq!(listed(&["x".repeat(50).as_str()]), format!("\"{}\"…", "x".repeat(40)));
        assert_eq!(listed(&["n"; 10]), "n, n, n, n, n, n, n, n, and 2 more");
    }
}
