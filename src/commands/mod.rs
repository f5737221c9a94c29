//! One file a subcommand, and what several of them begin with.

pub mod check;
pub mod clean;
pub mod completions;
pub mod describe;
pub mod doctor;
pub mod inspect;
pub mod launch;
pub mod list;
pub mod man;
mod needs;
pub mod schema;
pub mod show;
mod waiting;

use std::path::{Path, PathBuf};

use anyhow::Result;
use squire_strategies::{AGENTS, Gateway, Launch, Strategy, Transport};

use crate::config::{self, Directories, Layers, Project, Sources};
use crate::environment::{Environment, utf8};
use crate::files;
use crate::output::Output;
use crate::plan::{Plan, plan};
use crate::report;
use crate::resolve::{Resolution, Selection, UnknownSelection, resolve, settings, strategy, unknown_name};
use crate::runner::{self, AgentProgram, NotRunnable};

/// Settles what dead launches left, where squire's own directories can be trusted. What can't be settled is said,
/// hinders no command, and makes this `false`.
pub fn settle(environment: &Environment, output: Output) -> bool {
    let Ok(directories) = Directories::find(environment) else { return true };
    if !files::exists(&directories.state) {
        return true;
    }
    let home = environment.home();
    let project =
        environment.directory().ok().and_then(|directory| Project::find(directory, home.as_deref()));
    let is_foreign = directories.refuse_foreign(project.as_ref(), environment).is_err();
    is_foreign || runner::settle(&directories.state, output)
}

/// Where a command stands: squire's directories, the project around it and the layers.
struct Surroundings {
    directories: Directories,
    project: Option<Project>,
    layers: Layers,
}

impl Surroundings {
    fn find(environment: &Environment) -> Result<Self> {
        let directories = Directories::find(environment)?;
        let project = Project::find(environment.directory()?, environment.home().as_deref());
        let sources = Sources {
            config: &directories.config,
            project: project.as_ref(),
            managed: config::MANAGED_POLICY.as_ref(),
        };
        let layers = config::load(sources)?;
        Ok(Self { directories, project, layers })
    }

    fn project_root(&self) -> Option<&Path> {
        self.project.as_ref().map(|project| project.root.as_path())
    }

    /// The agent of a name: one that squire knows, or one of the user's own.
    fn agent(&self, name: &str) -> Result<Agent> {
        let Some(strategy) = strategy(&self.layers, name) else {
            let custom = self.layers.user.agents.iter().map(|settings| settings.name.as_str());
            let mut known: Vec<&str> = AGENTS.iter().map(|strategy| strategy.name()).collect();
            custom.for_each(|name| {
                if !known.contains(&name) {
                    known.push(name);
                }
            });
            return Err(UnknownSelection(vec![unknown_name("agent", name, known.into_iter())]).into());
        };
        let program = settings(&self.layers, name)
            .and_then(|settings| settings.program.as_ref())
            .map(|program| program.value.clone());
        Ok(Agent { name: name.to_owned(), strategy, program })
    }

    /// The agents that squire knows, and behind them the user's own.
    fn agents(&self) -> Result<Vec<Agent>> {
        let mut names: Vec<&str> = AGENTS.iter().map(|strategy| strategy.name()).collect();
        for settings in &self.layers.user.agents {
            if !names.contains(&settings.name.as_str()) {
                names.push(&settings.name);
            }
        }
        names.into_iter().map(|name| self.agent(name)).collect()
    }

    /// What a launch of the agent would have, with the transports that the environment chooses.
    fn resolve(&self, agent: &Agent, selection: &Selection, environment: &Environment) -> Result<Resolution> {
        let speaks = |transport: &Transport| agent.strategy.speaks(transport);
        let mut resolution = resolve(&self.layers, selection, &speaks)?;
        needs::leave_out_chosen_remote(&mut resolution, environment);
        Ok(resolution)
    }

    /// Plans a launch: reads what the strategy asks for, and nothing else of the agent.
    fn plan(
        &self,
        agent: &Agent,
        resolution: &Resolution,
        selection: &Selection,
        words: &[std::ffi::OsString],
        environment: &Environment,
    ) -> Result<Plan> {
        let directory = environment.directory()?;
        let gateway = Gateway {
            program: environment.squire()?,
            project: self.project_root().map(utf8).transpose()?,
            profiles: selection.profiles.clone(),
            config: utf8(&self.directories.config)?,
            state: utf8(&self.directories.state)?,
        };
        let launch = Launch {
            agent: &agent.name,
            gateway: &gateway,
            servers: &resolution.servers(),
            contents: &runner::fetch(agent.strategy.reads(), environment, directory),
            directory: &directory.to_string_lossy(),
            strict: resolution.strict,
            agent_servers: resolution.agent_servers,
            words: &[],
        };
        let first =
            agent.program.as_deref().and_then(<[String]>::split_first).map_or(&[][..], |(_, first)| first);
        let first: Vec<std::ffi::OsString> = first.iter().map(std::ffi::OsString::from).collect();
        Ok(plan(agent.strategy, resolution, &launch, &first, words)?)
    }

    /// Finds what runs as the agent.
    fn program(
        &self,
        agent: &Agent,
        squire: &Path,
        environment: &Environment,
    ) -> Result<AgentProgram, NotRunnable> {
        let project = self.project_root();
        match &agent.program {
            Some(words) => AgentProgram::custom(words, squire, project, environment),
            None => AgentProgram::find(agent.strategy.program(), squire, project, environment),
        }
    }
}

/// An agent as the user launches it.
struct Agent {
    name: String,
    strategy: &'static dyn Strategy,
    /// The user's own program and its first arguments.
    program: Option<Vec<String>>,
}

/// squire's own program as a path.
fn squire(environment: &Environment) -> Result<PathBuf> {
    environment.squire().map(PathBuf::from)
}

/// A plan as `describe` and `launch --dry-run` print it.
fn shown(plan: &Plan, program: &Result<AgentProgram, NotRunnable>, as_json: bool) -> String {
    let found = program.as_ref().map(|program| program.path.display().to_string());
    if as_json {
        format!("{:#}\n", report::json(plan, found.as_deref().ok()))
    } else {
        report::text(plan, &found.unwrap_or_else(ToString::to_string))
    }
}
