//! `squire describe`: how an agent takes servers, and what a launch would give it.

use std::fmt::Write as _;

use anyhow::Result;
use serde_json::{Value, json};
use squire_strategies::{AGENTS, Program, Strategy};

use super::{Surroundings, shown, squire};
use crate::cli;
use crate::environment::Environment;
use crate::exit::Exit;
use crate::output::Output;
use crate::resolve::Selection;

/// Runs the command.
pub fn run(options: &cli::Describe, environment: &Environment) -> Result<Exit> {
    let output = Output::default();
    match &options.agent {
        None if options.json => output.data(&format!("{:#}\n", all_as_json()))?,
        None => output.data(&all_as_text())?,
        Some(agent) => {
            let surroundings = Surroundings::find(environment)?;
            surroundings.directories.refuse_foreign(surroundings.project.as_ref(), environment)?;
            let agent = surroundings.agent(agent)?;
            let selection = Selection {
                profiles: options.profiles.clone(),
                agent: Some(agent.name.clone()),
                ..Selection::default()
            };
            let resolution = surroundings.resolve(&agent, &selection, environment)?;
            let plan = surroundings.plan(&agent, &resolution, &selection, &[], environment)?;
            let program = surroundings.program(&agent, &squire(environment)?, environment);
            output.data(&shown(&plan, &program, options.json))?;
        }
    }
    Ok(Exit::DONE)
}

fn program_word(strategy: &dyn Strategy) -> &'static str {
    match strategy.program() {
        Program::Named(name) => name,
        Program::Squire(_) => "squire",
    }
}

fn all_as_text() -> String {
    let width = AGENTS.iter().map(|strategy| strategy.name().len()).max().unwrap_or_default();
    AGENTS.iter().fold(String::new(), |mut text, strategy| {
        let description = strategy.description();
        let _ = writeln!(text, "{:width$}  {}: {}", strategy.name(), description.title, description.carries);
        text
    })
}

fn all_as_json() -> Value {
    let agents: Vec<Value> = AGENTS
        .iter()
        .map(|strategy| {
            let description = strategy.description();
            json!({
                "agent": strategy.name(),
                "title": description.title,
                "program": program_word(*strategy),
                "carries": description.carries,
                "same_name": description.same_name,
                "approval": description.approval,
                "verified": description.verified,
            })
        })
        .collect();
    json!({ "agents": agents })
}
