//! What `squire doctor` finds of the user's word: the approvals, what servers have changed since they were believed, and
//! who can read secrets.toml.

use std::path::Path;

use serde_json::{Value, json};

use super::Finding;
use crate::config::Directories;
use crate::files;
use crate::printable::printable;
use crate::secrets::Secrets;
use crate::trust::approvals;
use crate::trust::pins::{Pins, Read};

/// The approvals, counted.
pub(super) struct Approvals {
    pub(super) count: usize,
    /// Of these, those of projects that are no longer there.
    gone: usize,
}

/// Looks at both.
pub(super) fn examine(directories: &Directories, findings: &mut Vec<Finding>) -> Approvals {
    let secrets = Secrets::file(&directories.config);
    if let Err(error) = files::look_at_secret(&secrets) {
        let help =
            "make it your own file that nobody else can read: no server that needs a secret is started";
        findings.push(finding("secrets-file", &secrets, &error.to_string(), help));
    }
    let (readable, unreadable) = approvals::load(&directories.state);
    for (path, reason) in &unreadable {
        let sentence = format!("an approval that can't be read approves nothing: {reason}");
        let help = format!("approve anew what it was of (squire approve NAME), then: rm {}", path.display());
        findings.push(finding("approval-unreadable", path, &sentence, &help));
    }
    for approval in &readable {
        let path = approval.path(&directories.state);
        if let Err(error) = files::look_at_secret(&path) {
            let help = format!("chmod 600 {}", path.display());
            findings.push(finding("approval-open", &path, &error.to_string(), &help));
        }
    }
    for Read { record, trouble } in Pins::of(&directories.state).all() {
        if let Some((path, reason)) = trouble {
            let stands = match &record {
                Some(record) => format!("its copy stands in for it, of {}", printable(&record.name)),
                None => "nor can its copy, and nothing that its server tells is believed".into(),
            };
            let sentence = format!("a record of tools that can't be read: {reason}; {stands}");
            let help = match &record {
                Some(_) => "nothing: it is written anew when its server tells its tools".to_owned(),
                None => "look at what its server tells when it has run again: squire approve NAME".to_owned(),
            };
            findings.push(finding("tools-unreadable", &path, &sentence, &help));
        }
        if let Some(record) = record.filter(|record| !record.differing.is_empty()) {
            let (name, count) = (printable(&record.name), record.differing.count());
            let sentence =
                format!("{name}: {count} of what it tells of itself differ from what was seen first");
            let help = format!("look at the difference: squire approve {name}");
            findings.push(Finding { code: "tools-different", sentence, help });
        }
    }
    let projects = readable.iter().filter_map(|approval| approval.place.project());
    let gone = projects.filter(|project| !files::exists(Path::new(project))).count();
    Approvals { count: readable.len(), gone }
}

fn finding(code: &'static str, path: &Path, sentence: &str, help: &str) -> Finding {
    Finding { code, sentence: format!("{}: {sentence}", path.display()), help: help.into() }
}

impl Approvals {
    /// For people.
    pub(super) fn text(&self) -> String {
        let gone = match self.gone {
            0 => String::new(),
            1 => ", 1 of a project that is gone".into(),
            gone => format!(", {gone} of projects that are gone"),
        };
        format!("{}{gone}", self.count)
    }

    /// For scripts.
    pub(super) fn json(&self) -> Value {
        json!({ "count": self.count, "gone": self.gone })
    }
}
