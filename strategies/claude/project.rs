//! What a repository's own files add to Claude Code, and how that is switched off for a launch.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde_json::{Map, Value};

use super::state::{States, of_directory, own_names, read};
use super::{Ours, PINNED, SETTINGS, has};
use crate::artifacts::{Argument, Artifacts, Code, Switched};
use crate::deceptive::spelled_in_json;
use crate::entries::Members;
use crate::environment::LOADER_ENVIRONMENT;
use crate::json;
use crate::mcp_servers::pinned_variables;
use crate::repository::{self, Entries, Found, Unknowable};
use crate::repository_server::{self, Dialect, RepositoryServer, UNCLEAR};
use crate::strategy::{Content, Launch};

const PROJECT_SERVERS: &[&str] = &[".mcp.json"];
pub(super) const PROJECT_SETTINGS: &[&str] = &[".claude/settings.json", ".claude/settings.local.json"];
/// What keeps a server of the project's on.
const KEEP: &str =
    "or name it in `enabledMcpjsonServers` of your own Claude settings, or launch with --agent-servers";
/// An entry of `.mcp.json`, whose `${X}` Claude resolves.
const DIALECT: Dialect = Dialect {
    command,
    variables: "env",
    directory: None,
    references: &["${"],
    uncovered: &[("\"headersHelper\"", "its `headersHelper` is a program of its own")],
};

/// The servers of the repository, as Claude would start them.
pub(super) fn servers(contents: &[Content]) -> Result<Vec<RepositoryServer>, String> {
    let files = repository::files(contents, PROJECT_SERVERS);
    variables_of_settings(contents)
        .and_then(|settings| repository_server::servers(files, &declared, &settings, &DIALECT))
        .map_err(|unknowable| unknowable.located())
}

/// Switches off what the project's files add and the user's word does not cover: by name, or, where that can't be done
/// for sure, with all of Claude's own servers.
pub(super) fn switch_off(
    launch: &Launch<'_>,
    states: &States<'_>,
    entries: &Ours<'_>,
    artifacts: &mut Artifacts,
) {
    match projects(launch, states, entries) {
        Ok(off) if off.is_empty() => {}
        Ok(off) => {
            artifacts.leading.push(Argument::text(["--mcp-config=", &replacing(launch, &off)].concat()));
            repository::tell(&off, KEEP, artifacts);
            lost_with_them(states, &off, artifacts);
        }
        Err(unknowable) => {
            artifacts.leading.push(Argument::text("--strict-mcp-config"));
            let own = own_names(launch, states);
            let own = if own.is_empty() { String::new() } else { format!(": {}", repository::listed(&own)) };
            let consequence =
                format!("all of Claude Code's own servers are switched off for this launch{own}");
            let mend = "mend that file, or launch with --agent-servers";
            artifacts.notes.push(repository::unknowable(&unknowable, &consequence, mend));
        }
    }
}

/// The project's servers to switch off by name: not those that an entry of ours replaces anyway.
fn projects<'a>(
    launch: &Launch<'a>,
    states: &States<'_>,
    entries: &Ours<'_>,
) -> Result<Vec<Found<'a>>, Unknowable<'a>> {
    let word = UsersWord::of(launch, states);
    let files = repository::files(launch.contents, PROJECT_SERVERS);
    let mut found = repository::found(files, &declared, launch.approved, &|name| word.covers(name))?;
    if let Some(first) = found.first() {
        refuse_denied_entries(launch)?;
        // Claude refuses every file with an entry of this name, ours too.
        if found.iter().any(|found| found.name == "constructor") {
            let reason = "a server there is called `constructor`".into();
            return Err(Unknowable { place: first.place, reason });
        }
        if launch.gateway.program.contains("${") {
            let reason = "squire's own path can't stand in an entry".into();
            return Err(Unknowable { place: first.place, reason });
        }
    }
    found.retain(|found| !has(entries, &found.name));
    Ok(found)
}

/// The servers of one `.mcp.json`. Claude takes no entry that is no object.
fn declared(bytes: &[u8]) -> Result<Entries, String> {
    let mut file = repository::plain_json(bytes)?;
    let Some(Value::Object(servers)) = file.get_mut("mcpServers").map(Value::take) else {
        return Ok(Vec::new());
    };
    Ok(servers.into_iter().filter(|(_, entry)| entry.is_object()).collect())
}

fn command(entry: &Value) -> Result<Vec<String>, String> {
    let args = entry.get("args").map_or(Some(Vec::new()), |args| repository_server::words(Some(args)));
    match (entry.get("command"), entry.get("url"), args) {
        (Some(Value::String(program)), None, Some(args)) => {
            Ok([program.clone()].into_iter().chain(args).collect())
        }
        (None, Some(Value::String(_)), _) => Ok(Vec::new()),
        _ => Err(UNCLEAR.into()),
    }
}

/// What the repository's settings set for every program that Claude starts (seen with 2.1.197), by file.
fn variables_of_settings(contents: &[Content]) -> Result<Map<String, Value>, Unknowable<'_>> {
    let mut variables = Map::new();
    for content in repository::files(contents, PROJECT_SETTINGS) {
        let settings = content.bytes.as_deref().map_err(Clone::clone).and_then(repository::plain_json);
        let mut settings = settings.map_err(|reason| Unknowable::unread(&content.place, &reason))?;
        if let Some(env) = settings.get_mut("env").map(Value::take) {
            variables.insert(content.place.clone(), env);
        }
    }
    Ok(variables)
}

/// A repository's settings can deny servers by their command, or allow no other than its own: an entry of ours that
/// replaces a server would go, and the server stay (seen with 2.1.197).
fn refuse_denied_entries<'a>(launch: &Launch<'a>) -> Result<(), Unknowable<'a>> {
    for content in repository::files(launch.contents, PROJECT_SETTINGS) {
        let place = content.place.as_str();
        let settings = content.bytes.as_deref().map_err(Clone::clone).and_then(repository::plain_json);
        let settings = settings.map_err(|reason| Unknowable::unread(place, &reason))?;
        for key in ["deniedMcpServers", "allowedMcpServers"] {
            if settings.get(key).is_some() {
                return Err(Unknowable {
                    place,
                    reason: format!("its `{key}` could keep a server of the project on"),
                });
            }
        }
    }
    Ok(())
}

/// What the user says of project servers in Claude's own settings: `~/.claude/settings.json` and `~/.claude.json`.
/// The settings in the project say the same and count for nothing here, as a repository can bring them; there Claude
/// keeps the answer to its own question too.
struct UsersWord<'a> {
    all: bool,
    /// Enabled, or disabled so that nothing is left to do.
    named: BTreeSet<&'a str>,
    values: Vec<Value>,
}

impl<'a> UsersWord<'a> {
    fn of(launch: &Launch<'_>, states: &'a States<'_>) -> Self {
        let settings = launch.contents.iter().filter(|content| content.read == SETTINGS);
        let values = settings
            .filter_map(|content| repository::plain_json(content.bytes.as_deref().ok()?).ok())
            .collect::<Vec<Value>>();
        let mut named = BTreeSet::new();
        let mut all = values.iter().any(|value| value["enableAllProjectMcpServers"] == true);
        for project in read(states).filter_map(|state| of_directory(launch, state)) {
            let lists = [&project.disabled, &project.enabled_of_project, &project.disabled_of_project];
            named.extend(lists.into_iter().flatten().map(String::as_str));
            // A server that the user added for this directory ranks above the project's of that name.
            named.extend(project.servers.iter().flatten().map(|(name, _)| name.as_str()));
            all |= project.enable_all_of_project;
        }
        Self { all, named, values }
    }

    fn covers(&self, name: &str) -> bool {
        let lists = |value: &Value, key: &str| {
            value
                .get(key)
                .and_then(Value::as_array)
                .is_some_and(|list| list.iter().any(|entry| entry == name))
        };
        let in_settings =
            |value| lists(value, "enabledMcpjsonServers") || lists(value, "disabledMcpjsonServers");
        self.all || self.named.contains(name) || self.values.iter().any(in_settings)
    }
}

/// The config whose entries replace the project's: each starts squire, which answers without tools. Claude starts it
/// with the repository's environment, so what the loader obeys is pinned.
fn replacing(launch: &Launch<'_>, off: &[Found<'_>]) -> String {
    let mut entry = Members::default();
    entry.push("type", "stdio");
    entry.push("command", &launch.gateway.program);
    entry.push("args", &launch.gateway.switched_off(launch.agent));
    entry.push_json("env", pinned_variables(LOADER_ENVIRONMENT, PINNED));
    let entry = entry.text();
    let entries: Vec<String> =
        off.iter().map(|found| [json::compact(&found.name), ":".into(), entry.clone()].concat()).collect();
    spelled_in_json(["{\"mcpServers\":{", &entries.join(","), "}}"].concat())
}

/// The project's entry has replaced one of the user's already, and what replaces that one replaces both.
fn lost_with_them(states: &States<'_>, off: &[Found<'_>], artifacts: &mut Artifacts) {
    for (place, state) in states {
        let own = state.as_ref().ok().and_then(|state| state.servers.as_ref());
        let is_own = |name: &&str| own.is_some_and(|own| own.contains_key(*name));
        let lost: Vec<&str> = off.iter().map(|found| found.name.as_str()).filter(is_own).collect();
        if !lost.is_empty() {
            let sentence = format!(
                "the project has servers of the same names, and they are switched off with them: {}",
                repository::listed(&lost)
            );
            let mend = "rename them, or launch with --agent-servers";
            artifacts.notes.push(repository::note(place, sentence, mend));
            let switched = |name: &str| Switched {
                name: name.into(),
                file: (*place).into(),
                code: Code::RepositoryServer,
            };
            artifacts.switched_off.extend(lost.into_iter().map(switched));
        }
    }
}
