//! The `mcpServers` shape, which several agents share.

use alloc::format;
use alloc::string::{String, ToString};

use serde_json::{Map, Value, json};

use crate::artifacts::{Code, Note};
use crate::gateway::Gateway;
use crate::server::{Remote, ResolvedServer, Route, Transport};
use crate::strategy::Launch;

/// One entry: the gateway's command with every variable pinned, or the server's own address.
///
/// `pinned` writes the agent's reference to a variable that may be unset. The error is a note that leaves the
/// server out: the agent would expand `${` in a string that must stay as it is.
pub(crate) fn entry(
    launch: &Launch<'_>,
    server: &ResolvedServer,
    pinned: fn(&str) -> String,
) -> Result<Map<String, Value>, Note> {
    let entry = match (&server.transport, server.route) {
        (Transport::Http(remote), Route::Direct) => remote_entry("http", remote),
        (Transport::Sse(remote), Route::Direct) => remote_entry("sse", remote),
        (Transport::Builtin | Transport::Stdio(_) | Transport::Dynamic(_), Route::Direct)
        | (_, Route::Gateway) => {
            let variables = Gateway::variables(server);
            let arguments = launch.gateway.arguments(launch.agent, server);
            let strings = arguments.iter().chain([&launch.gateway.program]);
            refuse_expansion(server, strings.map(|string| (string.as_str(), string.clone())))?;
            let env: Map<String, Value> =
                variables.into_iter().map(|name| (name.to_string(), pinned(name).into())).collect();
            let mut entry = json!({ "type": "stdio", "command": launch.gateway.program });
            // Moved, while `json!` would copy them: they are most of the entry.
            entry["args"] = arguments.into();
            entry["env"] = env.into();
            entry
        }
    };
    if server.route == Route::Direct {
        let strings = server.transport.texts();
        let literals = strings.iter().filter_map(|(field, text)| {
            let literal = text.literal()?;
            Some((literal, field.masked(literal)))
        });
        refuse_expansion(server, literals)?;
    }
    match entry {
        Value::Object(entry) => Ok(entry),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Ok(Map::new())
        }
    }
}

fn remote_entry(kind: &str, remote: &Remote) -> Value {
    let mut entry = json!({ "type": kind, "url": remote.url.literal() });
    if !remote.headers.is_empty() {
        let headers: Map<String, Value> =
            remote.headers.iter().map(|(name, text)| (name.clone(), text.literal().into())).collect();
        entry["headers"] = headers.into();
    }
    entry
}

/// There is no escape for `${` in these agents, so a string that holds it can't be carried. Each string has its form
/// for people.
fn refuse_expansion<'a>(
    server: &ResolvedServer,
    strings: impl IntoIterator<Item = (&'a str, String)>,
) -> Result<(), Note> {
    match strings.into_iter().find(|(string, _)| string.contains("${")) {
        None => Ok(()),
        Some((_, shown)) => Err(Note {
            code: Code::Inexpressible,
            server: Some(server.name.clone()),
            sentence: format!("the agent would expand the `${{` in {shown:?}"),
            mend: None,
            place: None,
        }),
    }
}
