//! The process's surroundings, read once: nothing else looks at variables or the working directory.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::{Context, Result, bail};
use squire_strategies::{BASE_ENVIRONMENT, PROXY_VARIABLES};

/// Variables, working directory and the name that squire was called by.
#[derive(Clone, Debug)]
pub struct Environment {
    variables: BTreeMap<OsString, OsString>,
    directory: Option<PathBuf>,
    /// The first word of the command line.
    invoked_as: OsString,
}

impl Environment {
    /// Reads this process's surroundings.
    #[expect(clippy::disallowed_methods, reason = "the one place that reads them")]
    pub fn of_this_process(invoked_as: OsString) -> Self {
        Self { variables: std::env::vars_os().collect(), directory: std::env::current_dir().ok(), invoked_as }
    }

    /// The value of a variable; an empty one counts as unset, as agents can pass on no difference.
    pub fn get(&self, name: impl AsRef<OsStr>) -> Option<&OsStr> {
        self.variables.get(name.as_ref()).map(OsString::as_os_str).filter(|value| !value.is_empty())
    }

    /// A variable as the launch had it, in a process that an agent started: such a one may pass an unset variable on as
    /// an empty string, or as the text of its own reference.
    pub fn passed_on(&self, name: &str) -> Option<&OsStr> {
        // `${NAME}`, `${NAME:-}` and `${env:NAME}`.
        let is_reference = |value: &&OsStr| {
            let inner = value.as_encoded_bytes().strip_prefix(b"${").and_then(|rest| rest.strip_suffix(b"}"));
            inner.is_some_and(|inner| {
                let inner = inner.strip_prefix(b"env:").or(inner.strip_suffix(b":-")).unwrap_or(inner);
                inner == name.as_bytes()
            })
        };
        self.get(name).filter(|value| !is_reference(value))
    }

    /// What a program of the user's list has of it: the base environment, and what is handed on by name beyond it (cases
    /// B44, B91).
    pub fn inherited<'a>(&'a self, inherit_env: &'a [String]) -> Vec<(&'a str, &'a OsStr)> {
        let mut variables: Vec<(&str, &OsStr)> = Vec::new();
        for name in BASE_ENVIRONMENT.iter().copied() {
            if let Some(value) = self.passed_on(name).filter(|value| !holds_credentials(name, value)) {
                variables.push((name, value));
            }
        }
        for name in inherit_env {
            if let Some(value) = self.passed_on(name) {
                variables.retain(|(other, _)| other != name);
                variables.push((name, value));
            }
        }
        variables
    }

    /// All variables.
    pub fn variables(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        self.variables.iter().map(|(name, value)| (name.as_os_str(), value.as_os_str()))
    }

    /// The variables whose values could end a string or a comment of JSON text that they are put into as they are.
    pub fn unquoted(&self) -> Vec<String> {
        let breaks = |value: &OsStr| {
            let bytes = value.as_encoded_bytes();
            bytes.iter().any(|byte| matches!(byte, b'"' | b'\\' | 0..0x20))
                || bytes.windows(2).any(|pair| pair == b"*/")
        };
        let names = self.variables.iter().filter(|(_, value)| breaks(value)).map(|(name, _)| name);
        names.filter_map(|name| name.to_str().map(str::to_owned)).collect()
    }

    /// The working directory's real path.
    pub fn directory(&self) -> Result<&Path> {
        self.directory.as_deref().context("the working directory no longer exists, or can't be read")
    }

    /// The home directory: `HOME`, or the account's where it is unset. Never a relative path.
    pub fn home(&self) -> Option<PathBuf> {
        let named = self.get("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
        named.or_else(dirs::home_dir).filter(|home| home.is_absolute())
    }

    /// The directory that a variable of the XDG Base Directory Specification names, if it is absolute as that asks.
    pub fn xdg(&self, variable: &str) -> Option<PathBuf> {
        self.get(variable).map(PathBuf::from).filter(|path| path.is_absolute())
    }

    /// squire as it was invoked, made absolute: what an upgrade replaces stays valid in a gateway's entry (case B92).
    pub fn squire(&self) -> Result<String> {
        let invoked = Path::new(&self.invoked_as);
        let this = std::env::current_exe().context("squire can't find its own program")?;
        let candidate = if invoked.is_absolute() {
            Some(invoked.to_path_buf())
        } else if invoked.components().count() > 1 {
            self.directory.as_ref().map(|directory| directory.join(invoked))
        } else {
            let path = self.get("PATH").unwrap_or_default();
            std::env::split_paths(path).map(|entry| entry.join(invoked)).find(|found| found.is_file())
        };
        // A caller may name a process as it likes; only a path to this very program is believed.
        let is_this = |path: &PathBuf| crate::files::same_file(path, &this);
        let path = candidate.filter(|path| path.is_absolute()).filter(is_this).unwrap_or(this);
        utf8(&path)
    }
}

/// A path as text, since agents take text.
pub fn utf8(path: &Path) -> Result<String> {
    match path.to_str() {
        Some(text) => Ok(text.to_owned()),
        None => bail!("{} is not UTF-8, and no agent can be given such a path", path.display()),
    }
}

/// Seconds since 1970.
pub fn time() -> u64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    now.map_or(0, |since| since.as_secs())
}

/// A proxy's address with a user in it is a secret that no server asked for.
fn holds_credentials(name: &str, value: &OsStr) -> bool {
    PROXY_VARIABLES.contains(&name) && value.to_string_lossy().contains('@')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_agent_left_of_an_unset_variable_is_not_its_value() {
        let held = |value: &str| {
            let variables = BTreeMap::from([("A".into(), value.into())]);
            let environment = Environment { variables, directory: None, invoked_as: OsString::new() };
            environment.passed_on("A").map(OsStr::to_owned)
        };
        for unset in ["", "${A}", "${A:-}", "${env:A}"] {
            assert_eq!(held(unset), None, "{unset}");
        }
        for value in ["a", "A", "${B}", "${A:-b}", "${env:A:-}", "${env:env:A}", "${A", "A}", " ${A}", "${}"]
        {
            assert_eq!(held(value), Some(value.into()), "{value}");
        }
    }
}
