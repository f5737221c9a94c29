//! A server that has told its tools before: the agent is answered at once, and the server is started when it is needed.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::conversation::{Conversation, failure, misbehaving, text};
use crate::support::{Test, eventually};

/// Longer than everything else that a test does.
const SLOW: &str = "slow:2500";

/// The methods that the server got, of all its starts.
fn received(conversation: &Conversation) -> Vec<String> {
    let method = |event: &Value| event["message"]["method"].as_str().unwrap_or("response").to_owned();
    conversation.events("receive").iter().map(method).collect()
}

fn tools(conversation: &mut Conversation) -> Vec<String> {
    let id = conversation.ask("tools/list", &json!({}));
    let (answer, _) = conversation.answer(id);
    let tools = answer["result"]["tools"].as_array().unwrap_or_else(|| panic!("{answer}"));
    tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

/// One launch after which the server is known.
#[track_caller]
fn known(test: Test) -> Test {
    let mut first = Conversation::begun(test.clone());
    tools(&mut first);
    first.finish();
    test.without_arguments()
}

#[test]
fn a_slow_server_has_its_tools_at_once_the_second_time_and_is_started_by_the_first_call() {
    let test = known(misbehaving(SLOW, ""));
    let start = Instant::now();
    let mut second = Conversation::begun(test);
    assert_eq!(tools(&mut second), ["echo", "add", "environment"]);
    second.say(r#"{"jsonrpc":"2.0","id":"p","method":"ping"}"#);
    assert_eq!(second.hear(), json!({ "jsonrpc": "2.0", "id": "p", "result": {} }));
    assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
    assert_eq!(second.events("start").len(), 1, "nobody needs it yet");
    second.works();
    assert!(start.elapsed() > Duration::from_millis(2500));
    assert_eq!(second.events("start").len(), 2);
    let begun = ["initialize", "notifications/initialized", "tools/list"];
    let needed = ["initialize", "notifications/initialized", "tools/call", "tools/list"];
    let expected = [&begun[..], &needed[..]].concat();
    eventually("the tools are looked at beside the call", || received(&second) == expected);
    // As nothing has changed, the agent hears of nothing.
    second.finish();
}

#[test]
fn a_server_that_nobody_calls_is_not_started() {
    let test = known(misbehaving("ok", ""));
    let mut second = Conversation::begun(test);
    tools(&mut second);
    assert_eq!(second.events("start").len(), 1);
    second.finish();
}

#[test]
fn another_declaration_and_another_agent_are_answered_by_the_server() {
    let test = known(misbehaving("ok", ""));
    let mut other = Conversation::start(test.clone());
    other.say(r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"u","version":"1"}}}"#);
    other.hear();
    assert_eq!(other.events("start").len(), 2);
    other.finish();
    let changed = test.without_arguments().config(
        "[servers.a]\ncommand = [\"<server>\", \"stdio\", \"--log\", \"<T>/log\", \"--mode\", \"noisy\"]\n",
    );
    let other = Conversation::begun(changed);
    assert_eq!(other.events("start").len(), 3);
    other.finish();
}

#[test]
fn what_is_different_once_it_runs_is_told_and_remembered() {
    let defined = "definitions = \"\"";
    let test = Test::new()
        .config("[servers.a]\ncommand = [\"<server>\", \"stdio\", \"--log\", \"<T>/log\", \"--definitions\", \"<T>/defined\"]\n")
        .write("defined", r#"{"tools":[{"name":"one","inputSchema":{"type":"object"}}]}"#);
    let test = known(test);
    let test = test.write("defined", r#"{"tools":[{"name":"two","inputSchema":{"type":"object"}}]}"#);
    let mut second = Conversation::begun(test);
    assert_eq!(tools(&mut second), ["one"], "{defined}");
    let id = second.ask_tool("one", &json!({}));
    let (answer, others) = second.answer(id);
    assert_eq!(text(&answer), "called:one");
    let changed = json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" });
    assert!(others.contains(&changed) || second.hear() == changed);
    assert_eq!(tools(&mut second), ["two"]);
    second.finish();
}

/// The agent has tools that nobody serves any more: its call is told why.
#[test]
fn a_server_that_does_not_start_any_more_is_told_of_with_the_first_call() {
    let test = Test::new()
        .script("bin/server", "#!/bin/sh\nexec <server> stdio --log <T>/log\n")
        .config("[servers.a]\ncommand = \"<T>/bin/server\"\nmax_restarts = 1\n");
    let test = known(test).script("bin/server", "#!/bin/sh\necho broken >&2\nexit 7\n");
    let mut second = Conversation::begun(test);
    tools(&mut second);
    let answer = second.call("echo", &json!({}));
    assert_eq!(failure(&answer), (-32081, "no"));
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(message.contains("a: it ended with status 7: broken"), "{message}");
    drop(second);
}

/// What can't be read, and what somebody else could have written, answers nobody.
#[test]
fn a_broken_memory_costs_a_start() {
    let test = known(misbehaving("ok", ""));
    let answers = test.path("home/.local/state/squire/answers");
    let file = std::fs::read_dir(&answers).unwrap().map(|entry| entry.unwrap().path());
    let file = file.filter(|path| path.extension().is_some()).collect::<Vec<_>>();
    assert_eq!(file.len(), 1);
    std::fs::write(&file[0], "{\"version\":1,\"askers\":{\"x\":").unwrap();
    let second = Conversation::begun(test.clone());
    assert_eq!(second.events("start").len(), 2);
    second.finish();
    let third = Conversation::begun(test.without_arguments());
    assert_eq!(third.events("start").len(), 2, "it is written anew, the greeting at least");
    third.finish();
}
