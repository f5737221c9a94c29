//! What came of each server.

use std::time::Duration;

use serde_json::json;
use squire_strategies::ToolNames;

use crate::commands::asking::{Server, State};
use crate::mcp::{Error, Hello, Tool, Tools};
use crate::printable::printable;
use crate::tokens;

/// One server of the report.
pub(super) struct Report<'a> {
    pub(super) server: &'a Server,
    pub(super) outcome: Outcome,
}

/// What came of it.
pub(super) enum Outcome {
    /// It was not asked: its state says why.
    NotAsked,
    Answered(Box<Answered>),
    Failed {
        error: Error,
        warnings: Vec<String>,
    },
}

/// What a server answered.
pub(super) struct Answered {
    pub(super) hello: Hello,
    pub(super) tools: Tools,
    /// None where it does not answer a ping.
    pub(super) round_trip: Option<Duration>,
    /// What its definitions cost in each request to a model.
    pub(super) tokens: usize,
    pub(super) too_long: Vec<TooLong>,
    pub(super) warnings: Vec<String>,
}

/// The name of a tool that agents have no room for (case B09).
pub(super) struct TooLong {
    pub(super) tool: String,
    /// The agents, how long it is in each, and how long it may be there.
    pub(super) agents: Vec<(String, usize, usize)>,
}

/// The report of a server whose thread broke.
pub(super) fn lost() -> Outcome {
    let error = Error::Transport("its connection failed inside squire".into());
    Outcome::Failed { error, warnings: Vec::new() }
}

impl Answered {
    pub(super) fn new(
        server: &str,
        hello: Hello,
        tools: Tools,
        round_trip: Option<Duration>,
        left: Vec<String>,
        names: &[(String, ToolNames)],
    ) -> Self {
        let tokens = tools.shown.iter().map(|tool| tokens::count(&definition(tool))).sum();
        let too_long = tools.shown.iter().filter_map(|tool| too_long(server, &tool.name, names)).collect();
        let mut warnings = [hello.warnings(), tools.warnings(), left].concat();
        if round_trip.is_none() {
            warnings.push("does not answer a ping".into());
        }
        Self { hello, tools, round_trip, tokens, too_long, warnings }
    }

    /// How many tools there are before any filter.
    pub(super) fn all_tools(&self) -> usize {
        self.tools.shown.len() + self.tools.withheld.len()
    }
}

/// What an agent tells a model of a tool.
fn definition(tool: &Tool) -> String {
    json!({ "name": tool.name, "description": tool.description, "input_schema": tool.input_schema() })
        .to_string()
}

fn too_long(server: &str, tool: &str, names: &[(String, ToolNames)]) -> Option<TooLong> {
    let agents: Vec<_> = names
        .iter()
        .filter_map(|(agent, names)| Some((agent.clone(), names.excess(server, tool)?, names.limit)))
        .collect();
    (!agents.is_empty()).then(|| TooLong { tool: tool.to_owned(), agents })
}

impl Report<'_> {
    /// Whether it makes the command fail: what is left out does where it was named.
    pub(super) fn is_failure(&self) -> bool {
        match (&self.outcome, &self.server.state) {
            (Outcome::Answered(_), _) => false,
            (Outcome::Failed { .. }, _) | (Outcome::NotAsked, State::Lacks(..)) => true,
            (Outcome::NotAsked, State::LeftOut(_) | State::Ready) => self.server.is_named,
        }
    }

    /// The word for what came of it.
    pub(super) fn word(&self) -> &'static str {
        match (&self.outcome, &self.server.state) {
            (Outcome::Answered(_), _) => "answered",
            (Outcome::NotAsked, State::LeftOut(_)) => "left-out",
            (Outcome::Failed { .. } | Outcome::NotAsked, _) => "failed",
        }
    }

    /// Why there is no answer, and what mends it.
    pub(super) fn cause(&self) -> Option<(String, Option<String>)> {
        match &self.outcome {
            Outcome::Answered(_) => None,
            Outcome::NotAsked => self.server.state.obstacle(),
            Outcome::Failed { error, .. } => Some((error.to_string(), help(self.server, error))),
        }
    }

    /// What works and is not right, in printable sentences.
    pub(super) fn warnings(&self) -> Vec<String> {
        match &self.outcome {
            Outcome::NotAsked => Vec::new(),
            Outcome::Failed { warnings, .. } => warnings.clone(),
            Outcome::Answered(answered) => {
                let too_long = answered.too_long.iter().map(TooLong::sentence);
                answered.warnings.iter().cloned().chain(too_long).collect()
            }
        }
    }
}

impl TooLong {
    fn sentence(&self) -> String {
        let agents =
            self.agents.iter().map(|(agent, length, limit)| format!("{agent} ({length} of {limit})"));
        format!(
            "the name of `{}` is too long in {}: give the server a shorter name, or hide the tool",
            printable(&self.tool),
            agents.collect::<Vec<_>>().join(", ")
        )
    }
}

/// What helps against a failure, where its sentence does not say so.
fn help(server: &Server, error: &Error) -> Option<String> {
    let name = &server.name;
    match error {
        // The sentence names what gives it longer.
        Error::Answered { by_squire: true, message, .. } if message.contains("startup_timeout") => None,
        Error::Answered { by_squire: true, .. } if matches!(server.transport, "http" | "sse") => {
            Some(format!("squire show {name} tells the address, and what is sent there"))
        }
        Error::Answered { by_squire: true, .. } => {
            Some(format!("squire show {name} tells what is started, and what it is given"))
        }
        Error::RepeatedCursor { .. } | Error::TooManyPages { .. } => {
            Some("the server is at fault: agents would ask for ever, or miss tools".into())
        }
        Error::TimedOut { .. } => {
            Some("--timeout, or `startup_timeout` of the server, gives it longer".into())
        }
        _ => None,
    }
}
