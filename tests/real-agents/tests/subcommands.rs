//! A subcommand that runs no session gets nothing: with the real agents, whose subcommands refuse our arguments or
//! store them in the user's config for good (case B03).

use squire_real_agents::agents::{self, Agent};
use squire_real_agents::driver::{self, Outcome, Speed, Transport};
use std::io::{self, Write};

fn run(agent: &Agent, words: &[&str]) -> io::Result<Option<Outcome>> {
    let Some(program) = agent.program() else {
        io::stderr().write_all(agent.not_installed().as_bytes())?;
        return Ok(None);
    };
    let words: Vec<String> = words.iter().map(ToString::to_string).collect();
    driver::run(agent, &program, Transport::Stdio, Speed::Quick, &words).map(Some)
}

#[test]
fn codex_stores_what_its_user_adds_and_nothing_of_ours() -> io::Result<()> {
    let Some(outcome) = run(&agents::CODEX, &["mcp", "add", "zz", "--", "/bin/true", "one"])? else {
        return Ok(());
    };
    assert_eq!(outcome.code, Some(0), "{outcome}");
    assert!(outcome.settings.contains("[mcp_servers.zz]"), "{}", outcome.settings);
    assert!(outcome.settings.contains("args = [\"one\"]"), "{}", outcome.settings);
    assert!(!outcome.settings.contains("gateway"), "{}", outcome.settings);
    Ok(())
}

#[test]
fn claude_lists_its_own_servers() -> io::Result<()> {
    let Some(outcome) = run(&agents::CLAUDE, &["mcp", "list"])? else { return Ok(()) };
    assert_eq!(outcome.code, Some(0), "{outcome}");
    assert!(outcome.stdout.contains("No MCP servers configured"), "{outcome}");
    assert!(outcome.changed.is_empty(), "{outcome}");
    Ok(())
}

#[test]
fn opencode_lists_ours_as_connected() -> io::Result<()> {
    let Some(outcome) = run(&agents::OPENCODE, &["mcp", "list"])? else { return Ok(()) };
    assert_eq!(outcome.code, Some(0), "{outcome}");
    let shown = format!("{}{}", outcome.stdout, outcome.stderr);
    assert!(shown.contains(Speed::Quick.server()) && shown.contains("connected"), "{outcome}");
    Ok(())
}
