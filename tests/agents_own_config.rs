//! What the agents' own files say: names that are taken, servers that are switched off (case B62), files that can't
//! be read. squire reads them and touches none.

use std::path::PathBuf;

use serde_json::json;

use crate::support::{Run, Test, Watched};

const SERVERS: &str = "\
[servers.docs]
url = \"https://docs.example.com/mcp\"
[servers.db]
command = \"<server>\"
args = [\"stdio\"]
";

fn launch(agent: &str) -> Test {
    Test::new()
        .config(SERVERS)
        .agent(agent, "exit 5")
        .args(["launch", agent, "--server", "docs", "--server", "db"])
}

/// Runs, and everything named stays as it is.
#[track_caller]
fn run_untouched(test: Test, files: &[&str]) -> Run {
    let paths: Vec<PathBuf> = files.iter().map(|file| test.path(file)).collect();
    let watched = Watched::new(paths);
    let run = test.code(5);
    watched.assert_untouched();
    run
}

#[track_caller]
fn assert_left_out(test: Test, agent: &str, file: &str, place: &str, title: &str, mend: &str) {
    let run = run_untouched(
        test.stderr(format!(
            "squire: {agent} gets 1 of 2: db; left out: docs ({place} has a server of this name, and {title} would mix the two; {mend})\n"
        )),
        &[file],
    );
    let given =
        run.agent()["argv"].to_string() + &run.agent_variable("OPENCODE_CONFIG_CONTENT").unwrap_or_default();
    assert!(given.contains("gateway"), "{file}: db is not in {given}");
    assert!(!given.contains("docs.example.com"), "{file}: docs is in {given}");
}

const OF_USER: &str = "remove it there, or rename the server in squire.toml";
const OF_PROJECT: &str = "rename the server in squire.toml";

#[test]
fn a_name_that_the_users_codex_has_is_left_out() {
    for text in [
        "[mcp_servers.docs]\nurl = \"https://own.example.com\"\n",
        "mcp_servers.docs.command = \"own\"\n",
        "mcp_servers = { \"docs\" = { command = \"own\", enabled = false } }\n",
        "\u{feff}model = \"x\"\r\n[mcp_servers.\"docs\".env]\r\nA = \"1\"\r\n",
    ] {
        let file = "home/.codex/config.toml";
        let place = "<T>/home/.codex/config.toml";
        assert_left_out(launch("codex").write(file, text), "codex", file, place, "Codex", OF_USER);
    }
}

#[test]
fn codex_home_names_the_users_file() {
    let test = launch("codex")
        .write("home/.codex/config.toml", "[mcp_servers.db]\ncommand = \"x\"\n")
        .write("elsewhere/config.toml", "[mcp_servers.docs]\ncommand = \"x\"\n");
    let home = test.path("elsewhere");
    let place = "<T>/elsewhere/config.toml";
    let test = test.env("CODEX_HOME", home);
    assert_left_out(test, "codex", "elsewhere/config.toml", place, "Codex", OF_USER);
}

#[test]
fn an_empty_codex_home_counts_as_none() {
    let file = "home/.codex/config.toml";
    let test = launch("codex").env("CODEX_HOME", "").write(file, "[mcp_servers.docs]\ncommand = \"x\"\n");
    assert_left_out(test, "codex", file, "<T>/home/.codex/config.toml", "Codex", OF_USER);
}

#[test]
fn a_name_that_the_project_gives_codex_is_left_out() {
    let file = "project/.codex/config.toml";
    let place = "<T>/project/.codex/config.toml";
    let text = "[mcp_servers.docs]\ncommand = \"x\"\n";
    assert_left_out(launch("codex").write(file, text), "codex", file, place, "Codex", OF_PROJECT);
    let below = launch("codex").write(file, text).write("project/a/b/c", "").directory("project/a/b");
    assert_left_out(below, "codex", file, place, "Codex", OF_PROJECT);
}

#[test]
fn names_that_only_look_alike_stay_in() {
    let run = launch("codex")
        .write("home/.codex/config.toml", "[mcp_servers.docs2]\ncommand = \"x\"\n[other.docs]\na = 1\n")
        .stderr("squire: codex gets 2 of 2: docs, db\n")
        .code(5);
    assert!(run.agent()["argv"].to_string().contains("docs.example.com"));
}

#[test]
fn a_name_that_any_file_of_opencode_has_is_left_out() {
    let json = "{\"mcp\": {\"docs\": {\"type\": \"local\", \"command\": [\"own\"]}}}";
    let jsonc = "\u{feff}{\r\n // mine\r\n \"mcp\": {\"docs\": {\"enabled\": false,},},\r\n}";
    for (file, text) in [
        ("home/.config/opencode/config.json", json),
        ("home/.config/opencode/opencode.json", jsonc),
        ("home/.config/opencode/opencode.jsonc", jsonc),
        ("home/.opencode/opencode.json", json),
        ("home/.opencode/opencode.jsonc", jsonc),
    ] {
        let place = format!("<T>/{file}");
        let test = launch("opencode").write(file, text);
        assert_left_out(test, "opencode", file, &place, "OpenCode", OF_USER);
    }
    for (file, text) in [
        ("project/opencode.json", jsonc),
        ("project/opencode.jsonc", jsonc),
        ("project/.opencode/opencode.json", jsonc),
        ("project/.opencode/opencode.jsonc", jsonc),
        ("opencode.json", jsonc),
    ] {
        let place = format!("<T>/{file}");
        let test = launch("opencode").write(file, text).write("project/a/b", "").directory("project/a");
        assert_left_out(test, "opencode", file, &place, "OpenCode", OF_PROJECT);
    }
}

#[test]
fn variables_name_more_files_of_opencode() {
    let json = "{\"mcp\": {\"docs\": {\"enabled\": false}}}";
    for (variable, value, file) in [
        ("OPENCODE_CONFIG", "<T>/any/name.json", "any/name.json"),
        ("OPENCODE_CONFIG", "relative.json", "project/relative.json"),
        ("OPENCODE_CONFIG_DIR", "<T>/any", "any/opencode.json"),
        ("OPENCODE_CONFIG_DIR", "<T>/any", "any/opencode.jsonc"),
    ] {
        let test = launch("opencode").write(file, json);
        let value = value.replace("<T>", test.root().to_str().unwrap());
        let place = format!("<T>/{file}");
        let test = test.env(variable, value);
        let paths = [file];
        let run = run_untouched(test.any_stderr(), &paths);
        let expected = format!("docs ({place} has a server of this name, and OpenCode would mix the two;");
        assert!(run.stderr.contains("gets 1 of 2: db;"), "{}", run.stderr);
        assert!(run.stderr.contains(&expected), "{}", run.stderr);
    }
    let test = Test::new().agent("opencode", "exit 5");
    let test = test.write("xdg/opencode/opencode.json", json);
    let config = SERVERS.replace("<server>", "true");
    let xdg = test.path("xdg");
    let test = test
        .write("xdg/squire/squire.toml", config)
        .env("XDG_CONFIG_HOME", xdg)
        .args(["launch", "opencode", "--server", "docs", "--server", "db"]);
    let file = "xdg/opencode/opencode.json";
    assert_left_out(test, "opencode", file, "<T>/xdg/opencode/opencode.json", "OpenCode", OF_USER);
}

/// `packages/opencode/src/config/config.ts`: `~/.opencode` is always scanned, `OPENCODE_CONFIG_DIR` comes on top.
#[test]
fn opencode_reads_the_directory_in_home_beside_the_one_of_the_variable() {
    let file = "home/.opencode/opencode.json";
    let test =
        launch("opencode").write(file, "{\"mcp\": {\"docs\": {\"enabled\": false}}}").write("any/x", "");
    let any = test.path("any");
    let test = test.env("OPENCODE_CONFIG_DIR", any);
    assert_left_out(test, "opencode", file, "<T>/home/.opencode/opencode.json", "OpenCode", OF_USER);
}

#[test]
fn a_name_in_the_variable_of_opencode_is_left_out() {
    let own = "{\"mcp\": {\"docs\": {\"type\": \"local\", \"command\": [\"own\"]}}}";
    let test = launch("opencode").env("OPENCODE_CONFIG_CONTENT", own);
    let run = test
        .stderr(format!("squire: opencode gets 1 of 2: db; left out: docs (OPENCODE_CONFIG_CONTENT has a server of this name, and OpenCode would mix the two; {OF_USER})\n"))
        .code(5);
    let text = run.agent_variable("OPENCODE_CONFIG_CONTENT").unwrap();
    assert!(text.contains(r#""docs":{"type":"local","command":["own"]}"#), "{text}");
    assert!(text.contains(r#""db":{"type":"local","command":["#), "{text}");
}

#[test]
fn all_left_out_means_that_nothing_is_emitted() {
    let own = "{ \"mcp\": {\"docs\": {}} } // as it is";
    let run = Test::new()
        .config(SERVERS)
        .agent("opencode", "exit 5")
        .env("OPENCODE_CONFIG_CONTENT", own)
        .args(["launch", "opencode", "--server", "docs"])
        .stderr(format!("squire: opencode gets 0 of 1; left out: docs (OPENCODE_CONFIG_CONTENT has a server of this name, and OpenCode would mix the two; {OF_USER})\n"))
        .code(5);
    assert_eq!(run.agent_variable("OPENCODE_CONFIG_CONTENT").as_deref(), Some(own));
    assert_eq!(run.agent_variable("SQUIRE_LAUNCH"), None);
    let run = Test::new()
        .config(SERVERS)
        .agent("codex", "exit 5")
        .write("home/.codex/config.toml", "[mcp_servers.docs]\n")
        .args(["launch", "codex", "--server", "docs", "--", "exec", "hi"])
        .any_stderr()
        .code(5);
    assert_eq!(run.agent_arguments(), ["exec", "hi"]);
}

#[test]
fn a_file_that_cannot_be_read_is_named_and_stops_nothing() {
    const UNKNOWN: &str = "; servers of the same name there can't be known";
    let toml = "home/.codex/config.toml";
    for (agent, file, text, reason) in [
        ("codex", toml, &b"[mcp_servers.docs\n"[..], ""),
        ("codex", toml, b"a = \"\xff\"\n", "invalid utf-8"),
        ("codex", "project/.codex/config.toml", b"= 1\n", ""),
        (
            "opencode",
            "home/.config/opencode/opencode.jsonc",
            b"",
            "EOF while parsing a value at line 1 column 0",
        ),
    ] {
        let run = run_untouched(launch(agent).write(file, text).any_stderr(), &[file]);
        let start = format!("squire: {agent} gets 2 of 2: docs, db; <T>/{file}: {reason}");
        assert!(run.stderr.starts_with(&start), "{file}: {}", run.stderr);
        assert!(run.stderr.trim_end().ends_with(UNKNOWN), "{file}: {}", run.stderr);
        assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
    }
    let run = launch("codex")
        .write("home/.codex/config.toml/x", "")
        .stderr(format!("squire: codex gets 2 of 2: docs, db; <T>/{toml}: it is no regular file{UNKNOWN}\n"))
        .code(5);
    assert!(run.agent()["argv"].to_string().contains("docs.example.com"));
}

#[test]
fn a_fifo_in_a_files_place_does_not_hold_a_launch_up() {
    let test = launch("codex").write("home/.codex/x", "");
    let fifo = test.path("home/.codex/config.toml");
    rustix::fs::mkfifoat(rustix::fs::CWD, &fifo, 0o600.into()).unwrap();
    test.stderr("squire: codex gets 2 of 2: docs, db; <T>/home/.codex/config.toml: it is no regular file; servers of the same name there can't be known\n").code(5);
}

#[test]
fn b62_a_server_that_claude_has_switched_off_is_told() {
    for (variable, file) in [(None, "home/.claude.json"), (Some("elsewhere"), "elsewhere/.claude.json")] {
        let test = launch("claude");
        let project = test.path("project").to_str().unwrap().to_owned();
        let state = json!({
            "numStartups": 3,
            "projects": { "/other": {"disabledMcpServers": ["db"]}, project: {"disabledMcpServers": ["docs", "x"]} },
        });
        let mut test = test.write(file, state.to_string());
        if let Some(directory) = variable {
            let directory = test.path(directory);
            test = test.env("CLAUDE_CONFIG_DIR", directory);
        }
        let run = run_untouched(
            test.args(["--", "-p", "hi"]).stderr(format!(
                "squire: claude gets 1 of 2: db; switched off: docs (disabled for this directory in <T>/{file}; enable it with /mcp in Claude Code); to let it use them: --allowedTools mcp__docs,mcp__db\n"
            )),
            &[file],
        );
        let content = run.agent_file("claude.json")["content"].as_str().unwrap().to_owned();
        assert!(content.contains("docs.example.com"), "{content}");
        assert!(!run.agent()["argv"].to_string().contains("strict"));
    }
}

#[test]
fn b62_a_state_of_claude_that_cannot_be_read_is_named_and_stops_nothing() {
    let run = run_untouched(
        launch("claude").write("home/.claude.json", "{\"projects\": ").any_stderr(),
        &["home/.claude.json"],
    );
    assert!(
        run.stderr.starts_with("squire: claude gets 2 of 2: docs, db; <T>/home/.claude.json: "),
        "{}",
        run.stderr
    );
    assert!(run.stderr.ends_with("; servers switched off there can't be known\n"), "{}", run.stderr);
    assert_eq!(run.stderr.lines().count(), 1);
}

#[test]
fn b62_a_state_without_this_directory_says_nothing() {
    for state in ["{}", "{\"projects\": {}}", "{\"projects\": {\"<T>/project\": {}}}", "{\"other\": 1.5}"] {
        let test = launch("claude");
        let state = state.replace("<T>", test.root().to_str().unwrap());
        let test = test.write("home/.claude.json", state);
        run_untouched(test.stderr("squire: claude gets 2 of 2: docs, db\n"), &["home/.claude.json"]);
    }
}

#[test]
fn every_command_leaves_the_agents_files_alone() {
    let files = [
        "home/.claude.json",
        "home/.claude/settings.json",
        "home/.codex/config.toml",
        "home/.cursor/mcp.json",
        "home/.config/opencode/opencode.json",
        "project/.mcp.json",
        "project/opencode.json",
    ];
    let mut test = Test::new().config(SERVERS).any_stderr().any_stdout();
    for agent in ["claude", "codex", "opencode"] {
        test = test.agent(agent, "");
    }
    test = test.agent("cursor-agent", "");
    for file in files {
        test = test.write(file, if file.ends_with("toml") { "a = 1\n" } else { "{}\n" });
    }
    let watched = Watched::new(files.iter().map(|file| test.path(file)));
    for agent in ["claude", "codex", "opencode", "cursor"] {
        test.clone().args(["launch", agent]).success();
        test.clone().args(["launch", agent, "--dry-run"]).success();
        test.clone().args(["describe", agent]).success();
    }
    test.clone().args(["list"]).success();
    watched.assert_untouched();
}
