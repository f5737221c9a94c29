//! Calls that take too long.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::conversation::{Conversation, failure, puppet, text};
use crate::support::eventually;

#[test]
fn a_call_without_an_answer_is_cancelled() {
    let mut conversation = Conversation::begun(puppet("timeout = \"1s\"\n"));
    let start = Instant::now();
    let answer = conversation.call("silence", &json!({}));
    let took = start.elapsed();
    assert!(took >= Duration::from_millis(990) && took < Duration::from_secs(3), "{took:?}");
    assert_eq!(failure(&answer), (-32082, "perhaps"));
    assert_eq!(
        answer["error"]["message"],
        "squire: a did not answer within 1 s; the request was cancelled (`timeout` gives it longer); the call may have been completed"
    );
    eventually("the server hears of it", || conversation.got().len() == 4);
    let cancelled: Value = serde_json::from_str(&conversation.got()[3]).unwrap();
    assert_eq!(cancelled["method"], "notifications/cancelled");
    assert_eq!(cancelled["params"]["requestId"], 1);
    // An answer that comes nevertheless is nobody's.
    let late = json!({ "jsonrpc": "2.0", "id": 1, "result": {} });
    let open = conversation.ask_tool("say", &json!({ "line": late.to_string() }));
    conversation.works();
    conversation.finish_with(&[open]);
}

#[test]
fn progress_puts_the_end_off() {
    let mut conversation = Conversation::begun(puppet("timeout = \"1s\"\n"));
    let call = |token: &str| json!({ "name": "progress", "_meta": { "progressToken": token }, "arguments": { "milliseconds": 400, "times": 5 } });
    let start = Instant::now();
    let id = conversation.ask("tools/call", &call("t"));
    let (answer, told) = conversation.answer(id);
    assert_eq!(text(&answer), "done", "{answer}");
    assert!(start.elapsed() >= Duration::from_secs(2));
    assert_eq!(told.len(), 5);
    assert!(told.iter().all(|line| line["params"]["progressToken"] == "t"), "{told:?}");
    // Somebody else's progress is no reason to wait.
    let silent = json!({ "name": "silence", "_meta": { "progressToken": "s" } });
    let (silent, other) =
        (conversation.ask("tools/call", &silent), conversation.ask("tools/call", &call("t")));
    assert_eq!(failure(&conversation.answer(silent).0), (-32082, "perhaps"));
    conversation.answer(other);
    conversation.finish();
}

#[test]
fn a_call_that_the_agent_cancels_is_not_answered() {
    let mut conversation = Conversation::begun(puppet(""));
    let id = conversation.ask_tool("silence", &json!({}));
    conversation.say(&format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#
    ));
    conversation.works();
    assert!(conversation.got()[3].contains("notifications/cancelled"));
    conversation.finish();
}
