//! protoWorkstacean: `workspace/mcp-servers.d/NAME.yaml`, one server a file. Its source (2026) merges `command` and `args`,
//! expands `${NAME}` in `env` and `url`, and leaves a `community` server off that is not `enabled`.

use super::super::dialect::{Dialect, Meaning, Syntax, Untyped};
use super::super::foreign::{Foreign, Found};
use super::super::tree::{Member, Node, Tree, Unread};
use super::{Format, Language};

pub(super) static FORMAT: Format = Format {
    name: "workstacean",
    title: "protoWorkstacean",
    own: &[],
    companions: &[],
    paths: &["**/mcp-servers.d/*.yaml", "**/mcp-servers.d/*.yml"],
    looks_so: |tree| {
        tree.get("name").is_some() && (tree.get("command").is_some() || tree.get("url").is_some())
            || tree.items().iter().any(|item| item.get("name").is_some())
    },
    languages: &[Language::Yaml, Language::Json],
    read,
    remove: None,
};

static DIALECT: Dialect = Dialect {
    fields: &[
        ("name", Meaning::Nothing),
        ("allowedTools", Meaning::Allow),
        ("trust", Meaning::LeftAway("nobody but you believes a server here: squire approve NAME")),
        (
            "grants",
            Meaning::LeftAway(
                "they are of another sandbox: here a server gets the variables and secrets that it names",
            ),
        ),
    ],
    references: &[Syntax::Braces],
    untyped: Untyped::Http,
    is_readme: false,
};

fn read(tree: &Tree, _: Option<&str>) -> Result<Found, Unread> {
    let mut found = Found::default();
    let one = std::slice::from_ref(tree);
    for server in if tree.is_table() { one } else { tree.items() } {
        server.refuse_twice()?;
        let Some(name) = server.get("name").and_then(Tree::text) else {
            found.unusable.push(Unread::at(server.place, "a server wants a `name`"));
            continue;
        };
        let member = Member { key: name.to_owned(), place: server.place, value: server.clone() };
        match Foreign::new(&member, &[], &DIALECT) {
            Ok(foreign) => found.servers.push(switched(foreign, server)),
            Err(unread) => found.unusable.push(unread),
        }
    }
    if found.servers.is_empty() && found.unusable.is_empty() {
        return Err(Unread::at(tree.place, "a server was expected: `name`, and `command` or `url`"));
    }
    Ok(found)
}

/// What is not believed there is off there, unless somebody switched it on.
fn switched(mut foreign: Foreign, server: &Tree) -> Foreign {
    let trust = server.get("trust").and_then(Tree::text).unwrap_or("community");
    if server.get("enabled").is_none() && !matches!(trust, "builtin" | "trusted") {
        foreign.push("enabled", server.place, Node::Flag(false));
        foreign.remark(
            server.place,
            "it is off there, as its trust is community and nobody enabled it: squire enable NAME",
        );
    }
    // An empty list of allowed tools allows all of them there.
    if server.get("allowedTools").is_some_and(|tools| tools.items().is_empty()) {
        foreign.take("allowedTools");
    }
    foreign
}
