//! Large messages.

use serde_json::{Value, json};

use super::conversation::{Conversation, failure, puppet, text};

const MIB: usize = 1024 * 1024;

#[test]
fn twelve_megabytes_pass_in_both_directions() {
    let mut conversation = Conversation::begun(puppet("result_limit = \"64MiB\"\n"));
    let large = "é".repeat(6 * MIB);
    let answer = conversation.call("echo", &json!({ "text": large }));
    assert_eq!(text(&answer), format!("echo:{large}"));
    let answer = conversation.call("bytes", &json!({ "bytes": 12 * MIB }));
    assert_eq!(text(&answer).len(), 12 * MIB);
    conversation.finish();
}

#[test]
fn a_longer_result_is_answered_by_an_error() {
    let mut conversation = Conversation::begun(puppet(""));
    let answer = conversation.call("bytes", &json!({ "bytes": 20 * MIB }));
    assert_eq!(failure(&answer), (-32084, "perhaps"));
    assert_eq!(
        answer["error"]["message"],
        "squire: the answer of a is not passed on: a message of more than 16777216 bytes; the call may have been completed"
    );
    conversation.works();
    conversation.finish();
}

#[test]
fn a_longer_request_is_answered_by_an_error_and_never_sent() {
    let mut conversation = Conversation::begun(puppet(""));
    conversation.ask_tool("echo", &json!({ "text": "x".repeat(20 * MIB) }));
    let answer = conversation.hear();
    assert_eq!((failure(&answer), &answer["id"]), ((-32084, "no"), &Value::Null));
    conversation.works();
    assert_eq!(conversation.got().len(), 3);
    conversation.finish();
}
