//! `squire launch`: equips an agent with servers and runs it.

use anyhow::{Result, bail};
use serde_json::json;
use squire_strategies::{ResolvedServer, Source};

use super::{Surroundings, shown, squire, strategy};
use crate::cli;
use crate::environment::Environment;
use crate::exit::Exit;
use crate::output::Output;
use crate::plan::Plan;
use crate::report;
use crate::resolve::Selection;
use crate::runner::{self, AgentProgram};

/// Runs the command. An error means that no agent was started and nothing is left behind.
pub fn run(options: &cli::Launch, environment: &Environment) -> Result<Exit> {
    let output = Output { quiet: options.quiet };
    let strategy = strategy(&options.agent)?;
    let selection = Selection { profiles: options.profiles.clone(), servers: options.servers.clone() };
    let surroundings = Surroundings::find(environment)?;
    surroundings.directories.refuse_foreign(surroundings.project.as_ref())?;
    let resolution = surroundings.resolve(strategy, &selection)?;
    refuse_unset(&resolution.servers(), environment)?;
    let plan = surroundings.plan(strategy, &resolution, &selection, &options.arguments, environment)?;
    let squire = squire(environment)?;
    let program = AgentProgram::find(strategy.program(), &squire, surroundings.project_root(), environment);
    if options.dry_run {
        output.data(&shown(&plan, &program, options.json));
        return Ok(Exit::DONE);
    }
    let around = runner::Surroundings {
        environment,
        directories: &surroundings.directories,
        project: surroundings.project_root(),
    };
    let announce = || tell(&plan, options, output, &surroundings);
    runner::run(&plan, &program?, &options.arguments, around, output, announce)
}

/// Names every variable that a selected server needs and that is not there, all at once (case B21).
fn refuse_unset(servers: &[&ResolvedServer], environment: &Environment) -> Result<()> {
    let mut missing = Vec::new();
    for server in servers {
        for (field, text) in server.transport.texts() {
            for reference in text.references() {
                match &reference.source {
                    Source::Environment(name)
                        if reference.default.is_none() && environment.get(name).is_none() =>
                    {
                        missing.push(format!("{}: {field} needs {reference}, which is not set", server.name));
                    }
                    Source::Environment(_) | Source::Secret(_) => {}
                }
            }
        }
    }
    if !missing.is_empty() {
        bail!(
            "nothing was started:\n  {}\n  help: set it, or give it a default as in ${{env:NAME:-default}}",
            missing.join("\n  ")
        );
    }
    Ok(())
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
    let declarations = &surroundings.layers.user.declarations;
    if declarations.servers.is_empty() && surroundings.layers.project.is_none() {
        let file = surroundings.directories.user_file();
        output
            .notice(&format!("no server of yours is declared: write [servers.NAME] into {}", file.display()));
    }
}
