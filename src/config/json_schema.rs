//! The JSON Schema of a `squire.toml`, for editors: made of the same table of fields that the reader uses.
//!
//! It says what the reader says, as far as a schema can: the tests hold the two to one another. Three rules keep it
//! useful in editors that are built on taplo: no expression looks around, as the `regex` crate compiles them; what bears
//! a title has neither `$ref` nor `allOf` beside it, as the title would not be shown; and bad keys are refused by
//! `patternProperties`, as taplo marks everything below a table whose `propertyNames` are wrong.

use serde_json::{Map, Value, json};
use squire_strategies::Name;

use super::fields::{AGENT, Field, POLICY, PROFILE, SECTIONS, SERVER, Sample, ServerField, Shape};

/// What [`Name::parse`] takes, but for `__` and the reserved names.
const SERVER_NAME: &str = "^[A-Za-z](?:[A-Za-z0-9_-]{0,30}[A-Za-z0-9])?$";
const PROFILE_NAME: &str = "^[A-Za-z0-9_][A-Za-z0-9_-]*$";
pub(crate) const VARIABLE_NAME: &str = "^[A-Za-z_][A-Za-z0-9_]*$";
/// What `env` sets; a server may want names that no shell could write.
const ENVIRONMENT_NAME: &str = r"^[^=\x00]+$";
/// RFC 9110, section 5.6.2: a field name is a token.
const HEADER_NAME: &str = "^[A-Za-z0-9!#$%&'*+.^_`|~-]+$";
/// A program can be given no NUL.
pub(crate) const STRING: &str = r"^[^\x00]*$";
/// What `Text::parse` takes: plain characters, `$` without a brace, `$${`, references.
const TEXT: &str = concat!(
    r"^(?:[^$\x00]|\$+[^${\x00]|\$\$+\{",
    r"|\$\{env:[A-Za-z_][A-Za-z0-9_]*(?::-(?:[^$}\x00]|\$+[^${}\x00])*\$*)?\}",
    r"|\$\{secret:[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*\}",
    r")*\$*$"
);
/// In a [`TEXT`]: there is a reference.
const HAS_REFERENCE: &str = r"(?:^|[^$])\$\{";
/// In a [`TEXT`] without references: an address with a host.
const ADDRESS: &str = r"^[Hh][Tt][Tt][Pp][Ss]?://[^/?#:\s\x00-\x1f\x7f-\x9f][^\s\x00-\x1f\x7f-\x9f]*$";
/// In a [`TEXT`] without references: what a header can carry.
const HEADER_VALUE: &str = r"^[^\x00-\x08\x0a-\x1f\x7f-\x9f]*$";
/// The grammar of `humantime`.
const DURATION: &str = concat!(
    r"^\s*(?:[0-9][0-9\s]*(?:\.[0-9\s]+)?",
    "(?:nanos|nsec|ns|usec|us|µs|millis|msec|ms|seconds|second|secs|sec|s|minutes|minute|mins|min|m",
    "|hours|hour|hrs|hr|h|days|day|d|weeks|week|wks|wk|w|months|month|M|years|year|yrs|yr|y)",
    r"\s*)+$"
);
/// What `parse_size` takes.
const SIZE: &str = "^[0-9]+ *(?:B|kB|KB|MB|GB|KiB|MiB|GiB)?$";
const TRANSPORTS: &[&str] = &["stdio", "http", "sse", "streamable-http", "streamable_http", "streamableHttp"];
/// No digit but zero: no time at all.
const ZERO: &str = "^[^1-9]*$";

/// The schema, of draft 2020-12.
pub fn json_schema() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "squire.toml",
        "description": "The MCP servers that squire equips a coding agent with, and profiles that select among them.",
        "type": "object",
        "properties": properties(SECTIONS),
        "additionalProperties": false,
        "$defs": {
            "server": {
                "title": "Server",
                "description": "One MCP server: a program with `command`, or a remote one with `url`.",
                "type": "object",
                "properties": properties(SERVER),
                "additionalProperties": false,
            },
            "builtin": {
                "title": "The built-in server",
                "description": "squire's own server, which tells the agent which servers it has.",
                "type": "object",
                "properties": properties(SERVER.iter().filter(|field| field.id == ServerField::Disabled)),
                "additionalProperties": false,
            },
            "profile": {
                "title": "Profile",
                "description": "A named selection of servers.",
                "type": "object",
                "properties": properties(PROFILE),
                "additionalProperties": false,
            },
            "agent": {
                "title": "Agent",
                "description": "What the user sets for an agent.",
                "type": "object",
                "properties": properties(AGENT),
                "additionalProperties": false,
            },
            "filter": {
                "type": "object",
                "properties": { "allow": globs(), "deny": globs() },
                "additionalProperties": false,
            },
            "text": text(),
            "header": {
                "type": "string",
                "pattern": TEXT,
                "anyOf": [{ "pattern": HEADER_VALUE }, { "pattern": HAS_REFERENCE }],
            },
        },
    })
}

fn properties<Id: 'static>(fields: impl IntoIterator<Item = &'static Field<Id>>) -> Value {
    let properties = fields.into_iter().map(|field| (field.key.to_owned(), property(field)));
    Value::Object(properties.collect())
}

fn property<Id>(field: &Field<Id>) -> Value {
    let mut property = Map::new();
    property.insert("title".into(), field.title.into());
    property.insert("description".into(), description(field).into());
    if let Value::Object(keywords) = shape(field.shape) {
        property.extend(keywords);
    }
    property.extend(field.default.map(|default| ("default".into(), sample(default))));
    if !field.examples.is_empty() {
        let examples = field.examples.iter().map(|example| sample(*example)).collect();
        property.insert("examples".into(), examples);
    }
    Value::Object(property)
}

fn description<Id>(field: &Field<Id>) -> String {
    let takes = match field.shape {
        Shape::Text | Shape::Texts | Shape::Command | Shape::Url | Shape::Environment | Shape::Headers => {
            " ${env:NAME} and ${env:NAME:-default} stand for the value of a variable, ${secret:NAME} for a secret, $${ for a plain ${."
        }
        Shape::Duration => " A duration such as 30s, 2m or 1h 30m.",
        Shape::Size => " A number of bytes, or a size such as 64KiB or 1MiB.",
        _ => "",
    };
    let relay =
        if field.relay { " No gateway acts on it yet: a server that has one is left out." } else { "" };
    format!("{}{takes}{relay}", field.description)
}

fn sample(sample: Sample) -> Value {
    match sample {
        Sample::Word(word) => word.into(),
        Sample::Words(words) => words.into(),
        Sample::Pair(key, value) => json!({ key: value }),
        Sample::Flag(flag) => flag.into(),
    }
}

/// The keywords for a value.
fn shape(shape: Shape) -> Value {
    let array_of =
        |pattern: &str| json!({ "type": "array", "items": { "type": "string", "pattern": pattern } });
    let reference = |name: &str| json!({ "$ref": format!("#/$defs/{name}") });
    let table_of = |pattern: &str, value: Value| json!({ "type": "object", "patternProperties": { pattern: value }, "additionalProperties": false });
    match shape {
        Shape::Servers => json!({
            "type": "object",
            "properties": { Name::SQUIRE: reference("builtin") },
            "patternProperties": { SERVER_NAME: reference("server"), "__": false, reserved_names(): false },
            "additionalProperties": false,
        }),
        Shape::Profiles => table_of(PROFILE_NAME, reference("profile")),
        Shape::Text => text(),
        Shape::Texts => json!({ "type": "array", "items": reference("text") }),
        Shape::String => json!({ "type": "string", "pattern": STRING }),
        Shape::Boolean => json!({ "type": "boolean" }),
        Shape::Duration => json!({ "type": "string", "pattern": DURATION, "not": { "pattern": ZERO } }),
        Shape::Command => {
            let program = json!({ "type": "string", "minLength": 1, "pattern": TEXT });
            let words = json!({
                "type": "array",
                "minItems": 1,
                "prefixItems": [program],
                "items": reference("text"),
            });
            json!({ "anyOf": [program, words] })
        }
        Shape::Url => json!({
            "type": "string",
            "pattern": TEXT,
            "anyOf": [{ "pattern": ADDRESS }, { "pattern": HAS_REFERENCE }],
        }),
        Shape::Environment => table_of(ENVIRONMENT_NAME, reference("text")),
        Shape::Headers => table_of(HEADER_NAME, reference("header")),
        Shape::VariableNames => array_of(VARIABLE_NAME),
        Shape::ServerNames => array_of(SERVER_NAME),
        Shape::ProfileNames => array_of(PROFILE_NAME),
        Shape::ProfileName => json!({ "type": "string", "pattern": PROFILE_NAME }),
        Shape::Agents => table_of(PROFILE_NAME, reference("agent")),
        Shape::Policy => {
            json!({ "type": "object", "properties": properties(POLICY), "additionalProperties": false })
        }
        Shape::Program => json!({
            "type": "array",
            "minItems": 1,
            "prefixItems": [{ "type": "string", "minLength": 1, "pattern": STRING }],
            "items": { "type": "string", "pattern": STRING },
        }),
        Shape::False => json!({ "const": false }),
        Shape::Number => json!({ "type": "integer", "minimum": 0, "maximum": u32::MAX }),
        Shape::Size => json!({
            "anyOf": [
                { "type": "integer", "minimum": 0, "maximum": u32::MAX },
                { "type": "string", "pattern": SIZE },
            ],
        }),
        Shape::Globs => globs(),
        Shape::Filter => reference("filter"),
        Shape::Filters => table_of(SERVER_NAME, reference("filter")),
        Shape::Auth => auth(),
        Shape::Grants => grants(),
        Shape::Transports => json!({ "type": "array", "items": { "enum": TRANSPORTS } }),
        Shape::Rewrites => rewrites(),
        Shape::OneOf(words) => json!({ "enum": words }),
        Shape::Strategy => {
            let known: Vec<&str> = squire_strategies::AGENTS.iter().map(|strategy| strategy.name()).collect();
            json!({ "enum": known })
        }
        Shape::Transport => json!({
                    "anyOf": [
                        { "enum": TRANSPORTS },
        { "type": "string", "allOf": [{ "pattern": TEXT }, { "pattern": HAS_REFERENCE }] },
                    ],
                }),
    }
}

fn auth() -> Value {
    json!({
        "type": "object",
        "properties": {
            "type": { "enum": ["bearer", "header"] },
            "header": { "type": "string", "pattern": STRING },
            "secret": { "type": "string", "pattern": STRING },
        },
        "required": ["type", "secret"],
        "additionalProperties": false,
    })
}

fn grants() -> Value {
    json!({
        "type": "object",
        "properties": {
            "network": { "type": "boolean" },
            "filesystem": { "type": "boolean" },
            "secrets": { "type": "array", "items": { "type": "string", "pattern": STRING } },
        },
        "additionalProperties": false,
    })
}

fn rewrites() -> Value {
    let rewrite = json!({
        "type": "object",
        "properties": {
            "from": { "type": "string", "minLength": 1, "pattern": STRING },
            "to": { "type": "string", "pattern": STRING },
        },
        "required": ["from", "to"],
        "additionalProperties": false,
    });
    json!({ "type": "array", "items": rewrite })
}

/// Names or globs; what a glob may hold is the reader's to say.
fn globs() -> Value {
    json!({ "type": "array", "items": { "type": "string", "pattern": STRING } })
}

fn text() -> Value {
    json!({ "type": "string", "pattern": TEXT })
}

/// Every spelling of the reserved names that some agent would take for one of them, but for those of the built-in
/// server, which the user may name to turn it off.
fn reserved_names() -> String {
    let spellings = |name: &&str| -> String {
        name.chars()
            .map(|c| match c {
                '-' | '_' => "[-_]".to_owned(),
                c => format!("[{}{}]", c.to_ascii_uppercase(), c.to_ascii_lowercase()),
            })
            .collect()
    };
    let reserved = Name::RESERVED.iter().filter(|name| **name != Name::SQUIRE);
    format!("^(?:{})$", reserved.map(spellings).collect::<Vec<_>>().join("|"))
}

#[cfg(test)]
pub(super) mod tests;
