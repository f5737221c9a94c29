//! `squire launch`: equips an agent with servers and runs it.

use anyhow::{Result, bail};
use serde_json::json;

use super::needs::{leave_out_missing, refuse_missing};
use super::{Surroundings, shown, squire};
use crate::cli;
use crate::config::Origin;
use crate::environment::Environment;
use crate::exit::Exit;
use crate::output::Output;
use crate::plan::Plan;
use crate::report;
use crate::resolve::{ALL, Required, Selection};
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
        require: options.require.clone(),
    };
    let mut resolution = surroundings.resolve(&agent, &selection, environment)?;
    resolution.strict |= options.strict;
    resolution.agent_servers = options.agent_servers;
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
