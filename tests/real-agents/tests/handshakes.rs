//! What each installed agent writes to a server is what was recorded of it. `UPDATE_RECORDED=1` records it anew.

use serde_json::Value;
use squire_real_agents::agents::{self, Agent};
use squire_real_agents::handshake::{self, structure};
use std::env;
use std::fs;
use std::io::{self, Write};

fn check(agent: &Agent) -> io::Result<()> {
    let Some(program) = agent.program() else {
        return io::stderr().write_all(agent.not_installed().as_bytes());
    };
    let now = handshake::recorded(agent, &program)?.join("\n") + "\n";
    let file = handshake::file(agent);
    if env::var_os("UPDATE_RECORDED").is_some() {
        return fs::write(file, now);
    }
    let structures = |text: &str| -> Result<Vec<Value>, serde_json::Error> {
        text.lines().map(|line| Ok(structure(&serde_json::from_str(line)?))).collect()
    };
    assert_eq!(
        structures(&now)?,
        structures(&fs::read_to_string(file)?)?,
        "{} says something else now",
        agent.name
    );
    Ok(())
}

#[test]
fn claude() -> io::Result<()> {
    check(&agents::CLAUDE)
}

#[test]
fn codex() -> io::Result<()> {
    check(&agents::CODEX)
}

#[test]
fn opencode() -> io::Result<()> {
    check(&agents::OPENCODE)
}
