//! Claude Code: a private file named by `--mcp-config=FILE`. Measured with 2.1.197.
//!
//! The `=` form takes exactly one value; the form with a blank swallows the words that follow (case B01). The flag is
//! additive, and an entry of ours replaces one of the user's of the same name whole.
//!
//! Headless it starts every server of `.mcp.json`, here and in every directory above, without a question; `-p` was seen
//! to read a byte order mark, what is not UTF-8, half surrogates and deep nesting, and to ignore comments. Such a server
//! is replaced by an entry of the same name that serves nothing. The entries stand in an argument before the user's, so
//! that a file that the user names there wins, and no file has to outlive the launch.

mod lists;
mod project;
mod state;
mod words;

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::artifacts::{Argument, Artifacts, Code, File, Note, Refusal};
use crate::entries::Members;
use crate::json::milliseconds;
use crate::mcp_servers::{self, Reference};
use crate::placement::Placement;
use crate::repository_server::RepositoryServer;
use crate::server::Transport;
use crate::strategy::{Base, Content, Description, Launch, Program, Read, Strategy, ToolNames};
use crate::taken;
use lists::Lists;
use project::PROJECT_SETTINGS;
use state::{GIT, STATE, own_names, states, switched_off};

pub(crate) struct Claude;

/// How long the first turn waits for servers that are always loaded, in milliseconds; 5000 unless set.
const CONNECT_TIMEOUT: &str = "MCP_CONNECT_TIMEOUT_MS";
/// How long one server may take to start, in milliseconds; 30000 unless set.
const START_TIMEOUT: &str = "MCP_TIMEOUT";
const FILE: &str = "claude.json";
const SETTINGS: Read = Read::UserFile(Base::Variable("CLAUDE_CONFIG_DIR", ".claude"), "settings.json");

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
        Some(&words::PLACEMENT)
    }

    fn repository_servers(
        &self,
        contents: &[Content],
        _unquoted: &[String],
    ) -> Result<Vec<RepositoryServer>, String> {
        project::servers(contents)
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
            project::switch_off(launch, &states, &entries, &mut artifacts);
        }
        if entries.is_empty() {
            return Ok(artifacts);
        }
        artifacts.notes.extend(switched_off(launch, &states, &entries));
        let settings = lists::settings(launch.contents, SETTINGS, PROJECT_SETTINGS, launch.directory);
        artifacts.notes.extend(lists::notes(&Lists::of(settings), launch.servers, &entries));
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

#[cfg(test)]
pub(crate) mod tests {
    use core::time::Duration;

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
