//! OpenCode's `opencode.json`. Measured with 1.18.33: `{env:X}` and `{file:x}` are replaced in the text before it is parsed, so
//! that a value with a quote breaks the file; a server has the whole environment; one number is both timeouts, in
//! milliseconds.

use alloc::format;
use alloc::vec::Vec;

use serde_json::{Map, Value, json};

use super::json;
use super::said::{Inherits, Kind, Said, Syntax, Timeouts};
use super::{Format, unless};
use crate::json::milliseconds;

pub(super) static FORMAT: Format = Format {
    name: "opencode",
    title: "OpenCode",
    file: "opencode.json of a project, or ~/.config/opencode/opencode.json",
    remote: (true, true),
    syntax: Syntax {
        variable: |name, default| default.is_none().then(|| format!("{{env:{name}}}")),
        secret: |_| None,
        literal: |text| unless(text.contains("{env:") || text.contains("{file:"), text),
        inherits: Inherits::Everything,
        has_cwd: true,
        timeouts: Timeouts::Shared,
        has_tools: (false, false),
    },
    document: |said| json::text(&json::document("mcp", said, entry)),
};

fn entry(said: &Said) -> Value {
    let mut entry: Map<_, _> = match &said.kind {
        Kind::Program { command, args, env, variables: _, cwd } => {
            let words: Vec<_> = core::iter::once(command).chain(args).collect();
            let mut entry =
                Map::from_iter([("type".into(), json!("local")), ("command".into(), json!(words))]);
            if !env.is_empty() {
                entry.insert("environment".into(), json::pairs(env));
            }
            if let Some(cwd) = cwd {
                entry.insert("cwd".into(), json!(cwd));
            }
            entry
        }
        Kind::Remote { is_sse: _, url, headers, of_variables: _ } => {
            let mut entry = Map::from_iter([("type".into(), json!("remote")), ("url".into(), json!(url))]);
            if !headers.is_empty() {
                entry.insert("headers".into(), json::pairs(headers));
            }
            entry
        }
    };
    entry.insert("enabled".into(), true.into());
    if let Some(timeout) = said.timeout.max(said.startup_timeout) {
        entry.insert("timeout".into(), milliseconds(timeout).into());
    }
    entry.into()
}
