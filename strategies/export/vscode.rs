//! VS Code's `mcp.json`, from its documentation: `${env:X}` and `${input:ID}`, for which it asks its user once and keeps what
//! is typed; a server has the editor's environment.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde_json::{Value, json};

use super::json::{self, Words};
use super::said::{Inherits, Said, Syntax, Timeouts};
use super::{Format, unless};

pub(super) static FORMAT: Format = Format {
    name: "vscode",
    title: "VS Code",
    file: ".vscode/mcp.json of a project, or mcp.json of the user's profile",
    remote: (true, true),
    syntax: Syntax {
        variable: |name, default| default.is_none().then(|| format!("${{env:{name}}}")),
        secret: |name| Some(format!("${{input:{name}}}")),
        literal: |text| unless(text.contains("${"), text),
        inherits: Inherits::Everything,
        has_cwd: true,
        timeouts: Timeouts::Neither,
        has_tools: (false, false),
    },
    document,
};

fn document(said: &[Said]) -> String {
    let mut document = json::document("servers", said, entry);
    let mut asked: Vec<&String> = said.iter().flat_map(|said| &said.asked).collect();
    asked.sort_unstable();
    asked.dedup();
    let input = |name: &&String| json!({ "type": "promptString", "id": name, "description": format!("the secret {name}"), "password": true });
    if !asked.is_empty() {
        document.insert("inputs".into(), asked.iter().map(input).collect());
    }
    json::text(&document)
}

fn entry(said: &Said) -> Value {
    json::entry(said, &Words { kinds: Some(["stdio", "http", "sse"]), url: "url" }).into()
}
