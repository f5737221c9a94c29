//! Trust: a declaration that somebody else wrote is off until the user approves it, word by word.
//!
//! [`digest`] says what is approved, [`binding`] what runs for it on this machine, [`approvals`] keeps the user's word.
//! [`Court::judge`] is the one gate: before a server of a repository has passed it, nothing that it names is resolved, read,
//! connected to or executed.

pub mod approvals;
pub mod binding;
pub mod claim;
pub mod digest;
pub mod log;
pub mod pins;
pub mod question;
mod words;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use squire_strategies::{Approved, Code, Note, RepositoryServer, Whereabouts};

use crate::config::{Declaration, Project};
use crate::resolve::{Standing, Standings};
use approvals::Approval;
use binding::{Change, is_harmless_move};
use claim::Claim;

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

/// What the user's approvals say, and which of them say nothing.
#[derive(Debug, Default)]
pub struct Judged<Standings> {
    /// Of those that were asked about.
    pub standings: Standings,
    /// What is to be told of approvals that can't be read.
    pub notes: Vec<Note>,
}

impl Court<'_> {
    /// Judges declarations of the tier community. A file of the project is only looked at for one whose words are
    /// approved.
    pub fn judge(&self, declarations: &[Rc<Declaration>]) -> Judged<Standings> {
        self.judge_all(declarations.iter().map(|declaration| Claim::of(declaration, *self)))
    }

    /// Judges what a repository has in an agent's own files, as the agent would start it in this directory. Without a
    /// project there is no place where an approval could hold.
    pub fn judge_of_agent(
        &self,
        agent: &str,
        servers: &[RepositoryServer],
        directory: &Path,
    ) -> Judged<Approved> {
        let Some(project) = self.project else { return Judged::default() };
        let claims = servers.iter().map(|server| Claim::of_agent(agent, server, &project.root, directory));
        let Judged { standings, notes } = self.judge_all(claims);
        let mut approved = Approved::default();
        for (name, standing) in standings {
            match standing {
                Standing::Approved => approved.as_they_are.push(name),
                Standing::Changed(_) => approved.before.push(name),
                Standing::New => {}
            }
        }
        Judged { standings: approved, notes }
    }

    fn judge_all(&self, claims: impl Iterator<Item = Claim>) -> Judged<Standings> {
        let mut loaded = None;
        let mut standings = Standings::new();
        for claim in claims {
            let (approvals, _) = loaded.get_or_insert_with(|| approvals::load(self.state));
            let is_of_it =
                |approval: &&Approval| approval.name == claim.name && approval.place == claim.place;
            let of_it: Vec<&Approval> = approvals.iter().filter(is_of_it).collect();
            standings.insert(claim.name.clone(), self.judge_one(&claim, &of_it));
        }
        let unreadable = loaded.map(|(_, unreadable)| unreadable).unwrap_or_default();
        Judged { standings, notes: unreadable.into_iter().map(unread).collect() }
    }

    fn judge_one(&self, claim: &Claim, approvals: &[&Approval]) -> Standing {
        let Some(latest) = approvals.last() else { return Standing::New };
        let digest = digest::digest(&claim.canonical);
        let Some(approved) = approvals.iter().rev().find(|approval| approval.digest == digest) else {
            return Standing::Changed(differing_fields(&latest.declaration, &claim.canonical));
        };
        let now = match claim.bind(*self) {
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
        let (approvals, _) = approvals::load(self.state);
        self.approval_among(declaration, &approvals).cloned()
    }

    /// The same among approvals that were read.
    pub fn approval_among<'a>(
        &self,
        declaration: &Declaration,
        approvals: &'a [Approval],
    ) -> Option<&'a Approval> {
        let claim = Claim::of(declaration, *self);
        let digest = digest::digest(&claim.canonical);
        let is_it = |found: &&Approval| {
            found.name == claim.name && found.place == claim.place && found.digest == digest
        };
        approvals.iter().rfind(is_it)
    }
}

/// What is told of an approval that can't be read.
fn unread((path, reason): (PathBuf, String)) -> Note {
    Note {
        code: Code::UnreadableApproval,
        server: None,
        sentence: format!("it approves nothing: {reason}"),
        mend: Some(
            "approve anew what it was of (squire approve NAME), and remove the file if it is still there"
                .into(),
        ),
        place: Some(Whereabouts { path: path.display().to_string().into(), position: None }),
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
