//! `squire check`: everything that is wrong or will be left out, before a launch.

use anyhow::Result;
use squire_strategies::{Code, ResolvedServer, Transport};

use super::launch::{lacking, missing};
use super::{Agent, Surroundings, squire};
use crate::cli;
use crate::config::{Problems, Project};
use crate::environment::Environment;
use crate::exit::Exit;
use crate::findings::{self, AgentView, Finding, Known, Severity, count, render, sarif};
use crate::output::Output;
use crate::resolve::{Resolution, Resolved, Selection, everything};

/// Runs the command.
pub fn run(options: &cli::Check, environment: &Environment) -> Result<Exit> {
    let findings = find(options, environment)?;
    let text = if options.sarif {
        format!("{:#}\n", sarif::sarif(&findings))
    } else if options.json {
        format!("{:#}\n", render::json(&findings))
    } else {
        render::text(&findings)
    };
    Output::default().data(&text);
    let is_clean =
        [Severity::Error, Severity::Warning].iter().all(|severity| count(&findings, *severity) == 0);
    Ok(if is_clean { Exit::DONE } else { Exit::FINDINGS })
}

/// An error is a wrong command line; what is wrong with the files is a finding.
fn find(options: &cli::Check, environment: &Environment) -> Result<Vec<Finding>> {
    let surroundings = match Surroundings::find(environment) {
        Ok(surroundings) => surroundings,
        Err(error) => return Ok(of_failure(&error)),
    };
    let agents = match &options.agent {
        Some(name) => vec![surroundings.agent(name)?],
        None => surroundings.agents()?,
    };
    // No agent is meant: what the layers say is the same for all.
    let declared =
        match everything(&surroundings.layers, &|transport: &Transport| transport.remote().is_some()) {
            Ok(declared) => declared,
            Err(error) => return Ok(of_failure(&error)),
        };
    let mut views = Vec::new();
    for agent in &agents {
        let mut view = view(&surroundings, agent, &declared, environment)?;
        if options.agent.is_some() {
            let program = surroundings.program(agent, &squire(environment)?, environment);
            view.not_runnable = program.err().map(|reason| reason.to_string());
        }
        views.push(view);
    }
    let declares_in = surroundings.project.as_ref().and_then(|project| project.declares_in.as_ref());
    let mut found = findings::findings(Known {
        entries: &declared.entries,
        notes: &declared.notes,
        project_file: declares_in.map(|directory| directory.join(Project::FILE)).as_deref(),
        project_problems: &declared.project_problems,
        agents: &views,
    });
    let foreign = surroundings.directories.refuse_foreign(surroundings.project.as_ref(), environment);
    found.extend(foreign.err().map(|error| Finding::refused(format!("{error:#}"))));
    Ok(found)
}

fn of_failure(error: &anyhow::Error) -> Vec<Finding> {
    match error.downcast_ref() {
        Some(Problems(problems)) => findings::sorted(problems.iter().map(Finding::invalid).collect()),
        None => vec![Finding::refused(format!("{error:#}"))],
    }
}

/// Plans a launch as it is without options, and one of every enabled server, as profiles and `--server` may select any.
fn view(
    surroundings: &Surroundings,
    agent: &Agent,
    declared: &Resolution,
    environment: &Environment,
) -> Result<AgentView> {
    let by_default = Selection { agent: Some(agent.name.clone()), ..Selection::default() };
    let usual = surroundings.resolve(agent, &by_default)?;
    let is_left_out = |entry: &&Resolved, code| entry.left_out.as_ref().is_some_and(|note| note.code == code);
    let enabled = declared.entries.iter().filter(|entry| !is_left_out(entry, Code::Disabled));
    let servers: Vec<String> = enabled.map(|entry| entry.server.name.to_string()).collect();
    let every = Selection { servers, ..by_default.clone() };
    let mut all = surroundings.resolve(agent, &every)?;
    all.strict = usual.strict;

    let mut view = AgentView { agent: agent.name.clone(), ..AgentView::default() };
    match surroundings.plan(agent, &usual, &by_default, &[], environment) {
        Ok(plan) => {
            view.lacking = lacking(&plan, &usual.require);
            view.notes.extend(plan.artifacts.notes);
        }
        Err(refusal) => {
            view.refusal = Some(format!("{refusal:#}"));
            view.notes = usual.all_notes();
        }
    }
    let mut names = Vec::new();
    let mut note_missing = |server: &ResolvedServer| {
        let sentences = missing(server, environment);
        names.extend(sentences.into_iter().map(|sentence| (server.name.to_string(), sentence)));
    };
    match surroundings.plan(agent, &all, &every, &[], environment) {
        Ok(plan) => {
            plan.delivered().into_iter().for_each(&mut note_missing);
            view.notes.extend(plan.artifacts.notes);
        }
        // More servers than any launch may have; the usual launch has its own answer.
        Err(_) => {
            all.servers().into_iter().for_each(&mut note_missing);
            view.notes.extend(all.all_notes());
        }
    }
    view.missing = names;
    let lost = declared.entries.iter().filter(|entry| is_left_out(entry, Code::NameTaken));
    view.notes.extend(lost.filter_map(|entry| entry.left_out.clone()));
    Ok(view)
}
