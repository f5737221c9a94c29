//! A server that is not there: the agent is told why, and goes on without it.

use serde_json::{Value, json};

use super::conversation::{Conversation, HELLO, failure, misbehaving};
use crate::support::{Test, eventually};

/// The reason that the agent is given, while it goes on with no tools.
#[track_caller]
fn reason(test: Test) -> String {
    let mut conversation = Conversation::start(test);
    let welcome = conversation.begin();
    assert_eq!(welcome["id"], 0, "{welcome}");
    let result = &welcome["result"];
    assert_eq!(
        (&result["protocolVersion"], &result["serverInfo"]["name"]),
        (&json!("2025-06-18"), &json!("a"))
    );
    let id = conversation.ask("tools/list", &json!({}));
    assert_eq!(conversation.answer(id).0["result"], json!({ "tools": [] }));
    let id = conversation.ask_tool("echo", &json!({}));
    assert_eq!(failure(&conversation.answer(id).0), (-32081, "no"));
    let reason = result["instructions"].as_str().unwrap().to_owned();
    conversation.close_stdin();
    // A server that never began is a finding.
    assert_eq!(conversation.ends().code(), Some(1));
    conversation.nothing_is_left();
    reason
}

#[test]
fn a_server_that_dies_at_once_leaves_its_last_words() {
    assert_eq!(
        reason(misbehaving("die", "")),
        "the server a could not be started: it ended with status 3: fake-server: dying at once, as asked; it is started again in 1 s"
    );
    let talking = "echo one >&2; echo two >&2; echo >&2; printf 'three\\\\r' >&2; echo four >&2; exit 7";
    let test = Test::new().config(&format!("[servers.a]\ncommand = [\"sh\", \"-c\", \"{talking}\"]\n"));
    assert_eq!(
        reason(test),
        "the server a could not be started: it ended with status 7: two | three | four; it is started again in 1 s"
    );
}

#[test]
fn a_server_that_answers_nothing_is_not_waited_for() {
    let mut conversation = Conversation::start(misbehaving("hang", "startup_timeout = \"1s\"\n"));
    let welcome = conversation.begin();
    assert_eq!(
        welcome["result"]["instructions"],
        "the server a could not be started: it did not answer within 1 s; startup_timeout gives it longer"
    );
    eventually("it is told", || !conversation.stderr().is_empty());
    assert_eq!(
        conversation.stderr(),
        "squire: the server a could not be started: it did not answer within 1 s; startup_timeout gives it longer\n"
    );
    conversation.close_stdin();
    assert_eq!(conversation.ends().code(), Some(1));
    conversation.nothing_is_left();
}

/// A server that lives, and that nobody can hear.
#[test]
fn a_server_that_closes_its_output() {
    let test = Test::new().config("[servers.a]\ncommand = [\"sh\", \"-c\", \"exec >&-; sleep 60\"]\n");
    assert_eq!(
        reason(test),
        "the server a could not be started: it closed its output; it is started again in 1 s"
    );
}

/// What ends a server is told, and not that it is no longer heard.
#[test]
fn a_server_that_is_killed() {
    let test = Test::new().config("[servers.a]\ncommand = [\"sh\", \"-c\", \"kill -9 $$\"]\n");
    assert_eq!(
        reason(test),
        "the server a could not be started: it was ended by signal 9; it is started again in 1 s"
    );
}

/// An agent that leaves before its server is up has missed nothing.
#[test]
fn a_server_that_is_still_starting_when_the_agent_leaves() {
    let test =
        Test::new().config("[servers.a]\ncommand = [\"sh\", \"-c\", \"touch <T>/started; sleep 60\"]\n");
    let mut conversation = Conversation::start(test);
    conversation.say(HELLO);
    let started = conversation.test.path("started");
    eventually("the server is started", || started.exists());
    conversation.close_stdin();
    assert!(conversation.ends().success());
    assert_eq!(conversation.stderr(), "");
    conversation.nothing_is_left();
}

/// The first start fails, and not the second.
#[test]
fn a_server_that_recovers_has_come_up() {
    let script = "[ -e <T>/tried ] || { touch <T>/tried; exit 4; }; exec <server> stdio --log <T>/log";
    let test = Test::new().config(&format!("[servers.a]\ncommand = [\"sh\", \"-c\", \"{script}\"]\n"));
    let mut conversation = Conversation::start(test);
    conversation.begin();
    let id = conversation.ask_tool("echo", &json!({}));
    assert!(conversation.answer(id).0.get("error").is_none());
    assert_eq!(conversation.stderr(), "squire: the server a could not be started: it ended with status 4\n");
    conversation.close_stdin();
    assert!(conversation.ends().success());
    conversation.nothing_is_left();
}

/// What can't be executed is known before anything runs.
#[test]
fn a_program_that_is_not_there() {
    let mut conversation = Conversation::start(Test::new().config("[servers.a]\ncommand = \"no-such\"\n"));
    let welcome = conversation.begin();
    let reason = "the server a could not be started: no-such was not found on PATH";
    assert_eq!(welcome["result"]["instructions"], reason);
    let id = conversation.ask("tools/list", &Value::Null);
    assert_eq!(conversation.answer(id).0["result"], json!({ "tools": [] }));
    assert_eq!(conversation.stderr(), format!("squire: {reason}\n"));
    conversation.close_stdin();
    assert_eq!(conversation.ends().code(), Some(1));
}
