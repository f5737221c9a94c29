//! One server as JSON for scripts and consoles: docs/json.md has every key.

use serde_json::{Map, Value, json};
use squire_strategies::{ResolvedServer, Source, Transport};

use super::super::list::{state, target};
use super::{Field, Shown, UsedSecret, is_program, render, set_variables, variables};
use crate::config::Grants;
use crate::resolve::{Resolved, Standing};
use crate::secrets::of_declaration;

/// The server as JSON.
pub(super) fn json(shown: &Shown<'_>) -> Value {
    let (entry, server) = (shown.entry, &shown.entry.server);
    let mut keys = of_what_it_is(shown);
    let routes = shown.routes.iter();
    let routes = routes.map(|it| json!({ "agent": it.agent, "route": it.route, "reason": it.reason }));
    let fields: Vec<Value> = shown.fields.iter().map(field).collect();
    let more = json!({
        "route": server.route.as_str(),
        "routes": routes.collect::<Vec<_>>(),
        "fields": fields,
        "environment": {
            "base": is_program(server),
            "set": set_variables(server),
            "read": variables(server),
        },
        "references": references(server),
        "secrets": shown.secrets.iter().map(|secret| secret.name.as_str()).collect::<Vec<_>>(),
        "secret_sources": shown.secrets.iter().map(secret).collect::<Vec<_>>(),
        "grants": grants(entry),
        "filters": filters(entry),
        "tools": shown.tools,
        "limits": limits(entry),
        "profiles": shown.profiles,
    });
    for part in [more, of_trust(shown)] {
        if let Value::Object(part) = part {
            keys.extend(part);
        }
    }
    keys.into()
}

fn of_what_it_is(shown: &Shown<'_>) -> Map<String, Value> {
    let (entry, server) = (shown.entry, &shown.entry.server);
    let (note, declaration) = (entry.left_out.as_ref(), entry.declaration.as_deref());
    let is = json!({
        "name": server.name.as_str(),
        "tier": server.tier.as_str(),
        "state": state(entry),
        "enabled": note.is_none(),
        "code": note.map(|note| note.code.as_str()),
        "reason": note.map(|note| note.sentence.as_str()),
        "mend": note.and_then(|note| note.mend.as_deref()),
        "transport": server.transport.as_str(),
        "runs": target(entry),
        "origin": (!server.origin.is_empty()).then_some(server.origin.as_str()),
        "layer": declaration.map(|declaration| declaration.origin.layer.as_str()),
        "declared": declaration.map(|declaration| json!({
            "path": declaration.origin.path.to_string_lossy(),
            "line": declaration.origin.place.line,
            "column": declaration.origin.place.column,
        })),
        "description": server.description,
    });
    match is {
        Value::Object(is) => is,
        _ => Map::new(),
    }
}

fn of_trust(shown: &Shown<'_>) -> Value {
    let (standing, changes) = match &shown.standing {
        None => ("not-needed", None),
        Some(Standing::New) => ("new", None),
        Some(Standing::Approved) => ("approved", None),
        Some(Standing::Changed(changes)) => ("changed", Some(changes)),
    };
    json!({
        "digest": shown.digest,
        "standing": standing,
        "changes": changes,
        "approval": shown.approval.as_ref().map(|approval| json!({
            "time": render::time(approval),
            "word": approval.word,
            "place": approval.place,
            "program": approval.binding.program,
            "files": approval.binding.files,
        })),
    })
}

/// Every reference, by where it stands. A default may be anything, and is not shown.
fn references(server: &ResolvedServer) -> Vec<Value> {
    let mut references = Vec::new();
    for (field, text) in server.transport.texts() {
        for reference in text.references() {
            let (kind, name) = match &reference.source {
                Source::Environment(name) => ("env", name),
                Source::Secret(name) => ("secret", name),
            };
            let has_default = reference.default.is_some();
            references.push(
                json!({ "field": field.to_string(), "kind": kind, "name": name, "default": has_default }),
            );
        }
    }
    references
}

/// What it may use: the ceiling where one is written, else what the declaration uses.
fn grants(entry: &Resolved) -> Value {
    let written = entry.declaration.as_deref().and_then(|declaration| declaration.grants.as_ref());
    let Grants { network, filesystem, secrets } =
        written.map(|grants| grants.value.clone()).unwrap_or_default();
    let transport = &entry.server.transport;
    let used = of_declaration(transport, entry.declaration.as_deref());
    json!({
        "network": network.unwrap_or_else(|| transport.remote().is_some()),
        "filesystem": filesystem.unwrap_or_else(|| is_program(&entry.server)),
        "secrets": secrets.unwrap_or_else(|| used.iter().map(ToString::to_string).collect()),
        "written": written.is_some(),
    })
}

/// The filters of its tools: the declaration's, the profiles' and the agent's; one that any hides is hidden.
fn filters(entry: &Resolved) -> Vec<Value> {
    let filters = entry.limits.filters.iter();
    filters.map(|filter| json!({ "allow": filter.allow, "deny": filter.deny })).collect()
}

/// What its gateway keeps; nothing of what an agent reaches by itself.
fn limits(entry: &Resolved) -> Value {
    let server = &entry.server;
    let milliseconds =
        |duration: std::time::Duration| u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    match server.transport {
        Transport::Builtin => Value::Null,
        _ => json!({
            "timeout_ms": milliseconds(server.timeout.unwrap_or(ResolvedServer::TIMEOUT)),
            "startup_timeout_ms":
                milliseconds(server.startup_timeout.unwrap_or(ResolvedServer::STARTUP_TIMEOUT)),
            "result_limit_bytes": entry.limits.result_limit,
            "max_restarts": entry.limits.max_restarts,
        }),
    }
}

fn secret(secret: &UsedSecret) -> Value {
    json!({ "name": secret.name, "source": secret.kind, "told": secret.source })
}

fn field(field: &Field) -> Value {
    let origin = field.origin.as_ref();
    json!({
        "field": field.name,
        "value": field.value,
        "layer": origin.map_or("default", |origin| origin.layer.as_str()),
        "path": origin.map(|origin| origin.path.to_string_lossy()),
        "line": origin.map(|origin| origin.place.line),
        "column": origin.map(|origin| origin.place.column),
    })
}
