//! Trust: a declaration that somebody else wrote is off until the user approves it, word by word.
//!
//! [`digest`] says what is approved, [`binding`] what runs for it on this machine, [`approvals`] keeps the user's word.
//! [`Court::judge`] is the one gate: before a server of a repository has passed it, nothing that it names is resolved, read,
//! connected to or executed.

pub mod approvals;
pub mod binding;
pub mod digest;
pub mod log;
pub mod question;
mod words;

use std::ffi::OsStr;
use std::path::Path;

use squire_strategies::{Stdio, Text};

use crate::config::{Declaration, Project, working_directory};
use crate::resolve::{Standing, Standings};
use approvals::{Approval, Place};
use binding::{Binding, Change, is_harmless_move};

/// What a declaration is judged in.
#[derive(Clone, Copy, Debug)]
pub struct Court<'a> {
    /// The state directory.
    pub state: &'a Path,
    /// The project, if there is one.
    pub project: Option<&'a Project>,
    /// PATH as the server would have it.
    pub path: Option<&'a OsStr>,
}

impl Court<'_> {
    /// Where an approval of a declaration holds.
    pub fn place(&self, declaration: &Declaration) -> Place {
        match self.project.filter(|_| declaration.origin.layer.is_project()) {
            Some(project) => Place::Project(project.root.to_string_lossy().into_owned()),
            None => Place::User,
        }
    }

    /// Judges declarations of the tier community. A file of the project is only looked at for one whose words are
    /// approved.
    pub fn judge<'d>(&self, declarations: impl IntoIterator<Item = &'d Declaration>) -> Standings {
        let mut loaded: Vec<(Place, Vec<Approval>)> = Vec::new();
        let mut standings = Standings::new();
        for declaration in declarations {
            let place = self.place(declaration);
            if !loaded.iter().any(|(known, _)| *known == place) {
                loaded.push((place.clone(), approvals::load(self.state, &place).0));
            }
            let approvals =
                loaded.iter().find(|(known, _)| *known == place).map(|(_, found)| found.as_slice());
            let of_name =
                approvals.unwrap_or_default().iter().filter(|found| found.name == declaration.name.as_str());
            let standing = self.judge_one(declaration, &of_name.collect::<Vec<_>>());
            standings.insert(declaration.name.to_string(), standing);
        }
        standings
    }

    fn judge_one(&self, declaration: &Declaration, approvals: &[&Approval]) -> Standing {
        let Some(latest) = approvals.last() else { return Standing::New };
        let canonical = digest::canonical(declaration);
        let digest = digest::digest(&canonical);
        let Some(approved) = approvals.iter().rev().find(|approval| approval.digest == digest) else {
            return Standing::Changed(differing_fields(&latest.declaration, &canonical));
        };
        let now = match self.bind(declaration) {
            Ok(now) => now,
            Err(error) => return Standing::Changed(vec![format!("{error:#}")]),
        };
        let root = self.project.map_or(Path::new(""), |project| project.root.as_path());
        let mut differences = Vec::new();
        for change in now.changes(&approved.binding) {
            match change {
                Change::Moved { from, to } if is_harmless_move(&from, &to, root) => {}
                Change::Moved { from, to } => {
                    differences.push(format!("its program was {from}, and is {to}"));
                }
                Change::Other(sentence) => differences.push(sentence),
            }
        }
        if differences.is_empty() { Standing::Approved } else { Standing::Changed(differences) }
    }

    /// The latest approval of these very words, of whatever tier they are.
    pub fn approval(&self, declaration: &Declaration) -> Option<Approval> {
        let digest = digest::digest(&digest::canonical(declaration));
        let (approvals, _) = approvals::load(self.state, &self.place(declaration));
        approvals.into_iter().rfind(|found| found.name == declaration.name.as_str() && found.digest == digest)
    }

    /// What an approval of a declaration is bound to now.
    pub fn bind(&self, declaration: &Declaration) -> anyhow::Result<Binding> {
        let Some(command) = &declaration.command else { return Ok(Binding::default()) };
        let mut words =
            command.value.iter().chain(declaration.args.iter().flat_map(|args| &args.value)).cloned();
        let stdio = Stdio {
            command: words.next().unwrap_or_else(|| Text::plain("")),
            args: words.collect(),
            env: Vec::new(),
            inherit_env: Vec::new(),
            cwd: None,
        };
        let project = self.project.filter(|_| declaration.origin.layer.is_project());
        let directory = working_directory(declaration);
        let project = project.map(|project| (project.root.as_path(), directory.as_path()));
        Binding::of(&stdio, project, self.path)
    }
}

fn differing_fields(
    before: &serde_json::Map<String, serde_json::Value>,
    now: &serde_json::Map<String, serde_json::Value>,
) -> Vec<String> {
    let changed = now.iter().filter(|(name, value)| before.get(*name) != Some(value)).map(|(name, _)| name);
    let gone = before.keys().filter(|name| !now.contains_key(*name));
    let mut names: Vec<String> = changed.chain(gone).map(|name| format!("`{name}`")).collect();
    names.dedup();
    names
}
