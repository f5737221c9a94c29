//! Servers that a project declares in files of agents: `.mcp.json`, `.cursor/mcp.json` and `.vscode/mcp.json` at its root
//! are a layer as its squire.toml is, and are believed no more. Pure.
//!
//! An entry that says what squire can't say is left out with the reason, never half of it taken.

use std::path::Path;
use std::rc::Rc;

use serde_json::{Map, Value as Json};
use squire_strategies::{Code, Member, Name, Note, Whereabouts, members};

use super::import::of_entry_of_project;
use super::problem::{Place, Problem};
use super::read::read;
use super::schema::{Declaration, Declarations, LayerKind, Origin};

/// A file of an agent that declares servers for a project.
#[derive(Clone, Copy, Debug)]
pub(super) struct LiveFile {
    /// Its path below the project's root.
    pub(super) path: &'static str,
    /// The object at its top level that holds the servers.
    at: &'static str,
}

/// The files, the one first whose word counts: Claude Code's, Cursor's, VS Code's.
pub(super) const FILES: &[LiveFile] = &[
    LiveFile { path: ".mcp.json", at: "mcpServers" },
    LiveFile { path: ".cursor/mcp.json", at: "mcpServers" },
    LiveFile { path: ".vscode/mcp.json", at: "servers" },
];

/// What an entry may have that says nothing of the server itself: how its agent asks, waits for it or shows it.
const OF_THE_AGENT: &[&str] = &["alwaysAllow", "alwaysLoad", "autoApprove", "gallery", "trust", "version"];
/// What is translated.
const TRANSLATED: &[&str] = &[
    "args",
    "command",
    "cwd",
    "description",
    "disabled",
    "disabledTools",
    "enabled",
    "enabledTools",
    "env",
    "headers",
    "transport",
    "type",
    "url",
];
/// How long a call may take, in milliseconds.
const TIMEOUT: &str = "timeout";

/// What a file came to.
#[derive(Debug, Default)]
pub(super) struct Live {
    /// Its servers, in the order of the file.
    pub(super) servers: Vec<Rc<Declaration>>,
    /// What of it is left out, and why.
    pub(super) notes: Vec<Note>,
}

/// Reads the servers of a file. The error is the note of a file that can't be read at all.
pub(super) fn read_live(file: LiveFile, bytes: &[u8], path: &Path) -> Result<Live, Note> {
    let path: Rc<Path> = path.into();
    let found = members(bytes, file.at).map_err(|(position, reason)| {
        let place = Whereabouts { path: path.display().to_string().into(), position: Some(position) };
        not_used(format!("the project's file is not used: {reason}"), Some("mend it".into()), place)
    })?;
    let mut live = Live::default();
    for member in found.iter().filter(|member| !starts_squire(&member.value)) {
        let origin = Origin { layer: LayerKind::Live, path: Rc::clone(&path), place: place(member.position) };
        match declaration(member, &origin) {
            Ok(declaration) => live.servers.push(declaration),
            Err(Unfit { reason, help }) => {
                live.notes.push(left_out(&member.name, &reason, help, origin.whereabouts()));
            }
        }
    }
    Ok(live)
}

/// Adds a file's servers to those that rank above them: of one name the higher one stands, and what says something else
/// is told.
pub(super) fn merge(project: &mut Declarations, live: Live, notes: &mut Vec<Note>) {
    notes.extend(live.notes);
    for server in live.servers {
        match project.servers.iter().find(|other| other.name.collides(&server.name)) {
            None => project.servers.push(server),
            Some(other) if other.says_the_same(&server) => {}
            Some(other) => {
                let reason =
                    format!("{} declares `{}` otherwise, and ranks above it", other.origin, other.name);
                let help = Some("let both say the same, or rename one".into());
                notes.push(left_out(server.name.as_str(), &reason, help, server.origin.whereabouts()));
            }
        }
    }
}

/// The note of a server of such a file that can't be completed.
pub fn unusable_server(problem: &Problem) -> Note {
    let sentence = format!("a server of it is left out: {}", problem.message);
    not_used(sentence, problem.help.clone(), problem.whereabouts())
}

fn not_used(sentence: String, mend: Option<String>, place: Whereabouts) -> Note {
    Note { code: Code::ProjectFile, server: None, sentence, mend, place: Some(place) }
}

fn left_out(name: &str, reason: &str, help: Option<String>, place: Whereabouts) -> Note {
    const SHOWN: usize = 40;
    let shown: String = name.chars().take(SHOWN).collect();
    not_used(format!("the server {shown:?} of it is left out: {reason}"), help, place)
}

/// Whether an entry is one of squire's own, which an agent starts in a server's place: what it leads to is declared
/// elsewhere.
fn starts_squire(entry: &Json) -> bool {
    let program = entry.get("command").and_then(Json::as_str).unwrap_or_default();
    let words = entry.get("args").and_then(Json::as_array).map(Vec::as_slice).unwrap_or_default();
    Path::new(program).file_name().is_some_and(|name| name == "squire")
        && words.first().is_some_and(|word| word == "gateway")
        && words.get(2).is_some_and(|word| word == "--agent")
}

/// Why an entry can't be a declaration.
struct Unfit {
    reason: String,
    help: Option<String>,
}

impl Unfit {
    fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), help: None }
    }
}

fn declaration(member: &Member, origin: &Origin) -> Result<Rc<Declaration>, Unfit> {
    let rename = || Some("rename it there, or bring it into a list of your own: squire add".into());
    let name = Name::parse(&member.name)
        .map_err(|error| Unfit { reason: format!("its name {error}"), help: rename() })?;
    if member.is_repeated {
        return Err(Unfit::new("something in it comes twice"));
    }
    let Some(entry) = member.value.as_object() else {
        return Err(Unfit::new("it is no object"));
    };
    let mut entry: Map<String, Json> = entry.clone();
    entry.retain(|key, _| !OF_THE_AGENT.contains(&key.as_str()));
    let timeout = timeout(&mut entry)?;
    if let Some(key) = entry.keys().find(|key| !TRANSLATED.contains(&key.as_str())) {
        return Err(Unfit::new(format!("squire has nothing that means {key:?}")));
    }
    let file = origin.path.display().to_string();
    let mut imported = of_entry_of_project(name.as_str(), &entry, &file).map_err(Unfit::new)?;
    if let Some(timeout) = timeout {
        imported.table.insert(TIMEOUT, toml_edit::value(timeout));
    }
    let text = format!("[servers.{name}]\n{}", imported.table);
    let (read, problems) = read(text.as_bytes(), &origin.path, LayerKind::Live);
    if let Some(problem) = problems.into_iter().next() {
        return Err(Unfit { reason: problem.message, help: problem.help });
    }
    let mut declaration = read.servers.into_iter().next().ok_or_else(|| Unfit::new("it is empty"))?;
    Rc::make_mut(&mut declaration).relocate(origin, &|field| {
        let keys = keys_of(field);
        let written = keys.iter().find_map(|key| member.inner.get(*key));
        written.map_or(origin.place, |position| place(*position))
    });
    Ok(declaration)
}

/// Milliseconds of Claude Code's files as squire writes a duration.
fn timeout(entry: &mut Map<String, Json>) -> Result<Option<String>, Unfit> {
    match entry.shift_remove(TIMEOUT) {
        None => Ok(None),
        Some(Json::Number(number)) if number.as_u64().is_some_and(|it| it > 0) => {
            Ok(Some(format!("{number}ms")))
        }
        Some(_) => Err(Unfit::new("`timeout` wants a whole number of milliseconds")),
    }
}

/// The keys of an entry that a field is made of.
fn keys_of(field: &str) -> &[&'static str] {
    match field {
        "transport" => &["type", "transport"],
        "command" => &["command"],
        "args" => &["args", "command"],
        "env" => &["env"],
        "inherit_env" => &["args"],
        "cwd" => &["cwd"],
        "url" => &["url"],
        "headers" | "auth" => &["headers"],
        "description" => &["description"],
        "disabled" => &["disabled", "enabled"],
        "tools" => &["enabledTools", "disabledTools"],
        TIMEOUT => &[TIMEOUT],
        _ => &[],
    }
}

fn place((line, column): (usize, usize)) -> Place {
    Place { line, column }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn live(file: usize, text: &str) -> Live {
        read_live(FILES[file], text.as_bytes(), &Path::new("/p").join(FILES[file].path)).unwrap()
    }

    fn told(live: &Live) -> Vec<String> {
        live.notes.iter().map(Note::located).collect()
    }

    /// Fields with their lines.
    fn fields(live: &Live) -> Vec<String> {
        let of = |server: &Rc<Declaration>| {
            let fields: Vec<String> = crate::declared::written(server)
                .into_iter()
                .map(|it| format!("{}={}@{}", it.field, it.value, it.origin.place.line))
                .collect();
            format!("{}@{} {}", server.name, server.origin.place.line, fields.join(" "))
        };
        live.servers.iter().map(of).collect()
    }

    #[test]
    fn entries_become_declarations_with_their_places() {
        let text = "{ \"mcpServers\": {\n \"docs\": {\n  \"type\": \"stdio\", \"command\": \"npx\",\n  \"args\": [\"-y\", \"${workspaceFolder}/x\"],\n  \"env\": { \"A\": \"${A}\", \"B\": \"${env:B:-1}\" },\n  \"timeout\": 2000, \"alwaysLoad\": true },\n \"web\": { \"type\": \"sse\", \"url\": \"https://h/\", \"headers\": {\n   \"Authorization\": \"Bearer ${TOKEN}\" } } } }";
        let live = live(0, text);
        assert_eq!(told(&live), [""; 0]);
        assert_eq!(
            fields(&live),
            [
                "docs@2 command=[\"npx\"]@3 args=[\"-y\",\"./x\"]@4 env={\"A\":\"${env:A}\",\"B\":\"${env:B:-1}\"}@5 timeout=\"2s\"@6",
                "web@7 transport=\"sse\"@7 url=\"https://h/\"@7 headers={\"Authorization\":\"Bearer ${env:TOKEN}\"}@7",
            ]
        );
        assert!(live.servers.iter().all(|server| server.origin.layer == LayerKind::Live));
    }

    /// B23: what an editor asks its user for is a secret of that name.
    #[test]
    fn b23_inputs_of_an_editor_are_secrets() {
        let text = r#"{ "inputs": [{ "id": "k" }], "servers": { "a": { "command": "x", "env": { "KEY": "${input:k}" } } } }"#;
        assert_eq!(fields(&live(2, text)), [r#"a@1 command=["x"]@1 env={"KEY":"${secret:a.KEY}"}@1"#]);
    }

    #[test]
    fn what_can_not_be_said_leaves_the_server_out() {
        for (entry, reason) in [
            ("5", "it is no object"),
            ("{}", "it has neither `command` nor `url`, and says not what the server is"),
            (r#"{ "command": 5 }"#, "`command` wants an array of strings"),
            (r#"{ "command": "x", "command": "y" }"#, "something in it comes twice"),
            (r#"{ "command": "x", "envFile": ".env" }"#, "squire has nothing that means \"envFile\""),
            (
                r#"{ "url": "https://h/", "headersHelper": "./x" }"#,
                "squire has nothing that means \"headersHelper\"",
            ),
            (r#"{ "command": "x", "timeout": -1 }"#, "`timeout` wants a whole number of milliseconds"),
            (
                r#"{ "type": "ws", "url": "https://h/" }"#,
                "`type` is \"ws\": squire speaks stdio, http and sse",
            ),
            (
                r#"{ "url": "ftp://h/" }"#,
                "`url` wants an address such as \"https://example.com/mcp\", and this is \"ftp://h/\"",
            ),
            (r#"{ "command": "x", "env": { "A=B": "" } }"#, "`env`: \"A=B\" can't be the name of a variable"),
        ] {
            let live = live(1, &format!(r#"{{ "mcpServers": {{ "a": {entry} }} }}"#));
            assert!(live.servers.is_empty());
            assert_eq!(
                told(&live),
                [format!("/p/.cursor/mcp.json:1:19: the server \"a\" of it is left out: {reason}")]
            );
        }
        let names = r#"{ "mcpServers": { "a b": {}, "workspace": {}, "squire": {}, "x\u001b": {} } }"#;
        assert_eq!(live(0, names).notes.len(), 4);
        assert!(told(&live(0, names)).iter().all(|told| !told.contains('\u{1b}')));
    }

    #[test]
    fn entries_of_squire_are_no_servers() {
        let ours = r#"{ "mcpServers": { "a": { "command": "/usr/bin/squire", "args": ["gateway", "a", "--agent", "cursor"] } } }"#;
        let live = live(0, ours);
        assert!(live.servers.is_empty() && live.notes.is_empty());
    }

    #[test]
    fn of_one_name_the_higher_file_stands() {
        let mut project = Declarations::default();
        let mut notes = Vec::new();
        let one =
            r#"{ "mcpServers": { "a": { "command": "x", "args": ["y"], "env": { "A": "1", "B": "2" } } } }"#;
        let same =
            r#"{ "mcpServers": { "a": { "env": { "B": "2", "A": "1" }, "args": ["y"], "command": "x" } } }"#;
        merge(&mut project, live(0, one), &mut notes);
        merge(&mut project, live(1, same), &mut notes);
        assert!(notes.is_empty());
        merge(&mut project, live(2, r#"{ "servers": { "A": { "command": "x" } } }"#), &mut notes);
        let told: Vec<String> = notes.iter().map(Note::located).collect();
        assert_eq!(
            told,
            [
                "/p/.vscode/mcp.json:1:16: the server \"A\" of it is left out: /p/.mcp.json:1 declares `a` otherwise, and ranks above it"
            ]
        );
        assert_eq!(project.servers.len(), 1);
    }

    proptest! {
        /// Whatever the bytes are: no panic, every name legal, and nothing that acts on a terminal.
        #[test]
        fn any_bytes_are_read_or_told(
            text in "(\\{|\\}|\\[|\\]|,|:|\"mcpServers\": \\{|\"a\": \\{|\"command\": \"x\"|\"url\": \"https://h/\"|\"args\": \\[\"\\$\\{X\\}\"\\]|\"env\": \\{\"A\": \"ghp_\\$\\{\"\\}|\"timeout\": 1|\"\\\\u001b\"|5|true){0,16}"
        ) {
            match read_live(FILES[0], text.as_bytes(), Path::new("/p/.mcp.json")) {
                Err(note) => prop_assert!(!note.sentence.contains('\u{1b}'), "{}", note.sentence),
                Ok(live) => for note in &live.notes {
                    prop_assert!(!note.sentence.contains('\u{1b}'), "{}", note.sentence);
                },
            }
        }
    }
}
