//! Every kind of file that servers are imported from: one file below here and one row of [`FORMATS`].

mod claude;
mod claude_desktop;
mod codex;
mod copilot;
mod cursor;
mod gemini;
mod kaged;
mod kedi;
mod opencode;
mod vscode;
mod windsurf;
mod workstacean;
mod zed;

use std::path::Path;

use glob::{MatchOptions, Pattern};

use super::foreign::{Found, Scope};
use super::tree::{Tree, Unread, read_json, read_toml, read_yaml};
use crate::config::Place;

/// A kind of file.
pub struct Format {
    /// The word for it: an agent's name, or what `--as` takes.
    pub name: &'static str,
    /// Whose files these are, for people.
    pub title: &'static str,
    /// Where an agent keeps its own; none of what is no agent.
    pub own: &'static [OwnFile],
    /// What its tool reads together with a file of its, from beside it.
    pub companions: &'static [&'static str],
    /// Globs over whole paths that only its files fit.
    paths: &'static [&'static str],
    /// Whether a tree can be nothing else.
    looks_so: fn(&Tree) -> bool,
    languages: &'static [Language],
    /// Finds the entries. `project` is the real path of the one that is worked in.
    read: fn(&Tree, project: Option<&str>) -> Result<Found, Unread>,
    /// The agent's own command that takes an entry out.
    pub remove: Option<fn(name: &str, scope: Scope) -> Option<String>>,
}

/// A file of an agent's own.
pub struct OwnFile {
    /// Where it lies.
    pub home: Home,
    /// Whose the servers in it are.
    pub scope: Scope,
}

/// Where a file lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Home {
    /// Below the home directory.
    User(&'static str),
    /// Below `$XDG_CONFIG_HOME`, else `~/.config`.
    Config(&'static str),
    /// Below the directory that a variable names, else below the home directory: variable, directory there, file.
    Variable(&'static str, &'static str, &'static str),
    /// Below the project's root.
    Project(&'static str),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Language {
    Json,
    Toml,
    Yaml,
    Kedi,
}

/// All of them. Of several that fit a path the first is meant.
pub static FORMATS: &[&Format] = &[
    &claude::FORMAT,
    &claude_desktop::FORMAT,
    &codex::FORMAT,
    &cursor::FORMAT,
    &opencode::FORMAT,
    &vscode::FORMAT,
    &gemini::FORMAT,
    &windsurf::FORMAT,
    &zed::FORMAT,
    &copilot::FORMAT,
    &kaged::FORMAT,
    &workstacean::FORMAT,
    &kedi::FORMAT,
];

/// The format of a name.
pub fn format(name: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.name == name).copied()
}

impl Format {
    /// Finds the entries of a file of this kind.
    pub fn read(&self, path: &Path, bytes: &[u8], project: Option<&str>) -> Result<Found, Unread> {
        let by_name = language_of(path).filter(|language| self.languages.contains(language));
        let language = by_name.or(self.languages.first().copied()).unwrap_or(Language::Json);
        (self.read)(&language.tree(bytes)?, project)
    }

    fn fits(&self, path: &Path) -> bool {
        let options = MatchOptions { require_literal_separator: true, ..MatchOptions::new() };
        let fits = |glob: &str| Pattern::new(glob).is_ok_and(|glob| glob.matches_path_with(path, options));
        self.paths.iter().any(|glob| fits(glob))
    }
}

/// The kind of a file: by its path, which is a whole one, else by what it looks like. The error says what was expected.
pub fn recognise(path: &Path, bytes: &[u8]) -> Result<&'static Format, Unread> {
    if let Some(format) = FORMATS.iter().find(|format| format.fits(path)) {
        return Ok(format);
    }
    let language = language_of(path).unwrap_or(Language::Json);
    let tree = language.tree(bytes)?;
    if let Some(format) =
        FORMATS.iter().find(|format| format.languages.contains(&language) && (format.looks_so)(&tree))
    {
        return Ok(format);
    }
    let top = Place { line: 1, column: 1 };
    if tree.get("mcpServers").is_some() {
        // Without references they all say the same.
        if !bytes.contains(&b'$') {
            return Ok(&claude::FORMAT);
        }
        let reason = "several tools write `mcpServers`, and each has references of its own: say which with --as claude, claude-desktop, cursor, gemini, windsurf or copilot";
        return Err(Unread::at(top, reason));
    }
    let reason = "there are no servers of a known tool in it: `mcpServers`, `servers`, `mcp`, `context_servers`, [mcp_servers.NAME] or [mcp.NAME] was expected; --as FORMAT says what it is";
    Err(Unread::at(top, reason))
}

fn language_of(path: &Path) -> Option<Language> {
    Some(match path.extension()?.to_str()? {
        "json" | "jsonc" | "json5" => Language::Json,
        "toml" => Language::Toml,
        "yaml" | "yml" => Language::Yaml,
        "kedi" => Language::Kedi,
        _ => return None,
    })
}

impl Language {
    fn tree(self, bytes: &[u8]) -> Result<Tree, Unread> {
        match self {
            Self::Json => read_json(bytes),
            Self::Toml => read_toml(bytes),
            Self::Yaml => read_yaml(bytes),
            Self::Kedi => kedi::tree(bytes),
        }
    }
}

fn never(_: &Tree) -> bool {
    false
}

/// A name as a word of a shell.
fn quoted(name: &str) -> String {
    shlex::try_quote(name).map_or_else(|_| format!("{name:?}"), std::borrow::Cow::into_owned)
}

/// The servers of `mcpServers`, which most tools have.
fn mcp_servers(tree: &Tree, dialect: &'static super::dialect::Dialect) -> Result<Found, Unread> {
    let mut found = Found::default();
    match tree.get("mcpServers") {
        Some(holder) => found.add(holder, &["mcpServers"], dialect)?,
        None if tree.is_table() => {}
        None => return Err(Unread::at(tree.place, "an object with `mcpServers` was expected")),
    }
    Ok(found)
}
