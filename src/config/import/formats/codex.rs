//! Codex CLI: `[mcp_servers.NAME]` of `config.toml`. Measured with 0.171.0: nothing is expanded, names of variables
//! stand in `env_vars`, `bearer_token_env_var` and `env_http_headers`; times are seconds.

use super::super::dialect::{ASKS, Dialect, Meaning, Unit, Untyped};
use super::super::foreign::{Found, Scope};
use super::super::tree::{Tree, Unread};
use super::{Format, Home, Language, OwnFile, quoted};

pub(super) static FORMAT: Format = Format {
    name: "codex",
    title: "Codex CLI",
    own: &[
        OwnFile { home: Home::Variable("CODEX_HOME", ".codex", "config.toml"), scope: Scope::User },
        OwnFile { home: Home::Project(".codex/config.toml"), scope: Scope::Project },
    ],
    companions: &[],
    paths: &["**/.codex/config.toml"],
    looks_so: |tree| tree.get("mcp_servers").is_some(),
    languages: &[Language::Toml],
    read,
    remove: Some(|name, scope| (scope == Scope::User).then(|| format!("codex mcp remove {}", quoted(name)))),
};

static DIALECT: Dialect = Dialect {
    fields: &[
        ("env_vars", Meaning::Inherited),
        ("startup_timeout_sec", Meaning::StartupTimeout(Unit::Seconds)),
        ("startup_timeout_ms", Meaning::StartupTimeout(Unit::Milliseconds)),
        ("tool_timeout_sec", Meaning::Timeout(Unit::Seconds)),
        (
            "required",
            Meaning::LeftAway("`require` of a profile says so here, or squire launch --require NAME"),
        ),
        ("default_tools_approval_mode", Meaning::LeftAway(ASKS)),
        ("tools", Meaning::LeftAway(ASKS)),
        (
            "scopes",
            Meaning::LeftAway("a plain remote server is direct, and the agent's own OAuth asks again"),
        ),
        (
            "oauth_resource",
            Meaning::LeftAway("a plain remote server is direct, and the agent's own OAuth asks again"),
        ),
        (
            "bearer_token",
            Meaning::LeftAway(
                "Codex refuses it, too: squire secret set NAME, and auth = { type = \"bearer\", secret = \"NAME\" }",
            ),
        ),
    ],
    references: &[],
    untyped: Untyped::Http,
    is_readme: false,
};

fn read(tree: &Tree, _: Option<&str>) -> Result<Found, Unread> {
    let mut found = Found::default();
    if let Some(holder) = tree.get("mcp_servers") {
        found.add(holder, &["mcp_servers"], &DIALECT)?;
    }
    Ok(found)
}
