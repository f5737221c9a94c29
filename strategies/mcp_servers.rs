//! The `mcpServers` shape, which several agents share.

use alloc::format;
use alloc::string::String;

use serde_json::{Map, Value};

use crate::artifacts::{Code, Note};
use crate::deceptive::spelled_in_json;
use crate::entries::Members;
use crate::gateway::Gateway;
use crate::json::compact;
use crate::server::{Field, Remote, ResolvedServer, Route, Transport};
use crate::strategy::Launch;
use crate::text::Text;

/// An agent's reference to a variable that may be unset: what stands before its name, and what behind it.
pub(crate) type Reference = (&'static str, &'static str);

/// One entry: the gateway's command with every variable pinned, or the server's own address.
///
/// The error is a note that leaves the server out: the agent would expand `${` in a string that must stay as it is.
pub(crate) fn entry(
    launch: &Launch<'_>,
    server: &ResolvedServer,
    pinned: Reference,
) -> Result<Members, Note> {
    let entry = match (&server.transport, server.route) {
        (Transport::Http(remote), Route::Direct) => remote_entry("http", remote),
        (Transport::Sse(remote), Route::Direct) => remote_entry("sse", remote),
        (Transport::Builtin | Transport::Stdio(_) | Transport::Dynamic(_), Route::Direct)
        | (_, Route::Gateway) => {
            let arguments = launch.gateway.arguments(launch.agent, server);
            let strings = arguments.iter().copied().chain([launch.gateway.program.as_str()]);
            refuse_expansion(server, strings.map(|string| (Field::of("args", None), string)))?;
            let mut entry = Members::default();
            entry.push("type", "stdio");
            entry.push("command", &launch.gateway.program);
            entry.push("args", arguments.as_slice());
            entry.push_json("env", pinned_variables(&Gateway::variables(server), pinned));
            entry
        }
    };
    if server.route == Route::Direct {
        let literals = server.transport.texts().filter_map(|(field, text)| Some((field, text.literal()?)));
        refuse_expansion(server, literals)?;
    }
    Ok(entry)
}

/// Variables, each with the agent's reference to it, as JSON on one line.
///
/// A launch names some forty for each server. They are written without a value of JSON in between, and nearly every name
/// as it is.
pub(crate) fn pinned_variables(names: &[&str], (before, behind): Reference) -> String {
    let length = names.iter().map(|name| name.len() * 2 + before.len() + behind.len() + 6);
    let mut out = String::with_capacity(length.sum::<usize>() + 1);
    for name in names {
        out.push(if out.is_empty() { '{' } else { ',' });
        if Text::is_variable(name) {
            out.extend(["\"", name, "\":\"", before, name, behind, "\""]);
        } else {
            out.extend([compact(name).as_str(), ":", &compact(&[before, name, behind].concat())]);
        }
    }
    out.push_str(if out.is_empty() { "{}" } else { "}" });
    out
}

fn remote_entry(kind: &str, remote: &Remote) -> Members {
    let mut entry = Members::default();
    entry.push("type", kind);
    entry.push("url", &remote.url.literal());
    if !remote.headers.is_empty() {
        let headers = remote.headers.iter().map(|(name, text)| (name.clone(), text.literal().into()));
        entry.push("headers", &headers.collect::<Map<String, Value>>());
    }
    entry
}

/// About as much as stands around the members of one entry, its name among it.
const AROUND: usize = 128;

/// The text of a file that has entries alone, a line for each member.
pub(crate) fn file(entries: &[(&str, Members)]) -> String {
    let length: usize = entries.iter().map(|(_, entry)| AROUND + entry.length()).sum();
    let mut out = String::with_capacity(length);
    out.push_str("{\n  \"mcpServers\": {");
    for (index, (name, entry)) in entries.iter().enumerate() {
        out.extend([if index == 0 { "\n" } else { ",\n" }, "    \"", name, "\": {"]);
        entry.write_lines("      ", &mut out);
        out.push_str("\n    }");
    }
    out.push_str(if entries.is_empty() { "}\n}\n" } else { "\n  }\n}\n" });
    spelled_in_json(out)
}

/// There is no escape for `${` in these agents, so a string that holds it can't be carried.
fn refuse_expansion<'a>(
    server: &ResolvedServer,
    mut strings: impl Iterator<Item = (Field<'a>, &'a str)>,
) -> Result<(), Note> {
    match strings.find(|(_, string)| string.contains("${")) {
        None => Ok(()),
        Some((field, string)) => Err(Note {
            code: Code::Inexpressible,
            server: Some(server.name.clone()),
            sentence: format!("the agent would expand the `${{` in {:?}", field.masked(string)),
            mend: None,
            place: None,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn pinned_variables_are_the_json_that_the_library_writes(
            names in proptest::collection::btree_set("[A-Z_][A-Z0-9_]{0,3}|\\PC{0,3}|\"|\\\\", 0..6)
        ) {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let pairs = names.iter().map(|name| ((*name).into(), format!("${{{name}:-}}").into()));
            let expected = Value::Object(pairs.collect());
            prop_assert_eq!(pinned_variables(&names, ("${", ":-}")), compact(&expected));
        }
    }
}
