//! Windsurf: `mcp_config.json`, with `serverUrl` and `disabledTools`. Its documentation names `${env:NAME}`.

use super::super::dialect::{Dialect, Syntax, Untyped};
use super::super::foreign::{Found, Scope};
use super::super::tree::{Tree, Unread};
use super::{Format, Home, Language, OwnFile};

pub(super) static FORMAT: Format = Format {
    name: "windsurf",
    title: "Windsurf",
    own: &[OwnFile { home: Home::User(".codeium/windsurf/mcp_config.json"), scope: Scope::User }],
    companions: &[],
    paths: &["**/windsurf*/mcp_config.json"],
    looks_so: |tree| {
        let servers = tree.get("mcpServers").map(Tree::members).unwrap_or_default();
        servers.iter().any(|server| server.value.get("serverUrl").is_some())
    },
    languages: &[Language::Json],
    read,
    remove: None,
};

static DIALECT: Dialect =
    Dialect { fields: &[], references: &[Syntax::Named], untyped: Untyped::Http, is_readme: false };

fn read(tree: &Tree, _: Option<&str>) -> Result<Found, Unread> {
    super::mcp_servers(tree, &DIALECT)
}
