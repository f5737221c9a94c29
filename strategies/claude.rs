//! Claude Code: a private file named by `--mcp-config=FILE`. Measured with 2.1.197.
//!
//! The `=` form takes exactly one value; the form with a blank swallows the words that follow (case B01). The flag is
//! additive, and an entry of ours replaces one of the user's of the same name whole.
//!
//! Headless it starts every server of `.mcp.json`, here and in every directory above, without a question; `-p` was seen
//! to read a byte order mark, what is not UTF-8, half surrogates and deep nesting, and to ignore comments. Such a server
//! is replaced by an entry of the same name that serves nothing. The entries stand in an argument before the user's, so
//! that a file that the user names there wins, and no file has to outlive the launch.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::time::Duration;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::artifacts::{Argument, Artifacts, Code, File, Note, Refusal, Switched, Whereabouts};
use crate::claude_lists::{self, Lists};
use crate::deceptive::spelled_in_json;
use crate::entries::Members;
use crate::environment::LOADER_ENVIRONMENT;
use crate::json;
use crate::mcp_servers::{self, Reference, pinned_variables};
use crate::placement::{Arity, BareWord, Placement};
use crate::repository::{self, Entries, Found, Unknowable};
use crate::repository_server::{self, Dialect, RepositoryServer, UNCLEAR};
use crate::server::Transport;
use crate::strategy::{Base, Content, Description, Launch, Program, Read, Strategy, ToolNames};
use crate::taken;

pub(crate) struct Claude;

const STATE: Read = Read::UserFile(Base::Variable("CLAUDE_CONFIG_DIR", ""), ".claude.json");
/// How long the first turn waits for servers that are always loaded, in milliseconds; 5000 unless set.
const CONNECT_TIMEOUT: &str = "MCP_CONNECT_TIMEOUT_MS";
/// How long one server may take to start, in milliseconds; 30000 unless set.
const START_TIMEOUT: &str = "MCP_TIMEOUT";
const FILE: &str = "claude.json";
const SETTINGS: Read = Read::UserFile(Base::Variable("CLAUDE_CONFIG_DIR", ".claude"), "settings.json");
/// Where git keeps a repository: Claude's state names a directory in one by the root.
const GIT: &str = ".git";
const PROJECT_SERVERS: &[&str] = &[".mcp.json"];
const PROJECT_SETTINGS: &[&str] = &[".claude/settings.json", ".claude/settings.local.json"];
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

impl Strategy for Claude {
    fn name(&self) -> &'static str {
        "claude"
    }

    fn program(&self) -> Program {
        Program::Named("claude")
    }

    fn description(&self) -> Description {
        Description {
            title: "Claude Code",
            carries: "a private file named by --mcp-config=FILE, removed after the launch",
            same_name: "ours replaces the whole entry for the launch",
            approval: "asks before a tool is used; headless it refuses: --allowedTools mcp__NAME",
            verified: "2.1.197",
        }
    }

    fn speaks(&self, transport: &Transport) -> bool {
        matches!(transport, Transport::Http(_) | Transport::Sse(_))
    }

    fn reads(&self) -> &'static [Read] {
        &[
            STATE,
            SETTINGS,
            Read::Variable(CONNECT_TIMEOUT),
            Read::Variable(START_TIMEOUT),
            Read::Upward(".mcp.json"),
            Read::Upward(".claude/settings.json"),
            Read::Upward(".claude/settings.local.json"),
            Read::Upward(GIT),
        ]
    }

    fn placement(&self) -> Option<&'static Placement> {
        Some(&PLACEMENT)
    }

    fn repository_servers(
        &self,
        contents: &[Content],
        _unquoted: &[String],
    ) -> Result<Vec<RepositoryServer>, String> {
        let files = repository::files(contents, PROJECT_SERVERS);
        variables_of_settings(contents)
            .and_then(|settings| repository_server::servers(files, &declared, &settings, &DIALECT))
            .map_err(|unknowable| unknowable.located())
    }

    /// The model's API takes names of `[a-zA-Z0-9_-]{1,64}`.
    fn tool_names(&self) -> Option<ToolNames> {
        Some(ToolNames { prefix: "mcp__", separator: "__", limit: 64 })
    }

    fn plan(&self, launch: &Launch<'_>) -> Result<Artifacts, Refusal> {
        let mut artifacts = Artifacts::default();
        let states = states(launch);
        let mut entries: Ours<'_> = Vec::new();
        for server in launch.servers {
            match mcp_servers::entry(launch, server, PINNED) {
                Ok(mut entry) => {
                    // Without it the tools of a server that is slow to start miss the first turn.
                    entry.push("alwaysLoad", &true);
                    entry.push("timeout", &milliseconds(server.agent_timeout()));
                    entries.push((server.name.as_str(), entry));
                }
                Err(note) => artifacts.notes.push(note),
            }
        }
        if launch.strict {
            artifacts.arguments.push(Argument::text("--strict-mcp-config"));
            artifacts.notes.extend(taken::hidden(&own_names(launch, &states)));
        } else if !launch.agent_servers {
            switch_off_the_projects(launch, &states, &entries, &mut artifacts);
        }
        if entries.is_empty() {
            return Ok(artifacts);
        }
        artifacts.notes.extend(switched_off(launch, &states, &entries));
        let settings = claude_lists::settings(launch.contents, SETTINGS, PROJECT_SETTINGS, launch.directory);
        artifacts.notes.extend(claude_lists::notes(&Lists::of(settings), launch.servers, &entries));
        artifacts.notes.push(approval(&entries));
        let slowest =
            launch.servers.iter().map(|server| server.agent_startup_timeout()).max().unwrap_or_default();
        for variable in [CONNECT_TIMEOUT, START_TIMEOUT] {
            if !launch.is_set(variable) {
                artifacts.environment.push((variable.into(), slowest.as_millis().to_string()));
            }
        }
        artifacts.files.push(File::Private { name: FILE, text: mcp_servers::file(&entries) });
        artifacts.arguments.push(Argument { text: "--mcp-config=".into(), file: Some(FILE), server: None });
        Ok(artifacts)
    }
}

/// A reference that comes out empty where the variable is unset; plain `${X}` would be passed on as text.
pub(crate) const PINNED: Reference = ("${", ":-}");

/// Our entries by name.
type Ours<'a> = Vec<(&'a str, Members)>;

fn has(entries: &Ours<'_>, name: &str) -> bool {
    entries.iter().any(|(own, _)| *own == name)
}

pub(crate) fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

fn approval(entries: &Ours<'_>) -> Note {
    let tools: Vec<String> = entries.iter().map(|(name, _)| format!("mcp__{name}")).collect();
    Note {
        code: Code::AgentApproval,
        server: None,
        sentence: "Claude Code asks before it uses a tool, and refuses where nobody can answer".into(),
        mend: Some(format!("--allowedTools {}", tools.join(","))),
        place: None,
    }
}

/// The part of Claude's state file that can switch a server off (case B62).
#[derive(Deserialize)]
struct State {
    #[serde(default)]
    projects: BTreeMap<String, ProjectState>,
    #[serde(default, rename = "mcpServers")]
    servers: Option<Map<String, Value>>,
}

#[derive(Deserialize)]
struct ProjectState {
    #[serde(default, rename = "disabledMcpServers")]
    disabled: Vec<String>,
    #[serde(default, rename = "enabledMcpjsonServers")]
    enabled_of_project: Vec<String>,
    #[serde(default, rename = "disabledMcpjsonServers")]
    disabled_of_project: Vec<String>,
    #[serde(default, rename = "enableAllProjectMcpServers")]
    enable_all_of_project: bool,
    #[serde(default, rename = "mcpServers")]
    servers: Option<Map<String, Value>>,
}

/// What was found of the state file, each with its place.
type States<'a> = Vec<(&'a str, Result<State, String>)>;

fn states<'a>(launch: &Launch<'a>) -> States<'a> {
    let found = launch.contents.iter().filter(|content| content.read == STATE);
    let read = |content: &'a Content| {
        let bytes = content.bytes.as_ref().map_err(String::clone);
        let state = bytes.and_then(|bytes| serde_json::from_slice(bytes).map_err(|error| error.to_string()));
        (content.place.as_str(), state)
    };
    found.map(read).collect()
}

/// What the state says of the directory: in a git repository under its root, wherever in it Claude runs.
fn of_directory<'a>(launch: &Launch<'_>, state: &'a State) -> Option<&'a ProjectState> {
    let git = launch.contents.iter().find(|content| content.read == Read::Upward(GIT));
    let root = git.and_then(|git| git.place.strip_suffix("/.git"));
    state.projects.get(root.unwrap_or(launch.directory))
}

fn read<'a>(states: &'a States<'_>) -> impl Iterator<Item = &'a State> {
    states.iter().filter_map(|(_, state)| state.as_ref().ok())
}

/// The servers of the user's own and of the directory. What can't be read is told by [`switched_off`].
fn own_names<'a>(launch: &Launch<'_>, states: &'a States<'_>) -> Vec<&'a str> {
    let mut names = BTreeSet::new();
    for state in read(states) {
        let of_directory = of_directory(launch, state).and_then(|project| project.servers.as_ref());
        let declared = state.servers.iter().chain(of_directory).flatten();
        names.extend(declared.map(|(name, _)| name.as_str()));
    }
    names.into_iter().collect()
}

/// Switches off what the project's files add and the user's word does not cover: by name, or, where that can't be done
/// for sure, with all of Claude's own servers.
fn switch_off_the_projects(
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

fn switched_off(launch: &Launch<'_>, states: &States<'_>, entries: &Ours<'_>) -> Vec<Note> {
    let mut notes = Vec::new();
    for (place, state) in states {
        match state {
            Err(reason) => notes.push(Note {
                code: Code::Unreadable,
                server: None,
                sentence: format!("{reason}; servers switched off there can't be known"),
                mend: None,
                place: Some(Whereabouts { path: (*place).into(), position: None }),
            }),
            Ok(state) => {
                let disabled = of_directory(launch, state).map(|project| project.disabled.as_slice());
                for server in launch.servers.iter().filter(|server| has(entries, server.name.as_str())) {
                    if disabled.unwrap_or_default().iter().any(|name| name == server.name.as_str()) {
                        notes.push(Note {
                            code: Code::AgentDisabled,
                            server: Some(server.name.clone()),
                            sentence: format!("disabled for this directory in {place}"),
                            mend: Some("enable it with /mcp in Claude Code".into()),
                            place: None,
                        });
                    }
                }
            }
        }
    }
    notes
}

/// From `claude --help` of 2.1.197, and the options that it accepts without listing them.
static PLACEMENT: Placement = Placement {
    options: &[
        ("--add-dir", Arity::Many),
        ("--advisor", Arity::One),
        ("--agent", Arity::One),
        ("--agents", Arity::One),
        ("--allow-dangerously-skip-permissions", Arity::Flag),
        ("--allowed-tools", Arity::Many),
        ("--allowedTools", Arity::Many),
        ("--append-system-prompt", Arity::One),
        ("--append-system-prompt-file", Arity::One),
        ("--ax-screen-reader", Arity::Flag),
        ("--background", Arity::Flag),
        ("--bare", Arity::Flag),
        ("--betas", Arity::Many),
        ("--bg", Arity::Flag),
        ("--brief", Arity::Flag),
        ("--channels", Arity::Many),
        ("--chrome", Arity::Flag),
        ("--cloud", Arity::Optional),
        ("--continue", Arity::Flag),
        ("--dangerously-load-development-channels", Arity::Many),
        ("--dangerously-skip-permissions", Arity::Flag),
        ("--debug", Arity::Optional),
        ("--debug-file", Arity::One),
        ("--debug-to-stderr", Arity::Flag),
        ("--disable-slash-commands", Arity::Flag),
        ("--disallowed-tools", Arity::Many),
        ("--disallowedTools", Arity::Many),
        ("--effort", Arity::One),
        ("--exclude-dynamic-system-prompt-sections", Arity::Flag),
        ("--fallback-model", Arity::One),
        ("--file", Arity::Many),
        ("--fork-session", Arity::Flag),
        ("--from-pr", Arity::Optional),
        ("--ide", Arity::Flag),
        ("--include-hook-events", Arity::Flag),
        ("--include-partial-messages", Arity::Flag),
        ("--init", Arity::Flag),
        ("--input-format", Arity::One),
        ("--json-schema", Arity::One),
        ("--max-budget-usd", Arity::One),
        ("--max-thinking-tokens", Arity::One),
        ("--max-turns", Arity::One),
        ("--mcp-config", Arity::Many),
        ("--model", Arity::One),
        ("--name", Arity::One),
        ("--no-chrome", Arity::Flag),
        ("--no-session-persistence", Arity::Flag),
        ("--output-format", Arity::One),
        ("--permission-mode", Arity::One),
        ("--permission-prompt-tool", Arity::One),
        ("--plugin-dir", Arity::One),
        ("--plugin-url", Arity::One),
        ("--print", Arity::Flag),
        ("--prompt-suggestions", Arity::Optional),
        ("--remote-control", Arity::Optional),
        ("--remote-control-session-name-prefix", Arity::One),
        ("--replay-user-messages", Arity::Flag),
        ("--resume", Arity::Optional),
        ("--resume-session-at", Arity::One),
        ("--safe-mode", Arity::Flag),
        ("--session-id", Arity::One),
        ("--setting-sources", Arity::One),
        ("--settings", Arity::One),
        ("--strict-mcp-config", Arity::Flag),
        ("--system-prompt", Arity::One),
        ("--system-prompt-file", Arity::One),
        ("--task-budget", Arity::One),
        ("--teleport", Arity::Optional),
        ("--thinking", Arity::One),
        ("--tmux", Arity::Flag),
        ("--tools", Arity::Many),
        ("--verbose", Arity::Flag),
        ("--worktree", Arity::Optional),
        ("-c", Arity::Flag),
        ("-d", Arity::Optional),
        ("-d2e", Arity::Flag),
        ("-n", Arity::One),
        ("-p", Arity::Flag),
        ("-r", Arity::Optional),
        ("-w", Arity::Optional),
    ],
    informational: &["--help", "--version", "-h", "-v"],
    sessions: &[],
    others: &[
        "agents",
        "auth",
        "auto-mode",
        "doctor",
        "gateway",
        "import-conversations",
        "install",
        "mcp",
        "plugin",
        "plugins",
        "project",
        "remote-control",
        "setup-token",
        "ultrareview",
        "update",
        "upgrade",
    ],
    bare_word: BareWord::Prompt,
    // A background job reads the file again when it starts, and when it is started anew.
    detaching: &["--background", "--bg", "--tmux"],
    headless: &["--print", "-p"],
    approving: &["--allowed", "--dangerously-skip-permissions", "--permission", "--settings"],
};

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::gateway::Gateway;
    use crate::name::Name;
    use crate::server::{Remote, ResolvedServer, Route, Stdio, Tier};
    use crate::strategy::Content;
    use crate::text::Text;
    use alloc::vec;

    pub(crate) fn program(name: &str) -> ResolvedServer {
        let stdio = Stdio {
            command: Text::plain("program"),
            args: Vec::new(),
            env: Vec::new(),
            inherit_env: Vec::new(),
            cwd: None,
        };
        ResolvedServer {
            name: Name::parse(name).unwrap(),
            tier: Tier::Trusted,
            transport: Transport::Stdio(stdio),
            route: Route::Gateway,
            startup_timeout: None,
            timeout: None,
            description: None,
            origin: "F:1".into(),
            declared_in: None,
            secret_variables: Vec::new(),
        }
    }

    pub(crate) fn direct(name: &str, url: &str) -> ResolvedServer {
        let remote = Remote { url: Text::plain(url), headers: Vec::new() };
        ResolvedServer { transport: Transport::Http(remote), route: Route::Direct, ..program(name) }
    }

    pub(crate) fn found(read: Read, place: &str, text: &str) -> Content {
        Content { read, place: place.into(), bytes: Ok(text.as_bytes().to_vec()) }
    }

    pub(crate) fn plan(
        strategy: &dyn Strategy,
        servers: &[ResolvedServer],
        contents: &[Content],
    ) -> Result<Artifacts, Refusal> {
        let gateway = Gateway {
            program: "/usr/bin/squire".into(),
            project: None,
            profiles: Vec::new(),
            config: "/c".into(),
            state: "/s".into(),
        };
        let agent = strategy.name();
        let servers: Vec<&ResolvedServer> = servers.iter().collect();
        strategy.plan(&Launch {
            agent,
            gateway: &gateway,
            servers: &servers,
            contents,
            directory: "/p",
            strict: false,
            agent_servers: false,
            approved: &crate::repository_server::Approved::default(),
            unquoted: &[],
            words: &[],
        })
    }

    /// Code, server and place of each note.
    pub(crate) fn codes(artifacts: &Artifacts) -> Vec<(Code, &str)> {
        let server = |note: &Note| note.server.clone();
        let name = |name: &Name| {
            artifacts.notes.iter().find_map(|note| note.server.as_ref().filter(|found| *found == name))
        };
        artifacts
            .notes
            .iter()
            .map(|note| (note.code, server(note).as_ref().and_then(name).map_or("", Name::as_str)))
            .collect()
    }

    #[test]
    fn b86_where_all_are_left_out_nothing_is_emitted() {
        let left_out = plan(&Claude, &[direct("a", "https://h/${X}")], &[]).unwrap();
        assert_eq!(codes(&left_out), [(Code::Inexpressible, "a")]);
        assert!(
            left_out.files.is_empty() && left_out.arguments.is_empty() && left_out.environment.is_empty()
        );
        assert_eq!(plan(&Claude, &[], &[]).unwrap(), Artifacts::default());
    }

    #[test]
    fn the_longest_start_is_waited_for_unless_the_user_says_how_long() {
        let slow = ResolvedServer { startup_timeout: Some(Duration::from_secs(90)), ..program("slow") };
        let servers = [slow, program("quick")];
        let environment = |contents: &[Content]| plan(&Claude, &servers, contents).unwrap().environment;
        let set = |variable: &str| (variable.to_string(), "95000".to_string());
        assert_eq!(environment(&[]), [set(CONNECT_TIMEOUT), set(START_TIMEOUT)]);
        let own = found(Read::Variable(CONNECT_TIMEOUT), CONNECT_TIMEOUT, "1");
        assert_eq!(environment(&[own]), [set(START_TIMEOUT)]);
    }

    /// B33: the user's word, in the user's own files, is what counts; in a git repository the state names its root.
    #[test]
    fn b33_what_the_user_said_of_a_projects_server_stays() {
        const MCP: Read = Read::Upward(".mcp.json");
        let servers = r#"{"mcpServers": {"x": {"command": "x"}, "docs": {"command": "x"}, "odd": 5}}"#;
        let off = |more: &[(Read, &str, &str)]| {
            let own = more.iter().map(|(read, place, text)| found(*read, place, text));
            let contents: Vec<Content> = own.chain([found(MCP, "/p/.mcp.json", servers)]).collect();
            let artifacts = plan(&Claude, &[program("docs")], &contents).unwrap();
            let [] = artifacts.leading.as_slice() else {
                let [argument] = artifacts.leading.as_slice() else { panic!("{artifacts:?}") };
                return argument
                    .text
                    .contains(r#"{"mcpServers":{"x":{"type":"stdio","command":"/usr/bin/squire","#);
            };
            false
        };
        assert!(off(&[]));
        for (text, is_off) in [
            (r#"{"enabledMcpjsonServers": ["x"]}"#, false),
            (r#"{"disabledMcpjsonServers": ["x"]}"#, false),
            (r#"{"enableAllProjectMcpServers": true}"#, false),
            (r#"{"enabledMcpjsonServers": ["y"], "enableAllProjectMcpServers": "true"}"#, true),
            ("{ broken", true),
        ] {
            assert_eq!(off(&[(SETTINGS, "/h/.claude/settings.json", text)]), is_off, "{text}");
            let own = Read::Upward(".claude/settings.json");
            if text != "{ broken" {
                assert!(off(&[(own, "/p/.claude/settings.json", text)]), "{text}");
            }
        }
        let state = |directory: &str, value: &str| format!(r#"{{"projects": {{"{directory}": {value}}}}}"#);
        for value in [
            r#"{"enabledMcpjsonServers": ["x"]}"#,
            r#"{"disabledMcpjsonServers": ["x"]}"#,
            r#"{"disabledMcpServers": ["x"]}"#,
            r#"{"enableAllProjectMcpServers": true}"#,
            r#"{"mcpServers": {"x": {}}}"#,
        ] {
            assert!(!off(&[(STATE, "/h/.claude.json", &state("/p", value))]), "{value}");
            assert!(off(&[(STATE, "/h/.claude.json", &state("/", value))]), "{value}");
            let in_git =
                [(STATE, "/h/.claude.json", state("/", value)), (Read::Upward(GIT), "/.git", String::new())];
            let in_git = in_git.each_ref().map(|(read, place, text)| (*read, *place, text.as_str()));
            // The root directory itself is no name of one.
            assert!(off(&in_git), "{value}");
        }
        let value = state("/q", r#"{"enabledMcpjsonServers": ["x"]}"#);
        assert!(!off(&[(STATE, "/h/.claude.json", &value), (Read::Upward(GIT), "/q/.git", "")]));
    }

    #[test]
    fn b62_what_the_users_state_switches_off_is_told() {
        let state = |text: &str| {
            let contents = vec![found(STATE, "/h/.claude.json", text)];
            let artifacts = plan(&Claude, &[program("a"), program("b")], &contents).unwrap();
            codes(&artifacts)
                .iter()
                .map(|(code, server)| format!("{} {server}", code.as_str()))
                .collect::<Vec<_>>()
        };
        let approval = "agent-approval ";
        assert_eq!(
            state(
                r#"{"x": 1, "projects": {"/p": {"y": [], "disabledMcpServers": ["b", "z"]}, "/q": {"disabledMcpServers": ["a"]}}}"#
            ),
            ["agent-disabled b", approval]
        );
        assert_eq!(state("{}"), [approval]);
        assert_eq!(state(r#"{"projects": {"/p": {}}}"#), [approval]);
        assert_eq!(state(r#"{"mcpServers": null, "projects": {"/p": {"mcpServers": null}}}"#), [approval]);
        assert_eq!(state("{ broken"), ["unreadable ", approval]);
    }
}
