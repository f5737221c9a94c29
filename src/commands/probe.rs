//! `squire probe`: connects to every selected server as an agent would, and says what came of it.

mod json;
mod report;
mod table;

use std::time::Duration;

use anyhow::Result;
use squire_strategies::{AGENTS, ToolNames};

use super::Surroundings;
use super::asking::{Asked, Meant, Server, State, at_once};
use crate::cli;
use crate::environment::Environment;
use crate::exit::Exit;
use crate::mcp::{Client, Endpoint, Error, Groups, Left};
use crate::output::Output;
use crate::tokens;
use report::{Answered, Outcome, Report};

/// How long a server may take to answer a ping, once it runs.
const PING: Duration = Duration::from_secs(5);

/// Runs the command: 1 where a server did not answer, or one that was named is left out.
pub fn run(options: &cli::Probe, environment: &Environment) -> Result<Exit> {
    let output = Output::default();
    let surroundings = Surroundings::find(environment)?;
    let asked = Asked::find(&surroundings, &meant(options), environment)?;
    let names = names(&surroundings, options.agent.as_deref())?;
    let ready = asked.servers.iter().filter(|server| matches!(server.state, State::Ready));
    let ready: Vec<(&Server, Endpoint)> =
        ready.map(|server| (server, asked.endpoint(server, &[], environment))).collect();
    let probe = |(server, endpoint): &(&Server, Endpoint), groups: &Groups| {
        probe(server, endpoint, options.timeout.map(Duration::from), &names, groups)
    };
    let probed = std::thread::scope(|scope| {
        // The tables of the tokenizer are read while the servers start.
        scope.spawn(|| {
            if !ready.is_empty() {
                tokens::prepare();
            }
        });
        at_once(&ready, |(server, _)| &server.name, environment, output, probe, |_| report::lost())
    })?;
    let mut probed = match probed {
        Ok(probed) => probed.into_iter(),
        Err(signal) => return Ok(Exit::Signal(signal)),
    };
    let reports: Vec<Report<'_>> = asked
        .servers
        .iter()
        .map(|server| {
            let outcome = match &server.state {
                State::Ready => probed.next().unwrap_or_else(report::lost),
                State::LeftOut(_) | State::Lacks(..) => Outcome::NotAsked,
            };
            Report { server, outcome }
        })
        .collect();
    if options.json {
        output.data(&format!("{:#}\n", json::of(&reports, &asked.notes)))?;
    } else {
        output.data(&table::of(&reports))?;
        asked.notes.iter().for_each(|note| output.message(&note.located()));
    }
    Ok(if reports.iter().any(Report::is_failure) { Exit::FINDINGS } else { Exit::DONE })
}

fn meant(options: &cli::Probe) -> Meant<'_> {
    Meant { names: &options.names, profiles: &options.profiles, agent: options.agent.as_deref() }
}

/// How tools are called in the agent that is meant, or in every one.
fn names(surroundings: &Surroundings, agent: Option<&str>) -> Result<Vec<(String, ToolNames)>> {
    let agents = match agent {
        Some(agent) => vec![(agent.to_owned(), surroundings.agent(agent)?.strategy.tool_names())],
        None => AGENTS.iter().map(|agent| (agent.name().to_owned(), agent.tool_names())).collect(),
    };
    Ok(agents.into_iter().filter_map(|(agent, names)| Some((agent, names?))).collect())
}

/// Asks one server for all that a report has, and leaves.
fn probe(
    server: &Server,
    endpoint: &Endpoint,
    wanted: Option<Duration>,
    names: &[(String, ToolNames)],
    groups: &Groups,
) -> Outcome {
    let patience = server.patience(wanted);
    let mut client = match Client::open(endpoint, patience, groups) {
        Ok(client) => client,
        Err(error) => return Outcome::Failed { error, warnings: Vec::new() },
    };
    let answered = ask(&mut client, patience);
    let Left { warnings, output } = client.close(answered.is_ok());
    match answered {
        Ok((hello, tools, round_trip)) => Outcome::Answered(Box::new(Answered::new(
            &server.name,
            hello,
            tools,
            round_trip,
            warnings,
            names,
        ))),
        Err(error) => {
            // The gateway tells the cause on its stderr, too, and the noise is told with the cause.
            let cause = format!("the server {} could not be started: ", server.name);
            let is_new = |warning: &String| !warning.starts_with(&cause) && Some(warning) != output.as_ref();
            let warnings = warnings.into_iter().filter(is_new).collect();
            Outcome::Failed { error: error.with_output(output), warnings }
        }
    }
}

type Told = (crate::mcp::Hello, crate::mcp::Tools, Option<Duration>);

fn ask(client: &mut Client, patience: Duration) -> Result<Told, Error> {
    let hello = client.greet()?;
    client.allow(patience.min(PING));
    let round_trip = match client.round_trip() {
        Ok(round_trip) => Some(round_trip),
        Err(Error::TimedOut { .. }) => None,
        Err(error) => return Err(error),
    };
    client.allow(patience);
    let tools = client.tools(&hello)?;
    Ok((hello, tools, round_trip))
}
