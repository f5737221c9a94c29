//! Windsurf's `mcp_config.json`, from what its users document: an address is `serverUrl`, `${env:X}` in every string.

use alloc::format;

use serde_json::Value;

use super::json::{self, Words};
use super::said::{Inherits, Said, Syntax, Timeouts};
use super::{Format, unless};

pub(super) static FORMAT: Format = Format {
    name: "windsurf",
    title: "Windsurf",
    file: "~/.codeium/windsurf/mcp_config.json",
    remote: (true, true),
    syntax: Syntax {
        variable: |name, default| default.is_none().then(|| format!("${{env:{name}}}")),
        secret: |_| None,
        literal: |text| unless(text.contains("${"), text),
        inherits: Inherits::Most,
        has_cwd: false,
        timeouts: Timeouts::Neither,
        has_tools: (false, false),
    },
    document: |said| json::text(&json::document("mcpServers", said, entry)),
};

fn entry(said: &Said) -> Value {
    json::entry(said, &Words { kinds: None, url: "serverUrl" }).into()
}
