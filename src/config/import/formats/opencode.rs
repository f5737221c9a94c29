//! OpenCode: `mcp` of `opencode.json` and `opencode.jsonc`. Measured with 1.18.33: `command` an array, `environment`,
//! `{env:NAME}` and `{file:PATH}` in any string, `timeout` in milliseconds for start and calls, globs over the names of
//! tools (`SERVER_TOOL`) in `tools`.

use super::super::dialect::{Dialect, Meaning, Syntax, Unit, Untyped};
use super::super::foreign::{Foreign, Found, Scope};
use super::super::tree::{Node, Tree, Unread};
use super::{Format, Home, Language, OwnFile};

pub(super) static FORMAT: Format = Format {
    name: "opencode",
    title: "OpenCode",
    own: &[
        OwnFile { home: Home::Config("opencode/config.json"), scope: Scope::User },
        OwnFile { home: Home::Config("opencode/opencode.json"), scope: Scope::User },
        OwnFile { home: Home::Config("opencode/opencode.jsonc"), scope: Scope::User },
        OwnFile { home: Home::Project("opencode.json"), scope: Scope::Project },
        OwnFile { home: Home::Project("opencode.jsonc"), scope: Scope::Project },
        OwnFile { home: Home::Project(".opencode/opencode.json"), scope: Scope::Project },
        OwnFile { home: Home::Project(".opencode/opencode.jsonc"), scope: Scope::Project },
    ],
    companions: &[],
    paths: &["**/opencode.json", "**/opencode.jsonc", "**/opencode/config.json"],
    looks_so: |tree| {
        let servers = tree.get("mcp").map(Tree::members).unwrap_or_default();
        servers.iter().any(|server| {
            let kind = server.value.get("type").and_then(Tree::text);
            matches!(kind, Some("local" | "remote"))
        })
    },
    languages: &[Language::Json],
    read,
    remove: None,
};

static DIALECT: Dialect = Dialect {
    fields: &[
        ("timeout", Meaning::StartupTimeout(Unit::Milliseconds)),
        ("oauth", Meaning::LeftAway("a plain remote server is direct, and the agent's own OAuth asks again")),
    ],
    references: &[Syntax::Curly],
    untyped: Untyped::Http,
    is_readme: false,
};

fn read(tree: &Tree, _: Option<&str>) -> Result<Found, Unread> {
    let mut found = Found::default();
    let Some(holder) = tree.get("mcp") else { return Ok(found) };
    found.add(holder, &["mcp"], &DIALECT)?;
    // An entry with nothing but a switch changes one that another file has.
    for foreign in &mut found.servers {
        foreign.amends =
            foreign.entry.iter().all(|member| matches!(member.key.as_str(), "enabled" | "timeout"));
    }
    if let Some(tools) = tree.get("tools") {
        found.servers.iter_mut().for_each(|foreign| filter(foreign, tools));
    }
    let agents = tree.get("agent").map(Tree::members).unwrap_or_default();
    for agent in agents.iter().filter(|agent| agent.value.get("tools").is_some()) {
        found.remark(
            agent.place,
            format!("the tools of the agent {:?} are left away: a profile can narrow tools here", agent.key),
        );
    }
    Ok(found)
}

/// What the patterns over the names of all tools leave of one server's.
fn filter(foreign: &mut Foreign, tools: &Tree) {
    let legal = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_') { c } else { '_' };
    let prefix: String = foreign.name.chars().map(legal).collect();
    let (mut seen, mut hidden, mut is_off) = (Vec::new(), Vec::new(), None);
    for pattern in tools.members() {
        let own = pattern.key.strip_prefix(&prefix).and_then(|rest| rest.strip_prefix('_'));
        let Some(glob) = own.or(pattern.key.strip_prefix("*_")) else { continue };
        let glob_at = || Tree { node: Node::Text(glob.to_owned()), place: pattern.place };
        match pattern.value.flag() {
            Some(false) if own == Some("*") => is_off = Some(pattern.place),
            Some(false) => hidden.push(glob_at()),
            Some(true) if own.is_some() => seen.push(glob_at()),
            Some(true) | None => {}
        }
    }
    match is_off {
        // The server says nothing to the model.
        Some(place) if seen.is_empty() => {
            foreign.take("enabled");
            foreign.push("enabled", place, Node::Flag(false));
        }
        Some(place) => foreign.push("enabledTools", place, Node::List(seen)),
        None => {}
    }
    if let Some(first) = hidden.first().map(|first| first.place) {
        foreign.push("disabledTools", first, Node::List(hidden));
    }
}
