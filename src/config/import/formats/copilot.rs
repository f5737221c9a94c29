//! GitHub Copilot CLI: `mcpServers` of `~/.copilot/mcp-config.json`, with `tools` as the only ones that are seen, `*` for
//! all, and `timeout` in milliseconds.

use super::super::dialect::{Dialect, Meaning, Syntax, Unit, Untyped};
use super::super::foreign::{Found, Scope};
use super::super::tree::{Tree, Unread};
use super::{Format, Home, Language, OwnFile, never};

pub(super) static FORMAT: Format = Format {
    name: "copilot",
    title: "GitHub Copilot CLI",
    own: &[OwnFile {
        home: Home::Variable("COPILOT_HOME", ".copilot", "mcp-config.json"),
        scope: Scope::User,
    }],
    companions: &[],
    paths: &["**/mcp-config.json"],
    looks_so: never,
    languages: &[Language::Json],
    read,
    remove: None,
};

static DIALECT: Dialect = Dialect {
    fields: &[
        ("tools", Meaning::Allow),
        ("timeout", Meaning::Timeout(Unit::Milliseconds)),
        ("isDefaultServer", Meaning::Nothing),
        (
            "oauthClientId",
            Meaning::LeftAway("a plain remote server is direct, and the agent's own OAuth asks again"),
        ),
    ],
    references: &[Syntax::Braces],
    untyped: Untyped::Http,
    is_readme: false,
};

fn read(tree: &Tree, _: Option<&str>) -> Result<Found, Unread> {
    let mut found = super::mcp_servers(tree, &DIALECT)?;
    for foreign in &mut found.servers {
        let is_all = |member: &&super::super::tree::Member| {
            member.key == "tools" && (member.value.texts() == ["*"] || member.value.text() == Some("*"))
        };
        if foreign.entry.iter().find(is_all).is_some() {
            foreign.take("tools");
        }
    }
    Ok(found)
}
