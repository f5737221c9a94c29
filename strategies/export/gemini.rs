//! Gemini CLI's `settings.json`. Measured with 0.61.0: `$X`, `${X}` and `${X:-d}` are replaced in every string, and in the
//! variables once more; a server has the environment without what looks like a secret, unless its entry names it; without
//! a timeout one that hangs blocks for ten minutes.

use alloc::format;

use serde_json::{Value, json};

use super::json::{self, Words};
use super::said::{Inherits, Said, Syntax, Timeouts};
use super::{Format, unless};
use crate::json::milliseconds;
use crate::server::ResolvedServer;

pub(super) static FORMAT: Format = Format {
    name: "gemini",
    title: "Gemini CLI",
    file: ".gemini/settings.json of a project, or ~/.gemini/settings.json",
    remote: (true, true),
    syntax: Syntax {
        variable: |name, default| match default {
            None => Some(format!("${{{name}}}")),
            Some(default) => (!default.contains('$')).then(|| format!("${{{name}:-{default}}}")),
        },
        secret: |_| None,
        literal: |text| unless(text.contains('$'), text),
        inherits: Inherits::Most,
        has_cwd: true,
        timeouts: Timeouts::Shared,
        has_tools: (true, true),
    },
    document: |said| json::text(&json::document("mcpServers", said, entry)),
};

fn entry(said: &Said) -> Value {
    let mut entry = json::entry(said, &Words { kinds: Some(["stdio", "http", "sse"]), url: "url" });
    let timeout = said.timeout.max(said.startup_timeout).unwrap_or(ResolvedServer::TIMEOUT);
    entry.insert("timeout".into(), milliseconds(timeout).into());
    if let Some(description) = &said.description {
        entry.insert("description".into(), json!(description));
    }
    if let Some(allow) = &said.allow {
        entry.insert("includeTools".into(), json!(allow));
    }
    if !said.deny.is_empty() {
        entry.insert("excludeTools".into(), json!(said.deny));
    }
    entry.into()
}
