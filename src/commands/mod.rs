//! One file a subcommand, and what several of them begin with.

pub mod approve;
mod asking;
pub mod call;
pub mod check;
pub mod clean;
pub mod completions;
pub mod describe;
pub mod doctor;
pub mod edit;
pub mod export;
pub mod inspect;
pub mod launch;
pub mod list;
pub mod log;
pub mod man;
mod needs;
pub mod probe;
pub mod revoke;
pub mod schema;
pub mod secret;
pub mod show;
pub mod status;
pub mod tools;
mod waiting;

use std::cell::OnceCell;
use std::fmt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use anyhow::{Result, anyhow};
use squire_strategies::{
    AGENTS, Approved, Content, Gateway, Launch, Note, RepositoryServer, Strategy, Transport,
};

use crate::config::{self, Declaration, Directories, LayerKind, Layers, Project, Sources};
use crate::environment::{Environment, utf8};
use crate::files;
use crate::output::Output;
use crate::plan::{Plan, plan};
use crate::report;
use crate::resolve::{
    Resolution, Resolved, Selection, Standings, UnknownSelection, community, everything, resolve, settings,
    strategy, unknown_name,
};
use crate::runner::{self, AgentProgram, NotRunnable};
use crate::secrets::{self, Secrets, Source};
use crate::trust::{Court, Judged};
use needs::Holders;

/// A command line that can't be meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrongWords(pub(crate) String);

impl fmt::Display for WrongWords {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for WrongWords {}

/// Settles what dead launches left, where squire's own directories can be trusted. What can't be settled is said,
/// hinders no command, and makes this `false`.
pub fn settle(environment: &Environment, output: Output) -> bool {
    let Ok(directories) = Directories::find(environment) else { return true };
    if !files::exists(&directories.state) {
        return true;
    }
    refuse_foreign_here(&directories, environment).is_err() || runner::settle(&directories.state, output)
}

/// Refuses squire's own directories where the repository around the working directory, or somebody else, could have
/// filled them.
fn refuse_foreign_here(directories: &Directories, environment: &Environment) -> Result<()> {
    let home = environment.home();
    let project =
        environment.directory().ok().and_then(|directory| Project::find(directory, home.as_deref()));
    directories.refuse_foreign(project.as_ref(), environment)
}

/// Where a command stands: squire's directories, the project around it and the layers.
struct Surroundings {
    directories: Directories,
    project: Option<Project>,
    layers: Layers,
    /// Why squire's own directories can't be trusted, where they can't.
    foreign: Option<String>,
    /// What the user has said of the servers of others.
    standings: Standings,
    /// What is to be told of that.
    approval_notes: Vec<Note>,
    /// What the user's secrets.toml says, read once a server needs it.
    secrets: OnceCell<Result<Secrets>>,
}

impl Surroundings {
    fn find(environment: &Environment) -> Result<Self> {
        let directories = Directories::find(environment)?;
        let project = Project::find(environment.directory()?, environment.home().as_deref());
        let sources = Sources {
            config: &directories.config,
            state: &directories.state,
            project: project.as_ref(),
            managed: config::MANAGED_POLICY.as_ref(),
        };
        let layers = config::load(sources)?;
        let foreign = directories.refuse_foreign(project.as_ref(), environment);
        let mut surroundings = Self {
            directories,
            project,
            layers,
            foreign: foreign.err().map(|error| error.to_string()),
            standings: Standings::new(),
            approval_notes: Vec::new(),
            secrets: OnceCell::new(),
        };
        surroundings.judge(environment);
        Ok(surroundings)
    }

    /// Judges the servers that others declare. Approvals that a repository could have brought approve nothing.
    fn judge(&mut self, environment: &Environment) {
        let others = if self.foreign.is_some() { Vec::new() } else { community(&self.layers) };
        let Judged { standings, notes } = self.court(environment).judge(&others);
        (self.standings, self.approval_notes) = (standings, notes);
    }

    /// Refuses squire's own directories where a repository, or somebody else, could have filled them.
    fn refuse_foreign(&self) -> Result<()> {
        self.foreign.as_ref().map_or(Ok(()), |reason| Err(anyhow!("{reason}")))
    }

    fn court<'a>(&'a self, environment: &'a Environment) -> Court<'a> {
        Court {
            state: &self.directories.state,
            project: self.project.as_ref(),
            path: environment.get("PATH"),
        }
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
    fn resolve(&self, agent: &Agent, selection: &Selection) -> Result<Resolution> {
        let speaks = |transport: &Transport| agent.strategy.speaks(transport);
        let mut resolution = resolve(&self.layers, &self.standings, selection, &speaks)?;
        resolution.notes.extend(self.approval_notes.iter().cloned());
        let declares_in = self.project.as_ref().and_then(|project| project.declares_in.as_deref());
        for entry in resolution.entries.iter_mut().filter(|entry| entry.left_out.is_none()) {
            let is_live = entry.is_live();
            let server = Rc::make_mut(&mut entry.server);
            if let Some(directory) = declares_in.filter(|_| is_live) {
                // Its gateway reads the squire.toml that this launch reads, which ranks above it.
                server.declared_in = Some(directory.to_string_lossy().into_owned());
            }
            server.secret_variables = self.secret_variables(&server.transport, entry.declaration.as_deref());
        }
        Ok(resolution)
    }

    /// The user's secrets.
    fn secrets(&self) -> Result<&Secrets, &anyhow::Error> {
        self.secrets.get_or_init(|| Secrets::load(&self.directories.config)).as_ref()
    }

    /// The variables that the sources of a server's secrets read. Without a file that can be read there are none, which
    /// matters nowhere, as then no such server is started.
    fn secret_variables(&self, transport: &Transport, declaration: Option<&Declaration>) -> Vec<String> {
        let used = secrets::of_declaration(transport, declaration);
        if used.is_empty() {
            return Vec::new();
        }
        let secrets = self.secrets().ok();
        let sources = used.iter().filter_map(|name| Some(&secrets?.find(name)?.source));
        sources.flat_map(Source::variables).map(str::to_owned).collect()
    }

    /// Who holds the values that these servers need. The error is that of secrets.toml, where one needs a secret.
    fn holders<'a, 'entry>(
        &'a self,
        mut entries: impl Iterator<Item = &'entry Resolved>,
        environment: &'a Environment,
    ) -> Result<Holders<'a>, &'a anyhow::Error> {
        let needs_secrets = entries.any(|entry| {
            !secrets::of_declaration(&entry.server.transport, entry.declaration.as_deref()).is_empty()
        });
        let secrets = if needs_secrets { Some(self.secrets()?) } else { None };
        Ok(Holders { environment, secrets })
    }

    /// What the gateway entries of a resolution share.
    fn gateway(&self, resolution: &Resolution, environment: &Environment) -> Result<Gateway> {
        Ok(Gateway {
            program: environment.squire()?,
            project: self.project_root().map(utf8).transpose()?,
            profiles: resolution.profiles.clone(),
            config: utf8(&self.directories.config)?,
            state: utf8(&self.directories.state)?,
        })
    }

    /// Plans a launch: reads what the strategy asks for, and nothing else of the agent.
    fn plan(
        &self,
        agent: &Agent,
        resolution: &Resolution,
        words: &[std::ffi::OsString],
        environment: &Environment,
    ) -> Result<Plan> {
        let directory = environment.directory()?;
        let gateway = self.gateway(resolution, environment)?;
        let first =
            agent.program.as_deref().and_then(<[String]>::split_first).map_or(&[][..], |(_, first)| first);
        let first: Vec<std::ffi::OsString> = first.iter().map(std::ffi::OsString::from).collect();
        let mut contents = runner::fetch(agent.strategy.reads(), environment, directory);
        let unquoted = environment.unquoted();
        let read: Vec<&[u8]> = first.iter().chain(words).map(|word| word.as_encoded_bytes()).collect();
        let named = agent.strategy.directories(&read);
        let elsewhere = named.map(|named| runner::elsewhere(&named, environment, directory));
        let elsewhere = elsewhere.unwrap_or_default();
        contents.extend(runner::fetch_elsewhere(agent.strategy.reads(), &contents, environment, &elsewhere));
        let Judged { standings: mut approved, notes } = if resolution.agent_servers {
            Judged::default()
        } else {
            self.judge_of_agent(agent.strategy, &contents, &unquoted, environment)?
        };
        // Where it runs a relative word of an entry is another file.
        if elsewhere.iter().any(|elsewhere| !files::same_file(elsewhere, directory)) {
            approved.elsewhere.append(&mut approved.as_they_are);
        }
        let launch = Launch {
            agent: &agent.name,
            gateway: &gateway,
            servers: &resolution.servers(),
            contents: &contents,
            directory: &directory.to_string_lossy(),
            strict: resolution.strict,
            agent_servers: resolution.agent_servers,
            approved: &approved,
            unquoted: &unquoted,
            words: &[],
        };
        let mut plan = plan(agent.strategy, resolution, &launch, &first, words)?;
        let known = plan.artifacts.notes.clone();
        plan.artifacts.notes.extend(notes.into_iter().filter(|note| !known.contains(note)));
        Ok(plan)
    }

    /// Which of a repository's servers in the agent's own files the user has approved.
    fn judge_of_agent(
        &self,
        strategy: &dyn Strategy,
        contents: &[Content],
        unquoted: &[String],
        environment: &Environment,
    ) -> Result<Judged<Approved>> {
        // What can't be read is told by the plan, which switches off whatever is there.
        let mut servers = strategy.repository_servers(contents, unquoted).unwrap_or_default();
        // What squire's own list has is approved there, and reaches the agent through squire.
        let live = self.live()?;
        let is_listed = |server: &RepositoryServer| {
            live.iter().any(|entry| {
                let origin = entry.declaration.as_deref().map(|declaration| &declaration.origin);
                entry.server.name.as_str() == server.name
                    && origin.is_some_and(|origin| *origin.path == *Path::new(&server.file))
            })
        };
        servers.retain(|server| !is_listed(server));
        let runs = live.into_iter().filter(|entry| entry.left_out.is_none());
        let listed = runs.map(|entry| entry.server.name.to_string()).collect();
        if servers.is_empty() || self.foreign.is_some() {
            return Ok(Judged { standings: Approved { listed, ..Approved::default() }, notes: Vec::new() });
        }
        let directory = environment.directory()?;
        let judged = self.court(environment).judge_of_agent(strategy.name(), &servers, directory);
        Ok(Judged { standings: Approved { listed, ..judged.standings }, notes: judged.notes })
    }

    /// The servers that the project declares in files of agents.
    fn live(&self) -> Result<Vec<Resolved>> {
        let mut declared = self.layers.project.iter().flat_map(|project| &project.servers);
        if !declared.any(|server| server.origin.layer == LayerKind::Live) {
            return Ok(Vec::new());
        }
        let speaks = |transport: &Transport| transport.remote().is_some();
        let mut entries = everything(&self.layers, &self.standings, &speaks)?.entries;
        entries.retain(Resolved::is_live);
        Ok(entries)
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
