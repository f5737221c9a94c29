//! A server of a repository in an agent's own project files, as an approval of it would be given.
//!
//! The agent itself starts what stays on, in its own way, and squire stands in no server's place. So what could make
//! another thing of the same words is no part of an approval but an obstacle to one.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde_json::{Map, Value};

use crate::environment::LOADER_ENVIRONMENT;
use crate::repository::{Entries, Unknowable, located};
use crate::strategy::Content;

/// One server of a repository, in its own words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepositoryServer {
    /// Its name; any text.
    pub name: String,
    /// The file that declares it.
    pub file: String,
    /// All that the file says of it.
    pub entry: Value,
    /// The variables that other files of the repository give it, by file.
    pub settings: Map<String, Value>,
    /// The program and its arguments; none of a remote server.
    pub command: Vec<String>,
    /// Where it runs, below the directory of the launch.
    pub directory: Option<String>,
    /// Why nobody can approve it as it stands.
    pub obstacle: Option<String>,
}

/// How one agent writes an entry.
pub(crate) struct Dialect {
    /// The program and its arguments, where an entry is of a program; an error where squire can't tell.
    pub(crate) command: fn(&Value) -> Result<Vec<String>, String>,
    /// The key of the variables.
    pub(crate) variables: &'static str,
    /// The key of the working directory, where there is one.
    pub(crate) directory: Option<&'static str>,
    /// What begins a reference that the agent resolves.
    pub(crate) references: &'static [&'static str],
    /// What no approval can cover, wherever it stands in an entry, and why.
    pub(crate) uncovered: &'static [(&'static str, &'static str)],
}

/// What the user has said of a repository's servers in the agent's own files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Approved {
    /// The names of those that are approved as they are.
    pub as_they_are: Vec<String>,
    /// The names of those that were approved, and are another thing now.
    pub before: Vec<String>,
    /// The names of those that are approved here, while words send the agent to another directory.
    pub elsewhere: Vec<String>,
    /// The names of those that squire's own list has and would give any agent: through squire alone.
    pub listed: Vec<String>,
}

impl Approved {
    /// Why an approval does not cover a server.
    pub(crate) fn why_not(&self, name: &String) -> &'static str {
        if self.before.contains(name) {
            "it has changed since you approved it"
        } else if self.elsewhere.contains(name) {
            "you approved it for another directory than the agent is sent to"
        } else if self.listed.contains(name) {
            "this launch does not select it"
        } else {
            "you have not enabled it"
        }
    }
}

/// The servers of these files, the nearest first. One that several files declare is there once, with that as its
/// obstacle: which of them the agent takes, or what it makes of both, is not what anybody saw.
pub(crate) fn servers<'a>(
    files: impl Iterator<Item = &'a Content>,
    declared: &dyn Fn(&[u8]) -> Result<Entries, String>,
    settings: &Map<String, Value>,
    dialect: &Dialect,
) -> Result<Vec<RepositoryServer>, Unknowable<'a>> {
    let mut servers: Vec<RepositoryServer> = Vec::new();
    for content in files {
        for (name, entry) in located(content, declared)? {
            match servers.iter_mut().find(|known| known.name == name) {
                Some(known) => known.obstacle = Some(format!("{} declares it too", content.place)),
                None => servers.push(server(name, entry, content, settings, dialect)),
            }
        }
    }
    Ok(servers)
}

fn server(
    name: String,
    entry: Value,
    content: &Content,
    settings: &Map<String, Value>,
    dialect: &Dialect,
) -> RepositoryServer {
    let text = |key: Option<&str>| key.and_then(|key| entry.get(key)).and_then(Value::as_str);
    let directory = text(dialect.directory).map(ToString::to_string);
    let (command, unclear) = match (dialect.command)(&entry) {
        Ok(command) => (command, None),
        Err(reason) => (Vec::new(), Some(reason)),
    };
    let obstacle = unclear
        .or_else(|| of_references(&command, directory.as_deref(), dialect))
        .or_else(|| of_entry(&entry, dialect))
        .or_else(|| of_variables(entry.get(dialect.variables).into_iter().chain(settings.values())));
    let (file, settings) = (content.place.clone(), settings.clone());
    RepositoryServer { name, file, entry, settings, command, directory, obstacle }
}

fn of_references(command: &[String], directory: Option<&str>, dialect: &Dialect) -> Option<String> {
    let mut words = command.first().map(String::as_str).into_iter().chain(directory);
    let is_chosen = |word: &str| dialect.references.iter().any(|start| word.contains(start));
    words.find(|word| is_chosen(word)).map(|word| format!("a reference in {word:?} chooses what runs"))
}

fn of_entry(entry: &Value, dialect: &Dialect) -> Option<String> {
    let written = entry.to_string();
    let mut uncovered = dialect.uncovered.iter();
    uncovered.find(|(text, _)| written.contains(text)).map(|(_, reason)| (*reason).to_string())
}

/// With another PATH the name of the program means another one, and what the loader obeys runs before it.
fn of_variables<'a>(mut tables: impl Iterator<Item = &'a Value>) -> Option<String> {
    let names = || ["PATH"].iter().chain(LOADER_ENVIRONMENT);
    let set = tables.find_map(|table| names().find(|name| table.get(**name).is_some()))?;
    Some(format!("the repository sets {set} for it, which chooses what runs"))
}

/// A string, or nothing but strings.
pub(crate) fn words(value: Option<&Value>) -> Option<Vec<String>> {
    match value? {
        Value::String(word) => Some([word.clone()].into()),
        Value::Array(words) => {
            words.iter().map(|word| word.as_str().map(ToString::to_string)).collect::<Option<_>>()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => None,
    }
}

/// An entry that squire does not read as the agent does.
pub(crate) const UNCLEAR: &str = "squire can't tell what it runs";
