//! Reads the user's `secrets.toml`: which secrets there are and where their values come from. What is read holds no
//! value, and no message shows one: also what stands in the wrong place may be a value.

use std::path::{Path, PathBuf};

use anyhow::Result;
use squire_strategies::Text;
use toml::de::DeValue;

use super::value::Value;
use crate::config::{
    Entry, LayerKind, Located, Origin, Place, Problem, Problems, Reader, Unusable, read_with,
};
use crate::files;

const SOURCES: &[&str] = &["env", "file", "value", "command"];
pub(super) const FIELDS: &[&str] = &["env", "file", "value", "command", "inherit_env", "servers"];
const WHAT: &str = "a value, or a source such as { env = \"NAME\" }, or a table of further names";

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// A variable of the launch's environment.
    Environment(String),
    /// A file that only the user can read: a whole path, or one below `~/`.
    File(String),
    /// `secrets.toml` itself.
    Value,
    /// What a program prints.
    Command {
        /// The program and its arguments; no shell reads them.
        words: Vec<String>,
        /// The variables that it gets beyond the base environment.
        inherit_env: Vec<String>,
    },
}

impl Source {
    /// The word for it in output.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Environment(_) => "env",
            Self::File(_) => "file",
            Self::Value => "value",
            Self::Command { .. } => "command",
        }
    }

    /// The variables that a gateway must be handed for it.
    pub fn variables(&self) -> Vec<&str> {
        match self {
            Self::Environment(name) => vec![name],
            Self::Command { inherit_env, .. } => inherit_env.iter().map(String::as_str).collect(),
            Self::File(_) | Self::Value => Vec::new(),
        }
    }
}

/// `[secrets.NAME]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Secret {
    /// Its name: parts with dots between them.
    pub name: String,
    /// Where its value comes from.
    pub source: Source,
    /// Where it is written, the only servers that get it: the user's own of these names.
    pub servers: Option<Vec<Located<String>>>,
    /// Where it begins.
    pub origin: Origin,
}

/// What `secrets.toml` says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Secrets {
    /// The file.
    pub path: PathBuf,
    /// Every secret, in the order of the file.
    pub all: Vec<Secret>,
}

impl Secrets {
    /// Where the file lies in a config directory.
    pub fn file(config: &Path) -> PathBuf {
        config.join("secrets.toml")
    }

    /// Reads the file; without one there are no secrets. The error is [`Unusable`] or [`Problems`].
    pub fn load(config: &Path) -> Result<Self> {
        let path = Self::file(config);
        let bytes = files::read_secret(&path, files::LIMIT)
            .map_err(|error| Unusable { path: path.clone(), reason: error.to_string() })?;
        Ok(Self::of(&bytes.unwrap_or_default(), path)?)
    }

    /// What the bytes of the file say. Pure.
    pub fn of(bytes: &[u8], path: PathBuf) -> Result<Self, Problems> {
        let (all, problems) = read(bytes, &path);
        if problems.is_empty() { Ok(Self { path, all }) } else { Err(Problems(problems)) }
    }

    /// The secret of a name.
    pub fn find(&self, name: &str) -> Option<&Secret> {
        self.all.iter().find(|secret| secret.name == name)
    }
}

/// Everything that was found, and the one value that was asked for.
#[derive(Default)]
struct Content {
    secrets: Vec<Secret>,
    wanted: Option<String>,
    value: Option<Value>,
}

/// Reads the bytes of a file.
pub(super) fn read(bytes: &[u8], path: &Path) -> (Vec<Secret>, Vec<Problem>) {
    let (content, problems) = read_for(None, bytes, path);
    (content.secrets, problems)
}

/// The value that the file itself holds for a name.
pub(super) fn value_in(bytes: &[u8], path: &Path, name: &str) -> Option<Value> {
    read_for(Some(name), bytes, path).0.value
}

fn read_for(wanted: Option<&str>, bytes: &[u8], path: &Path) -> (Content, Vec<Problem>) {
    read_with(bytes, path, LayerKind::User, |reader, entries, content: &mut Content| {
        content.wanted = wanted.map(str::to_owned);
        for section in entries {
            if section.key == "secrets" {
                read_group(reader, "", section, content);
            } else {
                reader.unknown_key(section, "this file", &["secrets"]);
            }
        }
    })
}

/// Reads names with their sources. A table that has a field of a source is one; any other holds further names.
fn read_group<'a>(reader: &mut Reader<'a>, prefix: &str, group: Entry<'a>, into: &mut Content) {
    let entries = reader.table(group, WHAT);
    if entries.is_empty() && !prefix.is_empty() && matches!(group.value.get_ref(), DeValue::Table(_)) {
        lacks_a_source(reader, group.place, prefix.trim_end_matches('.'));
    }
    for entry in entries {
        let name = format!("{prefix}{}", entry.key);
        if !Text::is_secret(entry.key) {
            let message = format!("{:?} can't be the name of a secret", entry.key);
            let help = "a name has letters, digits, `-` and `_`, and a `.` between two parts";
            reader.problem(entry.place, message, Some(help.into()));
            continue;
        }
        match entry.value.get_ref() {
            DeValue::String(value) => {
                if let Err(reason) = Value::exactly(value.as_bytes().to_vec().into()) {
                    reader.problem(entry.place, format!("the value of `{name}`: {reason}"), None);
                }
                add(reader, into, entry.place, name, Source::Value, None, Some(value));
            }
            DeValue::Table(table) if table.keys().any(|key| FIELDS.contains(&key.get_ref().as_ref())) => {
                read_secret(reader, name, entry, into);
            }
            DeValue::Table(table) => {
                let misspelt = table.iter().find_map(|(key, value)| {
                    let is_text = matches!(value.get_ref(), DeValue::String(_) | DeValue::Array(_));
                    let near =
                        FIELDS.iter().find(|field| strsim::damerau_levenshtein(key.get_ref(), field) == 1);
                    near.filter(|_| is_text).map(|near| (key, near))
                });
                if let Some((key, near)) = misspelt {
                    let message =
                        format!("unknown key `{}` in [secrets.{name}]", key.get_ref().escape_debug());
                    let place = reader.place(key.span().start);
                    reader.problem(place, message, Some(format!("did you mean `{near}`?")));
                } else {
                    read_group(reader, &format!("{name}."), entry, into);
                }
            }
            DeValue::Integer(_)
            | DeValue::Float(_)
            | DeValue::Boolean(_)
            | DeValue::Datetime(_)
            | DeValue::Array(_) => drop(reader.table(entry, WHAT)),
        }
    }
}

fn lacks_a_source(reader: &mut Reader<'_>, place: Place, name: &str) {
    let message = format!("[secrets.{name}] wants one of `env`, `file`, `value` and `command`");
    reader.problem(place, message, Some(format!("squire secret set --replace {name} writes one")));
}

/// Reads the fields of one secret.
fn read_secret<'a>(reader: &mut Reader<'a>, name: String, entry: Entry<'a>, into: &mut Content) {
    let mut sources: Vec<(&str, Place)> = Vec::new();
    let (mut source, mut value, mut inherit_env, mut servers) = (None, None, None, None);
    for field in reader.table(entry, WHAT) {
        if SOURCES.contains(&field.key) {
            sources.push((field.key, field.place));
        }
        match field.key {
            "env" => source = read_variable(reader, field).map(Source::Environment),
            "file" => source = read_path(reader, field).map(Source::File),
            "value" => {
                value = read_value(reader, field);
                source = value.map(|_| Source::Value);
            }
            "command" => {
                source = read_command(reader, field)
                    .map(|words| Source::Command { words, inherit_env: Vec::new() });
            }
            "inherit_env" => inherit_env = read_variables(reader, field),
            "servers" => servers = reader.strings(field, "an array of names of your servers"),
            _ => reader.unknown_key(field, &format!("[secrets.{name}]"), FIELDS),
        }
    }
    match sources.as_slice() {
        [] => lacks_a_source(reader, entry.place, &name),
        [_] => {}
        [(one, _), (other, place), ..] => {
            let message = format!("both `{one}` and `{other}`: a secret has one source");
            reader.problem(*place, message, None);
        }
    }
    if let Some(inherited) = inherit_env {
        match &mut source {
            Some(Source::Command { inherit_env, .. }) => *inherit_env = inherited.value,
            Some(_) => {
                let message = "`inherit_env` goes with `command`: what is there has no environment";
                reader.problem(inherited.origin.place, message, None);
            }
            None => {}
        }
    }
    if let Some(source) = source {
        add(reader, into, entry.place, name, source, servers, value);
    }
}

fn add(
    reader: &mut Reader<'_>,
    into: &mut Content,
    place: Place,
    name: String,
    source: Source,
    servers: Option<Vec<Located<String>>>,
    value: Option<&str>,
) {
    if let Some(earlier) = into.secrets.iter().find(|secret| secret.name == name) {
        let line = earlier.origin.place.line;
        reader.problem(place, format!("`{name}` is declared in line {line} already"), None);
        return;
    }
    if into.wanted.as_ref() == Some(&name) {
        into.value = value.and_then(|value| Value::exactly(value.as_bytes().to_vec().into()).ok());
    }
    into.secrets.push(Secret { name, source, servers, origin: reader.origin(place) });
}

fn read_value<'a>(reader: &mut Reader<'a>, field: Entry<'a>) -> Option<&'a str> {
    let DeValue::String(value) = field.value.get_ref() else {
        // Not a string, which is what this says.
        drop(reader.string(field));
        return None;
    };
    if let Err(reason) = Value::exactly(value.as_bytes().to_vec().into()) {
        reader.problem(field.place, format!("`value`: {reason}"), None);
        return None;
    }
    Some(value)
}

fn read_variable<'a>(reader: &mut Reader<'a>, field: Entry<'a>) -> Option<String> {
    let name = reader.string(field)?.value;
    if Text::is_variable(&name) {
        return Some(name);
    }
    let message = "`env` wants the name of an environment variable: letters, digits and `_`";
    reader.problem(field.place, message, None);
    None
}

fn read_variables<'a>(reader: &mut Reader<'a>, field: Entry<'a>) -> Option<Located<Vec<String>>> {
    let names = reader.words(field, "an array of variable names")?;
    if names.value.iter().all(|name| Text::is_variable(name)) {
        return Some(names);
    }
    let message = "`inherit_env` wants names of environment variables: letters, digits and `_`";
    reader.problem(field.place, message, None);
    None
}

fn read_path<'a>(reader: &mut Reader<'a>, field: Entry<'a>) -> Option<String> {
    let path = reader.string(field)?.value;
    if path.starts_with('/') || path.starts_with("~/") {
        return Some(path);
    }
    reader.problem(field.place, "`file` wants a whole path, or one below `~/`", None);
    None
}

fn read_command<'a>(reader: &mut Reader<'a>, field: Entry<'a>) -> Option<Vec<String>> {
    const EXPECTED: &str = "an array of a program and its arguments, which no shell reads";
    let words = reader.words(field, EXPECTED)?.value;
    let program = words.first().map(String::as_str).unwrap_or_default();
    if program.is_empty() {
        reader.problem(field.place, format!("`command` wants {EXPECTED}, and this is empty"), None);
        return None;
    }
    if program.contains('/') && !program.starts_with('/') && !program.starts_with("~/") {
        let message = "`command`: a relative program would be another one in every directory";
        let help = "write a name that is looked up on PATH, a whole path, or one below `~/`";
        reader.problem(field.place, message, Some(help.into()));
        return None;
    }
    Some(words)
}
