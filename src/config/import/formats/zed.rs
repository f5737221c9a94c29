//! Zed: `context_servers` of `settings.json`. `command` is a program or `{ path, args, env }`; nothing is expanded. A
//! server of an extension has `settings` alone, and nothing that could be started.

use super::super::dialect::{ASKS, Dialect, Meaning, Unit, Untyped};
use super::super::foreign::{Foreign, Found, Scope};
use super::super::tree::{Tree, Unread};
use super::{Format, Home, Language, OwnFile};

pub(super) static FORMAT: Format = Format {
    name: "zed",
    title: "Zed",
    own: &[
        OwnFile { home: Home::Config("zed/settings.json"), scope: Scope::User },
        OwnFile { home: Home::Project(".zed/settings.json"), scope: Scope::Project },
    ],
    companions: &[],
    paths: &["**/zed/settings.json", "**/.zed/settings.json"],
    looks_so: |tree| tree.get("context_servers").is_some(),
    languages: &[Language::Json],
    read,
    remove: None,
};

static DIALECT: Dialect = Dialect {
    fields: &[
        ("source", Meaning::Nothing),
        ("timeout", Meaning::Timeout(Unit::Seconds)),
        ("settings", Meaning::LeftAway("it is for an extension of Zed")),
        ("tool_permissions", Meaning::LeftAway(ASKS)),
        ("remote", Meaning::LeftAway("it says where Zed starts it")),
        ("oauth", Meaning::LeftAway("a plain remote server is direct, and the agent's own OAuth asks again")),
    ],
    references: &[],
    untyped: Untyped::Http,
    is_readme: false,
};

fn read(tree: &Tree, _: Option<&str>) -> Result<Found, Unread> {
    let mut found = Found::default();
    if let Some(holder) = tree.get("context_servers") {
        found.add(holder, &["context_servers"], &DIALECT)?;
    }
    let is_of_extension = |foreign: &Foreign| {
        !foreign.entry.iter().any(|member| matches!(member.key.as_str(), "command" | "url"))
    };
    for foreign in found.servers.extract_if(.., |foreign| is_of_extension(foreign)).collect::<Vec<_>>() {
        let sentence =
            format!("{:?} is left away: it is part of an extension of Zed, which starts it", foreign.name);
        found.remark(foreign.place, sentence);
    }
    for foreign in &mut found.servers {
        flatten(foreign);
    }
    Ok(found)
}

/// An object in `command` has the parts of a command line.
fn flatten(foreign: &mut Foreign) {
    let is_object = |member: &&super::super::tree::Member| member.key == "command" && member.value.is_table();
    if foreign.entry.iter().find(is_object).is_none() {
        return;
    }
    let Some(command) = foreign.take("command") else { return };
    for part in command.value.members() {
        let key = if part.key == "path" { "command" } else { &part.key };
        foreign.push(key, part.place, part.value.node.clone());
    }
}
