//! Gemini CLI: `mcpServers` of `settings.json`. Measured with 0.61.0: `$NAME`, `${NAME}` and `${NAME:-default}` in any
//! string, `timeout` in milliseconds, `httpUrl` streamable and `url` SSE where no `type` says otherwise (case B19).

use super::super::dialect::{Dialect, Meaning, Syntax, Unit, Untyped};
use super::super::foreign::{Found, Scope};
use super::super::tree::{Tree, Unread};
use super::{Format, Home, Language, OwnFile, quoted};

pub(super) static FORMAT: Format = Format {
    name: "gemini",
    title: "Gemini CLI",
    own: &[
        OwnFile { home: Home::Variable("GEMINI_CLI_HOME", "", ".gemini/settings.json"), scope: Scope::User },
        OwnFile { home: Home::Project(".gemini/settings.json"), scope: Scope::Project },
    ],
    companions: &[],
    paths: &["**/.gemini/settings.json", "**/gemini-extension.json"],
    looks_so: |tree| {
        let servers = tree.get("mcpServers").map(Tree::members).unwrap_or_default();
        servers.iter().any(|server| server.value.get("httpUrl").is_some())
    },
    languages: &[Language::Json],
    read,
    remove: Some(|name, scope| Some(format!("gemini mcp remove -s {} {}", scope.as_str(), quoted(name)))),
};

const OAUTH: Meaning =
    Meaning::LeftAway("a plain remote server is direct, and the agent's own OAuth asks again");

static DIALECT: Dialect = Dialect {
    fields: &[
        ("timeout", Meaning::Timeout(Unit::Milliseconds)),
        ("oauth", OAUTH),
        ("authProviderType", OAUTH),
        ("targetAudience", OAUTH),
        ("targetServiceAccount", OAUTH),
        ("tcp", Meaning::LeftAway("squire speaks stdio, http and sse")),
    ],
    references: &[Syntax::Braces, Syntax::Bare],
    untyped: Untyped::Sse,
    is_readme: false,
};

fn read(tree: &Tree, _: Option<&str>) -> Result<Found, Unread> {
    let mut found = super::mcp_servers(tree, &DIALECT)?;
    let Some(lists) = tree.get("mcp") else { return Ok(found) };
    if let Some(excluded) = lists.get("excluded") {
        found.switch_off(&excluded.texts(), excluded.place);
    }
    if let Some(allowed) = lists.get("allowed").filter(|allowed| !allowed.items().is_empty()) {
        let names = allowed.texts();
        let others: Vec<String> = found.servers.iter().map(|server| server.name.clone()).collect();
        let others: Vec<&str> =
            others.iter().map(String::as_str).filter(|name| !names.contains(name)).collect();
        found.switch_off(&others, allowed.place);
    }
    Ok(found)
}
