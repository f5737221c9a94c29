//! How each agent gets servers, or why it does not.

use anyhow::Result;
use squire_strategies::{Code, Effect, Name, Refusal};

use super::super::{Agent, Surroundings};
use crate::environment::Environment;
use crate::plan::Plan;
use crate::resolve::{Resolved, Selection};

/// How one agent gets the server, or why it does not.
pub(super) struct AgentRoute {
    pub(super) agent: String,
    /// `direct`, `gateway`, `left-out`, `switched-off` or `refused`.
    pub(super) route: &'static str,
    pub(super) reason: Option<String>,
}

/// The routes of each server, agent by agent.
pub(super) fn routes(
    surroundings: &Surroundings,
    entries: &[&Resolved],
    environment: &Environment,
) -> Result<Vec<Vec<AgentRoute>>> {
    let mut routes: Vec<Vec<AgentRoute>> = entries.iter().map(|_| Vec::new()).collect();
    for agent in surroundings.agents()? {
        // All at once; where that is refused, as they are too many perhaps, each by itself.
        let together = plan(surroundings, &agent, entries, environment)?.ok();
        for (entry, routes) in entries.iter().zip(&mut routes) {
            let told = |route, reason| AgentRoute { agent: agent.name.clone(), route, reason };
            routes.push(match (&entry.left_out, &together) {
                (Some(note), _) if note.code == Code::NameTaken => {
                    told("left-out", Some(note.sentence.clone()))
                }
                (_, Some(plan)) => of_plan(plan, &entry.server.name, &told),
                (_, None) => match plan(surroundings, &agent, &[entry], environment)? {
                    Ok(plan) => of_plan(&plan, &entry.server.name, &told),
                    Err(reason) => told("refused", Some(reason)),
                },
            });
        }
    }
    Ok(routes)
}

/// A launch with these servers alone; the inner error is why it would be refused.
fn plan(
    surroundings: &Surroundings,
    agent: &Agent,
    entries: &[&Resolved],
    environment: &Environment,
) -> Result<Result<Plan, String>> {
    let selection = Selection {
        servers: entries.iter().map(|entry| entry.server.name.to_string()).collect(),
        agent: Some(agent.name.clone()),
        ..Selection::default()
    };
    let resolution = surroundings.resolve(agent, &selection)?;
    Ok(surroundings
        .plan(agent, &resolution, &[], environment)
        .map_err(|error| error.downcast_ref().map_or_else(|| format!("{error:#}"), Refusal::on_one_line)))
}

fn of_plan(
    plan: &Plan,
    name: &Name,
    told: &dyn Fn(&'static str, Option<String>) -> AgentRoute,
) -> AgentRoute {
    if let Some(note) = plan.obstacles().get(name) {
        let is_off = note.code.effect() == Effect::SwitchedOff;
        return told(if is_off { "switched-off" } else { "left-out" }, Some(note.sentence.clone()));
    }
    let server = plan.servers.iter().find(|server| server.name == *name);
    told(server.map_or("left-out", |server| server.route.as_str()), None)
}
