//! Claude Code's `.mcp.json`. Measured with 2.1.197: `${X}` and `${X:-d}` in every string, nothing else is replaced; `cwd`
//! is ignored; a server has its whole environment; a timeout is one call's, in milliseconds.

use alloc::format;

use serde_json::Value;

use super::json::{self, Words};
use super::said::{Inherits, Said, Syntax, Timeouts};
use super::{Format, unless};
use crate::json::milliseconds;

pub(super) static FORMAT: Format = Format {
    name: "claude",
    title: "Claude Code",
    file: ".mcp.json of a project",
    remote: (true, true),
    syntax: Syntax {
        variable: |name, default| {
            Some(default.map_or_else(|| format!("${{{name}}}"), |default| format!("${{{name}:-{default}}}")))
        },
        secret: |_| None,
        literal: |text| unless(text.contains("${"), text),
        inherits: Inherits::Named,
        has_cwd: false,
        timeouts: Timeouts::ForCalls,
        has_tools: (false, false),
    },
    document: |said| json::text(&json::document("mcpServers", said, entry)),
};

fn entry(said: &Said) -> Value {
    let words = Words { kinds: Some(["stdio", "http", "sse"]), url: "url" };
    let mut entry = json::entry(said, &words);
    if let Some(timeout) = said.timeout {
        entry.insert("timeout".into(), milliseconds(timeout).into());
    }
    entry.into()
}
