//! Runs the conformance suite, and reads what it found.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::installed::{NODE, SUITE};

/// What the suite found: the checks of each scenario, in order.
pub type Found = BTreeMap<String, Vec<Check>>;

/// One check.
#[derive(Debug)]
pub struct Check {
    /// Its name.
    pub id: String,
    /// `SUCCESS`, `FAILURE`, `WARNING`, `INFO` or `SKIPPED`.
    pub status: String,
    /// What is wrong, in the suite's words.
    pub reason: String,
}

impl Check {
    /// Whether it passed.
    pub fn is_success(&self) -> bool {
        self.status == "SUCCESS"
    }

    /// Whether it failed.
    pub fn is_failure(&self) -> bool {
        self.status == "FAILURE"
    }
}

/// Two are the same where they came to the same.
impl PartialEq for Check {
    fn eq(&self, other: &Self) -> bool {
        (&self.id, &self.status) == (&other.id, &other.status)
    }
}

/// What stands behind a scenario's name.
const TIME: &str = "-2026-01-31T23-59-59-999Z";

/// Asks a server all that a revision requires of one.
pub fn ask_server(folder: &Path, url: &str, revision: &str) -> io::Result<Found> {
    run(folder, &["server", "--url", url, "--requirements", revision], "server-")
}

/// Has a client show one scenario; the suite starts it with the address of its server at the end.
pub fn watch_client(folder: &Path, client: &Path, scenario: &str, revision: &str) -> io::Result<Found> {
    let command = client.display().to_string();
    let words = [
        "client",
        "--command",
        &command,
        "--scenario",
        scenario,
        "--spec-version",
        revision,
        "--timeout",
        "20000",
    ];
    run(folder, &words, "")
}

fn run(folder: &Path, words: &[&str], prefix: &str) -> io::Result<Found> {
    let results = tempfile::tempdir()?;
    let said = Command::new(folder.join(NODE))
        .arg(folder.join(SUITE))
        .args(words)
        .arg("--output-dir")
        .arg(results.path())
        .stdin(Stdio::null())
        .output()?;
    let mut found = Found::new();
    for entry in fs::read_dir(results.path())? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let name = name.strip_prefix(prefix).unwrap_or(&name);
        let scenario = name.get(..name.len().saturating_sub(TIME.len())).unwrap_or(name);
        found.insert(scenario.to_owned(), checks(&entry.path().join("checks.json"))?);
    }
    if found.is_empty() {
        return Err(io::Error::other(String::from_utf8_lossy(&said.stderr).into_owned()));
    }
    Ok(found)
}

fn checks(file: &Path) -> io::Result<Vec<Check>> {
    let checks: Value = serde_json::from_slice(&fs::read(file)?)?;
    let word = |check: &Value, key: &str| check[key].as_str().unwrap_or_default().to_owned();
    let read = |check: &Value| Check {
        id: word(check, "id"),
        status: word(check, "status"),
        reason: word(check, "errorMessage"),
    };
    Ok(checks.as_array().into_iter().flatten().map(read).collect())
}
