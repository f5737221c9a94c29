//! What the user is asked about a server: all of it, and where it was approved before, what is different. Pure.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use super::approvals::Approval;
use super::binding::{Binding, Change};
use super::words::difference;
use crate::declared::toml;
use crate::printable::printable;

/// A server to be asked about.
pub struct Asked<'a> {
    /// Its name.
    pub name: &'a str,
    /// Who declares it, and where.
    pub declared: String,
    /// The canonical declaration.
    pub declaration: &'a Map<String, Value>,
    /// Its digest.
    pub digest: &'a str,
    /// What it would be bound to.
    pub binding: &'a Binding,
    /// Where it would run, of a program of a project.
    pub directory: Option<String>,
    /// What it would receive, and who that is: a program, or the host of an address.
    pub receives: String,
    /// The approval of other words, if there is one.
    pub before: Option<&'a Approval>,
    /// What it tells of itself that is not what was believed, in lines.
    pub definitions: &'a [String],
}

impl Asked<'_> {
    /// The server as text; nothing in it acts on a terminal.
    pub fn text(&self) -> String {
        let mut rows = vec![("declared", self.declared.clone())];
        rows.extend(self.binding.program.clone().map(|program| ("program", program)));
        rows.extend(self.directory.clone().map(|directory| ("runs in", directory)));
        rows.push(("receives", self.receives.clone()));
        for (file, digest) in &self.binding.files {
            let short = digest.get(..12).unwrap_or_default();
            rows.push((
                "code",
                format!("{file} of this repository, sha256 {short}…; what it loads is not looked at"),
            ));
        }
        if let Some(program) = &self.binding.program {
            let program = program.rsplit('/').next().unwrap_or_default();
            rows.push((
                "code",
                format!("what {program} runs or loads is not looked at, and may change without a question"),
            ));
        }
        rows.push(("digest", self.digest.to_owned()));
        let mut out = format!("{}\n", printable(self.name));
        for (title, value) in rows {
            // Writing to a string can't fail.
            let _ = writeln!(out, "  {title:9}  {}", printable(&value));
        }
        for (field, value) in self.declaration.iter().filter(|(field, _)| *field != "name") {
            let _ = writeln!(out, "  {}", printable(&format!("{field} = {}", toml(value))));
        }
        self.differences(&mut out);
        if !self.definitions.is_empty() {
            let _ = writeln!(out, "  what it tells of itself is not what was seen first:");
        }
        for line in self.definitions {
            let _ = writeln!(out, "    {}", printable(line));
        }
        out
    }

    fn differences(&self, out: &mut String) {
        let Some(before) = self.before else { return };
        let mut found = Vec::new();
        let gone = before.declaration.keys().filter(|field| !self.declaration.contains_key(*field));
        for field in self.declaration.keys().chain(gone) {
            let shown = |fields: &Map<String, Value>| fields.get(field).map(toml).unwrap_or_default();
            let (was, is) = (shown(&before.declaration), shown(self.declaration));
            if was != is {
                found.push(format!("{field} = {}", difference(&was, &is)));
            }
        }
        for change in self.binding.changes(&before.binding) {
            found.push(match change {
                Change::Moved { from, to } => format!("program = {}", difference(&from, &to)),
                Change::Other(sentence) => sentence,
            });
        }
        let title = if found.is_empty() { "approved as it is" } else { "approved before; different now:" };
        let _ = writeln!(out, "  {title}");
        for difference in found {
            let _ = writeln!(out, "    {}", printable(&difference));
        }
    }
}
