//! `squire launch`: equips an agent with servers and runs it.

use std::mem::ManuallyDrop;

use anyhow::{Result, anyhow, bail};
use serde_json::json;
use squire_strategies::{Code, LAUNCH_VARIABLE};

use super::approve::{Question, ask, can_ask};
use super::needs::{leave_out_missing, refuse_missing};
use super::{Surroundings, shown, squire};
use crate::cli;
use crate::config::Origin;
use crate::environment::Environment;
use crate::exit::Exit;
use crate::output::Output;
use crate::plan::Plan;
use crate::report;
use crate::resolve::{ALL, Required, Resolution, Resolved, Selection};
use crate::runner;
use crate::trust::digest::{Canonical, digest};
use crate::tty::Terminal;

/// Runs the command. An error means that no agent was started and nothing is left behind.
pub fn run(options: &cli::Launch, environment: &Environment) -> Result<Exit> {
    let output = Output { quiet: options.quiet };
    // The process ends with the launch: nobody has to wait until these are taken apart.
    let mut surroundings = ManuallyDrop::new(Surroundings::find(environment)?);
    let agent = surroundings.agent(&options.agent)?;
    let selection = Selection {
        profiles: options.profiles.clone(),
        servers: options.servers.clone(),
        agent: Some(agent.name.clone()),
        require: options.require.clone(),
    };
    let mut resolution = ManuallyDrop::new(surroundings.resolve(&agent, &selection)?);
    if ask_about(&resolution, options, &surroundings, environment)? {
        surroundings.judge(environment);
        *resolution = surroundings.resolve(&agent, &selection)?;
    }
    resolution.strict |= options.strict;
    resolution.agent_servers = options.agent_servers;
    if options.allow_missing {
        let selected = resolution.entries.iter().filter(|entry| entry.left_out.is_none());
        // Where secrets.toml can't be read the launch is refused below, unless it has no use for servers.
        if let Ok(holders) = surroundings.holders(selected, environment) {
            leave_out_missing(&mut resolution, holders);
        }
    }
    let plan = ManuallyDrop::new(surroundings.plan(&agent, &resolution, &options.arguments, environment)?);
    if plan.no_session().is_none() {
        surroundings.refuse_foreign()?;
        let delivered = resolution.entries_of(&plan.delivered());
        let holders = surroundings.holders(delivered.iter().copied(), environment);
        refuse_missing(&delivered, holders.map_err(|error| anyhow!("nothing was started:\n{error:#}"))?)?;
        refuse_without_required(&plan, &resolution.require)?;
    }
    let squire = squire(environment)?;
    let program = surroundings.program(&agent, &squire, environment);
    if options.dry_run {
        output.data(&shown(&plan, &program, options.json))?;
        return Ok(Exit::DONE);
    }
    let around = runner::Surroundings {
        environment,
        directories: &surroundings.directories,
        project: surroundings.project_root(),
        digests: &digests(&resolution),
        required: &required(&plan, &resolution.require),
        profiles: &resolution.profiles,
    };
    let announce = || tell(&plan, options, output, &surroundings);
    runner::run(&plan, &program?, around, output, announce)
}

/// Asks about the selected servers that wait for the user's word, where somebody can be asked. Whether there was one.
fn ask_about(
    resolution: &Resolution,
    options: &cli::Launch,
    surroundings: &Surroundings,
    environment: &Environment,
) -> Result<bool> {
    let waits =
        |entry: &&Resolved| entry.left_out.as_ref().is_some_and(|note| note.code == Code::NotApproved);
    let waiting: Vec<&Resolved> = resolution.entries.iter().filter(waits).collect();
    let is_silent = options.quiet || options.json || options.dry_run;
    if waiting.is_empty() || is_silent || environment.get(LAUNCH_VARIABLE).is_some() || !can_ask(environment)
    {
        return Ok(false);
    }
    let foreign = surroundings.refuse_foreign();
    let Some(terminal) = foreign.ok().and_then(|()| Terminal::open().ok()) else { return Ok(false) };
    let court = surroundings.court(environment);
    // One that can't be approved as it is stays left out; `squire approve` says why.
    let question =
        |entry: &Resolved| Question::of(entry, entry.declaration.as_deref()?, court, environment).ok();
    let questions: Vec<Question> = waiting.into_iter().filter_map(question).collect();
    if questions.is_empty() {
        return Ok(false);
    }
    ask(terminal, &questions, court)?;
    Ok(true)
}

/// What the selected servers are, word for word.
fn digests(resolution: &Resolution) -> runner::Digests {
    let of_declaration = |entry: &Resolved| {
        let declaration = entry.declaration.as_deref()?;
        Some((entry.server.name.to_string(), digest(&Canonical(declaration))))
    };
    resolution.entries.iter().filter(|entry| entry.left_out.is_none()).filter_map(of_declaration).collect()
}

/// `--require`: a server that the agent would not get refuses the launch, as far as that is known before the start.
fn refuse_without_required(plan: &Plan, required: &[Required]) -> Result<()> {
    let lacking = lacking(plan, required);
    if !lacking.is_empty() {
        let lines: Vec<String> =
            lacking.iter().map(|lacking| format!("{}: {}", lacking.server, lacking.reason)).collect();
        bail!("nothing was started, as it lacks what is required:\n  {}", lines.join("\n  "));
    }
    Ok(())
}

/// The names of the required servers, `all` being every one that the agent gets.
fn required(plan: &Plan, required: &[Required]) -> Vec<String> {
    let delivered = plan.delivered().into_iter().map(|server| server.name.to_string());
    let is_required =
        |name: &String| required.iter().any(|required| required.name == ALL || required.name == *name);
    delivered.filter(is_required).collect()
}

/// A required server that a plan does not deliver.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Lacking {
    pub(super) server: String,
    pub(super) reason: String,
    /// The profile's word for it.
    pub(super) origin: Option<Origin>,
}

/// The required servers that a plan does not deliver, each once.
pub(super) fn lacking(plan: &Plan, required: &[Required]) -> Vec<Lacking> {
    let delivered: Vec<&str> = plan.delivered().iter().map(|server| server.name.as_str()).collect();
    let obstacles = plan.obstacles();
    let mut lacking: Vec<Lacking> = Vec::new();
    for Required { name, origin } in required {
        let selected = plan.servers.iter().map(|server| server.name.as_str()).filter(|_| name == ALL);
        let named = Some(name.as_str()).filter(|name| *name != ALL);
        for name in selected.chain(named).filter(|name| !delivered.contains(name)) {
            if !lacking.iter().any(|other| other.server == name) {
                let obstacle = obstacles.iter().find(|(server, _)| server.as_str() == name);
                let reason = obstacle.map_or("it is not selected", |(_, note)| note.sentence.as_str());
                lacking.push(Lacking {
                    server: name.to_owned(),
                    reason: reason.to_owned(),
                    origin: origin.clone(),
                });
            }
        }
    }
    lacking
}

/// Says what the agent gets, on stderr, as stdout is the agent's.
fn tell(plan: &Plan, options: &cli::Launch, output: Output, surroundings: &Surroundings) {
    if options.json && !options.quiet {
        let notes: Vec<_> = plan.artifacts.notes.iter().map(report::note).collect();
        let told = json!({
            "agent": plan.agent,
            "servers": report::servers(plan),
            "notes": notes,
            "switched_off": report::switched_off(plan),
        });
        output.machine(&told.to_string());
        return;
    }
    output.notice(&plan.summary());
    let declarations = &surroundings.layers.user;
    if declarations.servers.is_empty() && surroundings.layers.project.is_none() {
        let file = surroundings.directories.user_file();
        output
            .notice(&format!("no server of yours is declared: write [servers.NAME] into {}", file.display()));
    }
}
