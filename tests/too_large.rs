//! What the kernel would not take is refused before anything is started, by name and size (case B42).

use std::fmt::Write as _;

use crate::support::{Run, Test};

/// So many servers, each with a header of so many bytes.
fn remote(count: usize, size: usize) -> String {
    let mut text = String::new();
    for index in 0..count {
        let value = "x".repeat(size);
        writeln!(
            text,
            "[servers.s{index}]\nurl = \"https://docs.example.com/{index}\"\nheaders = {{ X = \"{value}\" }}"
        )
        .unwrap();
    }
    text
}

/// So many programs as servers, each with an argument of so many bytes.
fn programs(count: usize, size: usize) -> String {
    let mut text = String::new();
    for index in 0..count {
        let value = "x".repeat(size);
        writeln!(text, "[servers.s{index}]\ncommand = \"x\"\nargs = [\"{value}\"]").unwrap();
    }
    text
}

fn launch(agent: &str, program: &str, config: &str) -> Test {
    Test::new().config(config).agent(program, "exit 5").args(["launch", agent, "--quiet"])
}

#[track_caller]
fn assert_refused(test: Test, start: &str, end: &str) -> Run {
    let run = test.any_stderr().code(125);
    assert!(!run.agent_was_started());
    assert!(run.stderr.starts_with(start) && run.stderr.ends_with(end), "{}", run.stderr);
    let lines = if end.contains("  help: ") { 2 } else { 1 };
    assert_eq!(run.stderr.lines().count(), lines, "{}", run.stderr);
    assert_eq!(run.files_below("home/.local"), Vec::<String>::new());
    assert_eq!(run.files_below("project"), Vec::<String>::new());
    run
}

#[test]
fn b42_codex_takes_300_programs() {
    let run = launch("codex", "codex", &programs(300, 500)).code(5);
    let arguments = run.agent_arguments();
    let commands = arguments.iter().filter(|argument| argument.contains(".command=")).count();
    // The built-in server is one more.
    assert_eq!(commands, 301);
    assert!(!arguments.iter().any(|argument| argument.contains("xxx")));
}

#[test]
fn b42_what_codex_cannot_be_given_is_refused_with_the_largest() {
    let config = remote(300, 3000).replace("/17\"\nheaders = { X = \"", "/17\"\nheaders = { X = \"largest");
    // A stack of 2 MiB leaves 512 KiB for arguments and environment, as execve(2) has it.
    let test = launch("codex", "codex", &config).behind("ulimit -S -s 2048");
    assert_refused(
        test,
        "squire: arguments and environment have ",
        " bytes, and may have 516096; the largest is the argument for the server s17 with 3042 bytes\n",
    );
    let fits = launch("codex", "codex", &config).behind("ulimit -S -s 8192").code(5);
    assert!(fits.agent_arguments().iter().any(|argument| argument.contains("largest")));
}

#[test]
fn b42_what_the_user_brings_counts_too() {
    let words: Vec<String> = (0..20).map(|_| "x".repeat(100_000)).collect();
    let test = launch("codex", "codex", &remote(300, 500)).behind("ulimit -S -s 8192");
    assert_refused(
        test.args(["--", "exec"]).args(words),
        "squire: arguments and environment have ",
        " bytes, and may have 2088960; the largest is an argument of yours with 100000 bytes\n",
    );
    let variable = "x".repeat(120_000);
    let mut test = launch("codex", "codex", &remote(300, 1000)).behind("ulimit -S -s 2048");
    for name in ["ONE", "TWO", "THREE"] {
        test = test.env(name, &variable);
    }
    let run = assert_refused(test, "squire: arguments and environment have ", " with 120000 bytes\n");
    assert!(run.stderr.contains("the largest is your variable "), "{}", run.stderr);
}

#[test]
fn b42_one_argument_that_is_too_long_is_named() {
    let config = format!("{}{}", remote(1, 140 * 1024).replace("s0", "big"), programs(2, 10));
    let test = launch("codex", "codex", &config);
    let bytes = 140 * 1024 + "mcp_servers.big.http_headers={X=\"\"}".len();
    assert_refused(
        test,
        &format!("squire: the argument for the server big has {bytes} bytes, and one may have 131071\n"),
        "",
    );
    // One byte of it is the end of the string.
    let fits = 131_071 - "mcp_servers.big.http_headers={X=\"\"}".len();
    launch("codex", "codex", &remote(1, fits).replace("s0", "big")).code(5);
    let test = launch("codex", "codex", &remote(1, fits + 1).replace("s0", "big"));
    assert_refused(test, "squire: the argument for the server big has 131072 bytes", "");
}

#[test]
fn b42_an_argument_of_a_program_goes_past_every_agent() {
    let config = programs(1, 140 * 1024);
    for (agent, program) in
        [("codex", "codex"), ("opencode", "opencode"), ("claude", "claude"), ("cursor", "cursor-agent")]
    {
        let run = launch(agent, program, &config).code(5);
        assert!(!run.agent().to_string().contains("xxxx"), "{agent}");
    }
}

#[test]
fn b42_opencode_takes_300_servers() {
    let run = launch("opencode", "opencode", &remote(300, 50)).code(5);
    let text = run.agent_variable("OPENCODE_CONFIG_CONTENT").unwrap();
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(value["mcp"].as_object().unwrap().len(), 301);
}

const HELP: &str = "  help: launch with fewer servers (--profile, --server)\n";

#[test]
fn b42_what_opencode_cannot_be_given_is_refused() {
    let test = launch("opencode", "opencode", &remote(300, 500));
    let run = assert_refused(
        test,
        "squire: OPENCODE_CONFIG_CONTENT would hold ",
        &format!(" bytes, and OpenCode can be given 122880\n{HELP}"),
    );
    assert!(!run.path("home/.local/state").exists());
    let test = launch("opencode", "opencode", "[servers.docs]\nurl = \"https://docs.example.com\"\n");
    let own = format!("{{\"x\": \"{}\"}}", "x".repeat(122_700));
    let test = test.env("OPENCODE_CONFIG_CONTENT", own);
    assert_refused(test, "squire: OPENCODE_CONFIG_CONTENT would hold 1230", HELP);
}

#[test]
fn b42_claude_takes_them_all_in_one_word() {
    for config in [remote(300, 3000), programs(300, 500), remote(1, 140 * 1024)] {
        let run = launch("claude", "claude", &config).behind("ulimit -S -s 2048").code(5);
        assert_eq!(
            run.agent_arguments(),
            ["--mcp-config=<T>/home/.local/state/squire/private/<private>/claude.json"]
        );
        let file = run.agent_file("/claude.json");
        let value: serde_json::Value = serde_json::from_str(file["content"].as_str().unwrap()).unwrap();
        assert_eq!(value["mcpServers"].as_object().unwrap().len(), config.matches("[servers.").count() + 1);
        assert_eq!(run.files_below("home/.local"), Vec::<String>::new());
    }
}

#[test]
fn b42_cursor_takes_them_all() {
    for config in [remote(300, 3000), programs(300, 500)] {
        let run = launch("cursor", "cursor-agent", &config).code(5);
        let file = run.agent_file(".cursor/mcp.json");
        let value: serde_json::Value = serde_json::from_str(file["content"].as_str().unwrap()).unwrap();
        assert_eq!(value["mcpServers"].as_object().unwrap().len(), 301);
        assert!(!run.path("project/.cursor").exists());
    }
}
