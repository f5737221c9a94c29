//! `squire check`: everything that is wrong or will be left out, before a launch.

mod programs;
mod secrets;

use anyhow::Result;
use squire_strategies::{Code, Note, Transport, Whereabouts};

use super::launch::{Lacking, lacking};
use super::needs::{Holders, Missing};
use super::{Agent, Surroundings, squire};
use crate::cli;
use crate::config::{Declaration, Origin, Policy, Problems, Unusable};
use crate::environment::Environment;
use crate::exit::Exit;
use crate::findings::{self, AgentView, Finding, Known, OwnCode, Severity, count, render, sarif};
use crate::output::Output;
use crate::resolve::{Resolution, Resolved, Selection, everything, settings};

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
        match everything(&surroundings.layers, &surroundings.standings, &|transport: &Transport| {
            transport.remote().is_some()
        }) {
            Ok(declared) => declared,
            Err(error) => return Ok(of_failure(&error)),
        };
    let mut views = Vec::new();
    for agent in &agents {
        let mut view = view(&surroundings, agent, &declared, environment)?;
        if options.agent.is_some() {
            let program = surroundings.program(agent, &squire(environment)?, environment);
            let reason = program.err().map(|reason| reason.to_string());
            view.findings.extend(reason.map(|reason| {
                Finding::own(OwnCode::NotInstalled, reason)
                    .help(Some("install it, or name its program in [agents.NAME]".into()))
                    .at(surroundings.program_origin(agent).map(Origin::whereabouts).as_ref())
            }));
        }
        views.push(view);
    }
    let required = of_profiles(&surroundings, &agents, environment)?;
    for view in &mut views {
        view.add(required.iter().cloned());
    }
    let holders = Holders { environment, secrets: surroundings.secrets().ok() };
    let of_programs = programs::findings(&declared, surroundings.project_root(), holders);
    let of_secrets = secrets::findings(&surroundings, &declared, holders);
    let mut found = findings::findings(Known {
        entries: &declared.entries,
        notes: &[
            declared.notes.clone(),
            secrets::notes(&surroundings, &declared),
            of_approvals(&surroundings, &views),
        ]
        .concat(),
        findings: &[of_programs, of_secrets].concat(),
        agents: &views,
    });
    let foreign = surroundings.refuse_foreign();
    found.extend(foreign.err().map(|error| refused(&error)));
    Ok(found)
}

/// The approvals that can't be read, each once: of the layers, and of what the agents' own files hold.
fn of_approvals(surroundings: &Surroundings, views: &[AgentView]) -> Vec<Note> {
    let of_agents = views.iter().flat_map(|view| &view.notes);
    let mut notes = Vec::new();
    for note in surroundings.approval_notes.iter().chain(of_agents) {
        if note.code == Code::UnreadableApproval && !notes.contains(note) {
            notes.push(note.clone());
        }
    }
    notes
}

/// What stops every launch, for a reason that no place in a file explains.
fn refused(error: &anyhow::Error) -> Finding {
    match error.downcast_ref::<Unusable>() {
        Some(Unusable { path, reason }) => {
            let place = Whereabouts { path: path.display().to_string().into(), position: None };
            Finding::own(OwnCode::Refused, reason).at(Some(&place))
        }
        None => Finding::own(OwnCode::Refused, format!("{error:#}")),
    }
}

fn of_failure(error: &anyhow::Error) -> Vec<Finding> {
    match error.downcast_ref() {
        Some(Problems(problems)) => findings::sorted(problems.iter().map(Finding::invalid).collect()),
        None => vec![refused(error)],
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
    let usual = surroundings.resolve(agent, &by_default)?;
    let refusal = surroundings.look(agent, &usual, environment, &mut view);
    view.findings.extend(refusal);

    let is_left_out = |entry: &&Resolved, code| entry.left_out.as_ref().is_some_and(|note| note.code == code);
    let enabled = declared.entries.iter().filter(|entry| !is_left_out(entry, Code::Disabled));
    let servers: Vec<String> = enabled.map(|entry| entry.server.name.to_string()).collect();
    if !usual.entries.iter().map(|entry| entry.server.name.as_str()).eq(servers.iter().map(String::as_str)) {
        let every = Selection { servers, ..by_default };
        let mut all = surroundings.resolve(agent, &every)?;
        all.strict = usual.strict;
        all.strict_origin = usual.strict_origin;
        let refusal = surroundings.look(agent, &all, environment, &mut view);
        // More servers than any launch has may be too many; the usual launch has its own answer.
        view.add(refusal.filter(|refusal| refusal.code != Code::TooLarge.as_str()));
    }
    let lost = declared.entries.iter().filter(|entry| is_left_out(entry, Code::NameTaken));
    view.notes.extend(lost.filter_map(|entry| entry.left_out.clone()));
    Ok(view)
}

/// What the user's profiles require and no agent would have: of a profile that an agent never uses, what that agent alone
/// can't have says nothing.
fn of_profiles(
    surroundings: &Surroundings,
    agents: &[Agent],
    environment: &Environment,
) -> Result<Vec<Finding>> {
    let mut found = Vec::new();
    for profile in surroundings.layers.user.profiles.iter().filter(|profile| !profile.require.is_empty()) {
        let mut of_all: Option<Vec<Finding>> = None;
        for agent in agents {
            let name = Some(agent.name.clone());
            let selection =
                Selection { profiles: vec![profile.name.clone()], agent: name, ..Selection::default() };
            let resolution = surroundings.resolve(agent, &selection)?;
            let mut view = AgentView::default();
            // Why a launch with it would be refused is told of the launches that are usual.
            if surroundings.look(agent, &resolution, environment, &mut view).is_some() {
                continue;
            }
            let required = view.findings.into_iter().filter(|found| found.code == OwnCode::Required.as_str());
            of_all = Some(match of_all {
                None => required.collect(),
                Some(others) => required.filter(|finding| others.contains(finding)).collect(),
            });
        }
        found.extend(of_all.unwrap_or_default());
    }
    Ok(found)
}

impl AgentView {
    /// Adds findings that are not there yet.
    fn add(&mut self, findings: impl IntoIterator<Item = Finding>) {
        for finding in findings {
            if !self.findings.contains(&finding) {
                self.findings.push(finding);
            }
        }
    }
}

impl Surroundings {
    /// Where the user names the agent's program.
    fn program_origin(&self, agent: &Agent) -> Option<&Origin> {
        Some(&settings(&self.layers, &agent.name)?.program.as_ref()?.origin)
    }

    /// Plans a launch and adds what it shows to the view; returns why it is refused, if so.
    fn look(
        &self,
        agent: &Agent,
        resolution: &Resolution,
        environment: &Environment,
        view: &mut AgentView,
    ) -> Option<Finding> {
        let holders = Holders { environment, secrets: self.secrets().ok() };
        let missing = |entry: &Resolved| {
            let of_entry =
                |missing| of_missing(missing, entry, entry.declaration.as_deref(), &self.layers.policy);
            holders.missing(entry).into_iter().map(of_entry).collect::<Vec<_>>()
        };
        let strict = resolution.strict_origin.as_ref();
        match self.plan(agent, resolution, &[], environment) {
            Ok(plan) => {
                let delivered = resolution.entries_of(&plan.delivered());
                view.findings.extend(delivered.into_iter().flat_map(missing));
                view.findings.extend(lacking(&plan, &resolution.require).into_iter().map(of_lacking));
                let placed = |note: Note| {
                    let origin = match note.code {
                        Code::Hidden => strict,
                        Code::NoSession => self.program_origin(agent),
                        _ => None,
                    };
                    Note { place: origin.map(Origin::whereabouts).or(note.place), ..note }
                };
                view.notes.extend(plan.artifacts.notes.into_iter().map(placed));
                None
            }
            Err(error) => {
                let runs = resolution.entries_of(&resolution.servers());
                view.findings.extend(runs.into_iter().flat_map(missing));
                view.notes.extend(resolution.all_notes());
                let refusal = error.downcast_ref().map(|refusal| Finding::refusal(refusal, strict));
                Some(refusal.unwrap_or_else(|| refused(&error)))
            }
        }
    }
}

fn of_missing(
    missing: Missing,
    entry: &Resolved,
    declaration: Option<&Declaration>,
    policy: &Policy,
) -> Finding {
    let origin = declaration.and_then(|declaration| missing.origin(declaration, policy));
    let place = origin.map(Origin::whereabouts);
    Finding::own(missing.code, &missing.sentence)
        .of(entry.server.name.as_str())
        .help(Some(missing.mend.into_owned()))
        .at(place.as_ref())
}

fn of_lacking(lacking: Lacking) -> Finding {
    let Lacking { server, reason, origin } = lacking;
    let message = format!("it is required, and would not be there: {reason}");
    let finding = Finding::own(OwnCode::Required, message)
        .of(&server)
        .help(Some("let it be there, or take it out of `require` of the profile".into()));
    finding.at(origin.as_ref().map(Origin::whereabouts).as_ref())
}
