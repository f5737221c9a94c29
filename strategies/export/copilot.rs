//! GitHub Copilot CLI's `mcp-config.json`, from its documentation: every entry lists its tools, `*` being all. What it
//! replaces in strings changed between its versions, so nothing with a dollar sign is written.

use serde_json::{Value, json};

use super::json::{self, Words};
use super::said::{Inherits, Said, Syntax, Timeouts};
use super::{Format, unless};

pub(super) static FORMAT: Format = Format {
    name: "copilot",
    title: "GitHub Copilot CLI",
    file: "~/.copilot/mcp-config.json",
    remote: (true, true),
    syntax: Syntax {
        variable: |_, _| None,
        secret: |_| None,
        literal: |text| unless(text.contains('$'), text),
        inherits: Inherits::Unknown,
        has_cwd: false,
        timeouts: Timeouts::Neither,
        has_tools: (true, false),
    },
    document: |said| json::text(&json::document("mcpServers", said, entry)),
};

fn entry(said: &Said) -> Value {
    let mut entry = json::entry(said, &Words { kinds: Some(["local", "http", "sse"]), url: "url" });
    entry.insert("tools".into(), said.allow.as_ref().map_or_else(|| json!(["*"]), |allow| json!(allow)));
    entry.into()
}
