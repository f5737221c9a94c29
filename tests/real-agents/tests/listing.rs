//! What the real agents say of the servers that they were given.

use serde_json::Value;
use squire_real_agents::agents::{self, Agent};
use squire_real_agents::driver::{self, Outcome, Speed, Transport};
use std::io::{self, Write};

fn run(agent: &Agent, squire: &[&str], words: &[&str]) -> io::Result<Option<Outcome>> {
    let Some(program) = agent.program() else {
        io::stderr().write_all(agent.not_installed().as_bytes())?;
        return Ok(None);
    };
    let owned = |words: &[&str]| words.iter().map(ToString::to_string).collect::<Vec<_>>();
    driver::run_with(agent, &program, Transport::Stdio, Speed::Quick, &owned(squire), &owned(words)).map(Some)
}

/// Claude's first event names each server with its status.
#[test]
fn claude_connects_to_all_of_them() -> io::Result<()> {
    let words = ["-p", "call echo", "--output-format", "stream-json", "--verbose"];
    let Some(outcome) = run(&agents::CLAUDE, &[], &words)? else { return Ok(()) };
    assert_eq!(outcome.code, Some(0), "{outcome}");
    let first: Value =
        outcome.stdout.lines().next().and_then(|line| serde_json::from_str(line).ok()).unwrap_or_default();
    for name in [Speed::Quick.server(), "squire"] {
        let servers = first["mcp_servers"].as_array().cloned().unwrap_or_default();
        let status =
            servers.iter().find(|server| server["name"] == name).map(|server| server["status"].clone());
        assert_eq!(status, Some("connected".into()), "{name}: {outcome}");
    }
    Ok(())
}

/// `codex mcp list` gets nothing from squire, as it runs no session; given what a session gets, it reads every key.
#[test]
fn codex_reads_every_key() -> io::Result<()> {
    let Some(planned) = run(&agents::CODEX, &["--dry-run", "--json"], &["exec", "x"])? else { return Ok(()) };
    let plan: Value = serde_json::from_str(&planned.stdout).map_err(io::Error::other)?;
    let arguments: Vec<&str> =
        plan["arguments"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    assert!(!arguments.is_empty(), "{planned}");
    let words: Vec<&str> = ["mcp", "list", "--json"].into_iter().chain(arguments).collect();
    let Some(listed) = run(&agents::CODEX, &[], &words)? else { return Ok(()) };
    assert_eq!(listed.code, Some(0), "{listed}");
    let servers: Value = serde_json::from_str(&listed.stdout).map_err(io::Error::other)?;
    for name in [Speed::Quick.server(), "squire"] {
        let server = servers.as_array().into_iter().flatten().find(|server| server["name"] == name);
        let server = server.cloned().unwrap_or_default();
        assert_eq!(server["enabled"], true, "{listed}");
        assert_eq!(server["transport"]["type"], "stdio", "{listed}");
        assert_eq!(server["transport"]["args"][0], "gateway", "{listed}");
        assert_eq!(server["transport"]["args"][1], name, "{listed}");
        let variables = server["transport"]["env_vars"].as_array().cloned().unwrap_or_default();
        assert!(variables.contains(&"HOME".into()), "{listed}");
        assert_eq!(server["startup_timeout_sec"], 35.0, "{listed}");
    }
    Ok(())
}
