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
    Output::default().data(&text)?;
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

/// What an agent gets of a launch without options, and of one with every enabled server, as profiles and `--server` may
/// select any.
fn view(
    surroundings: &Surroundings,
    agent: &Agent,
    declared: &Resolution,
    environment: &Environment,
) -> Result<AgentView> {
    let mut view = AgentView { agent: agent.name.clone(), ..AgentView::default() };
    let by_default = Selection { agent: Some(agent.name.clone()), ..Selection::default() };
    let usual = surroundings.resolve(agent, &by_default, environment)?;
    let refusal = surroundings.look(agent, &usual, &by_default, environment, &mut view);
    view.refusal = refusal;

    let is_left_out = |entry: &&Resolved, code| entry.left_out.as_ref().is_some_and(|note| note.code == code);
    let enabled = declared.entries.iter().filter(|entry| !is_left_out(entry, Code::Disabled));
    let servers: Vec<String> = enabled.map(|entry| entry.server.name.to_string()).collect();
    if !usual.entries.iter().map(|entry| entry.server.name.as_str()).eq(servers.iter().map(String::as_str)) {
        let every = Selection { servers, ..by_default };
        let mut all = surroundings.resolve(agent, &every, environment)?;
        all.strict = usual.strict;
        // A refusal may be due to more servers than any launch has; the usual launch has its own answer.
        let _ = surroundings.look(agent, &all, &every, environment, &mut view);
    }
    let lost = declared.entries.iter().filter(|entry| is_left_out(entry, Code::NameTaken));
    view.notes.extend(lost.filter_map(|entry| entry.left_out.clone()));
    Ok(view)
}

impl Surroundings {
    /// Plans a launch and adds what it shows to the view; returns why it is refused, if so.
    fn look(
        &self,
        agent: &Agent,
        resolution: &Resolution,
        selection: &Selection,
        environment: &Environment,
        view: &mut AgentView,
    ) -> Option<String> {
        let missing = |server: &ResolvedServer| {
            let sentences = missing(server, environment).into_iter();
            sentences.map(|sentence| (server.name.to_string(), sentence)).collect::<Vec<_>>()
        };
        match self.plan(agent, resolution, selection, &[], environment) {
            Ok(plan) => {
                view.missing.extend(plan.delivered().into_iter().flat_map(missing));
                view.lacking.extend(lacking(&plan, &resolution.require));
                view.notes.extend(plan.artifacts.notes);
                None
            }
            Err(refusal) => {
                view.missing.extend(resolution.servers().into_iter().flat_map(missing));
                view.notes.extend(resolution.all_notes());
                Some(format!("{refusal:#}"))
            }
        }
    }
}
