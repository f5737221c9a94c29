//! One string of a foreign entry: its references become squire's, and what is a secret or is to be filled in goes.

use squire_strategies::Text;
use zeroize::Zeroizing;

use super::{Wanted, blank, credential};
use crate::secrets::Value;

/// Where a string stands.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    /// `env`, `headers`, `args`, `url`, `command` or `cwd`.
    pub(super) key: &'static str,
    /// The variable or the header.
    pub(super) name: Option<&'a str>,
    /// What a secret in it is called.
    pub(super) label: &'a str,
}

/// Translates the strings of one entry.
pub(super) struct Strings<'a> {
    pub(super) server: &'a str,
    /// Whether a credential in clear stays where it is.
    pub(super) keeps_credentials: bool,
    pub(super) wanted: Vec<Wanted>,
    pub(super) notes: Vec<String>,
}

impl<'a> Strings<'a> {
    /// Of a server of this name.
    pub(super) fn new(server: &'a str) -> Self {
        Self { server, keeps_credentials: false, wanted: Vec::new(), notes: Vec::new() }
    }
    /// The string as a declaration has it.
    pub(super) fn translate(&mut self, written: &str, place: Place<'_>) -> String {
        let before = self.wanted.len();
        let text = self.replace(written, place);
        let may_be_taken = !self.keeps_credentials && self.wanted.len() == before;
        if may_be_taken && credential::is_credential(place.key, place.name, &text) {
            return self.take(&text, place);
        }
        text
    }

    /// References and placeholders.
    fn replace(&mut self, written: &str, place: Place<'_>) -> String {
        let mut out = String::with_capacity(written.len());
        let mut rest = written;
        while let Some(first) = rest.chars().next() {
            let blank = blank::length(rest, &out);
            if blank > 0 {
                // A dollar before it would make an escape of the reference: it is to be filled in with the rest.
                out.truncate(out.trim_end_matches('$').len());
                let label = label_behind(&out, place);
                let secret = self.want(&label, place, None);
                out.push_str(&secret);
                rest = rest.get(blank..).unwrap_or_default();
            } else if let Some((reference, behind)) = reference(rest, place).filter(|_| !out.ends_with('$')) {
                out.push_str(&self.referred(reference, &out.clone(), place));
                rest = behind;
            } else if let Some(behind) = rest.strip_prefix("$${").or_else(|| rest.strip_prefix("${")) {
                // An escape stays one, and what nothing closes is meant as it is.
                out.push_str("$${");
                rest = behind;
            } else {
                out.push(first);
                rest = rest.get(first.len_utf8()..).unwrap_or_default();
            }
        }
        out
    }

    fn referred(&mut self, reference: Foreign<'_>, before: &str, place: Place<'_>) -> String {
        let field = shown(place);
        match reference {
            Foreign::Variable(name, Some(default)) => format!("${{env:{name}:-{default}}}"),
            Foreign::Variable(name, None) => format!("${{env:{name}}}"),
            Foreign::Own(written) => written.to_owned(),
            Foreign::Workspace => {
                self.notes.push(format!(
                    "{field}: the workspace of an editor became `.`, the directory in which an agent is launched"
                ));
                ".".into()
            }
            Foreign::Asked(written) => {
                if written.contains("file:") {
                    self.notes.push(format!("{field}: {written} became a secret, which can be a file: squire secret set NAME --file FILE"));
                }
                let label = label_behind(before, place);
                self.want(&label, place, None)
            }
        }
    }

    /// Takes a secret in clear out; the scheme or the option before it stays.
    fn take(&mut self, text: &str, place: Place<'_>) -> String {
        let kept = kept(text, place);
        let (kept, value) = text.split_at(kept);
        let label = label_behind(kept, place);
        // What was escaped for the file is plain again in a value.
        let value = Zeroizing::new(value.replace("$${", "${").into_bytes());
        match Value::exactly(value) {
            Ok(value) => kept.to_owned() + &self.want(&label, place, Some(value)),
            Err(_) => text.to_owned(),
        }
    }

    /// A reference to a new secret.
    pub(super) fn want(&mut self, label: &str, place: Place<'_>, value: Option<Value>) -> String {
        let cleaned: String =
            label.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' }).collect();
        let cleaned = cleaned.trim_matches('-');
        let first = format!("{}.{}", self.server, if cleaned.is_empty() { "value" } else { cleaned });
        let is_taken = |name: &String| self.wanted.iter().any(|wanted| wanted.secret == *name);
        let mut names = std::iter::once(first.clone()).chain((2..).map(|number| format!("{first}-{number}")));
        let secret = names.find(|name| !is_taken(name)).unwrap_or(first);
        let reference = format!("${{secret:{secret}}}");
        self.wanted.push(Wanted { secret, field: shown(place), value });
        reference
    }
}

/// The field of a place, for people.
fn shown(place: Place<'_>) -> String {
    place.name.map_or_else(|| place.key.to_owned(), |name| format!("{}.{name}", place.key))
}

/// How much of a string with a secret in clear says what it is and is none itself.
fn kept(text: &str, place: Place<'_>) -> usize {
    let scheme = ["Bearer ", "Basic ", "token "].iter().find(|scheme| text.starts_with(*scheme));
    if let (Some(scheme), "headers") = (scheme, place.key) {
        return scheme.len();
    }
    match (place.key, text.split_once('=')) {
        ("args", Some((option, value))) if !value.is_empty() && !option.contains("://") => option.len() + 1,
        ("url", _) => secret_of_address(text),
        _ => 0,
    }
}

/// Where the value of the last parameter of an address begins that is a credential by itself, or the user; all of the
/// address is one where it can't be told.
fn secret_of_address(text: &str) -> usize {
    let mut starts = text.match_indices(['?', '&']).filter_map(|(at, _)| {
        let parameter = text.get(at + 1..)?;
        let equals = parameter.split('&').next()?.find('=')?;
        let is_last = !parameter.contains('&');
        is_last.then_some(at + 1 + equals + 1)
    });
    starts.next_back().unwrap_or_default()
}

/// What a secret is called: after the parameter or the option right before it, else after its place. Never after another
/// secret: the names of a long row would double each time.
fn label_behind(before: &str, place: Place<'_>) -> String {
    let word =
        before.strip_suffix('=').and_then(|before| before.rsplit(['?', '&', ' ', '/', ';', '}']).next());
    let word = word.map(|word| word.trim_start_matches('-')).filter(|word| !word.is_empty());
    match word {
        Some(word) if matches!(place.key, "url" | "args") => word.to_owned(),
        _ => place.label.to_owned(),
    }
}

/// A reference in the syntax of another tool.
#[derive(Clone, Copy)]
enum Foreign<'a> {
    Variable(&'a str, Option<&'a str>),
    /// It is one of squire's.
    Own(&'a str),
    Workspace,
    /// What the other tool asks its user for, or knows by itself.
    Asked(&'a str),
}

/// The reference that a text begins with, and what is behind it (case B23). Behind another dollar it is none, and could
/// not be written as one.
fn reference<'a>(text: &'a str, place: Place<'_>) -> Option<(Foreign<'a>, &'a str)> {
    if let Some(opened) = text.strip_prefix("${") {
        let (inner, behind) = opened.split_once('}')?;
        let whole = text.get(..inner.len() + 3)?;
        return Some((in_braces(inner, whole), behind));
    }
    if let Some((inner, behind)) = text.strip_prefix("{env:").and_then(|opened| opened.split_once('}')) {
        return Text::is_variable(inner).then_some((Foreign::Variable(inner, None), behind));
    }
    if text.starts_with("{file:") {
        let (inner, behind) = text.split_once('}')?;
        return Some((Foreign::Asked(inner), behind));
    }
    // A program's argument with a dollar sign is no reference to any of the tools.
    let bare = text.strip_prefix('$').filter(|_| matches!(place.key, "env" | "headers" | "url"))?;
    let length = bare.len()
        - bare.trim_start_matches(|c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_').len();
    let (name, behind) = bare.split_at(length);
    let is_whole = !behind.starts_with(|c: char| c.is_ascii_alphanumeric());
    (Text::is_variable(name) && is_whole).then_some((Foreign::Variable(name, None), behind))
}

fn in_braces<'a>(inner: &'a str, whole: &'a str) -> Foreign<'a> {
    let named = inner.strip_prefix("env:").unwrap_or(inner);
    let (name, default) = match named.split_once(":-") {
        Some((name, default)) => (name, Some(default)),
        None => (named, None),
    };
    match inner {
        "workspaceFolder" | "workspaceRoot" | "workspaceFolderBasename" | "projectRoot" => Foreign::Workspace,
        "userHome" => Foreign::Variable("HOME", None),
        _ if Text::parse(whole).is_ok() => Foreign::Own(whole),
        _ if Text::is_variable(name) && default.is_none_or(|default| !default.contains("${")) => {
            Foreign::Variable(name, default)
        }
        _ => Foreign::Asked(whole),
    }
}
