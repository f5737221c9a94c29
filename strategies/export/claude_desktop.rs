//! Claude Desktop's `claude_desktop_config.json`, from its documentation: programs alone, and no references. Remote servers
//! are connectors, which no file holds.

use serde_json::Value;

use super::json::{self, Words};
use super::said::{Inherits, Said, Syntax, Timeouts};
use super::{Format, unless};

pub(super) static FORMAT: Format = Format {
    name: "claude-desktop",
    title: "Claude Desktop",
    file: "claude_desktop_config.json",
    remote: (false, false),
    syntax: Syntax {
        variable: |_, _| None,
        secret: |_| None,
        literal: |text| unless(false, text),
        inherits: Inherits::Unknown,
        has_cwd: false,
        timeouts: Timeouts::Neither,
        has_tools: (false, false),
    },
    document: |said| json::text(&json::document("mcpServers", said, entry)),
};

fn entry(said: &Said) -> Value {
    json::entry(said, &Words { kinds: None, url: "url" }).into()
}
