//! A kaged project: `mcp` of `.kaged/project.yaml`, `[mcp.NAME]` and `[secrets.NAME]` of the `local.toml` beside it, and
//! what its agents see of each server: patterns `mcp.NAME.TOOL` in their `tools`, which become profiles.

use super::super::dialect::{Dialect, Meaning, Syntax, Untyped};
use super::super::foreign::{Declared, Foreign, Found, Profile};
use super::super::tree::{Node, Tree, Unread};
use super::{Format, Language};

pub(super) static FORMAT: Format = Format {
    name: "kaged",
    title: "kaged",
    own: &[],
    companions: &["project.local.yaml", "local.toml"],
    paths: &["**/.kaged/*.yaml", "**/.kaged/*.yml", "**/.kaged/*.toml"],
    looks_so: |tree| {
        let servers = tree.get("mcp").map(Tree::members).unwrap_or_default();
        servers.iter().any(|server| server.value.is_table())
    },
    languages: &[Language::Yaml, Language::Toml],
    read,
    remove: None,
};

static DIALECT: Dialect = Dialect {
    fields: &[
        ("cage", Meaning::LeftAway("squire runs servers without a cage")),
        ("trust", Meaning::LeftAway("nobody but you believes a server here: squire approve NAME")),
    ],
    references: &[Syntax::Braces, Syntax::Named, Syntax::Own],
    untyped: Untyped::Http,
    is_readme: false,
};

fn read(tree: &Tree, _: Option<&str>) -> Result<Found, Unread> {
    let mut found = Found::default();
    if let Some(holder) = tree.get("mcp") {
        let holder = holder.get("servers").filter(|servers| servers.is_table()).unwrap_or(holder);
        found.add(holder, &["mcp"], &DIALECT)?;
    }
    // The files beside the project's own change what that declares.
    let is_project = tree.get("project").is_some() || tree.get("primary").is_some();
    for foreign in &mut found.servers {
        filter(foreign);
        foreign.amends = !is_project;
    }
    for secret in tree.get("secrets").map(Tree::members).unwrap_or_default() {
        declare(&secret.key, secret.place, &secret.value, &mut found);
    }
    if let Some(primary) = tree.get("primary") {
        select("primary", primary, &mut found);
    }
    for agents in ["agents", "subagents"] {
        for agent in tree.get(agents).map(Tree::members).unwrap_or_default() {
            select(&agent.key, &agent.value, &mut found);
        }
    }
    Ok(found)
}

/// `tools` of a server: `{ enabled = [..], disabled = [..] }`, or a list of those that are seen.
fn filter(foreign: &mut Foreign) {
    let Some(tools) = foreign.take("tools") else { return };
    if let Node::List(_) = tools.value.node {
        foreign.push("enabledTools", tools.place, tools.value.node.clone());
    }
    for part in tools.value.members() {
        match (part.key.as_str(), &part.value.node) {
            ("enabled", Node::List(_)) => foreign.push("enabledTools", part.place, part.value.node.clone()),
            ("disabled", Node::List(_)) => foreign.push("disabledTools", part.place, part.value.node.clone()),
            ("enabled", Node::Flag(true)) => {}
            ("enabled", Node::Flag(false)) => foreign.push("enabled", part.place, Node::Flag(false)),
            (tool, _) if part.value.get("enabled").and_then(Tree::flag) == Some(false) => {
                let glob = Tree { node: Node::Text(tool.to_owned()), place: part.place };
                foreign.push("disabledTools", part.place, Node::List(vec![glob]));
            }
            (tool, _) if part.value.get("enabled").and_then(Tree::flag) == Some(true) => {
                let glob = Tree { node: Node::Text(tool.to_owned()), place: part.place };
                foreign.push("enabledTools", part.place, Node::List(vec![glob]));
            }
            (key, _) => foreign.remark(
                part.place,
                format!("`tools.{key}` is no filter that squire knows, and is left away"),
            ),
        }
    }
}

/// A secret: a string, or a table with its source; others are groups.
fn declare(name: &str, place: crate::config::Place, value: &Tree, found: &mut Found) {
    if let Some(text) = value.text() {
        found.secrets.push(Declared {
            name: name.to_owned(),
            place,
            source: ("value", text.to_owned().into()),
        });
        return;
    }
    for source in ["env", "file", "value"] {
        if let Some(text) = value.get(source).and_then(Tree::text) {
            found.secrets.push(Declared {
                name: name.to_owned(),
                place,
                source: (source, text.to_owned().into()),
            });
            return;
        }
    }
    let groups = value.members();
    if groups.is_empty()
        || groups.iter().any(|member| !member.value.is_table() && member.value.text().is_none())
    {
        found.remark(place, format!("the secret {name:?} is left away: `env`, `file` or `value` was expected; squire secret set {name}"));
        return;
    }
    for member in groups {
        declare(&format!("{name}.{}", member.key), member.place, &member.value, found);
    }
}

/// What an agent, and those below it, see of servers.
fn select(name: &str, agent: &Tree, found: &mut Found) {
    if let Some(tools) = agent.get("tools") {
        let mut profile = Profile { name: name.to_owned(), place: tools.place, servers: Vec::new() };
        for (pattern, is_seen) in patterns(tools) {
            let Some((server, tool)) = pattern.strip_prefix("mcp.").and_then(|rest| rest.split_once('.'))
            else {
                continue;
            };
            let known = profile.servers.iter().position(|(known, ..)| known == server);
            let at = known.unwrap_or_else(|| {
                profile.servers.push((server.to_owned(), Vec::new(), Vec::new()));
                profile.servers.len() - 1
            });
            let Some((_, allow, deny)) = profile.servers.get_mut(at) else { continue };
            if is_seen { allow.push(tool.to_owned()) } else { deny.push(tool.to_owned()) }
        }
        // Nothing of a server that it denies whole, or allows nothing of.
        profile.servers.retain(|(_, allow, deny)| !allow.is_empty() && !deny.iter().any(|tool| tool == "*"));
        if !profile.servers.is_empty() {
            found.profiles.push(profile);
        }
    }
    for below in agent.get("subagents").map(Tree::members).unwrap_or_default() {
        select(&below.key, &below.value, found);
    }
}

/// Each pattern, and whether what fits it is seen: of a list, or of a table with `enabled` in each.
fn patterns(tools: &Tree) -> Vec<(&str, bool)> {
    let listed = |key: &str| tools.get(key).filter(|list| !list.items().is_empty()).map(Tree::texts);
    let mut found: Vec<(&str, bool)> = tools.texts().into_iter().map(|pattern| (pattern, true)).collect();
    found.extend(listed("enabled").unwrap_or_default().into_iter().map(|pattern| (pattern, true)));
    found.extend(listed("disabled").unwrap_or_default().into_iter().map(|pattern| (pattern, false)));
    for member in tools.members() {
        let is_seen = member.value.flag().or_else(|| member.value.get("enabled").and_then(Tree::flag));
        if let Some(is_seen) = is_seen.or((member.value.node == Node::Table(Vec::new())).then_some(true)) {
            found.push((&member.key, is_seen));
        }
    }
    found
}
