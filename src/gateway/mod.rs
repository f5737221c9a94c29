//! `squire gateway NAME`: what an agent starts in a server's place.
//!
//! It reads the same layers as the launch, resolves the server's references, builds its environment, changes the
//! directory and becomes the server (exec). A server that can't be started is not silence: a stand-in answers the
//! agent with no tools and the reason, so that an agent that requires the server starts all the same.

mod builtin;
mod environment;
mod streams;

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, anyhow, bail};
use squire_strategies::{Name, SWITCHED_OFF, Source, Stdio, Strategy, Text, Transport};

use crate::cli;
use crate::config::{self, Project, Sources};
use crate::environment::Environment;
use crate::exit::Exit;
use crate::mcp::Service;
use crate::output::Output;
use crate::resolve::{Selection, UnknownSelection, needs_relay, resolve, strategy};
use crate::runner::{Boundaries, look_up};

/// Runs the command.
pub fn run(options: &cli::Gateway, environment: &Environment) -> Result<Exit> {
    if options.name == SWITCHED_OFF {
        let reason = "squire has switched this server off for this launch: a file of the repository adds it, and the user has not enabled it.";
        streams::serve(&stand_in(&options.name, reason.into()))?;
        return Ok(Exit::DONE);
    }
    let failure = if options.name == Name::SQUIRE {
        match declared(options) {
            Ok(_) => {
                streams::serve(&builtin::service(options, environment))?;
                return Ok(Exit::DONE);
            }
            Err(failure) => failure,
        }
    } else {
        // On success this process is the server, and nothing returns.
        let Err(failure) = become_server(options, environment);
        failure
    };
    let reason = format!("the server {} could not be started: {failure:#}", options.name);
    Output::default().message(&reason);
    if squire_strategies::find(&options.agent).is_some_and(Strategy::shows_failures) {
        return Ok(Exit::FINDINGS);
    }
    streams::serve(&stand_in(&options.name, reason))?;
    Ok(Exit::FINDINGS)
}

/// Answers in the place of a server that can't be started: no tools, and the reason for the model to read.
fn stand_in(name: &str, reason: String) -> Service {
    Service {
        name: name.into(),
        version: env!("CARGO_PKG_VERSION").into(),
        instructions: Some(reason),
        tools: Vec::new(),
    }
}

fn become_server(options: &cli::Gateway, environment: &Environment) -> Result<std::convert::Infallible> {
    let stdio = chosen(&declared(options)?, environment)?;
    let mut command = prepare(&stdio, options.project.as_deref(), environment)?;
    let error = command.exec();
    let found = command.get_program().display();
    let shown = stdio.command.literal().map_or_else(|| stdio.command.to_string(), |_| found.to_string());
    Err(anyhow!(error).context(format!("{shown} could not be executed")))
}

/// The server as the layers declare it now. The error says why it does not run.
fn declared(options: &cli::Gateway) -> Result<Transport> {
    // A gateway never walks up from its working directory: the project is the one of the entry.
    let project =
        options.project.as_deref().map(|root| Project { root: root.to_path_buf(), declares_in: None });
    let sources = Sources {
        config: &options.config,
        project: project.as_ref(),
        managed: config::MANAGED_POLICY.as_ref(),
    };
    let layers = config::load(sources)?;
    let strategy = strategy(&layers, &options.agent).context("there is no such agent")?;
    // The filters of the entry's profiles hold here too; a project's profiles narrow none of the user's servers.
    let of_user = |name: &&String| layers.user.profiles.iter().any(|profile| profile.name == **name);
    let selection = Selection {
        profiles: options.profiles.iter().filter(of_user).cloned().collect(),
        servers: vec![options.name.clone()],
        agent: Some(options.agent.clone()),
        ..Selection::default()
    };
    let resolution = match resolve(&layers, &selection, &|transport| strategy.speaks(transport)) {
        Err(error) if error.is::<UnknownSelection>() => None,
        resolution => Some(resolution?),
    };
    let mut entries = resolution.into_iter().flat_map(|resolution| resolution.entries);
    let entry = entries
        .find(|entry| entry.server.name.as_str() == options.name)
        .with_context(|| format!("it is not declared in {}", options.config.join("squire.toml").display()))?;
    if let Some(note) = entry.left_out {
        bail!("{}", note.sentence);
    }
    Ok(entry.server.transport)
}

/// The program of a transport, or the one that its reference chooses.
fn chosen(transport: &Transport, environment: &Environment) -> Result<Stdio> {
    let value = |source: &Source| match source {
        Source::Environment(name) => {
            environment::value(environment, name).map(|value| value.to_string_lossy().into_owned())
        }
        Source::Secret(_) => None,
    };
    match transport.chosen(value)?.into_owned() {
        Transport::Stdio(stdio) => Ok(stdio),
        Transport::Builtin | Transport::Dynamic(_) => bail!("it is no program"),
        Transport::Http(_) | Transport::Sse(_) => {
            bail!("{}", needs_relay("a remote server"))
        }
    }
}

/// The server's command. Its errors show strings as they are declared, never a value (case B91).
fn prepare(stdio: &Stdio, project: Option<&Path>, environment: &Environment) -> Result<Command> {
    let variables = variables(stdio, environment)?;
    let mut command = Command::new(program(stdio, project, environment, &variables)?);
    for argument in &stdio.args {
        command.arg(expand(argument, environment).context("args")?);
    }
    if let Some(directory) = working_directory(stdio, environment)? {
        command.current_dir(directory);
    }
    command.env_clear().envs(variables);
    Ok(command)
}

/// The server's environment.
pub(crate) fn variables(stdio: &Stdio, environment: &Environment) -> Result<Vec<(OsString, OsString)>> {
    environment::build(stdio, environment, &|text| expand(text, environment))
}

/// The server's program: a path as it is written, or what its name means on the PATH of the server's environment.
pub(crate) fn program(
    stdio: &Stdio,
    project: Option<&Path>,
    environment: &Environment,
    variables: &[(OsString, OsString)],
) -> Result<PathBuf> {
    let program = expand(&stdio.command, environment).context("command")?;
    if let Some(below_home) = program.strip_prefix("~/") {
        return Ok(environment.home().context("command: there is no home directory")?.join(below_home));
    }
    if program.contains('/') {
        return Ok(PathBuf::from(program));
    }
    let path = variables.iter().find(|(name, _)| name == "PATH").map(|(_, value)| value.as_os_str());
    let found = look_up(program.as_ref(), path, Boundaries { project, squire: None });
    match stdio.command.literal() {
        Some(name) if name.contains(' ') => found.with_context(|| {
            format!("one string is one program; write command = {:?}", name.split(' ').collect::<Vec<_>>())
        }),
        Some(_) => Ok(found?),
        None => found.map_err(|_| anyhow!("{} can't be found on PATH, or can't be executed", stdio.command)),
    }
}

/// Where the server runs, where that is written.
pub(crate) fn working_directory(stdio: &Stdio, environment: &Environment) -> Result<Option<PathBuf>> {
    let Some(cwd) = &stdio.cwd else { return Ok(None) };
    let directory = directory(&expand(cwd, environment).context("cwd")?, environment)?;
    if !directory.is_dir() {
        let shown = cwd.literal().map_or_else(|| cwd.to_string(), |_| directory.display().to_string());
        bail!("cwd: {shown} is no directory");
    }
    Ok(Some(directory))
}

/// A relative directory of the user's layer is below the home directory.
fn directory(written: &str, environment: &Environment) -> Result<PathBuf> {
    let below_home = match written.strip_prefix('~') {
        Some("") => "",
        Some(rest) => rest.strip_prefix('/').unwrap_or(written),
        None if Path::new(written).is_absolute() => return Ok(PathBuf::from(written)),
        None => written,
    };
    Ok(environment.home().context("cwd: there is no home directory")?.join(below_home))
}

fn expand(text: &Text, environment: &Environment) -> Result<String> {
    let mut not_text = None;
    let expanded = text.expand(|source| match source {
        Source::Environment(name) => {
            let value: OsString = environment::value(environment, name)?.to_owned();
            value.into_string().map_err(|_| not_text = Some(name.clone())).ok()
        }
        Source::Secret(_) => None,
    });
    match (expanded, not_text) {
        (_, Some(name)) => bail!("the variable {name} is not UTF-8"),
        (Ok(expanded), None) => Ok(expanded),
        (Err(missing), None) => bail!("{missing} is not set"),
    }
}
