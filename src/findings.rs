//! What is wrong, or will be left out, before a launch: one list of everything that knows a part of it. Pure.

pub mod code;
mod help;
pub mod render;
pub mod sarif;

use std::collections::BTreeMap;
use std::path::PathBuf;

use squire_strategies::{Code, Effect, Note, Refusal, Whereabouts};

use crate::config::{Origin, Place, Problem};
use crate::resolve::Resolved;
pub use code::OwnCode;
pub(crate) use help::help_for;

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// It stops a launch, or a whole file is not used.
    Error,
    /// A server is left out, switched off or would not start, or what is written has no effect.
    Warning,
    /// Good to know.
    Note,
}

impl Severity {
    /// The word in output, which is SARIF's level too.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
        }
    }
}

/// One thing to tell.
#[must_use]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The stable word, for scripts.
    pub code: &'static str,
    /// How much it matters.
    pub severity: Severity,
    /// What is so, and why. Fits behind the server's name.
    pub message: String,
    /// What the user can do about it.
    pub help: Option<String>,
    /// The server it is about.
    pub server: Option<String>,
    /// The agents that it concerns; none where it is so whatever is launched.
    pub agents: Vec<String>,
    /// The file.
    pub path: Option<PathBuf>,
    /// Where in it.
    pub place: Option<Place>,
}

impl Finding {
    /// A finding about nothing in particular yet.
    fn new(code: &'static str, severity: Severity, message: impl Into<String>) -> Self {
        Self {
            code,
            severity,
            message: message.into(),
            help: None,
            server: None,
            agents: Vec::new(),
            path: None,
            place: None,
        }
    }

    /// A finding of a code that is no note's.
    pub fn own(code: OwnCode, message: impl Into<String>) -> Self {
        Self::new(code.as_str(), code.severity(), message)
    }

    /// A problem of a file that stops every launch.
    pub fn invalid(problem: &Problem) -> Self {
        Self {
            help: problem.help.clone(),
            path: Some(problem.path.clone()),
            place: Some(problem.place),
            ..Self::own(OwnCode::Invalid, &problem.message)
        }
    }

    /// A plan that can't be made. Where the profile's word for `strict` is what refuses, that is its place.
    pub fn refusal(refusal: &Refusal, strict: Option<&Origin>) -> Self {
        let severity = of_effect(refusal.code);
        let finding = Self {
            help: refusal.mend.clone(),
            ..Self::new(refusal.code.as_str(), severity, &refusal.sentence)
        };
        let of_profile = strict.filter(|_| refusal.code == Code::NoStrict).map(Origin::whereabouts);
        finding.at(of_profile.as_ref().or(refusal.place.as_ref()))
    }

    /// The same with its server.
    pub fn of(self, server: &str) -> Self {
        Self { server: Some(server.to_owned()), ..self }
    }

    /// The same with what the user can do.
    pub fn help(self, help: Option<String>) -> Self {
        Self { help, ..self }
    }

    /// The same at a place, where there is one.
    pub fn at(self, place: Option<&Whereabouts>) -> Self {
        match place {
            None => self,
            Some(Whereabouts { path, position }) => Self {
                path: Some(PathBuf::from(&**path)),
                place: position.map(|(line, column)| Place { line, column }),
                ..self
            },
        }
    }
}

/// How much a code of a plan matters.
pub fn of_effect(code: Code) -> Severity {
    match (code, code.effect()) {
        (Code::ProjectFile, _) | (_, Effect::Refused) => Severity::Error,
        (Code::Unused | Code::UnreadableApproval, _) | (_, Effect::LeftOut | Effect::SwitchedOff) => {
            Severity::Warning
        }
        (_, Effect::Remark) => Severity::Note,
    }
}

/// What makes two findings the same, whichever agents they concern.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Identity {
    code: &'static str,
    server: Option<String>,
    message: String,
    help: Option<String>,
    path: Option<PathBuf>,
    place: Option<Place>,
}

impl Identity {
    fn of(finding: &Finding) -> Self {
        let Finding { code, severity: _, message, help, server, agents: _, path, place } = finding.clone();
        Self { code, server, message, help, path, place }
    }
}

/// What one agent would get, and why not all.
#[derive(Clone, Debug, Default)]
pub struct AgentView {
    /// The agent's name.
    pub agent: String,
    /// The notes of resolution and of the strategy.
    pub notes: Vec<Note>,
    /// What else is known of the agent alone, servers without a place where they are declared.
    pub findings: Vec<Finding>,
}

/// Everything that is known of a configuration that could be read.
#[derive(Clone, Copy, Debug)]
pub struct Known<'a> {
    /// Every declared server.
    pub entries: &'a [Resolved],
    /// What is said of no single server and no single agent.
    pub notes: &'a [Note],
    /// What is so of servers, whichever agent is launched.
    pub findings: &'a [Finding],
    /// Each agent that is checked.
    pub agents: &'a [AgentView],
}

/// The findings, in the order of files and lines; what several agents share is told once.
pub fn findings(known: Known<'_>) -> Vec<Finding> {
    let places = Places::of(known.entries);
    let of_all = known.notes.iter().map(of_note).chain(known.findings.iter().cloned());
    let mut found: Vec<Finding> = of_all.map(|finding| places.placed(finding)).collect();
    let mut indexes: BTreeMap<Identity, usize> = BTreeMap::new();
    for view in known.agents {
        for finding in of_agent(view).map(|finding| places.placed(finding)) {
            let index = *indexes.entry(Identity::of(&finding)).or_insert(found.len());
            if index == found.len() {
                found.push(finding);
            }
            if let Some(told) = found.get_mut(index).filter(|told| !told.agents.contains(&view.agent)) {
                told.agents.push(view.agent.clone());
            }
        }
    }
    sorted(found)
}

/// Where servers are declared.
struct Places<'a> {
    /// The user's server stands before a project's of the same name.
    first: BTreeMap<&'a str, &'a Origin>,
    of_project: BTreeMap<&'a str, &'a Origin>,
}

impl<'a> Places<'a> {
    fn of(entries: &'a [Resolved]) -> Self {
        let mut places = Self { first: BTreeMap::new(), of_project: BTreeMap::new() };
        for declaration in entries.iter().filter_map(|entry| entry.declaration.as_deref()) {
            let (name, origin) = (declaration.name.as_str(), &declaration.origin);
            places.first.entry(name).or_insert(origin);
            if origin.layer.is_project() {
                places.of_project.insert(name, origin);
            }
        }
        places
    }

    /// A finding that has no place of its own stands where its server is declared.
    fn placed(&self, finding: Finding) -> Finding {
        // Only a project's server loses its name.
        let is_taken = finding.code == Code::NameTaken.as_str();
        let places = if is_taken { &self.of_project } else { &self.first };
        let server = finding.server.as_deref().filter(|_| finding.path.is_none());
        match server.and_then(|server| places.get(server)) {
            Some(origin) => {
                Finding { path: Some(origin.path.to_path_buf()), place: Some(origin.place), ..finding }
            }
            None => finding,
        }
    }
}

/// In the order of files and lines; what has no place comes last.
pub fn sorted(mut findings: Vec<Finding>) -> Vec<Finding> {
    findings.sort_by(|one, other| {
        let key = |finding: &Finding| (finding.path.is_none(), finding.path.clone(), finding.place);
        key(one).cmp(&key(other))
    });
    findings
}

fn of_agent(view: &AgentView) -> impl Iterator<Item = Finding> {
    // Whether an agent asks before it uses a tool is no defect of a configuration; files are told for all agents.
    let told = |note: &&Note| {
        !matches!(
            note.code,
            Code::AgentApproval | Code::ProjectFile | Code::Unused | Code::UnreadableApproval
        )
    };
    view.notes.iter().filter(told).map(of_note).chain(view.findings.iter().cloned())
}

fn of_note(note: &Note) -> Finding {
    let finding = Finding {
        help: note.mend.clone().or_else(|| help::help(note.code).map(str::to_owned)),
        server: note.server.as_ref().map(ToString::to_string),
        ..Finding::new(note.code.as_str(), of_effect(note.code), &note.sentence)
    };
    finding.at(note.place.as_ref())
}

/// How many findings are of a severity.
pub fn count(findings: &[Finding], severity: Severity) -> usize {
    findings.iter().filter(|finding| finding.severity == severity).count()
}
