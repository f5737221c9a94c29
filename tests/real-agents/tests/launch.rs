//! Every installed agent, every transport, a quick server and a slow one: does the server arrive?

use serde_json::Value;
use squire_real_agents::agents::{self, Agent};
use squire_real_agents::driver::{self, BASE, CANARY, DECLARED, Outcome, Speed, Transport};
use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};

/// The tools of the test server.
const TOOLS: [&str; 3] = ["echo", "add", "environment"];

/// What a stdio server gets without being told to, if the launch has it; `LC_*` and `XDG_*` aside.
const BASE_ENVIRONMENT: &[&str] =
    &["HOME", "USER", "LOGNAME", "PATH", "SHELL", "LANG", "TERM", "TMPDIR", "TZ"];

macro_rules! launches {
    ($($module:ident: $agent:ident),+) => { $(
        mod $module {
            use super::{Mutex, Speed, Transport, agents, check, io};

            /// One launch of an agent at a time: several at once would measure the machine.
            static TURN: Mutex<()> = Mutex::new(());

            #[test]
            fn stdio_quick() -> io::Result<()> {
                check(&TURN, &agents::$agent, Transport::Stdio, Speed::Quick)
            }

            #[test]
            fn stdio_slow() -> io::Result<()> {
                check(&TURN, &agents::$agent, Transport::Stdio, Speed::Slow)
            }

            #[test]
            fn http_quick() -> io::Result<()> {
                check(&TURN, &agents::$agent, Transport::Http, Speed::Quick)
            }

            #[test]
            fn http_slow() -> io::Result<()> {
                check(&TURN, &agents::$agent, Transport::Http, Speed::Slow)
            }

            #[test]
            fn sse_quick() -> io::Result<()> {
                check(&TURN, &agents::$agent, Transport::Sse, Speed::Quick)
            }

            #[test]
            fn sse_slow() -> io::Result<()> {
                check(&TURN, &agents::$agent, Transport::Sse, Speed::Slow)
            }
        }
    )+ };
}

launches!(claude: CLAUDE, codex: CODEX, opencode: OPENCODE);

fn check(turn: &Mutex<()>, agent: &Agent, transport: Transport, speed: Speed) -> io::Result<()> {
    let Some(program) = agent.program() else {
        return io::stderr().write_all(agent.not_installed().as_bytes());
    };
    let _turn = turn.lock().unwrap_or_else(PoisonError::into_inner);
    let outcome = driver::launch(agent, &program, transport, speed)?;

    assert_eq!(outcome.code, Some(0), "{outcome}");
    check_conversation(agent, speed, &outcome);
    assert!(outcome.events("start").count() == 1, "the server was not started once: {outcome}");
    if transport == Transport::Stdio {
        check_environment(&outcome);
    }
    assert!(outcome.changed.is_empty(), "the launch left traces: {outcome}");
    Ok(())
}

/// The model was offered all tools in time, called one, and got the server's answer.
fn check_conversation(agent: &Agent, speed: Speed, outcome: &Outcome) {
    let offered = outcome.first_turn().map(|turn| turn.tools.as_slice()).unwrap_or_default();
    for tool in TOOLS.map(|tool| agent.tool(speed.server(), tool)) {
        assert!(offered.contains(&tool), "{tool} is missing from the first request: {outcome}");
    }
    let echo = agent.tool(speed.server(), "echo");
    assert!(
        outcome.turns.iter().any(|turn| turn.called.as_ref() == Some(&echo)),
        "{echo} not called: {outcome}"
    );
    let mut results = outcome.turns.iter().filter_map(|turn| turn.result.as_deref());
    assert!(results.any(|result| result.contains("echo:hi")), "no result came back: {outcome}");
}

/// squire started the server: it sees the base environment and what was declared, and nothing else of the launch.
fn check_environment(outcome: &Outcome) {
    let start = outcome.events("start").next();
    let seen = start.and_then(|start| start["env"].as_object()).cloned().unwrap_or_default();
    let (declared, value) = DECLARED;
    assert_eq!(seen.get(declared).and_then(Value::as_str), Some(value), "{declared} is wrong: {outcome}");
    assert!(seen.contains_key(BASE), "{BASE} is missing: {outcome}");
    assert!(!seen.contains_key(CANARY), "{CANARY} reached the server: {outcome}");
    for name in seen.keys() {
        let base =
            BASE_ENVIRONMENT.contains(&name.as_str()) || name.starts_with("LC_") || name.starts_with("XDG_");
        assert!(base || name == declared, "{name} reached the server: {outcome}");
    }
}
