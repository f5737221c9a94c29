//! What an approval is given to: a declaration in one of squire's layers, or an entry of a repository in an agent's own
//! file.

use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};
use serde_json::{Map, Value};
use squire_strategies::{RepositoryServer, Stdio, Text};

use super::Court;
use super::approvals::Place;
use super::binding::Binding;
use super::digest::{Canonical, sorted};
use crate::config::{Declaration, working_directory};
use crate::runner::first_on;

/// Something that the user may approve.
pub struct Claim {
    /// The server's name.
    pub name: String,
    /// Where an approval of it holds.
    pub place: Place,
    /// What is approved, word for word.
    pub canonical: Map<String, Value>,
    /// What would run.
    runs: Runs,
}

enum Runs {
    /// No program, or one of the user's own layers.
    Own(Option<Stdio>),
    /// A program of a project's squire.toml, in this directory.
    Project(Stdio, PathBuf),
    /// What an agent starts by itself, in this directory.
    Agent(Option<Stdio>, PathBuf),
    /// What can't be approved as it stands.
    Nothing(String),
}

impl Claim {
    /// Of a declaration.
    pub fn of(declaration: &Declaration, court: Court<'_>) -> Self {
        let project = court.project.filter(|_| declaration.origin.layer.is_project());
        let place = match project {
            Some(project) => Place::Project(project.root.to_string_lossy().into_owned()),
            None => Place::User,
        };
        let command = declaration.command.as_ref().map(|command| {
            command.value.iter().chain(declaration.args.iter().flat_map(|args| &args.value)).cloned()
        });
        let runs = match (command.map(stdio), project) {
            (Some(stdio), Some(_)) => Runs::Project(stdio, working_directory(declaration)),
            (stdio, _) => Runs::Own(stdio),
        };
        Self { name: declaration.name.to_string(), place, canonical: Canonical(declaration).fields(), runs }
    }

    /// Of an entry that a repository has in a file of this agent's, launched in this directory of the project.
    pub fn of_agent(agent: &str, server: &RepositoryServer, root: &Path, directory: &Path) -> Self {
        let place = Place::Agent { agent: agent.to_owned(), project: root.to_string_lossy().into_owned() };
        let relative = |file: &str| {
            Path::new(file).strip_prefix(root).map_or(file.to_owned(), |below| below.display().to_string())
        };
        let mut canonical = Map::from_iter([
            ("name".to_owned(), Value::from(server.name.as_str())),
            ("file".to_owned(), relative(&server.file).into()),
            ("entry".to_owned(), in_order(server.entry.clone())),
        ]);
        if !server.settings.is_empty() {
            let settings = server.settings.iter().map(|(file, value)| (relative(file), value.clone()));
            canonical.insert("settings".into(), in_order(settings.collect()));
        }
        let words = server.command.iter().map(Text::plain);
        let program = (!server.command.is_empty()).then(|| stdio(words));
        let directory = server.directory.as_ref().map_or(directory.to_owned(), |below| directory.join(below));
        let runs = match &server.obstacle {
            Some(obstacle) => Runs::Nothing(obstacle.clone()),
            None => Runs::Agent(program, directory),
        };
        Self { name: server.name.clone(), place, canonical, runs }
    }

    /// What an approval is bound to now; an error says why there can be none.
    pub fn bind(&self, court: Court<'_>) -> Result<Binding> {
        let root = court.project.map(|project| project.root.as_path());
        match (&self.runs, root) {
            (Runs::Nothing(obstacle), _) => Err(anyhow::Error::msg(obstacle.clone())),
            (Runs::Own(None) | Runs::Agent(None, _), _) => Ok(Binding::default()),
            (Runs::Own(Some(stdio)), _) => Binding::of(stdio, None, court.path),
            (Runs::Project(stdio, directory) | Runs::Agent(Some(stdio), directory), root) => {
                let binding = Binding::of(stdio, root.map(|root| (root, directory.as_path())), court.path)?;
                if matches!(self.runs, Runs::Agent(..)) {
                    refuse_another_program(stdio, &binding, court, directory)?;
                }
                Ok(binding)
            }
        }
    }

    /// The directory that the program of a repository runs in.
    pub fn directory(&self) -> Option<&Path> {
        match &self.runs {
            Runs::Project(_, directory) | Runs::Agent(Some(_), directory) => Some(directory),
            Runs::Own(_) | Runs::Agent(None, _) | Runs::Nothing(_) => None,
        }
    }
}

/// An agent skips no entry of PATH, so that it must find what squire found.
fn refuse_another_program(
    stdio: &Stdio,
    binding: &Binding,
    court: Court<'_>,
    directory: &Path,
) -> Result<()> {
    let name = stdio.command.literal().filter(|name| !name.contains('/'));
    let first = name.and_then(|name| first_on(court.path, name.as_ref(), directory));
    if let (Some(first), Some(program)) = (first, &binding.program) {
        let shown = first.display();
        ensure!(first == Path::new(program), "the agent would run {shown}, as it skips no entry of PATH");
    }
    Ok(())
}

fn stdio(mut words: impl Iterator<Item = Text>) -> Stdio {
    Stdio {
        command: words.next().unwrap_or_else(|| Text::plain("")),
        args: words.collect(),
        env: Vec::new(),
        inherit_env: Vec::new(),
        cwd: None,
    }
}

/// A value whose tables are by their names, at every depth; arrays as they are.
fn in_order(value: Value) -> Value {
    match value {
        Value::Object(table) => {
            let entries = table.into_iter().map(|(name, value)| (name, in_order(value)));
            sorted(Value::Object(entries.collect()))
        }
        Value::Array(values) => values.into_iter().map(in_order).collect(),
        other => other,
    }
}
