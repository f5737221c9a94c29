//! Zed's `settings.json`, from its documentation: `context_servers`, programs and addresses, and no references.

use serde_json::Value;

use super::json::{self, Words};
use super::said::{Inherits, Said, Syntax, Timeouts};
use super::{Format, unless};

pub(super) static FORMAT: Format = Format {
    name: "zed",
    title: "Zed",
    file: "settings.json of Zed, beside what is there",
    remote: (true, false),
    syntax: Syntax {
        variable: |_, _| None,
        secret: |_| None,
        literal: |text| unless(false, text),
        inherits: Inherits::Unknown,
        has_cwd: false,
        timeouts: Timeouts::Neither,
        has_tools: (false, false),
    },
    document: |said| json::text(&json::document("context_servers", said, entry)),
};

fn entry(said: &Said) -> Value {
    json::entry(said, &Words { kinds: None, url: "url" }).into()
}
