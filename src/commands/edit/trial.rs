//! What `add` offers on a terminal before it asks for approval: to start the servers once, and to show what they are.
//! The user has agreed to this start alone, of this very declaration.

use anyhow::{Context, Result};
use squire_strategies::Transport;

use crate::commands::Surroundings;
use crate::commands::asking::{Asked, Meant, Server, at_once};
use crate::commands::tools;
use crate::environment::Environment;
use crate::mcp::{Endpoint, Error, Groups, inspect};
use crate::output::Output;
use crate::printable::printable;
use crate::resolve::everything;
use crate::trust::digest::{Canonical, digest};
use crate::tty::Terminal;

/// Asks, and where the answer is yes shows the tools, or why there are none. A server that can't be started is no
/// failure of `add`.
pub(super) fn offer(names: &[String], environment: &Environment, output: Output) -> Result<()> {
    let surroundings = Surroundings::find(environment)?;
    let declared = everything(&surroundings.layers, &surroundings.standings, &|transport: &Transport| {
        transport.remote().is_some()
    })?;
    let meant = Meant { names, profiles: &[], agent: None };
    let asked = Asked::find(&surroundings, &meant, environment)?;
    let found: Vec<(&Server, Endpoint)> = asked
        .servers
        .iter()
        .filter_map(|server| {
            let entry = declared.entries.iter().find(|entry| entry.server.name.as_str() == server.name)?;
            let digest = digest(&Canonical(entry.declaration.as_deref()?));
            Some((server, asked.endpoint(server, &["--trial", &digest], environment)))
        })
        .collect();
    let mut terminal = Terminal::open().context("there is no terminal to ask on")?;
    let question = format!("squire: start {} once, to see the tools before you approve?", names.join(", "));
    if found.is_empty() || !terminal.ask(&printable(&question)).context("the terminal can't be read")? {
        return Ok(());
    }
    let list = |(server, endpoint): &(&Server, Endpoint), groups: &Groups| {
        inspect(endpoint, server.patience(None), groups)
    };
    let broken = |_: &_| Err(Error::Transport("its connection failed inside squire".into()));
    let Ok(outcomes) = at_once(&found, |(server, _)| &server.name, environment, output, list, broken)? else {
        return Ok(());
    };
    for ((server, _), outcome) in found.iter().zip(outcomes) {
        let text = match &outcome {
            Ok(listing) => tools::as_text(server, listing, false),
            Err(error) => format!("{}: {}\n", server.name, printable(&error.to_string())),
        };
        terminal.show(&format!("\n{text}")).context("the terminal can't be written")?;
    }
    Ok(())
}
