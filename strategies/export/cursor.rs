//! Cursor's `mcp.json`, from its documentation: `${env:X}` and other `${…}` in every string, and no default; streamable HTTP
//! and SSE are told apart by themselves; a server has a curated environment.

use alloc::format;

use serde_json::Value;

use super::json::{self, Words};
use super::said::{Inherits, Said, Syntax, Timeouts};
use super::{Format, unless};

pub(super) static FORMAT: Format = Format {
    name: "cursor",
    title: "Cursor",
    file: ".cursor/mcp.json of a project, or ~/.cursor/mcp.json",
    remote: (true, true),
    syntax: Syntax {
        variable: |name, default| default.is_none().then(|| format!("${{env:{name}}}")),
        secret: |_| None,
        literal: |text| unless(text.contains("${"), text),
        inherits: Inherits::Named,
        has_cwd: false,
        timeouts: Timeouts::Neither,
        has_tools: (false, false),
    },
    document: |said| json::text(&json::document("mcpServers", said, entry)),
};

fn entry(said: &Said) -> Value {
    json::entry(said, &Words { kinds: None, url: "url" }).into()
}
