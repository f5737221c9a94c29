//! Claude Code's `deniedMcpServers` and `allowedMcpServers`: whoever writes settings can forbid a server of ours, a
//! repository too. Measured with 2.1.197.
//!
//! It reads them in the user's settings and in those of the working directory, not of directories above. The lists of
//! all files are one. A rule has one of three keys, and one that has more counts for nothing. Where a command is allowed,
//! programs need an allowed command; where an address is, remote servers need an allowed address; else the name decides.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde_json::Value;

use crate::artifacts::{Code, Note};
use crate::entries::Members;
use crate::repository::plain_json;
use crate::server::ResolvedServer;
use crate::strategy::{Content, Read};

const DENIED: &str = "deniedMcpServers";
const ALLOWED: &str = "allowedMcpServers";

/// What forbids servers, by file.
pub(crate) struct Lists<'a> {
    denied: Vec<(&'a str, Rule)>,
    allowed: Vec<Rule>,
    /// The files that allow: with none of them everything is.
    allowing: Vec<&'a str>,
}

enum Rule {
    Name(String),
    Command(Vec<String>),
    Address(String),
}

impl<'a> Lists<'a> {
    /// The lists of these settings. A file that Claude can't read has none.
    pub(crate) fn of(settings: impl Iterator<Item = &'a Content>) -> Self {
        let mut lists = Self { denied: Vec::new(), allowed: Vec::new(), allowing: Vec::new() };
        for content in settings {
            let read = content.bytes.as_deref().map_err(Clone::clone).and_then(plain_json);
            let Ok(settings) = read else { continue };
            let rules = |key: &str| Some(settings.get(key)?.as_array()?.iter().filter_map(Rule::read));
            let place = content.place.as_str();
            lists.denied.extend(rules(DENIED).into_iter().flatten().map(|rule| (place, rule)));
            if let Some(allowed) = rules(ALLOWED) {
                lists.allowed.extend(allowed);
                lists.allowing.push(place);
            }
        }
        lists
    }

    fn is_empty(&self) -> bool {
        self.denied.is_empty() && self.allowing.is_empty()
    }

    /// Why Claude would not start an entry of ours.
    pub(crate) fn note(&self, server: &ResolvedServer, entry: &Value) -> Option<Note> {
        let (key, place) = self.forbids(server.name.as_str(), entry)?;
        Some(Note {
            code: Code::AgentDisabled,
            server: Some(server.name.clone()),
            sentence: format!("`{key}` of {place} forbids it"),
            mend: Some("change that in the file".into()),
            place: None,
        })
    }

    fn forbids(&self, name: &str, entry: &Value) -> Option<(&'static str, &'a str)> {
        if let Some((place, _)) = self.denied.iter().find(|(_, rule)| rule.is_of(name, entry)) {
            return Some((DENIED, place));
        }
        let decides = |rule: &&Rule| match rule {
            Rule::Name(_) => false,
            Rule::Command(_) => entry.get("command").is_some(),
            Rule::Address(_) => entry.get("url").is_some(),
        };
        let is_special = self.allowed.iter().any(|rule| decides(&rule));
        let is_allowed = |rule: &Rule| (!is_special || decides(&rule)) && rule.is_of(name, entry);
        let place = self.allowing.first().filter(|_| !self.allowed.iter().any(is_allowed));
        place.map(|place| (ALLOWED, *place))
    }
}

impl Rule {
    fn read(written: &Value) -> Option<Self> {
        let rule = written.as_object().filter(|rule| rule.len() == 1)?;
        let text = |value: &Value| value.as_str().map(ToString::to_string);
        let (key, value) = rule.iter().next()?;
        match key.as_str() {
            "serverName" => text(value).map(Self::Name),
            "serverUrl" => text(value).map(Self::Address),
            "serverCommand" => value.as_array()?.iter().map(text).collect::<Option<_>>().map(Self::Command),
            _ => None,
        }
    }

    fn is_of(&self, name: &str, entry: &Value) -> bool {
        match self {
            Self::Name(own) => own == name,
            Self::Command(words) => {
                let args = entry.get("args").and_then(Value::as_array).into_iter().flatten();
                entry.get("command").is_some_and(|program| {
                    core::iter::once(program).chain(args).eq(words.iter().map(String::as_str))
                })
            }
            Self::Address(pattern) => {
                entry.get("url").and_then(Value::as_str).is_some_and(|url| is_like(url, pattern))
            }
        }
    }
}

/// Whether a text is like a pattern, in which `*` stands for anything.
fn is_like(text: &str, pattern: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return text == pattern };
    let Some(mut text) = text.strip_prefix(start) else { return false };
    let mut pieces: Vec<&str> = rest.split('*').collect();
    let end = pieces.pop().unwrap_or_default();
    for piece in pieces {
        let Some((_, behind)) = text.split_once(piece) else { return false };
        text = behind;
    }
    text.ends_with(end)
}

/// The settings that Claude reads in this directory: the user's, and the project's right here.
pub(crate) fn settings<'a>(
    contents: &'a [Content],
    user: Read,
    project: &'static [&'static str],
    directory: &'a str,
) -> impl Iterator<Item = &'a Content> {
    let is_here = move |content: &Content, file: &str| {
        content.place.strip_prefix(directory).is_some_and(|below| below.trim_start_matches('/') == file)
    };
    contents.iter().filter(move |content| match content.read {
        Read::Upward(file) => project.contains(&file) && is_here(content, file),
        read => read == user,
    })
}

/// What forbids our entries, as notes.
pub(crate) fn notes(
    lists: &Lists<'_>,
    servers: &[&ResolvedServer],
    entries: &[(&str, Members)],
) -> Vec<Note> {
    let note = |server: &&ResolvedServer| {
        let (_, entry) = entries.iter().find(|(name, _)| *name == server.name.as_str())?;
        lists.note(server, &serde_json::from_str(&entry.text()).ok()?)
    };
    if lists.is_empty() { Vec::new() } else { servers.iter().filter_map(note).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claude::tests::found;
    use serde_json::json;

    const USER: Read = Read::UserFile(crate::strategy::Base::Home, "settings.json");

    fn forbidden(files: &[&str], entry: &Value) -> Option<(&'static str, usize)> {
        let places = ["0", "1", "2"];
        let contents: Vec<Content> =
            files.iter().zip(places).map(|(text, place)| found(USER, place, text)).collect();
        let lists = Lists::of(contents.iter());
        lists.forbids("a", entry).map(|(key, place)| (key, place.parse().unwrap()))
    }

    #[test]
    fn what_is_denied_is_forbidden() {
        let program = json!({ "command": "p", "args": ["x", "y"] });
        let remote = json!({ "url": "https://h.example.com/mcp" });
        let denied = |rules: &str, entry| {
            forbidden(&["{}", &format!("{{ \"deniedMcpServers\": {rules} }}")], entry) == Some((DENIED, 1))
        };
        for (rules, of_program, of_remote) in [
            (r#"[{ "serverName": "a" }, 5]"#, true, true),
            (r#"[{ "serverName": "A" }]"#, false, false),
            (r#"[{ "serverCommand": ["p", "x", "y"] }]"#, true, false),
            (r#"[{ "serverCommand": ["p"] }]"#, false, false),
            (r#"[{ "serverUrl": "https://*.example.com/*" }]"#, false, true),
            (r#"[{ "serverUrl": "*" }]"#, false, true),
            (r#"[{ "serverUrl": "https://h.example.com" }]"#, false, false),
            (r#"[{ "serverName": "a", "serverUrl": "*" }]"#, false, false),
            (r#"{ "serverName": "a" }"#, false, false),
        ] {
            assert_eq!((denied(rules, &program), denied(rules, &remote)), (of_program, of_remote), "{rules}");
        }
    }

    #[test]
    fn what_no_list_allows_is_forbidden() {
        let program = json!({ "command": "p", "args": [] });
        let remote = json!({ "url": "https://h/" });
        for (files, of_program, of_remote) in [
            (&[r#"{ "allowedMcpServers": [] }"#][..], false, false),
            (&[r#"{ "allowedMcpServers": [5] }"#], false, false),
            (&[r#"{ "allowedMcpServers": null }"#, "// {}", "{}"], true, true),
            (&[r#"{ "allowedMcpServers": [{ "serverName": "a" }] }"#], true, true),
            (
                &[
                    r#"{ "allowedMcpServers": [{ "serverName": "b" }] }"#,
                    r#"{ "allowedMcpServers": [{ "serverName": "a" }] }"#,
                ],
                true,
                true,
            ),
            (
                &[r#"{ "allowedMcpServers": [{ "serverName": "a" }, { "serverCommand": ["q"] }] }"#],
                false,
                true,
            ),
            (
                &[r#"{ "allowedMcpServers": [{ "serverName": "a" }, { "serverUrl": "http://*" }] }"#],
                true,
                false,
            ),
            (
                &[r#"{ "allowedMcpServers": [{ "serverCommand": ["p"] }, { "serverUrl": "https://*" }] }"#],
                true,
                true,
            ),
        ] {
            let is_on = |entry| forbidden(files, entry).is_none();
            assert_eq!((is_on(&program), is_on(&remote)), (of_program, of_remote), "{files:?}");
        }
    }

    #[test]
    fn settings_of_directories_above_count_for_nothing() {
        let here = |place: &str| {
            let contents = [found(Read::Upward(".claude/s"), place, "")];
            settings(&contents, USER, &[".claude/s"], "/p").count() == 1
        };
        assert!(here("/p/.claude/s"));
        assert!(!here("/.claude/s") && !here("/p/p/.claude/s"));
    }
}
