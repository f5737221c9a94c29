//! VS Code: `servers` and `inputs` of `mcp.json`, of the user and of a project; `mcp` of `settings.json`. Its documentation
//! names `${env:NAME}`, `${input:ID}`, `${workspaceFolder}`, `${userHome}` and further variables of the editor.

use super::super::dialect::{Dialect, Meaning, Syntax, Untyped};
use super::super::foreign::{Found, Input, Scope};
use super::super::tree::{Tree, Unread};
use super::{Format, Home, Language, OwnFile, cursor::ENV_FILE};

pub(super) static FORMAT: Format = Format {
    name: "vscode",
    title: "VS Code",
    own: &[
        OwnFile { home: Home::Config("Code/User/mcp.json"), scope: Scope::User },
        OwnFile { home: Home::Config("Code/User/settings.json"), scope: Scope::User },
        OwnFile { home: Home::User("Library/Application Support/Code/User/mcp.json"), scope: Scope::User },
        OwnFile { home: Home::Project(".vscode/mcp.json"), scope: Scope::Project },
    ],
    companions: &[],
    paths: &[
        "**/.vscode/mcp.json",
        "**/.vscode/settings.json",
        "**/Code/User/*.json",
        "**/Code - Insiders/User/*.json",
    ],
    looks_so: |tree| tree.get("servers").or(tree.get("mcp").and_then(|mcp| mcp.get("servers"))).is_some(),
    languages: &[Language::Json],
    read,
    remove: None,
};

static DIALECT: Dialect = Dialect {
    fields: &[
        ("envFile", ENV_FILE),
        ("gallery", Meaning::Nothing),
        ("version", Meaning::Nothing),
        ("dev", Meaning::LeftAway("it watches and debugs a server in the editor")),
        ("sandboxEnabled", Meaning::LeftAway("squire runs servers without a sandbox")),
        ("sandbox", Meaning::LeftAway("squire runs servers without a sandbox")),
    ],
    references: &[Syntax::Named, Syntax::Editor, Syntax::Inputs],
    untyped: Untyped::Http,
    is_readme: false,
};

fn read(tree: &Tree, _: Option<&str>) -> Result<Found, Unread> {
    let mut found = Found::default();
    let in_settings = tree.get("mcp").filter(|mcp| mcp.get("servers").is_some());
    let (top, path) = in_settings.map_or((tree, &["servers"][..]), |mcp| (mcp, &["mcp", "servers"][..]));
    if let Some(holder) = top.get("servers") {
        found.add(holder, path, &DIALECT)?;
    }
    for input in top.get("inputs").map(Tree::items).unwrap_or_default() {
        let text = |key| input.get(key).and_then(Tree::text);
        let Some(id) = text("id") else {
            found.unusable.push(Unread::at(input.place, "an input wants an `id`"));
            continue;
        };
        let is_hidden = input.get("password").and_then(Tree::flag) == Some(true);
        let default = text("default").filter(|_| !is_hidden).map(str::to_owned);
        found.inputs.push(Input { id: id.to_owned(), is_secret: default.is_none(), default });
    }
    Ok(found)
}
