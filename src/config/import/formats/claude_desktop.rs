//! Claude Desktop: `claude_desktop_config.json`. It starts programs, and expands nothing.

use super::super::dialect::{Dialect, Untyped};
use super::super::foreign::{Found, Scope};
use super::super::tree::{Tree, Unread};
use super::{Format, Home, Language, OwnFile, never};

pub(super) static FORMAT: Format = Format {
    name: "claude-desktop",
    title: "Claude Desktop",
    own: &[
        OwnFile { home: Home::Config("Claude/claude_desktop_config.json"), scope: Scope::User },
        OwnFile {
            home: Home::User("Library/Application Support/Claude/claude_desktop_config.json"),
            scope: Scope::User,
        },
    ],
    companions: &[],
    paths: &["**/claude_desktop_config.json"],
    looks_so: never,
    languages: &[Language::Json],
    read,
    remove: None,
};

static DIALECT: Dialect =
    Dialect { fields: &[], references: &[], untyped: Untyped::HttpTold, is_readme: false };

fn read(tree: &Tree, _: Option<&str>) -> Result<Found, Unread> {
    super::mcp_servers(tree, &DIALECT)
}
