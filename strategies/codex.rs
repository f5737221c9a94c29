//! Codex CLI: `-c mcp_servers.NAME.KEY=VALUE`, one pair of arguments a key. Measured with 0.171.0.
//!
//! Codex merges `-c` with an entry of the same name in its config, key by key: our command would run with that
//! entry's `env` and `cwd`. So a name that is taken there is left out. One pair a key, not one table a server,
//! since a whole table replaces the keys that the user set before it (`-c mcp_servers.NAME.enabled_tools=…`).

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::str;
use core::time::Duration;

use toml::de::{DeTable, DeValue};

use crate::artifacts::{Argument, Artifacts, Code, Note, Refusal};
use crate::exposure;
use crate::gateway::Gateway;
use crate::placement::{Arity, BareWord, Placement};
use crate::server::{ResolvedServer, Route, Transport};
use crate::strategy::{Base, Content, Description, Launch, Program, Read, Strategy, ToolNames};
use crate::taken::{self, Taken};
use crate::toml_text::{InlineTable, string, strings};

pub(crate) struct Codex;

impl Strategy for Codex {
    fn name(&self) -> &'static str {
        "codex"
    }

    fn program(&self) -> Program {
        Program::Named("codex")
    }

    fn description(&self) -> Description {
        Description {
            title: "Codex CLI",
            carries: "arguments -c mcp_servers.NAME.KEY=VALUE",
            same_name: "Codex would mix the two: ours is left out",
            approval: "asks before a tool is used; headless it refuses: -c 'mcp_servers.NAME.default_tools_approval_mode=\"approve\"'",
            verified: "0.171.0",
        }
    }

    fn speaks(&self, transport: &Transport) -> bool {
        matches!(transport, Transport::Http(_))
    }

    fn reads(&self) -> &'static [Read] {
        &[
            Read::UserFile(Base::Variable("CODEX_HOME", ".codex"), "config.toml"),
            Read::Upward(".codex/config.toml"),
        ]
    }

    fn placement(&self) -> Option<&'static Placement> {
        Some(&PLACEMENT)
    }

    /// Model providers take names of 64 characters (openai/codex#1289).
    fn tool_names(&self) -> Option<ToolNames> {
        Some(ToolNames { prefix: "mcp__", separator: "__", limit: 64 })
    }

    fn plan(&self, launch: &Launch<'_>) -> Result<Artifacts, Refusal> {
        let mut artifacts = Artifacts::default();
        let taken = taken::names(launch.contents, declared, &mut artifacts.notes);
        if launch.strict {
            taken::refuse_unreadable(&artifacts.notes, "Codex")?;
            switch_off(&taken, &mut artifacts);
        }
        let mut added = Vec::new();
        for server in launch.servers {
            let exposed = || exposure::note(server, "an argument, which every user of the machine can read");
            if let Some(note) = taken::note(&taken, server, "Codex").or_else(exposed) {
                artifacts.notes.push(note);
                continue;
            }
            for (key, value) in keys(launch, server) {
                artifacts.arguments.push(Argument::text("-c"));
                artifacts.arguments.push(Argument {
                    text: ["mcp_servers.", server.name.as_str(), ".", key, "=", &value].concat(),
                    file: None,
                    server: Some(server.name.clone()),
                });
            }
            if server.route == Route::Direct {
                artifacts.notes.push(required(server));
            }
            added.push(server.name.as_str());
        }
        if !added.is_empty() {
            artifacts.notes.push(approval(&added));
        }
        Ok(artifacts)
    }
}

/// Switches the agent's own servers off. A name that a dotted key can't hold needs the whole table, which comes before
/// the user's words, as it replaces every key before it.
fn switch_off(taken: &[Taken], artifacts: &mut Artifacts) {
    let names = taken::distinct(taken);
    artifacts.notes.extend(taken::hidden(&names));
    let is_bare = |name: &&str| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
    };
    let (bare, odd): (Vec<&str>, Vec<&str>) = names.into_iter().partition(is_bare);
    let option = |value: String| [Argument::text("-c"), Argument::text(value)];
    if !odd.is_empty() {
        let mut table = InlineTable::new();
        for name in &odd {
            table.set(name, "{enabled=false}");
        }
        artifacts.leading.extend(option(format!("mcp_servers={}", table.finish())));
    }
    let values = bare.iter().map(|name| format!("mcp_servers.{name}.enabled=false"));
    artifacts.arguments.extend(values.flat_map(option));
}

fn keys(launch: &Launch<'_>, server: &ResolvedServer) -> Vec<(&'static str, String)> {
    let mut keys = Vec::new();
    match (&server.transport, server.route) {
        (Transport::Http(remote) | Transport::Sse(remote), Route::Direct) => {
            keys.push(("url", string(remote.url.literal().unwrap_or_default())));
            if !remote.headers.is_empty() {
                let mut headers = InlineTable::new();
                for (name, text) in &remote.headers {
                    headers.set(name, &string(text.literal().unwrap_or_default()));
                }
                keys.push(("http_headers", headers.finish()));
            }
        }
        (Transport::Builtin | Transport::Stdio(_) | Transport::Dynamic(_), Route::Direct)
        | (_, Route::Gateway) => {
            let arguments = launch.gateway.arguments(launch.agent, server);
            keys.push(("command", string(&launch.gateway.program)));
            keys.push(("args", strings(arguments)));
            keys.push(("env_vars", strings(Gateway::variables(server))));
        }
    }
    keys.push(("enabled", "true".into()));
    // Without it the tools of a server that takes a second to start miss the first turn.
    keys.push(("required", "true".into()));
    keys.push(("startup_timeout_sec", seconds(server.agent_startup_timeout())));
    keys.push(("tool_timeout_sec", seconds(server.agent_timeout())));
    keys
}

fn seconds(duration: Duration) -> String {
    format!("{:?}", duration.as_secs_f64())
}

/// The price of `required` where no gateway answers in the server's place.
fn required(server: &ResolvedServer) -> Note {
    Note {
        code: Code::AgentRequires,
        server: Some(server.name.clone()),
        sentence: "Codex waits for it before the first turn, and does not start where it can't be reached"
            .into(),
        mend: None,
        place: None,
    }
}

fn approval(added: &[&str]) -> Note {
    let option = |name: &str| format!("-c 'mcp_servers.{name}.default_tools_approval_mode=\"approve\"'");
    let mend = match added {
        [only] => option(only),
        _ => format!("{} for each NAME", option("NAME")),
    };
    Note {
        code: Code::AgentApproval,
        server: None,
        sentence: "Codex asks before it uses a tool, and refuses where nobody can answer".into(),
        mend: Some(mend),
        place: None,
    }
}

/// The servers that a config.toml declares.
fn declared(content: &Content, bytes: &[u8]) -> Result<Vec<Taken>, String> {
    let text = str::from_utf8(bytes).map_err(|error| error.to_string())?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let table = DeTable::parse(text).map_err(|error| error.message().to_string())?.into_inner();
    let Some(DeValue::Table(servers)) = table.get("mcp_servers").map(toml::Spanned::get_ref) else {
        return Ok(Vec::new());
    };
    Ok(servers.keys().map(|name| Taken::new(name.get_ref().as_ref(), content)).collect())
}

/// From `codex --help`, `codex exec --help`, `codex resume --help`, `codex fork --help` and `codex review --help` of
/// 0.171.0, and the aliases that it accepts without listing them.
static PLACEMENT: Placement = Placement {
    options: &[
        ("--add-dir", Arity::One),
        ("--all", Arity::Flag),
        ("--approve-for-me", Arity::Flag),
        ("--ask-for-approval", Arity::One),
        ("--base", Arity::One),
        ("--cd", Arity::One),
        ("--color", Arity::One),
        ("--commit", Arity::One),
        ("--config", Arity::One),
        ("--cyber-access-program", Arity::One),
        ("--dangerously-bypass-approvals-and-sandbox", Arity::Flag),
        ("--dangerously-bypass-hook-trust", Arity::Flag),
        ("--disable", Arity::One),
        ("--enable", Arity::One),
        ("--ephemeral", Arity::Flag),
        ("--experimental-json", Arity::Flag),
        ("--ignore-rules", Arity::Flag),
        ("--ignore-user-config", Arity::Flag),
        ("--image", Arity::Many),
        ("--include-non-interactive", Arity::Flag),
        ("--json", Arity::Flag),
        ("--last", Arity::Flag),
        ("--local-provider", Arity::One),
        ("--model", Arity::One),
        ("--no-alt-screen", Arity::Flag),
        ("--no-daemon", Arity::Flag),
        ("--oss", Arity::Flag),
        ("--output-last-message", Arity::One),
        ("--output-schema", Arity::One),
        ("--profile", Arity::One),
        ("--remote", Arity::One),
        ("--remote-auth-token-env", Arity::One),
        ("--sandbox", Arity::One),
        ("--search", Arity::Flag),
        ("--skip-git-repo-check", Arity::Flag),
        ("--strict-config", Arity::Flag),
        ("--thread-source", Arity::One),
        ("--title", Arity::One),
        ("--trust", Arity::Flag),
        ("--uncommitted", Arity::Flag),
        ("--worktree", Arity::Flag),
        ("--yolo", Arity::Flag),
        ("-C", Arity::One),
        ("-a", Arity::One),
        ("-c", Arity::One),
        ("-i", Arity::Many),
        ("-m", Arity::One),
        ("-o", Arity::One),
        ("-p", Arity::One),
        ("-s", Arity::One),
    ],
    informational: &["--help", "--version", "-V", "-h"],
    sessions: &["e", "exec", "fork", "resume", "review"],
    others: &[
        "a",
        "agents",
        "app-server",
        "apply",
        "archive",
        "cloud",
        "completion",
        "debug",
        "delete",
        "doctor",
        "exec-server",
        "features",
        "help",
        "login",
        "logout",
        "mcp",
        "migrate-nfs-db",
        "migrate-rollouts",
        "plugin",
        "queue",
        "remote-control",
        "sandbox",
        "unarchive",
        "update",
    ],
    bare_word: BareWord::PerhapsSubcommand,
    detaching: &[],
    headless: &["e", "exec", "review"],
    approving: &["--approve-for-me", "--dangerously-bypass", "--yolo", "approval_mode", "danger-full-access"],
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claude::tests::{codes, direct, found, plan, program};

    const OWN: Read = Read::UserFile(Base::Variable("CODEX_HOME", ".codex"), "config.toml");

    fn assignments(artifacts: &Artifacts) -> Vec<&str> {
        artifacts
            .arguments
            .iter()
            .map(|argument| argument.text.as_str())
            .filter(|text| *text != "-c")
            .collect()
    }

    #[test]
    fn one_pair_of_arguments_a_key() {
        let server =
            ResolvedServer { timeout: Some(Duration::from_millis(1500)), ..direct("docs", "https://h/\"\\") };
        let artifacts = plan(&Codex, &[server], &[]).unwrap();
        assert_eq!(
            assignments(&artifacts),
            [
                "mcp_servers.docs.url=\"https://h/\\\"\\\\\"",
                "mcp_servers.docs.enabled=true",
                "mcp_servers.docs.required=true",
                "mcp_servers.docs.startup_timeout_sec=35.0",
                "mcp_servers.docs.tool_timeout_sec=6.5",
            ]
        );
        assert_eq!(artifacts.arguments.iter().filter(|argument| argument.text == "-c").count(), 5);
    }

    /// B97: however the name is written in the user's file or the project's.
    #[test]
    fn b97_a_name_that_is_taken_is_left_out() {
        for text in [
            "[mcp_servers.a]\ncommand = 'x'\n",
            "[mcp_servers]\n'a'.command = 'x'\n",
            "mcp_servers = { a = {} }\n",
            "\u{feff}mcp_servers.a.url = 'x'\r\n",
        ] {
            for read in [OWN, Read::Upward(".codex/config.toml")] {
                let artifacts =
                    plan(&Codex, &[program("a"), program("b")], &[found(read, "F", text)]).unwrap();
                assert_eq!(codes(&artifacts), [(Code::AgentHasIt, "a"), (Code::AgentApproval, "")], "{text}");
                assert!(assignments(&artifacts).iter().all(|text| text.starts_with("mcp_servers.b.")));
            }
        }
        let other = found(OWN, "F", "[mcp_servers.A]\n[profiles.a]\nmodel = 'x'\n");
        assert_eq!(codes(&plan(&Codex, &[program("a")], &[other]).unwrap()), [(Code::AgentApproval, "")]);
    }

    #[test]
    fn a_file_that_cannot_be_read_is_a_note_and_stops_nothing() {
        let broken = Content { bytes: Err("permission denied".into()), ..found(OWN, "F", "") };
        for content in [found(OWN, "F", "[mcp_servers"), found(OWN, "F", "\u{0}"), broken] {
            let artifacts = plan(&Codex, &[program("a")], &[content]).unwrap();
            assert_eq!(codes(&artifacts), [(Code::Unreadable, ""), (Code::AgentApproval, "")]);
            assert!(!artifacts.arguments.is_empty());
        }
    }
}
