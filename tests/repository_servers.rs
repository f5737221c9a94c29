//! Servers that a repository puts into an agent's own project files (cases B33, B65, B97): switched off for the launch,
//! by name, and named; `--agent-servers` leaves them on. The real agents show the same in `tests/real-agents/`.

use serde_json::{Value, json};

use crate::support::{Run, Test};

const EVIL: &str = r#"{ "mcpServers": { "evil": { "command": "./evil" } } }"#;
const KEEP_CLAUDE: &str = "to keep it: squire approve NAME; or name it in `enabledMcpjsonServers` of your own Claude settings, or launch with --agent-servers";
const KEEP_OPENCODE: &str = "to keep it: squire approve NAME; or write `{\"mcp\": {\"NAME\": {\"enabled\": true}}}` into your own OpenCode config, or launch with --agent-servers";
/// No server at all, the built-in one included.
const NONE: &str = "[servers.squire]\ndisabled = true\n[servers.off]\ncommand = \"x\"\ndisabled = true\n";
const DOCS: &str = "[servers.docs]\nurl = \"https://docs.example.com/mcp\"\n";

fn launch(agent: &str, config: &str) -> Test {
    Test::new().config(config).agent(agent, "exit 5").args(["launch", agent])
}

/// The names that Claude's argument before the user's words replaces, each by a command that serves nothing.
fn replaced(run: &Run) -> Vec<String> {
    let words = run.agent_arguments();
    let config = words.first().and_then(|word| word.strip_prefix("--mcp-config={"));
    let Some(config) = config else { return Vec::new() };
    let config: Value = serde_json::from_str(&format!("{{{config}")).unwrap();
    let entries = config["mcpServers"].as_object().unwrap();
    for entry in entries.values() {
        assert_eq!((&entry["args"][0], &entry["args"][1]), (&json!("gateway"), &json!("switched.off")));
        assert!(!entry.to_string().contains("evil"), "{entry}");
    }
    entries.keys().cloned().collect()
}

#[test]
fn b33_claude_is_told_with_no_server_of_ours_and_becomes_the_process() {
    let run = launch("claude", NONE)
        .write("project/.mcp.json", EVIL)
        .write("project/a/b/x", "")
        .directory("project/a/b")
        .args(["--", "-p", "hi"])
        .stderr(format!("squire: claude gets 0 of 1; left out: evil (declared by the project, and not approved; squire approve evil); <T>/project/.mcp.json: switched off, as you have not enabled it: evil; {KEEP_CLAUDE}\n"))
        .code(5);
    assert_eq!(replaced(&run), ["evil"]);
    assert_eq!(run.agent_arguments()[1..], ["-p", "hi"]);
}

#[test]
fn b33_what_replaces_a_server_answers_without_tools() {
    let hello = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"0"}}}"#;
    let list = r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#;
    let run = Test::new()
        .args(["gateway", "switched.off", "--agent", "claude", "--config", "/nowhere", "--state", "/nowhere"])
        .stdin(format!("{hello}\n{list}\n"))
        .any_stdout()
        .unchanged()
        .success();
    let answers: Vec<Value> = run.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let reason = answers[0]["result"]["instructions"].as_str().unwrap();
    assert!(reason.starts_with("squire has switched this server off"), "{reason}");
    assert_eq!(answers[1]["result"]["tools"], json!([]));
}

#[test]
fn agent_servers_leaves_them_on() {
    let run = launch("claude", NONE)
        .write("project/.mcp.json", EVIL)
        .args(["--agent-servers"])
        .stderr("squire: claude gets 0 of 1; left out: evil (declared by the project, and not approved; squire approve evil)\n")
        .code(5);
    assert_eq!(run.agent_arguments(), [""; 0]);
    let config = r#"{"mcp": {"evil": {"type": "local", "command": ["./evil"]}}}"#;
    let run = launch("opencode", NONE)
        .write("project/opencode.json", config)
        .args(["--agent-servers"])
        .stderr("squire: opencode gets 0 of 0\n")
        .code(5);
    assert_eq!(run.agent_variable("OPENCODE_CONFIG_CONTENT"), None);
    let run = launch("claude", NONE).args(["--agent-servers", "--strict"]).any_stderr().unchanged().code(125);
    assert!(run.stderr.contains("cannot be used with"), "{}", run.stderr);
}

/// Where ours find no place, what is off stands before all words; a subcommand gets nothing at all.
#[test]
fn b33_a_session_that_gets_no_server_is_told_too() {
    for words in [&["--new-option", "x", "-p", "hi"][..], &["--bg", "hi"], &["-p", "hi", "--model"]] {
        let run = launch("claude", DOCS)
            .write("project/.mcp.json", EVIL)
            .args(["--"])
            .args(words)
            .any_stderr()
            .code(5);
        assert!(
            run.stderr.starts_with("squire: claude gets no servers: no server is added: "),
            "{}",
            run.stderr
        );
        assert!(run.stderr.contains("switched off, as you have not enabled it: evil"), "{}", run.stderr);
        assert_eq!(replaced(&run), ["evil"]);
        assert_eq!(run.agent_arguments()[1..], *words);
    }
    let run = launch("claude", DOCS)
        .write("project/.mcp.json", EVIL)
        .args(["--", "mcp", "list"])
        .stderr("squire: claude gets no servers: nothing is added: `mcp` runs no session\n")
        .code(5);
    assert_eq!(run.agent_arguments(), ["mcp", "list"]);
}

/// What can't be read as Claude reads it, or can undo what squire says, switches off by the flag that needs no names.
#[test]
fn b33_where_names_would_not_do_claude_gets_its_flag() {
    let many: serde_json::Map<String, Value> =
        (0..10_000).map(|index| (format!("s{index}"), json!({ "command": "x" }))).collect();
    let many = json!({ "mcpServers": many }).to_string();
    let large = format!("{{ \"mcpServers\": {{}}, \"x\": \"{}\" }}", "x".repeat(1 << 20));
    let deep = format!("{{ \"mcpServers\": {{}}, \"x\": {}{} }}", "[".repeat(5000), "]".repeat(5000));
    let half = r#"{ "mcpServers": { "\ud800": { "command": "x" } } }"#;
    let constructor = r#"{ "mcpServers": { "constructor": { "command": "x" } } }"#;
    for text in [many.as_str(), large.as_str(), deep.as_str(), half, constructor, "{ broken"] {
        let run = launch("claude", NONE).write("project/.mcp.json", text).any_stderr().code(5);
        assert_eq!(run.agent_arguments(), ["--strict-mcp-config"], "{}", run.stderr);
        assert!(
            run.stderr.contains("so all of Claude Code's own servers are switched off"),
            "{}",
            run.stderr
        );
    }
    for settings in ["{ \"deniedMcpServers\": [] }", "{ \"allowedMcpServers\": null }", "// broken"] {
        let test = launch("claude", NONE).write("project/.mcp.json", EVIL);
        let run = test.write("project/.claude/settings.json", settings).any_stderr().code(5);
        assert_eq!(run.agent_arguments(), ["--strict-mcp-config"], "{}", run.stderr);
    }
    let test = launch("claude", NONE);
    rustix::fs::mkfifoat(rustix::fs::CWD, test.path("project/.mcp.json"), 0o600.into()).unwrap();
    let run = test
        .stderr("squire: claude gets 0 of 0; <T>/project/.mcp.json: the project's file is not used: it is no regular file; <T>/project/.mcp.json: which servers it adds can't be known (it is no regular file), so all of Claude Code's own servers are switched off for this launch; mend that file, or launch with --agent-servers\n")
        .code(5);
    assert_eq!(run.agent_arguments(), ["--strict-mcp-config"]);
    // Such settings alone start nothing.
    let run = launch("claude", NONE)
        .write("project/.claude/settings.json", "{ \"deniedMcpServers\": [] }")
        .stderr("squire: claude gets 0 of 0\n")
        .code(5);
    assert_eq!(run.agent_arguments(), [""; 0]);
}

#[test]
fn b33_opencode_reads_no_project_where_names_would_not_do() {
    let many: serde_json::Map<String, Value> = (0..10_000)
        .map(|index| (format!("s{index}"), json!({ "type": "local", "command": ["x"] })))
        .collect();
    let many = json!({ "mcp": many }).to_string();
    let comment = r#"{ "mcp": { /* {file:z} "evil": { "command": ["x"] } /* */ } }"#;
    let names = [r#"{ "m{env:X}cp": {} }"#, r#"{ "mcp": { "{file:x}": {} } }"#];
    for text in [many.as_str(), "{ broken", names[0], names[1], comment] {
        let run = launch("opencode", NONE).write("project/opencode.json", text).any_stderr().code(5);
        assert_eq!(run.agent_variable("OPENCODE_DISABLE_PROJECT_CONFIG").as_deref(), Some("1"));
        assert_eq!(run.agent_variable("OPENCODE_CONFIG_CONTENT"), None);
        assert!(run.stderr.contains("so OpenCode reads no configuration of the project"), "{}", run.stderr);
    }
}

/// B97: a repository's part of an entry of ours reaches neither, and neither runs.
#[test]
fn b97_what_a_repository_says_of_our_name_is_off_and_ours_is_left_out() {
    for file in ["project/opencode.json", "project/.opencode/opencode.jsonc", "opencode.json"] {
        let run = launch("opencode", &format!("{NONE}{DOCS}"))
            .write(file, r#"{ "mcp": { "docs": { "command": ["./evil"] } } }"#)
            .stderr(format!("squire: opencode gets 0 of 1; left out: docs (<T>/{file} has a server of this name, and OpenCode would mix the two; rename the server in squire.toml); <T>/{file}: switched off, as you have not enabled it: docs; {KEEP_OPENCODE}\n"))
            .code(5);
        let content = run.agent_variable("OPENCODE_CONFIG_CONTENT").unwrap();
        assert_eq!(content, r#"{"mcp":{"docs":{"enabled":false}}}"#);
    }
}

/// Words, and PWD, send OpenCode to another directory: what the project there has is off too.
#[test]
fn b33_what_another_directory_has_is_off_too() {
    let evil = r#"{"mcp": {"evil": {"type": "local", "command": ["./evil"]}}}"#;
    let test = || {
        launch("opencode", NONE)
            .write("other/opencode.json", evil)
            .write("other/sub/x", "")
            .link("../other/sub", "project/link")
    };
    let off = |run: &Run| run.agent_variable("OPENCODE_CONFIG_CONTENT");
    let other = "<T>/other/opencode.json";
    let named = |file: &str| {
        format!(
            "squire: opencode gets 0 of 0; {file}: switched off, as you have not enabled it: evil; {KEEP_OPENCODE}\n"
        )
    };
    for words in [
        &["../other"][..],
        &["../other/sub", "--continue"],
        &["link"],
        &["run", "hi", "--dir", "../other"],
        &["run", "--dir=../other/sub/..", "hi"],
        &["acp", "--cwd", "../other"],
    ] {
        let run = test().args(["--"]).args(words).stderr(named(other)).code(5);
        assert_eq!(run.agent_arguments(), *words);
        assert_eq!(off(&run).as_deref(), Some(r#"{"mcp":{"evil":{"enabled":false}}}"#), "{words:?}");
    }
    // A prompt that is the name of a directory, and a file, are none.
    for words in [&["run", "../other"][..], &["../other/opencode.json"], &["nowhere"]] {
        let run = test().args(["--"]).args(words).stderr("squire: opencode gets 0 of 0\n").code(5);
        assert_eq!(off(&run), None, "{words:?}");
    }
    let run =
        test().args(["--agent-servers", "--", "../other"]).stderr("squire: opencode gets 0 of 0\n").code(5);
    assert_eq!(off(&run), None);
    // By PWD it walks up the way that the user came.
    let test = launch("opencode", NONE).write("way/opencode.json", evil).link("../project", "way/link");
    let run = test.clone().env("PWD", test.path("way/link")).stderr(named("<T>/way/opencode.json")).code(5);
    assert!(off(&run).is_some());
    let run = test.clone().env("PWD", test.path("project")).stderr("squire: opencode gets 0 of 0\n").code(5);
    assert_eq!(off(&run), None);
    // Of the same name as ours it would be mixed with ours.
    let docs = r#"{ "mcp": { "docs": { "command": ["./evil"] } } }"#;
    launch("opencode", &format!("{NONE}{DOCS}"))
        .write("other/opencode.json", docs)
        .args(["--", "../other"])
        .stderr(format!("squire: opencode gets 0 of 1; left out: docs ({other} has a server of this name, and OpenCode would mix the two; rename the server in squire.toml); {other}: switched off, as you have not enabled it: docs; {KEEP_OPENCODE}\n"))
        .code(5);
}

/// A value with a quote could end the string that OpenCode puts it into: which servers there are is not known then.
#[test]
fn b33_a_value_that_breaks_a_file_keeps_the_project_out() {
    let text = r#"{ "theme": "{env:ODD}", "mcp": { "evil": { "type": "local", "command": ["./evil"] } } }"#;
    for (value, is_off) in
        [("a\"b", true), ("a\\", true), ("a\nb", true), ("a*/", true), ("plain", false), ("", false)]
    {
        let run = launch("opencode", NONE)
            .write("project/opencode.json", text)
            .env("ODD", value)
            .any_stderr()
            .code(5);
        let is_left_out = run.agent_variable("OPENCODE_DISABLE_PROJECT_CONFIG").is_some();
        assert_eq!(is_left_out, is_off, "{value:?} {}", run.stderr);
        assert!(!run.stderr.contains(value) || value.is_empty() || value == "plain", "{}", run.stderr);
    }
    // In a file of the user's own it is told; whether a name there is taken can't be known.
    let file = "home/.config/opencode/opencode.json";
    launch("opencode", NONE)
        .write(file, r#"{ "theme": "{env:ODD}" }"#)
        .env("ODD", "a\"b")
        .stderr(format!("squire: opencode gets 0 of 0; <T>/{file}: {{env:ODD}} is replaced in its text, and the value could end a string or a comment there; servers of the same name there can't be known\n"))
        .code(5);
}

/// What a repository's settings forbid Claude is not counted as given, and can be required.
#[test]
fn b62_what_settings_forbid_is_named_with_the_file() {
    let settings = "project/.claude/settings.json";
    let denied = r#"{ "deniedMcpServers": [{ "serverName": "docs" }] }"#;
    let reason = format!("`deniedMcpServers` of <T>/{settings} forbids it");
    let test = || launch("claude", &format!("{NONE}{DOCS}")).write(settings, denied);
    test()
        .stderr(format!(
            "squire: claude gets 0 of 1; switched off: docs ({reason}; change that in the file)\n"
        ))
        .code(5);
    test()
        .args(["--require", "docs"])
        .stderr(format!("squire: nothing was started, as it lacks what is required:\n  docs: {reason}\n"))
        .unchanged()
        .code(125);
    let run = test().without_arguments().args(["check", "--json"]).any_stdout().unchanged().code(1);
    let found: Value = serde_json::from_str(&run.stdout).unwrap();
    let finding = found["findings"].as_array().unwrap().iter().find(|it| it["code"] == "agent-disabled");
    assert_eq!(finding.unwrap()["message"], reason);
    // Claude reads no settings of directories above.
    test()
        .write("project/sub/x", "")
        .directory("project/sub")
        .stderr("squire: claude gets 1 of 1: docs\n")
        .code(5);
    launch("claude", &format!("{NONE}{DOCS}"))
        .write("home/.claude/settings.json", r#"{ "allowedMcpServers": [{ "serverName": "other" }] }"#)
        .stderr("squire: claude gets 0 of 1; switched off: docs (`allowedMcpServers` of <T>/home/.claude/settings.json forbids it; change that in the file)\n")
        .code(5);
}

#[test]
fn names_that_a_repository_chose_act_on_no_terminal() {
    let file = "{ \"mcpServers\": { \"\\u001b]0;x\\u0007\\u202e\\n\": { \"command\": \"x\" } } }";
    let run = launch("claude", NONE).write("project/.mcp.json", file).any_stderr().code(5);
    assert!(run.stderr.contains(r#"enabled it: "\u{1b}]0;x\u{7}\u{202e}\n";"#), "{}", run.stderr);
    assert_eq!(run.stderr.lines().count(), 1);
    assert_eq!(replaced(&run), ["\u{1b}]0;x\u{7}\u{202e}\n"]);
}

/// B65: squire passes no word that approves; where the user does, what the project has is named.
#[test]
fn b65_a_word_that_reaches_a_repositorys_servers_is_told() {
    let test =
        || launch("cursor", NONE).agent("cursor-agent", "exit 5").write("project/.cursor/mcp.json", EVIL);
    for (word, effect) in [
        ("--approve-mcps", "enables for good"),
        ("--force", "lets it use without a question"),
        ("-f", "lets it use without a question"),
    ] {
        let run = test()
            .args(["--", "-p", word, "hi"])
            .stderr(format!("squire: cursor gets 0 of 1; left out: evil (declared by the project, and not approved; squire approve evil); <T>/project/.cursor/mcp.json: {word} {effect} what the project has there too: evil; leave it away, and enable ours by name: squire launch cursor -- mcp enable NAME\n"))
            .code(5);
        assert_eq!(run.agent_arguments(), ["-p", word, "hi"]);
    }
    for words in [&["-p", "hi"][..], &["--", "--force"]] {
        let run = test().args(["--"]).args(words).stderr("squire: cursor gets 0 of 1; left out: evil (declared by the project, and not approved; squire approve evil)\n").code(5);
        assert_eq!(run.agent_arguments(), *words);
    }
}
