//! What the JSON formats share.

use alloc::string::{String, ToString};

use serde_json::{Map, Value, json};

use super::said::{Kind, Said};
use crate::deceptive::spelled_in_json;

/// A file whose object `at` has the servers.
pub(super) fn document(at: &str, said: &[Said], entry: fn(&Said) -> Value) -> Map<String, Value> {
    let entries: Map<String, Value> = said.iter().map(|said| (said.name.clone(), entry(said))).collect();
    Map::from_iter([(at.to_string(), entries.into())])
}

/// The text of a file.
pub(super) fn text(document: &Map<String, Value>) -> String {
    // A value can't fail to be written.
    let mut text = serde_json::to_string_pretty(document).unwrap_or_default();
    text.push('\n');
    spelled_in_json(text)
}

/// The words of an agent for what an entry is.
pub(super) struct Words {
    /// The value of `type` of a program, of streamable HTTP and of SSE, where the agent wants one.
    pub(super) kinds: Option<[&'static str; 3]>,
    /// The key of an address.
    pub(super) url: &'static str,
}

/// An entry in the shape that most have.
pub(super) fn entry(said: &Said, words: &Words) -> Map<String, Value> {
    let mut entry = Map::new();
    let mut set = |key: &str, value: Value| {
        let is_empty = value.as_array().is_some_and(alloc::vec::Vec::is_empty)
            || value.as_object().is_some_and(Map::is_empty);
        if !is_empty && !value.is_null() {
            entry.insert(key.to_string(), value);
        }
    };
    match &said.kind {
        Kind::Program { command, args, env, variables: _, cwd } => {
            set("type", words.kinds.map(|kinds| kinds[0]).into());
            set("command", json!(command));
            set("args", json!(args));
            set("env", pairs(env));
            set("cwd", json!(cwd));
        }
        Kind::Remote { is_sse, url, headers, of_variables: _ } => {
            set("type", words.kinds.map(|kinds| kinds[if *is_sse { 2 } else { 1 }]).into());
            set(words.url, json!(url));
            set("headers", pairs(headers));
        }
    }
    entry
}

pub(super) fn pairs(pairs: &[(String, String)]) -> Value {
    Value::Object(pairs.iter().map(|(name, value)| (name.clone(), json!(value))).collect())
}
