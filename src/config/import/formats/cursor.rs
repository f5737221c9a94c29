//! Cursor: `.cursor/mcp.json` of the user and of a project. `${env:NAME}`, `${userHome}` and `${workspaceFolder}` are
//! what its documentation names; `auth` and `envFile` too.

use super::super::dialect::{Dialect, Meaning, Syntax, Untyped};
use super::super::foreign::{Found, Scope};
use super::super::tree::{Tree, Unread};
use super::{Format, Home, Language, OwnFile, never};

pub(super) static FORMAT: Format = Format {
    name: "cursor",
    title: "Cursor",
    own: &[
        OwnFile { home: Home::User(".cursor/mcp.json"), scope: Scope::User },
        OwnFile { home: Home::Project(".cursor/mcp.json"), scope: Scope::Project },
    ],
    companions: &[],
    paths: &["**/.cursor/mcp.json"],
    looks_so: never,
    languages: &[Language::Json],
    read,
    remove: None,
};

/// Also of VS Code.
pub(super) const ENV_FILE: Meaning = Meaning::LeftAway(
    "squire reads no file of variables: name each in `env`, as ${secret:NAME} or ${env:NAME}, or in `inherit_env`",
);

static DIALECT: Dialect = Dialect {
    fields: &[
        ("envFile", ENV_FILE),
        ("auth", Meaning::LeftAway("a plain remote server is direct, and the agent's own OAuth asks again")),
        ("name", Meaning::Nothing),
    ],
    references: &[Syntax::Named, Syntax::Editor],
    untyped: Untyped::Http,
    is_readme: false,
};

fn read(tree: &Tree, _: Option<&str>) -> Result<Found, Unread> {
    super::mcp_servers(tree, &DIALECT)
}
