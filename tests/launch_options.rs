//! What a launch is told beyond its servers: `--strict`, `--require`, `--allow-missing`, and a transport that is
//! chosen when the server starts.

use serde_json::{Value, json};
use toml::de::DeTable;

use crate::agents_rules;
use crate::support::{Run, Test, gateway_words};

const FILE: &str = "<T>/home/.config/squire/squire.toml";
const DOCS: &str = "[servers.docs]\nurl = \"https://docs.example.com/mcp\"\n";
const OURS: &str = "--mcp-config=<T>/home/.local/state/squire/private/<private>/claude.json";
/// Why `key` does not run.
const DENIED: &str = "denied by the policy in <T>/home/.config/squire/squire.toml:17";

fn launch(agent: &str, program: &str, config: &str) -> Test {
    Test::new().config(config).agent(program, "").args(["launch", agent])
}

/// `mcp_servers` as Codex reads it from its `-c` values, one after the other.
#[track_caller]
fn codex_reads(run: &Run) -> Value {
    let mut root = json!({});
    let words = run.agent_arguments();
    let values = words.iter().zip(words.iter().skip(1)).filter(|(option, _)| *option == "-c");
    for (_, assignment) in values {
        let (key, value) = assignment.split_once('=').unwrap();
        let line = format!("_x_ = {}", value.trim());
        let document = DeTable::parse(&line).unwrap_or_else(|_| panic!("kept as a string: {value}"));
        let value = agents_rules::json(document.into_inner().remove("_x_").unwrap().into_inner());
        // Split at every `.`, with no quoting; the last one is replaced whole.
        let place = key.trim().split('.').fold(&mut root, |place, part| &mut place[part]);
        *place = value;
    }
    root["mcp_servers"].take()
}

#[test]
fn claude_is_told_with_and_without_servers() {
    let run = launch("claude", "claude", DOCS)
        .args(["--strict", "--server", "docs", "--", "hello", "--", "x"])
        .stderr("squire: claude gets 1 of 1: docs\n")
        .success();
    assert_eq!(run.agent_arguments(), ["hello", "--strict-mcp-config", OURS, "--", "x"]);
    let run = launch("claude", "claude", "[servers.squire]\ndisabled = true\n")
        .args(["--strict", "--quiet", "--", "hello"])
        .success();
    assert_eq!(run.agent_arguments(), ["hello", "--strict-mcp-config"]);
    let run = launch("claude", "claude", DOCS).args(["--quiet", "--", "hello"]).success();
    assert_eq!(run.agent_arguments(), ["hello", OURS]);
    // Where no session runs nothing is added, and nothing is refused.
    let run = launch("claude", "claude", DOCS).args(["--strict", "--quiet", "--", "mcp", "list"]).success();
    assert_eq!(run.agent_arguments(), ["mcp", "list"]);
}

#[test]
fn b62_claudes_own_state_stays_as_it_is() {
    let test = launch("claude", "claude", DOCS).args(["--strict", "--server", "docs", "--quiet"]);
    let state = "home/.claude.json";
    let project = test.path("project").display().to_string();
    let text = json!({ "mcpServers": { "own": { "command": "x" } }, "projects": { project: { "disabledMcpServers": ["docs"] } } });
    let test = test.write(state, text.to_string());
    let watched = crate::support::Watched::new([test.path(state)]);
    test.clone().success();
    watched.assert_untouched();
}

#[test]
fn b62_a_server_that_claude_switched_off_is_named_strict_or_not() {
    for strict in [&[][..], &["--strict"]] {
        let test = launch("claude", "claude", DOCS).args(["--server", "docs"]).args(strict.iter().copied());
        let project = test.path("project").display().to_string();
        let state = json!({ "projects": { project: { "disabledMcpServers": ["docs"] } } });
        test.write("home/.claude.json", state.to_string())
            .stderr("squire: claude gets 0 of 1; switched off: docs (disabled for this directory in <T>/home/.claude.json; enable it with /mcp in Claude Code)\n")
            .success();
    }
}

#[test]
fn codexs_own_servers_are_switched_off_by_name() {
    let run = launch("codex", "codex", DOCS)
        .write(
            "home/.codex/config.toml",
            "[mcp_servers]\nown = { command = \"x\" }\nwith-dash_2 = { url = \"x\" }\n",
        )
        .write(
            "project/.codex/config.toml",
            "[mcp_servers.theirs]\ncommand = \"x\"\n[mcp_servers.own]\ncommand = \"y\"\n",
        )
        .args(["--strict", "--quiet", "--server", "docs", "--", "exec", "hi"])
        .success();
    assert_eq!(
        run.agent_arguments()[..8],
        [
            "exec",
            "hi",
            "-c",
            "mcp_servers.own.enabled=false",
            "-c",
            "mcp_servers.theirs.enabled=false",
            "-c",
            "mcp_servers.with-dash_2.enabled=false",
        ]
    );
    let read = codex_reads(&run);
    for name in ["own", "theirs", "with-dash_2"] {
        assert_eq!(read[name], json!({ "enabled": false }), "{name}");
    }
    assert_eq!(read["docs"]["url"], "https://docs.example.com/mcp");
    assert_eq!(read["docs"]["enabled"], true);
}

/// A key with a dot can't stand in a dotted key: the whole table comes first, and replaces none of ours.
#[test]
fn codexs_own_servers_of_odd_names_are_switched_off_too() {
    let odd = ["a.b", "with space", "\"quoted\"", "back\\slash", "é", "a=b", "x\ny"];
    let declared: Vec<String> =
        odd.iter().map(|name| format!("[mcp_servers.{}]\nurl = \"x\"\n", json!(name))).collect();
    let declared = declared.concat();
    let run = launch("codex", "codex", DOCS)
        .write("home/.codex/config.toml", format!("{declared}[mcp_servers.own]\nurl = \"x\"\n"))
        .args(["--strict", "--quiet", "--server", "docs"])
        .success();
    let words = run.agent_arguments();
    assert!(words[1].starts_with("mcp_servers={"), "{words:?}");
    assert_eq!(words[3], "mcp_servers.own.enabled=false");
    let read = codex_reads(&run);
    for name in odd.iter().chain(&["own"]) {
        assert_eq!(read[*name], json!({ "enabled": false }), "{name:?}");
    }
    assert_eq!(read.as_object().unwrap().len(), odd.len() + 2);
    assert_eq!(read["docs"]["enabled"], true);
}

/// A name that is taken stays left out: its own entry is switched off, and ours would be mixed with it.
#[test]
fn b97_strict_takes_no_name() {
    for (agent, file, text) in [
        ("codex", "home/.codex/config.toml", "[mcp_servers.docs]\nurl = \"x\"\n"),
        (
            "opencode",
            "home/.config/opencode/opencode.json",
            "{\"mcp\":{\"docs\":{\"type\":\"remote\",\"url\":\"x\"}}}",
        ),
    ] {
        let run = launch(agent, agent, DOCS)
            .write(file, text)
            .args(["--strict", "--server", "docs"])
            .any_stderr()
            .success();
        assert!(
            run.stderr.starts_with(&format!(
                "squire: {agent} gets 0 of 1; left out: docs (<T>/{file} has a server of this name"
            )),
            "{}",
            run.stderr
        );
        if agent == "codex" {
            assert_eq!(run.agent_arguments(), ["-c", "mcp_servers.docs.enabled=false"]);
        } else {
            let content = run.agent_variable("OPENCODE_CONFIG_CONTENT").unwrap();
            assert_eq!(content, "{\"mcp\":{\"docs\":{\"enabled\":false}}}");
        }
    }
}

#[test]
fn what_cannot_be_read_cannot_be_switched_off() {
    for (agent, title, file) in [
        ("codex", "Codex", "home/.codex/config.toml"),
        ("codex", "Codex", "project/.codex/config.toml"),
        ("opencode", "OpenCode", "home/.config/opencode/opencode.json"),
    ] {
        let test = || launch(agent, agent, DOCS).write(file, "[{ broken").args(["--server", "docs"]);
        let run = test().args(["--strict"]).any_stderr().unchanged().code(125);
        assert!(!run.agent_was_started());
        let told = format!("squire: {title}'s own servers can't be switched off: <T>/{file}: ");
        assert!(run.stderr.starts_with(&told), "{}", run.stderr);
        // Without --strict it is said, and stops nothing.
        let run = test().any_stderr().success();
        assert!(run.stderr.contains(&format!("<T>/{file}: ")), "{}", run.stderr);
    }
}

#[test]
fn opencodes_other_servers_are_switched_off_once_each() {
    let own = r#"{"theme":"dark","mcp":{"both":{"type":"remote","url":"https://variable/","enabled":true},"variable":{"type":"local","command":["x"]}}}"#;
    let run = launch("opencode", "opencode", DOCS)
        .write("home/.config/opencode/opencode.json", r#"{"mcp":{"file":{"type":"local","command":["x"]},"both":{"type":"remote","url":"https://file/"}}}"#)
        .write("project/opencode.jsonc", "{ // theirs\n\"mcp\": {\"theirs\": {\"type\": \"local\", \"command\": [\"y\"]}},}")
        .env("OPENCODE_CONFIG_CONTENT", own)
        .args(["--strict", "--quiet", "--server", "docs"])
        .success();
    let content = run.agent_variable("OPENCODE_CONFIG_CONTENT").unwrap();
    let read: Value = serde_json::from_str(&content).unwrap();
    assert_eq!(read["theme"], "dark");
    assert_eq!(
        read["mcp"]["both"],
        json!({ "type": "remote", "url": "https://variable/", "enabled": false })
    );
    assert_eq!(read["mcp"]["variable"], json!({ "type": "local", "command": ["x"], "enabled": false }));
    assert_eq!(read["mcp"]["file"], json!({ "enabled": false }));
    assert_eq!(read["mcp"]["theirs"], json!({ "enabled": false }));
    assert_eq!(read["mcp"]["docs"]["enabled"], true);
    assert_eq!(read["mcp"].as_object().unwrap().len(), 5);
    for name in ["both", "variable", "file", "theirs", "docs"] {
        assert_eq!(content.matches(&format!("\"{name}\":")).count(), 1, "{name} in {content}");
    }
    // Without it nothing of the user's is another.
    let run = launch("opencode", "opencode", DOCS)
        .env("OPENCODE_CONFIG_CONTENT", own)
        .args(["--quiet", "--server", "docs"])
        .success();
    let content = run.agent_variable("OPENCODE_CONFIG_CONTENT").unwrap();
    assert!(!content.contains("\"enabled\":false"), "{content}");
}

#[test]
fn cursor_is_refused() {
    let reason = "squire: Cursor has no way to switch its own servers off for one launch\n  help: leave --strict away, or `strict` of the profile\n";
    let run = launch("cursor", "cursor-agent", DOCS).args(["--strict"]).stderr(reason).unchanged().code(125);
    assert!(!run.agent_was_started());
}

#[test]
fn a_profile_is_strict() {
    let config = format!(
        "{DOCS}[profiles.base]\nstrict = true\n[profiles.p]\nextends = [\"base\"]\nservers = [\"docs\"]\n[profiles.q]\nservers = [\"docs\"]\nstrict = false\n"
    );
    for (profiles, strict) in [(&["p"][..], true), (&["q"], false), (&["q", "p"], true)] {
        let mut test = launch("claude", "claude", &config).args(["--quiet"]);
        for profile in profiles {
            test = test.args(["--profile", profile]);
        }
        let run = test.success();
        let told = run.agent_arguments().iter().any(|word| word == "--strict-mcp-config");
        assert_eq!(told, strict, "{profiles:?}");
    }
    let run = launch("cursor", "cursor-agent", &config).args(["--profile", "p"]).any_stderr().code(125);
    assert!(
        run.stderr.starts_with("squire: Cursor has no way to switch its own servers off"),
        "{}",
        run.stderr
    );
}

const MIXED: &str = "\
[servers.docs]
url = \"https://docs.example.com/mcp\"
[servers.off]
command = \"x\"
disabled = true
[servers.key]
url = \"https://key.example.com/mcp\"
[profiles.all]
servers = [\"docs\", \"off\", \"key\"]
[profiles.wants]
extends = [\"all\"]
require = [\"key\"]
[profiles.wants-all]
servers = [\"docs\", \"off\"]
require = [\"all\"]
[policy]
deny_servers = [\"key\"]
";

#[test]
fn what_is_required_and_left_out_refuses() {
    let refused = |words: &[&str], lines: &[String]| {
        let lines = lines.iter().map(|line| format!("  {line}\n")).collect::<Vec<_>>().concat();
        let run = launch("claude", "claude", MIXED)
            .args(words.iter().copied())
            .stderr(format!("squire: nothing was started, as it lacks what is required:\n{lines}"))
            .unchanged()
            .code(125);
        assert!(!run.agent_was_started());
    };
    let [off, key] = ["off: disabled in squire.toml".to_owned(), format!("key: {DENIED}")];
    refused(&["--profile", "all", "--require", "off"], std::slice::from_ref(&off));
    refused(
        &["--profile", "all", "--require", "key", "--require", "docs", "--require", "off"],
        &[key.clone(), off.clone()],
    );
    refused(&["--profile", "all", "--require", "all"], &[off.clone(), key.clone()]);
    refused(
        &["--profile", "all", "--require", "all", "--require", "off", "--dry-run"],
        &[off.clone(), key.clone()],
    );
    refused(&["--server", "docs", "--require", "off"], &["off: it is not selected".into()]);
    refused(&["--profile", "wants"], std::slice::from_ref(&key));
    refused(&["--profile", "wants-all"], std::slice::from_ref(&off));
}

/// A name that nothing declares is a misspelt one, and not one that is not selected.
#[test]
fn what_is_required_and_declared_nowhere_is_unknown() {
    for (name, told) in [
        ("dcos", "did you mean `docs`?"),
        ("nowhere", "there are: squire, docs, off, key"),
        ("ALL", "there are: squire, docs, off, key"),
    ] {
        launch("claude", "claude", MIXED)
            .args(["--server", "docs", "--require", name])
            .stderr(format!("squire: there is no server {name:?}; {told}\n"))
            .unchanged()
            .code(125);
    }
    launch("claude", "claude", MIXED)
        .args(["--server", "dosc", "--require", "dcos", "--require", "dcos"])
        .stderr("squire: there is no server \"dosc\"; did you mean `docs`?\nthere is no server \"dcos\"; did you mean `docs`?\n")
        .unchanged()
        .code(125);
}

#[test]
fn what_is_required_and_there_launches() {
    for words in [&["--server", "docs", "--require", "docs"][..], &["--server", "docs", "--require", "all"]] {
        let run = launch("claude", "claude", MIXED)
            .args(words.iter().copied())
            .stderr("squire: claude gets 1 of 1: docs\n")
            .success();
        assert_eq!(run.agent_arguments(), [OURS]);
    }
    // `mcp list` runs no session: nothing is required of it.
    launch("claude", "claude", MIXED)
        .args(["--quiet", "--profile", "all", "--require", "all", "--", "mcp", "list"])
        .success();
}

/// What the agent's own config keeps out is known before the start as well.
#[test]
fn what_the_agent_would_not_take_is_required_in_vain() {
    let run = launch("codex", "codex", DOCS)
        .write("home/.codex/config.toml", "[mcp_servers.docs]\nurl = \"x\"\n")
        .args(["--server", "docs", "--require", "docs"])
        .stderr("squire: nothing was started, as it lacks what is required:\n  docs: <T>/home/.codex/config.toml has a server of this name, and Codex would mix the two\n")
        .unchanged()
        .code(125);
    assert!(!run.agent_was_started());
    let run = launch("claude", "claude", DOCS).project("[servers.theirs]\ncommand = \"x\"\n");
    run.args(["--require", "all"])
        .stderr("squire: nothing was started, as it lacks what is required:\n  theirs: declared by the project, and not approved\n")
        .unchanged()
        .code(125);
}

const NEEDY: &str = "\
[servers.docs]
url = \"https://docs.example.com/mcp\"
[servers.a]
command = \"a\"
args = [\"${env:NOPE}\"]
env = { T = \"${env:NOPE_TOKEN}\", U = \"${env:SET}\", D = \"${env:NOPE:-dev}\", E = \"${env:NOPE:-}\" }
";

#[test]
fn b21_what_is_missing_is_told_all_at_once() {
    launch("claude", "claude", NEEDY)
        .env("SET", "x")
        .env("NOPE_TOKEN", "")
        .stderr(
            "squire: nothing was started:\n  a: args needs ${env:NOPE}, which is not set or empty\n  a: env.T needs ${env:NOPE_TOKEN}, which is not set or empty\n  help: set it, give it a default as in ${env:NAME:-default}, or leave such servers out with --allow-missing\n",
        )
        .unchanged()
        .code(125);
}

#[test]
fn b21_allow_missing_leaves_such_servers_out() {
    let reason = "args needs ${env:NOPE}, which is not set or empty";
    let run = launch("claude", "claude", NEEDY)
        .args(["--allow-missing"])
        .env("SET", "x")
        .stderr(format!("squire: claude gets 2 of 3: squire, docs; left out: a ({reason})\n"))
        .success();
    let file = run.agent_file("claude.json").to_string();
    assert!(!file.contains("NOPE"), "{file}");
    launch("claude", "claude", NEEDY)
        .args(["--allow-missing", "--require", "a"])
        .env("SET", "x")
        .stderr(format!("squire: nothing was started, as it lacks what is required:\n  a: {reason}\n"))
        .unchanged()
        .code(125);
    // Where nothing is missing it changes nothing.
    let run = launch("claude", "claude", NEEDY).args(["--allow-missing"]);
    run.env("SET", "x")
        .env("NOPE", "x")
        .env("NOPE_TOKEN", "x")
        .stderr("squire: claude gets 3 of 3: squire, docs, a\n")
        .success();
}

const CHOSEN: &str = "\
[servers.dyn]
transport = \"${env:MCP_TRANSPORT:-stdio}\"
command = [\"<server>\", \"stdio\", \"--log\", \"<T>/log\"]
env = { P = \"${env:PROGRAM_NEEDS}\" }
url = \"https://h.example.com/${env:PATH_NEEDS}\"
headers = { A = \"${env:HEADER_NEEDS}\" }
";

#[test]
fn a_chosen_transport_is_listed_as_such() {
    assert_eq!(
        Test::new().config(CHOSEN).listed(&["name", "transport", "route", "state", "runs"]),
        [
            "dyn | dynamic | gateway | on | <server> stdio --log <T>/log or https://h.example.com/${env:PATH_NEEDS}"
        ]
    );
}

/// The fields of the others are dropped before their references are looked at.
#[test]
fn b21_only_the_chosen_transports_references_are_needed() {
    let missing = |lines: &str| {
        format!(
            "squire: nothing was started:\n{lines}  help: set it, give it a default as in ${{env:NAME:-default}}, or leave such servers out with --allow-missing\n"
        )
    };
    let test = || launch("claude", "claude", CHOSEN).args(["--server", "dyn"]);
    let run = test().env("PROGRAM_NEEDS", "x").stderr("squire: claude gets 1 of 1: dyn\n").success();
    let file: Value =
        serde_json::from_str(run.agent_file("claude.json")["content"].as_str().unwrap()).unwrap();
    assert_eq!(file["mcpServers"]["dyn"]["env"]["MCP_TRANSPORT"], "${MCP_TRANSPORT:-}");
    assert_eq!(file["mcpServers"]["dyn"]["env"]["PROGRAM_NEEDS"], "${PROGRAM_NEEDS:-}");
    let told = missing("  dyn: env.P needs ${env:PROGRAM_NEEDS}, which is not set or empty\n");
    test().stderr(told).unchanged().code(125);
    for word in ["http", "sse", "streamable-http"] {
        let told = missing(
            "  dyn: url needs ${env:PATH_NEEDS}, which is not set or empty\n  dyn: headers.A needs ${env:HEADER_NEEDS}, which is not set or empty\n",
        );
        test().env("MCP_TRANSPORT", word).stderr(told).unchanged().code(125);
    }
    for word in ["websocket", "STDIO", " stdio", "builtin"] {
        let told = "squire: nothing was started:\n  dyn: transport: ${env:MCP_TRANSPORT:-stdio} comes out as none of `stdio`, `http` and `sse`\n  help: let it come out as `stdio`, `http` or `sse`, or leave such servers out with --allow-missing\n";
        test().env("MCP_TRANSPORT", word).stderr(told).unchanged().code(125);
    }
}

#[test]
fn the_gateway_chooses_when_it_starts() {
    let test = Test::new().config(CHOSEN).env("PROGRAM_NEEDS", "x");
    let test = test.clone().args(gateway_words(&test, "dyn", "claude")).any_stdout();
    let test = test.stdin(crate::gateway::CONVERSATION);
    for word in ["stdio", ""] {
        let run = test.clone().env("MCP_TRANSPORT", word).success();
        let log = run.path("log");
        assert!(log.exists(), "the server was not started");
        std::fs::remove_file(log).unwrap();
    }
    for (word, reason) in [
        ("http", "headers.A: ${env:HEADER_NEEDS} is not set"),
        ("sse", "headers.A: ${env:HEADER_NEEDS} is not set"),
        ("nonsense", "transport: ${env:MCP_TRANSPORT:-stdio} comes out as none of `stdio`, `http` and `sse`"),
    ] {
        let told = format!("squire: the server dyn could not be started: {reason}\n");
        let run = test.clone().env("MCP_TRANSPORT", word).stderr(told).code(1);
        assert!(!run.path("log").exists());
    }
}

#[test]
fn a_choice_that_the_declaration_does_not_have() {
    let config = "[servers.dyn]\ntransport = \"${env:T}\"\ncommand = \"x\"\n";
    for (value, sentence) in [
        (None, "transport: ${env:T} is not set"),
        (Some("http"), "transport: ${env:T} comes out as `http`, and the declaration has no such server"),
    ] {
        let mut test = launch("claude", "claude", config).args(["--server", "dyn", "--allow-missing"]);
        if let Some(value) = value {
            test = test.env("T", value);
        }
        test.stderr(format!("squire: claude gets 0 of 1; left out: dyn ({sentence})\n")).success();
    }
    let refused = |config: &str, message: &str| {
        let message = message.replace("<F>", FILE);
        Test::new().config(config).args(["list"]).stderr(format!("squire: {message}\n")).unchanged().code(1);
    };
    refused(
        "[servers.dyn]\ntransport = \"${env:T}\"\n",
        "<F>:1:10: [servers.dyn]: neither `command` nor `url`: one of them says what the server is",
    );
    refused(
        "[servers.dyn]\ntransport = \"${env:T}\"\nurl = \"https://h/\"\nroute = \"direct\"\n",
        "<F>:4:1: [servers.dyn]: `route = \"direct\"` is for remote servers; a program always goes through the gateway",
    );
    refused(
        "[servers.dyn]\ntransport = \"${T}\"\ncommand = \"x\"\n",
        "<F>:2:13: `transport`: `${T}` is no reference; write `${env:T}` for an environment variable, `$${` for the plain text",
    );
}

#[test]
fn a_policy_limits_what_may_be_chosen() {
    for (allowed, expected) in
        [("[\"stdio\", \"http\", \"sse\"]", "dyn | on"), ("[\"http\", \"sse\"]", "dyn | policy")]
    {
        let config = format!("{CHOSEN}[policy]\ntransports = {allowed}\n");
        assert_eq!(Test::new().config(&config).listed(&["name", "state"]), [expected], "{allowed}");
    }
}

/// B62: where the agent's own servers are switched off, they are named.
#[test]
fn b62_what_strict_hides_is_named() {
    for (agent, file, text) in [
        ("claude", "home/.claude.json", "{\"mcpServers\":{\"hidden-one\":{\"command\":\"x\"}}}"),
        ("codex", "home/.codex/config.toml", "[mcp_servers.hidden-one]\nurl = \"x\"\n"),
        (
            "opencode",
            "home/.config/opencode/opencode.json",
            "{\"mcp\":{\"hidden-one\":{\"type\":\"remote\",\"url\":\"x\"}}}",
        ),
    ] {
        let run = launch(agent, agent, DOCS)
            .write(file, text)
            .args(["--strict", "--server", "docs"])
            .any_stderr()
            .success();
        assert!(run.stderr.contains("hidden-one"), "{agent}: {}", run.stderr);
    }
}

/// The whole table replaces what stands before it: a word of the user is never swallowed.
#[test]
fn codexs_odd_names_take_nothing_of_the_users_words() {
    let approve = "mcp_servers.docs.default_tools_approval_mode=\"approve\"";
    let run = launch("codex", "codex", DOCS)
        .write("home/.codex/config.toml", "[mcp_servers.\"a.b\"]\nurl = \"x\"\n")
        .args(["--strict", "--quiet", "--server", "docs", "--", "-c", approve, "exec", "hi"])
        .success();
    let read = codex_reads(&run);
    assert_eq!(read["docs"]["default_tools_approval_mode"], "approve", "{read}");
    assert_eq!(read["a.b"], json!({ "enabled": false }));
}

/// The fields of the others are dropped before their references are looked at: secrets and `auth` are among them.
#[test]
fn a_secret_of_a_transport_that_is_not_chosen_is_not_needed() {
    for field in ["headers = { A = \"${secret:k}\" }", "auth = { type = \"bearer\", secret = \"k\" }"] {
        launch(
            "claude",
            "claude",
            &format!("[servers.dyn]\ntransport = \"${{env:T:-stdio}}\"\ncommand = \"x\"\nurl = \"https://h.example.com/\"\n{field}\n"),
        )
        .args(["--server", "dyn"])
        .stderr("squire: claude gets 1 of 1: dyn\n")
        .success();
    }
}
