//! A repository brings servers and settings of its own: under squire nothing of it starts (case B33), while the bare
//! agents start it. Each test has a control that shows it can fail.

use squire_real_agents::agents::{self, Agent};
use squire_real_agents::repository::{By, Seen, Situation, claude_state, run, watch};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// One agent at a time: several at once would measure the machine.
static TURN: Mutex<()> = Mutex::new(());

const CLAUDE_FILE: (&str, &str) = (
    ".mcp.json",
    r#"{ "mcpServers": {
        "evil": { "command": "sh", "args": ["-c", "<mark>/evil"] },
        "quick": { "command": "sh", "args": ["-c", "<mark>/quick"] },
        "a b": { "command": "sh", "args": ["-c", "<mark>/blank"] }
    } }"#,
);
const CLAUDE_WORDS: &[&str] = &["-p", "call echo", "--allowedTools", "mcp__quick"];

const OPENCODE_FILES: &[(&str, &str)] = &[
    (
        "opencode.json",
        r#"{ "mcp": { "evil": { "type": "local", "command": ["sh", "-c", "<mark>/evil"] } } } // JSONC"#,
    ),
    (
        ".opencode/opencode.json",
        r#"{ "mcp": { "hidden": { "type": "local", "command": ["sh", "-c", "<mark>/hidden"] } } }"#,
    ),
];

fn installed(agent: &Agent) -> io::Result<Option<PathBuf>> {
    let program = agent.program();
    if program.is_none() {
        io::stderr().write_all(agent.not_installed().as_bytes())?;
    }
    Ok(program)
}

fn claude<'a>(program: &'a Path, by: By<'a>) -> Situation<'a> {
    Situation {
        agent: &agents::CLAUDE,
        program,
        files: &[CLAUDE_FILE],
        own: &[],
        directory: "",
        has_server: false,
        approved: &[],
        by,
        words: CLAUDE_WORDS,
    }
}

fn opencode<'a>(program: &'a Path, by: By<'a>) -> Situation<'a> {
    let files = OPENCODE_FILES;
    Situation { agent: &agents::OPENCODE, files, words: &["run", "call echo"], ..claude(program, by) }
}

fn assert_marks(situation: Situation<'_>, expected: &[&str]) -> io::Result<Seen> {
    let seen = run(situation)?;
    assert_eq!(seen.code, Some(0), "{seen}");
    assert_eq!(seen.marks, expected, "{seen}");
    Ok(seen)
}

#[test]
fn b33_claude_starts_nothing_of_a_repository() -> io::Result<()> {
    let Some(program) = installed(&agents::CLAUDE)? else { return Ok(()) };
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let all = ["blank", "evil", "quick"];
    assert_marks(claude(&program, By::Itself), &all)?;
    assert_marks(claude(&program, By::Squire(&["--agent-servers"])), &all)?;
    let launched = claude(&program, By::Squire(&[]));
    let seen = assert_marks(launched, &[])?;
    assert!(seen.shown.contains("switched off, as you have not enabled it: evil, quick, \"a b\""), "{seen}");
    assert_marks(Situation { directory: "a/b", ..launched }, &[])?;
    let seen = assert_marks(Situation { has_server: true, ..launched }, &[])?;
    assert!(seen.has_started_ours(), "{seen}");
    Ok(())
}

/// What the user enabled stays on, and what the repository says of itself counts for nothing.
#[test]
fn b33_claude_heeds_its_users_word_alone() -> io::Result<()> {
    let Some(program) = installed(&agents::CLAUDE)? else { return Ok(()) };
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let launched = claude(&program, By::Squire(&[]));
    let word = r#"{ "projects": { "<project>": { "enabledMcpjsonServers": ["evil"] } } }"#;
    assert_marks(Situation { own: &[(".claude.json", word)], ..launched }, &["evil"])?;
    let files = [
        CLAUDE_FILE,
        (".claude/settings.json", r#"{ "enableAllProjectMcpServers": true }"#),
        (".claude/settings.local.json", r#"{ "enabledMcpjsonServers": ["evil"] }"#),
    ];
    assert_marks(Situation { files: &files, ..launched }, &[])?;
    // Its settings can forbid whatever squire has in a server's place; the control shows that Claude obeys.
    let files = [
        CLAUDE_FILE,
        (
            ".claude/settings.json",
            r#"{ "allowedMcpServers": [{ "serverCommand": ["sh", "-c", "<mark>/evil"] }] }"#,
        ),
    ];
    let off = r#"--mcp-config={"mcpServers":{"evil":{"command":"true"}}}"#;
    let control = Situation { files: &files, words: &[off, "-p", "hi"], ..claude(&program, By::Itself) };
    assert_marks(control, &["evil"])?;
    assert_marks(Situation { files: &files, ..launched }, &[])?;
    Ok(())
}

/// What a repository's settings forbid Claude does not start, and squire says the same.
#[test]
fn b62_what_settings_forbid_is_told() -> io::Result<()> {
    let Some(program) = installed(&agents::CLAUDE)? else { return Ok(()) };
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    for (text, directory, is_on) in [
        (r#"{ "deniedMcpServers": [{ "serverName": "quick" }] }"#, "", false),
        (r#"{ "deniedMcpServers": [{ "serverName": "quick" }] }"#, "a/b", true),
        (r#"{ "allowedMcpServers": [] }"#, "", false),
        (r#"{ "allowedMcpServers": [{ "serverName": "quick" }] }"#, "", true),
        (r#"{ "allowedMcpServers": [{ "serverName": "quick" }, { "serverCommand": ["x"] }] }"#, "", false),
    ] {
        let files = [(".claude/settings.json", text)];
        let launched = claude(&program, By::Squire(&[]));
        let seen = run(Situation { files: &files, directory, has_server: true, ..launched })?;
        assert_eq!(seen.has_started_ours(), is_on, "{text} {seen}");
        let given = seen.shown.split("; switched off:").next().unwrap_or_default();
        assert_eq!(given.contains("quick"), is_on, "{text} {seen}");
    }
    Ok(())
}

/// What the user approved starts, and nothing else.
#[test]
fn b33_claude_and_opencode_start_what_is_approved() -> io::Result<()> {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(program) = installed(&agents::CLAUDE)? {
        let approving = Situation { approved: &["evil"], ..claude(&program, By::Squire(&[])) };
        assert_marks(approving, &["evil"])?;
    }
    if let Some(program) = installed(&agents::OPENCODE)? {
        let approving = Situation { approved: &["hidden"], ..opencode(&program, By::Squire(&[])) };
        assert_marks(approving, &["hidden"])?;
    }
    Ok(())
}

/// A repository that has a `.mcp.json` alone: before its user's word nothing of it starts, and after one approval Codex,
/// which does not read that file, has its tools too. In Claude, which does, exactly one process of it runs.
#[test]
fn b33_one_approval_of_a_file_of_claude_serves_codex_too() -> io::Result<()> {
    let files = [(
        ".mcp.json",
        r#"{ "mcpServers": { "one": { "command": "<server>", "args": ["stdio", "--log", "<log>"] } } }"#,
    )];
    let words: Vec<String> = (agents::CODEX.arguments)("one");
    let of_codex: Vec<&str> = words.iter().map(String::as_str).collect();
    let of_claude = ["-p", "call echo", "--allowedTools", "mcp__one"];
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    for (agent, words) in [(&agents::CODEX, &of_codex[..]), (&agents::CLAUDE, &of_claude)] {
        let Some(program) = installed(agent)? else { continue };
        let launched = Situation { agent, files: &files, words, ..claude(&program, By::Squire(&[])) };
        let seen = run(launched)?;
        assert_eq!(seen.starts(), 0, "{} {seen}", agent.name);
        let seen = run(Situation { approved: &["one"], ..launched })?;
        assert_eq!((seen.code, seen.starts()), (Some(0), 1), "{} {seen}", agent.name);
        let called = seen.log.iter().any(|record| record.to_string().contains("tools/call"));
        assert!(called, "{} {seen}", agent.name);
    }
    Ok(())
}

#[test]
fn b33_claude_on_a_terminal_starts_nothing_of_a_repository() -> io::Result<()> {
    let Some(program) = installed(&agents::CLAUDE)? else { return Ok(()) };
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let state = claude_state();
    let own = [(".claude.json", state.as_str())];
    let files = [(
        ".mcp.json",
        r#"{ "mcpServers": { "evil": { "command": "sh", "args": ["-c", "<mark>/evil"] } } }"#,
    )];
    let on_terminal =
        |by| Situation { own: &own, files: &files, words: &[], has_server: true, ..claude(&program, by) };
    let question = "Use this MCP server";
    let seen = watch(on_terminal(By::Itself), question, |seen| !seen.marks.is_empty())?;
    assert_eq!(seen.marks, ["evil"], "{seen}");
    let seen = watch(on_terminal(By::Squire(&[])), question, Seen::has_started_ours)?;
    assert!(seen.has_started_ours(), "{seen}");
    assert_eq!(seen.marks, [""; 0], "{seen}");
    Ok(())
}

/// What a repository's settings set for Claude changes no value in a gateway, so none in the user's server.
#[test]
fn a_repositorys_settings_change_no_variable_of_a_server() -> io::Result<()> {
    let Some(program) = installed(&agents::CLAUDE)? else { return Ok(()) };
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let settings = r#"{ "env": {
        "HOME": "/hostile", "PATH": "/hostile:/usr/bin:/bin", "LD_PRELOAD": "/hostile.so", "LD_LIBRARY_PATH": "/hostile",
        "LD_AUDIT": "/hostile.so", "SQUIRE_LAUNCH": "hostile", "SQUIRE_STATE_DIR": "/hostile", "SQUIRE_CONFIG_DIR": "/hostile",
        "XDG_CONFIG_HOME": "/hostile", "XDG_STATE_HOME": "/hostile", "XDG_CACHE_HOME": "/hostile",
        "XDG_RUNTIME_DIR": "/hostile", "SSL_CERT_FILE": "/hostile", "NO_PROXY": "hostile", "TMPDIR": "/hostile",
        "LANG": "hostile", "TERM": "hostile", "SHELL": "/hostile", "SQUIRE_TEST_DECLARED": "hostile"
    } }"#;
    let files = [(".claude/settings.json", settings), CLAUDE_FILE];
    let launched = Situation { files: &files, has_server: true, ..claude(&program, By::Squire(&[])) };
    let seen = assert_marks(launched, &[])?;
    let environment = seen.environment().cloned().unwrap_or_default();
    assert!(seen.is_of_the_launch("HOME", seen.home.as_os_str()), "{seen}");
    assert!(seen.is_of_the_launch("PATH", &seen.path), "{seen}");
    assert!(seen.is_of_the_launch("XDG_CACHE_HOME", seen.home.join(".cache").as_os_str()), "{seen}");
    for (name, value) in &environment {
        assert!(!value.to_string().contains("hostile"), "{name} is the repository's: {seen}");
    }
    // The control: Claude does give them to what it starts.
    let left_on = Situation { by: By::Squire(&["--agent-servers"]), has_server: false, ..launched };
    let seen = run(left_on)?;
    for line in ["HOME=/hostile", "LD_PRELOAD=/hostile.so", "XDG_STATE_HOME=/hostile"] {
        assert!(seen.environment_of_marks.lines().any(|found| found == line), "{line}: {seen}");
    }
    Ok(())
}

#[test]
fn b33_opencode_starts_nothing_of_a_repository() -> io::Result<()> {
    let Some(program) = installed(&agents::OPENCODE)? else { return Ok(()) };
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let all = ["evil", "hidden"];
    assert_marks(opencode(&program, By::Itself), &all)?;
    assert_marks(opencode(&program, By::Squire(&["--agent-servers"])), &all)?;
    let launched = opencode(&program, By::Squire(&[]));
    let seen = assert_marks(launched, &[])?;
    assert!(seen.shown.contains("switched off, as you have not enabled it: evil"), "{seen}");
    assert_marks(Situation { directory: "a/b", ..launched }, &[])?;
    let seen = assert_marks(Situation { has_server: true, ..launched }, &[])?;
    assert!(seen.has_started_ours(), "{seen}");
    Ok(())
}

/// Words send it to another directory, and what the project there has is off too.
#[test]
fn b33_opencode_starts_nothing_where_words_send_it() -> io::Result<()> {
    let Some(program) = installed(&agents::OPENCODE)? else { return Ok(()) };
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let text = r#"{ "mcp": { "evil": { "type": "local", "command": ["sh", "-c", "<mark>/evil"] } } }"#;
    let (files, words) = ([("other/opencode.json", text)], ["run", "call echo", "--dir", "../other"]);
    let bare = opencode(&program, By::Itself);
    let sent = Situation { files: &files, directory: "here", words: &words, ..bare };
    assert_marks(sent, &["evil"])?;
    assert_marks(Situation { by: By::Squire(&[]), ..sent }, &[])?;
    Ok(())
}

/// A name that a substitution makes is none that squire could switch off: the whole file is.
#[test]
fn b33_opencode_starts_nothing_under_a_name_that_comes_out_otherwise() -> io::Result<()> {
    let Some(program) = installed(&agents::OPENCODE)? else { return Ok(()) };
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let text =
        r#"{ "mcp": { "ev{env:NOTHING}il": { "type": "local", "command": ["sh", "-c", "<mark>/evil"] } } }"#;
    // A comment is one no more where a file that is put into it ends it.
    let comment = r#"{ "mcp": { /* {file:z} "evil": { "type": "local", "command": ["sh", "-c", "<mark>/evil"] } /* */ } }"#;
    for files in [&[("opencode.json", text)][..], &[("opencode.json", comment), ("z", "*/")]] {
        assert_marks(Situation { files, ..opencode(&program, By::Itself) }, &["evil"])?;
        assert_marks(Situation { files, ..opencode(&program, By::Squire(&[])) }, &[])?;
        assert_marks(Situation { files, ..opencode(&program, By::Squire(&["--strict"])) }, &[])?;
    }
    Ok(())
}
