//! One file a subcommand, and what several of them begin with.

pub mod completions;
pub mod describe;
pub mod inspect;
pub mod launch;
pub mod list;
pub mod man;
pub mod schema;

use std::path::{Path, PathBuf};

use anyhow::Result;
use squire_strategies::{Gateway, Launch, Strategy, Transport};

use crate::config::{self, Directories, Layers, Project};
use crate::environment::{Environment, utf8};
use crate::plan::{Plan, plan};
use crate::report;
use crate::resolve::{Resolution, Selection, resolve};
use crate::runner::{self, AgentProgram, NotRunnable};

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
        let layers = config::load(&directories.config, project.as_ref())?;
        Ok(Self { directories, project, layers })
    }

    fn project_root(&self) -> Option<&Path> {
        self.project.as_ref().map(|project| project.root.as_path())
    }

    fn resolve(&self, strategy: &dyn Strategy, selection: &Selection) -> Result<Resolution> {
        resolve(&self.layers, selection, &|transport: &Transport| strategy.speaks(transport))
    }

    /// Plans a launch: reads what the strategy asks for, and nothing else of the agent.
    fn plan(
        &self,
        strategy: &'static dyn Strategy,
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
            agent: strategy.name(),
            gateway: &gateway,
            servers: &resolution.servers(),
            contents: &runner::fetch(strategy.reads(), environment, directory),
            directory: &directory.to_string_lossy(),
        };
        plan(strategy, resolution, &launch, words).map_err(|refusal| anyhow::anyhow!("{refusal}"))
    }
}

/// The strategy of a name that the command line has checked.
fn strategy(name: &str) -> Result<&'static dyn Strategy> {
    squire_strategies::find(name).ok_or_else(|| anyhow::anyhow!("there is no agent {name:?}"))
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
