//! A server that dies while it is needed.

use std::thread;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::json;

use super::conversation::{Conversation, failure, puppet, text};
use crate::support::{Test, eventually};

#[test]
fn a_call_in_a_crash_is_answered_at_once_and_the_next_one_works() {
    let mut conversation = Conversation::begun(puppet(""));
    conversation.works();
    let silent = conversation.ask_tool("silence", &json!({}));
    let start = Instant::now();
    let crashed = conversation.ask_tool("crash", &json!({}));
    for id in [silent, crashed] {
        let answer = conversation.hear();
        assert_eq!((failure(&answer), &answer["id"]), ((-32081, "perhaps"), &json!(id)));
        assert_eq!(
            answer["error"]["message"],
            "squire: a: it ended with status 3: fake-server: crashing, as asked; it is started again in 1 s; the call may have been completed"
        );
    }
    assert!(start.elapsed() < Duration::from_millis(900), "{:?}", start.elapsed());
    let (id, start) = (conversation.ask_tool("echo", &json!({ "text": "hi" })), Instant::now());
    let (answer, others) = conversation.answer(id);
    assert!(answer.get("error").is_none(), "{answer}");
    assert!(start.elapsed() < Duration::from_secs(4));
    assert_eq!(others, [json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" })]);
    let started_again = ["initialize", "notifications/initialized", "tools/call echo"];
    assert_eq!(
        conversation.got_methods(),
        [
            &[
                "initialize",
                "notifications/initialized",
                "tools/call echo",
                "tools/call silence",
                "tools/call crash"
            ],
            &started_again[..]
        ]
        .concat()
    );
    // In the agent's own words.
    let got = conversation.got();
    assert_eq!(got[0], got[5]);
    assert_eq!(got[1], got[6]);
    conversation.finish();
}

/// The word of the user's that ends it: the next call starts the server, in the agent's own session.
#[test]
fn a_server_that_has_failed_is_tried_again_once_it_is_enabled() {
    let mut conversation = Conversation::begun(puppet("max_restarts = 1\n"));
    let id = conversation.ask_tool("crash", &json!({}));
    assert_eq!(failure(&conversation.answer(id).0), (-32081, "perhaps"));
    assert_eq!(failure(&conversation.call("echo", &json!({}))), (-32081, "no"));
    let enable = conversation.test.clone().without_arguments().args(["enable", "a"]);
    enable
        .stderr("squire: a was not off (<T>/home/.config/squire/squire.toml); a gateway that has given it up tries it again when it is asked next\n")
        .success();
    let id = conversation.ask_tool("echo", &json!({ "text": "hi" }));
    assert_eq!(text(&conversation.answer(id).0), "echo:hi");
    assert_eq!(conversation.events("start").len(), 2);
    conversation.finish();
}

/// Five in a row, of which none ran for long.
#[test]
fn too_many_failures_end_it() {
    let mut conversation = Conversation::begun(puppet("max_restarts = 3\n"));
    for _ in 0..2 {
        let id = conversation.ask_tool("crash", &json!({}));
        assert_eq!(failure(&conversation.answer(id).0), (-32081, "perhaps"));
    }
    let id = conversation.ask_tool("crash", &json!({}));
    let (answer, _) = conversation.answer(id);
    assert_eq!(
        answer["error"]["message"],
        "squire: a: it ended with status 3: fake-server: crashing, as asked; it failed 3 times in a row, and is not tried again in this launch; the call may have been completed"
    );
    let start = Instant::now();
    assert_eq!(failure(&conversation.call("echo", &json!({}))), (-32081, "no"));
    assert!(start.elapsed() < Duration::from_secs(1));
    assert_eq!(conversation.events("start").len(), 3);
    conversation.finish();
}

/// The default.
#[test]
fn five_failures_end_it() {
    let mut conversation = Conversation::begun(puppet(""));
    for failures in 1..=5 {
        let id = conversation.ask_tool("crash", &json!({}));
        let (answer, _) = conversation.answer(id);
        let is_over = answer["error"]["message"].as_str().unwrap().contains("it failed 5 times in a row");
        assert_eq!(is_over, failures == 5, "{answer}");
        // More than 5 s are not waited for.
        if failures == 4 {
            assert_eq!(failure(&conversation.call("echo", &json!({}))), (-32081, "no"));
            std::thread::sleep(Duration::from_secs(8));
        }
    }
    assert_eq!(conversation.events("start").len(), 5);
    conversation.finish();
}

#[test]
fn a_server_that_closes_its_output_but_lives_on_has_ended() {
    let mut conversation = Conversation::begun(puppet(""));
    let id = conversation.ask_tool("close", &json!({}));
    assert_eq!(failure(&conversation.answer(id).0), (-32081, "perhaps"));
    let id = conversation.ask_tool("echo", &json!({ "text": "hi" }));
    let (answer, _) = conversation.answer(id);
    assert_eq!(super::conversation::text(&answer), "echo:hi", "{answer}");
    conversation.finish();
}

/// B33: what was true at the first start may not be at the next: the declaration, and the user's word, are looked at again.
#[test]
fn b33_what_may_not_run_any_more_is_not_started_again() {
    let test = puppet("");
    let file = test.path("home/.config/squire/squire.toml");
    let mut conversation = Conversation::begun(test);
    conversation.works();
    let declared = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, format!("{declared}description = \"another\"\n")).unwrap();
    let id = conversation.ask_tool("crash", &json!({}));
    assert_eq!(failure(&conversation.answer(id).0), (-32081, "perhaps"));
    let id = conversation.ask_tool("echo", &json!({ "text": "hi" }));
    let (answer, _) = conversation.answer(id);
    assert_eq!(failure(&answer), (-32081, "no"), "{answer}");
    assert!(
        answer.to_string().contains("its declaration has changed since it was started first"),
        "{answer}"
    );
    assert_eq!(conversation.events("start").len(), 1);
    conversation.finish();
}

/// Whatever ends the conversation while a start is waited for: each request has its one answer, and its line.
#[test]
fn what_waits_for_another_start_is_answered_when_the_agent_leaves() {
    for by_signal in [false, true] {
        let mut conversation = Conversation::begun(puppet(""));
        let id = conversation.ask_tool("crash", &json!({}));
        assert_eq!(failure(&conversation.answer(id).0), (-32081, "perhaps"));
        let waiting = [conversation.ask_tool("echo", &json!({})), conversation.ask("ping", &json!({}))];
        if by_signal {
            // It has heard them, as it has answered what came behind them.
            let listed = conversation.ask("tools/call", &json!({}));
            assert_eq!(failure(&conversation.answer(listed).0), (-32600, "no"));
            conversation.signal(Signal::TERM);
        } else {
            conversation.close_stdin();
        }
        for id in waiting {
            let answer = conversation.hear();
            assert_eq!((failure(&answer), &answer["id"]), ((-32081, "no"), &json!(id)));
            let message = "squire: a: it ended with status 3: fake-server: crashing, as asked";
            assert_eq!(answer["error"]["message"], message);
        }
        assert!(conversation.ends().success());
        let audit = conversation.test.path("home/.local/state/squire/audit/calls.jsonl");
        let lines = std::fs::read_to_string(audit).unwrap();
        assert!(lines.contains("\"tool\":\"echo\",\"outcome\":\"unreached\""), "{lines}");
        conversation.nothing_is_left();
    }
}

/// What the user has changed is no crash of the server's: it is said at once, and asked again with the next request.
#[test]
fn a_server_that_may_not_be_started_any_more_is_refused_at_once_and_started_once_it_may_be() {
    let mut conversation = Conversation::begun(puppet(""));
    let list = conversation.test.path("home/.config/squire/squire.toml");
    let (declared, other) = (std::fs::read(&list).unwrap(), "[servers.a]\ncommand = \"other\"\n");
    std::fs::write(&list, other).unwrap();
    let id = conversation.ask_tool("crash", &json!({}));
    assert_eq!(failure(&conversation.answer(id).0), (-32081, "perhaps"));
    let start = Instant::now();
    for _ in 0..3 {
        let id = conversation.ask_tool("echo", &json!({}));
        let (answer, _) = conversation.answer(id);
        assert_eq!(failure(&answer), (-32081, "no"));
        let message = "squire: a: its declaration has changed since it was started first; launch again";
        assert_eq!(answer["error"]["message"], message);
    }
    assert!(start.elapsed() < Duration::from_secs(4), "{:?}", start.elapsed());
    std::fs::write(&list, declared).unwrap();
    let id = conversation.ask_tool("echo", &json!({}));
    assert!(conversation.answer(id).0.get("error").is_none());
    conversation.finish();
}

/// A gateway that wakes up late finds both at once: what the server said, and that the agent or a signal ends it.
#[test]
fn an_answer_that_comes_with_the_end_is_passed_on() {
    for is_signalled in [false, true] {
        let mut conversation = Conversation::begun(puppet(""));
        let id = conversation.ask_tool("nap", &json!({ "milliseconds": 200 }));
        eventually("the call has come", || conversation.got().len() == 3);
        conversation.signal(Signal::STOP);
        // The answer waits in the pipe meanwhile.
        thread::sleep(Duration::from_millis(600));
        if is_signalled {
            conversation.signal(Signal::TERM);
        } else {
            conversation.close_stdin();
        }
        conversation.signal(Signal::CONT);
        assert_eq!(conversation.hear()["id"], id);
        assert!(conversation.ends().success());
    }
}

/// What the agent has said before a signal ends its gateway is answered, whether or not it was read.
#[test]
fn what_was_said_before_the_signal_is_answered() {
    let mut conversation = Conversation::begun(puppet(""));
    conversation.works();
    conversation.signal(Signal::STOP);
    let ids: Vec<u64> = (0..20).map(|_| conversation.ask_tool("echo", &json!({ "text": "hi" }))).collect();
    conversation.signal(Signal::TERM);
    conversation.signal(Signal::CONT);
    for id in ids {
        let answer = conversation.hear();
        assert_eq!((&answer["id"], text(&answer)), (&json!(id), "echo:hi"));
    }
    assert!(conversation.ends().success());
}

/// A server of a few lines of shell, which has answered the first words and then does this.
fn of_shell(rest: &str) -> Test {
    let hello = r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"fake-server","version":"1"}}}"#;
    let script = format!("read line; echo '{hello}'; read line; {rest}");
    Test::new().config(&format!("[servers.a]\ncommand = [\"sh\", \"-c\", {script:?}]\n"))
}

/// It can't be told anything any more, and so is no server.
#[test]
fn a_server_that_closes_its_input_is_started_again() {
    let mut conversation = Conversation::begun(of_shell("exec <&-; : > '<T>/closed'; exec sleep 60"));
    eventually("it has closed its input", || conversation.test.path("closed").exists());
    let answer = conversation.call("echo", &json!({}));
    assert_eq!(failure(&answer), (-32081, "perhaps"));
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(message.contains("it closed its input; it is started again in 1 s"), "{message}");
    conversation.close_stdin();
    assert!(conversation.ends().success());
}

/// What a server has started in a session of its own is asked to end with it, and nobody waits for it.
#[test]
fn a_crash_is_told_at_once_whatever_the_server_leaves() {
    let mut conversation =
        Conversation::begun(of_shell("setsid sleep 60 & : > '<T>/there'; read line; exit 3"));
    eventually("it has left something", || conversation.test.path("there").exists());
    let start = Instant::now();
    let answer = conversation.call("echo", &json!({}));
    assert!(start.elapsed() < Duration::from_millis(1500), "{:?}", start.elapsed());
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(message.contains("it ended with status 3; it is started again in 1 s"), "{message}");
    conversation.close_stdin();
    assert!(conversation.ends().success());
}
