//! What is wrong, or will be left out, before a launch: one list of everything that knows a part of it. Pure.

pub mod render;
pub mod sarif;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use squire_strategies::{Code, Effect, Note};

use crate::config::{Origin, Place, Problem};
use crate::resolve::Resolved;

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// It stops a launch, or a whole file is not used.
    Error,
    /// A server is left out or switched off.
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

    /// What stops every launch, for a reason that no file's place explains.
    pub fn refused(message: impl Into<String>) -> Self {
        Self::new("refused", Severity::Error, message)
    }

    /// A problem of a file that stops every launch.
    pub fn invalid(problem: &Problem) -> Self {
        Self::new("invalid", Severity::Error, &problem.message).at(problem)
    }

    fn at(self, problem: &Problem) -> Self {
        Self {
            help: problem.help.clone(),
            path: Some(problem.path.clone()),
            place: Some(problem.place),
            ..self
        }
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
    /// Servers whose references can't be resolved, each with the sentence.
    pub missing: Vec<(String, String)>,
    /// Servers that are required and would not be there, each with the sentence.
    pub lacking: Vec<(String, String)>,
    /// Why no launch of the agent can be planned.
    pub refusal: Option<String>,
    /// Why its program can't be run, where that was asked.
    pub not_runnable: Option<String>,
}

/// Everything that is known of a configuration that could be read.
#[derive(Clone, Copy, Debug)]
pub struct Known<'a> {
    /// Every declared server.
    pub entries: &'a [Resolved],
    /// What is said of no single server and no single agent.
    pub notes: &'a [Note],
    /// The project's file, if there is one.
    pub project_file: Option<&'a Path>,
    /// What is wrong with it.
    pub project_problems: &'a [Problem],
    /// Each agent that is checked.
    pub agents: &'a [AgentView],
}

/// The findings, in the order of files and lines; what several agents share is told once.
pub fn findings(known: Known<'_>) -> Vec<Finding> {
    let mut found: Vec<Finding> = known.project_problems.iter().map(of_project).collect();
    found.extend(known.notes.iter().filter_map(|note| of_project_file(note, known)));
    let places = Places::of(known.entries);
    let mut indexes: BTreeMap<Identity, usize> = BTreeMap::new();
    for view in known.agents {
        for finding in of_agent(view, &places) {
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
        for declaration in entries.iter().filter_map(|entry| entry.declaration.as_ref()) {
            let (name, origin) = (declaration.name.as_str(), &declaration.origin);
            places.first.entry(name).or_insert(origin);
            if origin.layer.is_project() {
                places.of_project.insert(name, origin);
            }
        }
        places
    }

    /// Only a project's server loses its name.
    fn find(&self, server: &str, code: &str) -> Option<&'a Origin> {
        let places = if code == Code::NameTaken.as_str() { &self.of_project } else { &self.first };
        places.get(server).copied()
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

fn of_project(problem: &Problem) -> Finding {
    let message = format!("the project's file is not used: {}", problem.message);
    Finding::new(Code::ProjectFile.as_str(), Severity::Error, message).at(problem)
}

/// A note about a project's file, unless its problems tell the same with their places.
fn of_project_file(note: &Note, known: Known<'_>) -> Option<Finding> {
    if known.project_problems.first().is_some_and(|problem| note.sentence.contains(&problem.to_string())) {
        return None;
    }
    let names_it = |path: &&Path| note.sentence.contains(&path.display().to_string());
    let severity = if note.code == Code::ProjectFile { Severity::Error } else { Severity::Warning };
    Some(Finding {
        help: note.mend.clone(),
        path: known.project_file.filter(names_it).map(Path::to_path_buf),
        ..Finding::new(note.code.as_str(), severity, &note.sentence)
    })
}

fn of_agent(view: &AgentView, places: &Places<'_>) -> Vec<Finding> {
    // Whether an agent asks before it uses a tool is no defect of a configuration; files are told for all agents.
    let told = |note: &&Note| !matches!(note.code, Code::AgentApproval | Code::ProjectFile | Code::Unused);
    let mut found: Vec<Finding> = view.notes.iter().filter(told).map(|note| of_note(note, places)).collect();
    for (server, sentence) in &view.missing {
        let help = "set it, or give it a default as in ${env:NAME:-default}";
        found.push(Finding {
            help: Some(help.into()),
            ..of_server("unset-variable", Severity::Error, server, sentence, places)
        });
    }
    for (server, sentence) in &view.lacking {
        let message = format!("it is required, and would not be there: {sentence}");
        found.push(of_server("required", Severity::Error, server, &message, places));
    }
    found.extend(view.refusal.as_ref().map(Finding::refused));
    found.extend(
        view.not_runnable.as_ref().map(|reason| Finding::new("not-installed", Severity::Note, reason)),
    );
    found
}

fn of_note(note: &Note, places: &Places<'_>) -> Finding {
    let severity = match note.code.effect() {
        Effect::LeftOut | Effect::SwitchedOff => Severity::Warning,
        Effect::Remark => Severity::Note,
    };
    let code = note.code.as_str();
    let Some(server) = &note.server else {
        return Finding { help: note.mend.clone(), ..Finding::new(code, severity, &note.sentence) };
    };
    let finding = of_server(code, severity, server.as_str(), &note.sentence, places);
    Finding { help: note.mend.clone(), ..finding }
}

/// A finding where its server is declared.
fn of_server(
    code: &'static str,
    severity: Severity,
    server: &str,
    message: &str,
    places: &Places<'_>,
) -> Finding {
    let origin = places.find(server, code);
    Finding {
        server: Some(server.to_owned()),
        path: origin.map(|origin| origin.path.to_path_buf()),
        place: origin.map(|origin| origin.place),
        ..Finding::new(code, severity, message)
    }
}

/// How many findings are of a severity.
pub fn count(findings: &[Finding], severity: Severity) -> usize {
    findings.iter().filter(|finding| finding.severity == severity).count()
}
