//! Every installed agent, every transport, a quick server and a slow one: does the server arrive?

use serde_json::Value;
use squire_real_agents::agents::{self, Agent};
use squire_real_agents::driver::{
    self, BASE, CANARY, DECLARED, IMPORTED, Outcome, Setting, Speed, Transport,
};
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
            use super::{Mutex, Speed, Transport, agents, check, check_imported, check_known, check_required, io};

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
            fn stdio_slow_and_known() -> io::Result<()> {
                check_known(&TURN, &agents::$agent)
            }

            #[test]
            fn imported() -> io::Result<()> {
                check_imported(&TURN, &agents::$agent)
            }

            #[test]
            fn required() -> io::Result<()> {
                check_required(&TURN, &agents::$agent)
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
    check_way(&outcome);
    Ok(())
}

/// What squire tells of the launch agrees with what the server saw of it.
fn check_way(outcome: &Outcome) {
    let received = |method: &str| outcome.events("receive").any(|event| event["message"]["method"] == method);
    assert!(received("initialize") && received("tools/list") && received("tools/call"), "{outcome}");
    let expected = if outcome.way["route"] == "direct" { ("delivered", "direct") } else { ("called", "-") };
    let told = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    let way = (told(&outcome.way["reached"]), told(&outcome.way["gap"]["code"]));
    assert_eq!((way.0.as_str(), way.1.as_str()), expected, "{outcome}");
}

/// A server that takes 8 s, launched a second time: its tools are in the first request, and as nobody calls one it is
/// not started; a third time it is called, and started for that.
fn check_known(turn: &Mutex<()>, agent: &Agent) -> io::Result<()> {
    let Some(program) = agent.program() else {
        return io::stderr().write_all(agent.not_installed().as_bytes());
    };
    let _turn = turn.lock().unwrap_or_else(PoisonError::into_inner);
    let setting = Setting::new(agent, &program, Transport::Stdio, Speed::Slow)?;
    let arguments = (agent.arguments)(Speed::Slow.server());
    for (number, (is_silent, starts, code)) in
        [(false, 1, "-"), (true, 1, "from-record"), (false, 2, "-")].into_iter().enumerate()
    {
        setting.model.be_silent(is_silent);
        let outcome = setting.run(&[], &arguments)?;
        assert_eq!(outcome.code, Some(0), "{outcome}");
        if is_silent {
            check_offer(agent, Speed::Slow, &outcome);
        } else {
            check_conversation(agent, Speed::Slow, &outcome);
        }
        assert_eq!(outcome.events("start").count(), starts, "launch {number}: {outcome}");
        assert_eq!(outcome.way["gap"]["code"].as_str().unwrap_or("-"), code, "launch {number}: {outcome}");
        assert!(outcome.changed.is_empty(), "the launch left traces: {outcome}");
    }
    Ok(())
}

/// What the user had in another tool's file, a token in clear beside it: after `squire import` and one approval the
/// agent calls it, and the token reaches the server alone.
fn check_imported(turn: &Mutex<()>, agent: &Agent) -> io::Result<()> {
    let Some(program) = agent.program() else {
        return io::stderr().write_all(agent.not_installed().as_bytes());
    };
    let _turn = turn.lock().unwrap_or_else(PoisonError::into_inner);
    let token = "ghp_16C7e42F292c6912E7Abcdefghijklmnopqr";
    let setting = Setting::importing(agent, &program, token)?;
    let outcome = setting.run(&[], &(agent.arguments)(Speed::Quick.server()))?;
    assert_eq!(outcome.code, Some(0), "{outcome}");
    check_conversation(agent, Speed::Quick, &outcome);
    let start = outcome.events("start").next().cloned().unwrap_or_default();
    assert_eq!(start["env"][IMPORTED], token, "{outcome}");
    assert!(!outcome.stderr.contains(token) && !outcome.stdout.contains(token), "{outcome}");
    assert!(outcome.changed.is_empty(), "the launch left traces: {outcome}");
    Ok(())
}

/// `--require`: the agent's own status where the server came up; 125 where it never did.
fn check_required(turn: &Mutex<()>, agent: &Agent) -> io::Result<()> {
    let Some(program) = agent.program() else {
        return io::stderr().write_all(agent.not_installed().as_bytes());
    };
    let _turn = turn.lock().unwrap_or_else(PoisonError::into_inner);
    for (speed, code) in [(Speed::Quick, 0), (Speed::Dead, 125)] {
        let setting = Setting::new(agent, &program, Transport::Stdio, speed)?;
        let required = ["--require".to_owned(), speed.server().to_owned()];
        let outcome = setting.run(&required, &(agent.arguments)(speed.server()))?;
        // An agent that does not start without it says so itself.
        let is_own = speed == Speed::Dead && outcome.code == Some(1) && agent.name == "codex";
        assert!(outcome.code == Some(code) || is_own, "{outcome}");
        assert!(outcome.changed.is_empty(), "the launch left traces: {outcome}");
    }
    Ok(())
}

/// The model was offered all tools in time, called one, and got the server's answer.
fn check_conversation(agent: &Agent, speed: Speed, outcome: &Outcome) {
    check_offer(agent, speed, outcome);
    let echo = agent.tool(speed.server(), "echo");
    assert!(
        outcome.turns.iter().any(|turn| turn.called.as_ref() == Some(&echo)),
        "{echo} not called: {outcome}"
    );
    let mut results = outcome.turns.iter().filter_map(|turn| turn.result.as_deref());
    assert!(results.any(|result| result.contains("echo:hi")), "no result came back: {outcome}");
}

/// The model was offered all tools in time.
fn check_offer(agent: &Agent, speed: Speed, outcome: &Outcome) {
    let offered = outcome.first_turn().map(|turn| turn.tools.as_slice()).unwrap_or_default();
    for tool in TOOLS.map(|tool| agent.tool(speed.server(), tool)) {
        assert!(offered.contains(&tool), "{tool} is missing from the first request: {outcome}");
    }
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
