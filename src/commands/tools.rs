//! `squire tools`: what the selected servers offer, as an agent would get it.

use std::fmt::Write as _;

use anyhow::Result;
use serde_json::{Value, json};

use super::Surroundings;
use super::asking::{Asked, Meant, Server, State, at_once};
use crate::arguments;
use crate::cli;
use crate::environment::Environment;
use crate::exit::Exit;
use crate::mcp::{Endpoint, Error, Groups, Listing, Tool, inspect};
use crate::output::Output;
use crate::printable::printable;
use crate::report;

/// What came of one server; none where it was not asked.
type Outcome = Option<Result<Listing, Error>>;

/// Runs the command: 1 where a server did not answer, or one that was named is left out.
pub fn run(options: &cli::Tools, environment: &Environment) -> Result<Exit> {
    let output = Output::default();
    let surroundings = Surroundings::find(environment)?;
    let meant = Meant { names: &options.names, profiles: &options.profiles, agent: options.agent.as_deref() };
    let asked = Asked::find(&surroundings, &meant, environment)?;
    let all: Vec<(&Server, Endpoint)> =
        asked.servers.iter().map(|server| (server, asked.endpoint(server, &[], environment))).collect();
    let list = |(server, endpoint): &(&Server, Endpoint), groups: &Groups| {
        matches!(server.state, State::Ready).then(|| inspect(endpoint, server.patience(None), groups))
    };
    let broken = |_: &_| Some(Err(Error::Transport("its connection failed inside squire".into())));
    let outcomes = match at_once(&all, |(server, _)| &server.name, environment, output, list, broken)? {
        Ok(outcomes) => outcomes,
        Err(signal) => return Ok(Exit::Signal(signal)),
    };
    let found: Vec<(&Server, Outcome)> = asked.servers.iter().zip(outcomes).collect();
    if options.json {
        let servers: Vec<Value> =
            found.iter().map(|(server, outcome)| as_json(server, outcome.as_ref())).collect();
        let notes: Vec<Value> = asked.notes.iter().map(report::note).collect();
        output.data(&format!("{:#}\n", json!({ "servers": servers, "notes": notes })))?;
    } else {
        let texts: Vec<String> = found
            .iter()
            .filter_map(|(server, outcome)| {
                Some(as_text(server, outcome.as_ref()?.as_ref().ok()?, options.schemas))
            })
            .collect();
        output.data(&texts.join("\n"))?;
        for (server, outcome) in &found {
            tell(server, outcome.as_ref(), output);
        }
        asked.notes.iter().for_each(|note| output.message(&note.located()));
    }
    let is_failure = |(server, outcome): &(&Server, Outcome)| match outcome {
        Some(outcome) => outcome.is_err(),
        None => server.is_named || matches!(server.state, State::Lacks(..)),
    };
    Ok(if found.iter().any(is_failure) { Exit::FINDINGS } else { Exit::DONE })
}

/// Says on stderr why there is nothing of a server, or what is not right.
fn tell(server: &Server, outcome: Option<&Result<Listing, Error>>, output: Output) {
    let name = &server.name;
    match outcome {
        Some(Ok(listing)) => {
            listing
                .warnings
                .iter()
                .for_each(|warning| output.message(&format!("{name}: warning: {warning}")));
        }
        Some(Err(error)) => output.message(&format!("{name}: {error}")),
        None => {
            if let Some((sentence, mend)) = server.state.obstacle() {
                let help = mend.map(|mend| format!("\n  help: {mend}")).unwrap_or_default();
                output.message(&format!("{name}: {sentence}{help}"));
            }
        }
    }
}

/// What a server offers, for people.
pub(super) fn as_text(server: &Server, listing: &Listing, has_schemas: bool) -> String {
    let tools = &listing.tools;
    let count = tools.shown.len();
    let plural = if count == 1 { "" } else { "s" };
    let hidden =
        if tools.withheld.is_empty() { String::new() } else { format!(", {} hidden", tools.withheld.len()) };
    let mut text = format!("{}: {count} tool{plural}{hidden}\n", server.name);
    for tool in &tools.shown {
        // Writing to a string can't fail.
        let _ = writeln!(
            text,
            "  {}",
            format!("{} {}", printable(&tool.name), arguments::usage(tool.input_schema())).trim_end()
        );
        let lines = tool.description.as_deref().unwrap_or_default().trim().lines();
        let wanted = if has_schemas { usize::MAX } else { 1 };
        for line in lines.take(wanted) {
            let _ = writeln!(text, "    {}", printable(line).trim_end());
        }
        if has_schemas {
            for line in schemas(tool) {
                let _ = writeln!(text, "    {}", printable(&line));
            }
        }
    }
    text
}

fn schemas(tool: &Tool) -> Vec<String> {
    let named =
        ["inputSchema", "outputSchema"].into_iter().filter_map(|key| Some((key, tool.definition.get(key)?)));
    named
        .flat_map(|(key, schema)| {
            let text = format!("{key}: {schema:#}");
            text.lines().map(str::to_owned).collect::<Vec<_>>()
        })
        .collect()
}

fn as_json(server: &Server, outcome: Option<&Result<Listing, Error>>) -> Value {
    let mut told = json!({ "name": server.name, "transport": server.transport, "ok": false });
    match outcome {
        Some(Ok(listing)) => {
            told["ok"] = true.into();
            told["warnings"] = json!(listing.warnings);
            let definitions = listing.tools.shown.iter().map(|tool| tool.definition.clone());
            told["tools"] = definitions.collect();
            told["withheld"] = json!(listing.tools.withheld);
        }
        Some(Err(error)) => told["reason"] = error.to_string().into(),
        None => {
            let (sentence, mend) = server.state.obstacle().unzip();
            told["code"] = json!(server.state.code());
            told["reason"] = json!(sentence);
            told["help"] = json!(mend.flatten());
        }
    }
    told
}
