//! Claude Code: `.mcp.json`, and `~/.claude.json` with the user's servers and those for one project. Measured with
//! 2.1.197: `${VAR}` and `${VAR:-default}`, `cwd` and `disabled` ignored, `timeout` in milliseconds for one call.

use super::super::dialect::{ASKS, Dialect, Meaning, Syntax, Unit, Untyped};
use super::super::foreign::{Found, Scope};
use super::super::tree::{Tree, Unread};
use super::{Format, Home, Language, OwnFile, never, quoted};

pub(super) static FORMAT: Format = Format {
    name: "claude",
    title: "Claude Code",
    own: &[
        OwnFile { home: Home::Variable("CLAUDE_CONFIG_DIR", "", ".claude.json"), scope: Scope::User },
        OwnFile { home: Home::Project(".mcp.json"), scope: Scope::Project },
    ],
    companions: &[],
    paths: &["**/.mcp.json", "**/.claude.json"],
    looks_so: never,
    languages: &[Language::Json],
    read,
    remove: Some(|name, scope| Some(format!("claude mcp remove -s {} {}", scope.as_str(), quoted(name)))),
};

static DIALECT: Dialect = Dialect {
    fields: &[
        ("timeout", Meaning::Timeout(Unit::Milliseconds)),
        ("alwaysLoad", Meaning::LeftAway("squire writes it for each launch")),
        ("cwd", Meaning::LeftAway("Claude Code ignores it, and starts the server where it runs itself")),
        ("disabled", Meaning::LeftAway("Claude Code ignores it: the server is on there")),
        ("oauth", Meaning::LeftAway("a plain remote server is direct, and the agent's own OAuth asks again")),
        (
            "headersHelper",
            Meaning::LeftAway(
                "a program that prints headers is a secret here: squire secret set NAME --command -- PROGRAM",
            ),
        ),
        ("alwaysAllow", Meaning::LeftAway(ASKS)),
    ],
    references: &[Syntax::Braces],
    untyped: Untyped::HttpTold,
    is_readme: false,
};

fn read(tree: &Tree, project: Option<&str>) -> Result<Found, Unread> {
    let mut found = super::mcp_servers(tree, &DIALECT)?;
    let Some((project, state)) =
        project.and_then(|project| Some((project, tree.get("projects")?.get(project)?)))
    else {
        return Ok(found);
    };
    let user = found.servers.len();
    if let Some(holder) = state.get("mcpServers") {
        found.add(holder, &["projects", project, "mcpServers"], &DIALECT)?;
    }
    for foreign in found.servers.iter_mut().skip(user) {
        foreign.scope = Some(Scope::Local);
    }
    for key in ["disabledMcpServers", "disabledMcpjsonServers"] {
        if let Some(off) = state.get(key).filter(|off| !off.items().is_empty()) {
            let names = off.texts().join(", ");
            found.remark(off.place, format!("Claude Code has {names} off in this project (`{key}`): `squire disable NAME --layer local` does so here"));
        }
    }
    Ok(found)
}
