//! `squire launch`: equips an agent with servers and runs it.

use std::borrow::Cow;

use anyhow::{Result, bail};
use serde_json::json;
use squire_strategies::{Code, Note, ResolvedServer, Source, Transport};

use super::{Surroundings, shown, squire};
use crate::cli;
use crate::environment::Environment;
use crate::exit::Exit;
use crate::output::Output;
use crate::plan::Plan;
use crate::report;
use crate::resolve::{Resolution, Selection, needs_relay};
use crate::runner;

/// Runs the command. An error means that no agent was started and nothing is left behind.
pub fn run(options: &cli::Launch, environment: &Environment) -> Result<Exit> {
    let output = Output { quiet: options.quiet };
    let surroundings = Surroundings::find(environment)?;
    let agent = surroundings.agent(&options.agent)?;
    let selection = Selection {
        profiles: options.profiles.clone(),
        servers: options.servers.clone(),
        agent: Some(agent.name.clone()),
    };
    let mut resolution = surroundings.resolve(&agent, &selection, environment)?;
    resolution.strict |= options.strict;
    resolution.require.extend(options.require.iter().cloned());
    if options.allow_missing {
        leave_out_missing(&mut resolution, environment);
    }
    let plan = surroundings.plan(&agent, &resolution, &selection, &options.arguments, environment)?;
    if plan.no_session().is_none() {
        surroundings.directories.refuse_foreign(surroundings.project.as_ref(), environment)?;
        refuse_missing(&plan.delivered(), environment)?;
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
    };
    let announce = || tell(&plan, options, output, &surroundings);
    runner::run(&plan, &program?, around, output, announce)
}

/// The transport that the environment chooses, where it is to be chosen; the fields of the others are left out.
fn chosen<'a>(server: &'a ResolvedServer, environment: &Environment) -> Result<Cow<'a, Transport>, String> {
    server.transport.chosen(|source| match source {
        Source::Environment(name) => environment.get(name).map(|value| value.to_string_lossy().into_owned()),
        Source::Secret(_) => None,
    })
}

/// What a server needs of the environment and does not find there, each as a sentence.
pub(super) fn missing(server: &ResolvedServer, environment: &Environment) -> Vec<String> {
    let chosen = match chosen(server, environment) {
        Ok(chosen) => chosen,
        Err(sentence) => return vec![sentence],
    };
    let mut missing = Vec::new();
    for (field, text) in chosen.texts() {
        for reference in text.references() {
            match &reference.source {
                Source::Environment(name)
                    if reference.default.is_none() && environment.get(name).is_none() =>
                {
                    missing.push(format!("{field} needs {reference}, which is not set or empty"));
                }
                Source::Environment(_) | Source::Secret(_) => {}
            }
        }
    }
    missing
}

/// Names everything that a server needs and that is not there, all at once (case B21).
fn refuse_missing(servers: &[&ResolvedServer], environment: &Environment) -> Result<()> {
    let named = |server: &&ResolvedServer| {
        let missing = missing(server, environment);
        missing.into_iter().map(|sentence| format!("{}: {sentence}", server.name)).collect::<Vec<_>>()
    };
    let missing: Vec<String> = servers.iter().flat_map(named).collect();
    if !missing.is_empty() {
        bail!(
            "nothing was started:\n  {}\n  help: set it, give it a default as in ${{env:NAME:-default}}, or leave such servers out with --allow-missing",
            missing.join("\n  ")
        );
    }
    Ok(())
}

/// Leaves the servers out that need what is not there.
fn leave_out_missing(resolution: &mut Resolution, environment: &Environment) {
    for entry in resolution.entries.iter_mut().filter(|entry| entry.left_out.is_none()) {
        if let Some(sentence) = missing(&entry.server, environment).into_iter().next() {
            let server = Some(entry.server.name.clone());
            entry.left_out = Some(Note { code: Code::Unresolved, server, sentence, mend: None });
        }
    }
}

/// Leaves the servers out whose chosen transport the gateway would refuse (case B86).
pub(super) fn leave_out_chosen_remote(resolution: &mut Resolution, environment: &Environment) {
    for entry in resolution.entries.iter_mut().filter(|entry| entry.left_out.is_none()) {
        let is_remote = matches!(entry.server.transport, Transport::Dynamic(_))
            && chosen(&entry.server, environment).is_ok_and(|chosen| chosen.remote().is_some());
        if is_remote && missing(&entry.server, environment).is_empty() {
            let server = Some(entry.server.name.clone());
            let sentence = needs_relay("a remote server that is chosen when it starts");
            entry.left_out = Some(Note { code: Code::NeedsRelay, server, sentence, mend: None });
        }
    }
}

/// `--require`: a server that the agent would not get refuses the launch, as far as that is known before the start.
fn refuse_without_required(plan: &Plan, required: &[String]) -> Result<()> {
    let lacking = lacking(plan, required);
    if !lacking.is_empty() {
        let lines: Vec<String> = lacking.iter().map(|(name, reason)| format!("{name}: {reason}")).collect();
        bail!("nothing was started, as it lacks what is required:\n  {}", lines.join("\n  "));
    }
    Ok(())
}

/// The required servers that a plan does not deliver, each with the reason.
pub(super) fn lacking(plan: &Plan, required: &[String]) -> Vec<(String, String)> {
    let delivered: Vec<&str> = plan.delivered().iter().map(|server| server.name.as_str()).collect();
    let all = required.iter().any(|name| name == "all");
    let wanted = plan.servers.iter().map(|server| server.name.as_str()).filter(|_| all);
    let named = required.iter().map(String::as_str).filter(|name| *name != "all");
    let mut lacking: Vec<(String, String)> = Vec::new();
    let obstacles = plan.obstacles();
    for name in wanted.chain(named).filter(|name| !delivered.contains(name)) {
        let obstacle = obstacles.iter().find(|(server, _)| server.as_str() == name);
        let reason = obstacle.map(|(_, note)| note.sentence.as_str());
        let one = (name.to_owned(), reason.unwrap_or("it is not selected").to_owned());
        if !lacking.contains(&one) {
            lacking.push(one);
        }
    }
    lacking
}

/// Says what the agent gets, on stderr, as stdout is the agent's.
fn tell(plan: &Plan, options: &cli::Launch, output: Output, surroundings: &Surroundings) {
    if options.json && !options.quiet {
        let notes: Vec<_> = plan.artifacts.notes.iter().map(report::note).collect();
        output.machine(
            &json!({ "agent": plan.agent, "servers": report::servers(plan), "notes": notes }).to_string(),
        );
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
