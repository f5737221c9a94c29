//! `squire gateway NAME`: what an agent starts in a server's place.
//!
//! It reads the same layers as the launch, fetches the secrets that the server refers to and resolves its references.
//! Then it stays between the agent and the server: the [`engine`] moves lines, the pure [`squire_relay`] says what
//! becomes of each, and an [`upstream`] is what both wait at: a [`program`], whose parent is a [`warden`], or a [`remote`]
//! server. A server that can't be started is not silence: the agent is answered with no tools and the reason, so that one
//! that requires the server starts all the same.

mod again;
mod agent;
pub(crate) mod audit;
mod builtin;
mod child;
mod delivery;
mod engine;
mod environment;
mod input;
mod launch;
mod lines;
pub(crate) mod memory;
mod policy;
mod program;
mod ready;
mod remote;
mod spill;
mod start;
mod stderr;
mod streams;
mod upstream;
mod warden;

use std::rc::Rc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use squire_strategies::{LAUNCH_VARIABLE, Name, SWITCHED_OFF, Source, Strategy, Transport, export};

use crate::cli;
use crate::config::{self, Declaration, Policy, Project, Sources};
use crate::delivery::code;
use crate::environment::Environment;
use crate::exit::Exit;
use crate::mcp::Service;
use crate::output::Output;
use crate::resolve::{Resolved, Selection, Standing, UnknownSelection, community, resolve, strategy};
use crate::secrets::{self, Lack, Secrets, Values};
use crate::trust::Court;
use crate::trust::digest::{Canonical, digest};
use crate::trust::pins::{Subject, pin_of};
pub(crate) use again::{DIRECTORY as ENABLED, try_again};
use audit::{Audit, AuditKind};
use delivery::Delivery;
use engine::Engine;
use launch::Launch;
use memory::Remembered;
use program::Program;
use remote::{Remote, target};
use spill::SpillFiles;
use squire_relay::Relay;
pub(crate) use start::{Held, Starter};
use upstream::Upstream;
pub use warden::run as run_warden;

/// How long what was read of the layers holds. An agent greets at once, and its server is started for that.
const FRESH: Duration = Duration::from_millis(250);

/// Runs the command.
pub fn run(options: &cli::Gateway, environment: &Environment) -> Result<Exit> {
    if options.name == SWITCHED_OFF {
        let reason = "squire has switched this server off for this launch: a file of the repository adds it, and the user has not enabled it.";
        streams::serve(&stand_in(&options.name, reason.into()))?;
        return Ok(Exit::DONE);
    }
    let launch = Launch::of(options, environment);
    let failure = if options.name == Name::SQUIRE {
        match declared(options, environment, &launch) {
            Ok(_) => {
                streams::serve(&builtin::service(options, environment))?;
                return Ok(Exit::DONE);
            }
            Err(failure) => failure,
        }
    } else {
        match relay(options, environment, &launch) {
            Ok(exit) => return Ok(exit),
            Err(failure) => failure,
        }
    };
    let reason = format!("the server {} could not be started: {failure:#}", options.name);
    Output::default().message(&reason);
    delivery(options, &launch).gap(code::REFUSED, &format!("{failure:#}"));
    if shows_failures(options) || launch.requires(&options.name) {
        streams::refuse(&format!("{}: {failure:#}", options.name))?;
    } else {
        streams::serve(&stand_in(&options.name, reason))?;
    }
    Ok(Exit::FINDINGS)
}

/// Answers in the place of a server that can't be started: no tools, and the reason for the model to read.
fn stand_in(name: &str, reason: String) -> Service {
    Service {
        name: name.into(),
        version: env!("CARGO_PKG_VERSION").into(),
        instructions: Some(reason),
        tools: Vec::new(),
        heard: Box::new(|_| {}),
    }
}

/// Stays between the agent and the server until the agent has said all. The error says why there is nothing to start.
fn relay(options: &cli::Gateway, environment: &Environment, launch: &Launch) -> Result<Exit> {
    let read = Instant::now();
    let (entry, limits) = declared(options, environment, launch)?;
    let transport = chosen(&entry.server.transport, environment)?;
    let values = Rc::new(secrets(&entry, &transport, options, environment)?);
    // A server that ends may be started again hours later: what was true of it may not be any more.
    let permit = || {
        if read.elapsed() < FRESH {
            return Ok(());
        }
        let (now, _) = declared(options, environment, &Launch::of(options, environment))?;
        let of = |entry: &Resolved| {
            entry.declaration.as_deref().map(|declaration| digest(&Canonical(declaration)))
        };
        ensure!(
            of(&now) == of(&entry),
            "its declaration has changed since it was started first; launch again"
        );
        Ok(())
    };
    let behind = Behind { entry: &entry, limits: &limits, values: &values, permit: &permit, launch };
    match &transport {
        Transport::Stdio(stdio) => {
            let (project, held) = (options.project.as_deref(), Held::Values(&values));
            let starter = Starter { stdio, project, environment, held };
            // What is wrong before the start gets better by none.
            starter.command()?;
            let (squire, shown) = (environment.squire()?.into(), stdio.command.to_string());
            let mut upstream = Program::new(squire, shown, Rc::clone(&values), || starter.command());
            relay_to(&mut upstream, behind, options, environment)
        }
        Transport::Http(remote) | Transport::Sse(remote) => {
            let is_sse = matches!(transport, Transport::Sse(_));
            let target = target(remote, is_sse, &entry, environment, Held::Values(&values))?;
            relay_to(&mut Remote::new(target)?, behind, options, environment)
        }
        Transport::Builtin | Transport::Dynamic(_) => bail!("it is no server of its own"),
    }
}

/// What is known of the server that is relayed to.
#[derive(Clone, Copy)]
struct Behind<'a> {
    entry: &'a Resolved,
    limits: &'a Policy,
    values: &'a Values,
    /// Whether it may be started still.
    permit: &'a dyn Fn() -> Result<()>,
    launch: &'a Launch,
}

fn relay_to(
    upstream: &mut dyn Upstream,
    behind: Behind<'_>,
    options: &cli::Gateway,
    environment: &Environment,
) -> Result<Exit> {
    let Behind { entry, limits, values, permit, launch } = behind;
    let (declaration, state) = (entry.declaration.as_deref(), &options.state);
    // What the user does is no agent's doing.
    let agent = if options.candid { squire_strategies::OWN_AGENT } else { &options.agent };
    let audit = Audit::open(state, launch.id(), agent, &options.name, AuditKind::of(declaration));
    let mut delivery = delivery(options, launch);
    let shows_failures = shows_failures(options) || launch.requires(&options.name);
    let mut remembered = declaration.map(|declaration| {
        let project = project(options);
        let subject = Subject::of(declaration, court(options, project.as_ref(), environment));
        Remembered::new(state, subject, pin_of(declaration, entry.server.tier), !shows_failures)
    });
    let past = remembered.as_mut().map(Remembered::past).unwrap_or_default();
    // Whoever is answered from memory may never call it.
    if past.memory.is_empty() {
        upstream.prepare();
    }
    let mut spill = SpillFiles::new(state, launch.id(), SpillFiles::are_wanted(declaration, limits));
    let engine = Engine {
        relay: Relay::new(policy::of(entry, options, shows_failures, audit.seal())).with_past(past),
        upstream,
        spill: &mut spill,
        audit: &audit,
        delivery: &mut delivery,
        remembered: remembered.as_mut(),
        values,
        permit,
        is_enabled: &|after| again::is_wanted(state, &options.name, after),
        name: &options.name,
    };
    engine.run()
}

/// Whether the agent tells by itself what a gateway says that could not start its server.
fn shows_failures(options: &cli::Gateway) -> bool {
    options.candid || squire_strategies::find(&options.agent).is_some_and(Strategy::shows_failures)
}

/// Where it is reported how far the server has come: to its launch, unless it is squire's own client that asks.
fn delivery(options: &cli::Gateway, launch: &Launch) -> Delivery {
    Delivery::new(options.state.clone(), launch.id().filter(|_| !options.candid), &options.name)
}

/// The server as the layers declare it now, and the policy. The error says why it does not run.
fn declared(
    options: &cli::Gateway,
    environment: &Environment,
    launch: &Launch,
) -> Result<(Resolved, Policy)> {
    let project = project(options);
    let sources = Sources {
        config: &options.config,
        state: &options.state,
        project: project.as_ref(),
        managed: config::MANAGED_POLICY.as_ref(),
    };
    let layers = config::load(sources)?;
    let strategy = strategy(&layers, &options.agent);
    // An editor that squire does not launch reaches nothing but gateways.
    ensure!(strategy.is_some() || export::format(&options.agent).is_some(), "there is no such agent");
    let speaks = |transport: &Transport| strategy.is_some_and(|strategy| strategy.speaks(transport));
    // The filters of the entry's profiles hold here too, and those of its launch, whoever wrote the entry: launches may
    // share a file. A project's profiles narrow none of the user's servers.
    let mut profiles = options.profiles.clone();
    profiles.extend(launch.profiles().filter(|name| !options.profiles.contains(name)));
    let of_project = layers.project.iter().flat_map(|project| &project.profiles);
    let declared = |name: &&String| {
        layers.user.profiles.iter().chain(of_project.clone()).any(|profile| profile.name == **name)
    };
    let selection = Selection {
        profiles: profiles.into_iter().filter(|name| declared(&name)).collect(),
        servers: vec![options.name.clone()],
        agent: Some(options.agent.clone()),
        ..Selection::default()
    };
    let court = court(options, project.as_ref(), environment);
    // Judged here again: between the launch and now a repository may have changed.
    let mut others = community(&layers);
    others.retain(|declaration| declaration.name.as_str() == options.name);
    let mut standings = court.judge(&others).standings;
    if let Some(tried) = options.trial.as_ref().filter(|_| environment.get(LAUNCH_VARIABLE).is_none()) {
        // Never what a repository declares, and never inside a launch.
        let is_tried = |declaration: &&Rc<Declaration>| {
            !declaration.origin.layer.is_project() && digest(&Canonical(declaration)) == *tried
        };
        let tried = others.iter().filter(is_tried);
        standings.extend(tried.map(|declaration| (declaration.name.to_string(), Standing::Approved)));
    }
    let resolution = match resolve(&layers, &standings, &selection, &speaks) {
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
    if let Some(declaration) = &entry.declaration {
        let digest = digest(&Canonical(declaration));
        if let Err(reason) = launch.has_given(&options.name, &digest)
            && court.approval(declaration).is_none()
        {
            bail!("{reason}; launch again, or in another terminal: squire approve {}", options.name);
        }
    }
    Ok((entry, layers.policy))
}

/// A gateway never walks up from its working directory: the project is the one of the entry.
fn project(options: &cli::Gateway) -> Option<Project> {
    options.project.as_deref().map(|root| Project {
        root: root.to_path_buf(),
        declares_in: Some(options.declared_in.clone().unwrap_or_else(|| root.to_path_buf())),
    })
}

fn court<'a>(
    options: &'a cli::Gateway,
    project: Option<&'a Project>,
    environment: &'a Environment,
) -> Court<'a> {
    Court { state: &options.state, project, path: environment.passed_on("PATH") }
}

/// The transport, or the one that its reference chooses.
fn chosen(transport: &Transport, environment: &Environment) -> Result<Transport> {
    let value = |source: &Source| match source {
        Source::Environment(name) => {
            environment.passed_on(name).map(|value| value.to_string_lossy().into_owned())
        }
        Source::Secret(_) => None,
    };
    Ok(transport.chosen(value)?.into_owned())
}

/// The values of the secrets that the chosen transport refers to, and of no other. A server that is left out never comes
/// here, so that nothing is fetched for it (case B89).
fn secrets(
    entry: &Resolved,
    transport: &Transport,
    options: &cli::Gateway,
    environment: &Environment,
) -> Result<Values> {
    let declaration = entry.declaration.as_deref().filter(|_| transport.remote().is_some());
    let names = secrets::of_declaration(transport, declaration);
    if names.is_empty() {
        return Ok(Values::default());
    }
    let secrets = Secrets::load(&options.config)?;
    let mut wanted = Vec::new();
    for name in names {
        match (secrets.find(name), secrets.lack(name, &options.name, entry.is_project(), environment)) {
            (Some(secret), None) => wanted.push(secret),
            (_, Some(Lack::Unknown { sentence, mend } | Lack::Unusable { sentence, mend })) => {
                bail!("it needs the secret `{name}`{sentence}; {mend}");
            }
            (None, None) => bail!("it needs the secret `{name}`, which is not there"),
        }
    }
    secrets::guard();
    let (values, failures) = secrets::fetch(&wanted, &secrets.path, environment, options.project.as_deref());
    match failures.first() {
        None => Ok(values),
        // What a command said on stderr is for the user: this reason is read by a model.
        Some((name, failure)) => {
            bail!("it needs the secret `{name}`: {}; squire secret check {name} tells more", failure.reason)
        }
    }
}
