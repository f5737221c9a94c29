//! `squire describe`: how an agent takes servers, and what a launch would give it.

use std::fmt::Write as _;

use anyhow::Result;
use serde_json::{Value, json};
use squire_strategies::Program;

use super::{Agent, Surroundings, shown, squire};
use crate::cli;
use crate::environment::Environment;
use crate::exit::Exit;
use crate::output::Output;
use crate::printable::printable;
use crate::resolve::Selection;

/// Runs the command.
pub fn run(options: &cli::Describe, environment: &Environment) -> Result<Exit> {
    let output = Output::default();
    let surroundings = Surroundings::find(environment)?;
    match &options.agent {
        None if options.json => output.data(&format!("{:#}\n", all_as_json(&surroundings.agents()?)))?,
        None => output.data(&all_as_text(&surroundings.agents()?))?,
        Some(agent) => {
            surroundings.refuse_foreign()?;
            let agent = surroundings.agent(agent)?;
            let selection = Selection {
                profiles: options.profiles.clone(),
                agent: Some(agent.name.clone()),
                ..Selection::default()
            };
            let resolution = surroundings.resolve(&agent, &selection)?;
            let plan = surroundings.plan(&agent, &resolution, &[], environment)?;
            let program = surroundings.program(&agent, &squire(environment)?, environment);
            let delivered = resolution.entries_of(&plan.delivered());
            if let Err(error) = surroundings.holders(delivered.into_iter(), environment) {
                // A launch would be refused; what is shown lacks the variables that are written there.
                output.message(&format!("{error:#}"));
            }
            output.data(&shown(&plan, &program, options.json))?;
        }
    }
    Ok(Exit::DONE)
}

fn program_word(agent: &Agent) -> &str {
    let own = agent.program.as_ref().and_then(|words| words.first());
    match (own, agent.strategy.program()) {
        (Some(own), _) => own,
        (None, Program::Named(name)) => name,
        (None, Program::Squire(_)) => "squire",
    }
}

/// Whether it is one of the user's own, which speaks the language of one that squire knows.
fn is_own(agent: &Agent) -> bool {
    agent.name != agent.strategy.name()
}

fn all_as_text(agents: &[Agent]) -> String {
    let width = agents.iter().map(|agent| agent.name.len()).max().unwrap_or_default();
    agents.iter().fold(String::new(), |mut text, agent| {
        let description = agent.strategy.description();
        let own = if is_own(agent) {
            format!(" ({}, as {})", program_word(agent), agent.strategy.name())
        } else {
            String::new()
        };
        // Writing to a string can't fail.
        let _ = writeln!(
            text,
            "{:width$}  {}{}: {}",
            printable(&agent.name),
            description.title,
            printable(&own),
            description.carries
        );
        text
    })
}

fn all_as_json(agents: &[Agent]) -> Value {
    let agents: Vec<Value> = agents
        .iter()
        .map(|agent| {
            let description = agent.strategy.description();
            json!({
                "agent": agent.name,
                "strategy": agent.strategy.name(),
                "title": description.title,
                "program": program_word(agent),
                "carries": description.carries,
                "same_name": description.same_name,
                "approval": description.approval,
                "verified": description.verified,
            })
        })
        .collect();
    json!({ "agents": agents })
}
