//! Large messages.

use serde_json::{Value, json};

use super::conversation::{Conversation, failure, puppet, text};

const MIB: usize = 1024 * 1024;

#[test]
fn twenty_megabytes_pass_in_both_directions() {
    let mut conversation = Conversation::begun(puppet("result_limit = \"64MiB\"\n"));
    let large = "é".repeat(10 * MIB);
    let answer = conversation.call("echo", &json!({ "text": large }));
    assert!(text(&answer) == format!("echo:{large}"));
    let answer = conversation.call("bytes", &json!({ "bytes": 20 * MIB }));
    assert_eq!(text(&answer).len(), 20 * MIB);
    conversation.finish();
}

#[test]
fn a_longer_result_is_answered_by_an_error() {
    let mut conversation = Conversation::begun(puppet(""));
    let answer = conversation.call("bytes", &json!({ "bytes": 65 * MIB }));
    assert_eq!(failure(&answer), (-32084, "perhaps"));
    assert_eq!(
        answer["error"]["message"],
        "squire: the answer of a is not passed on: a message of more than 67108864 bytes; the call may have been completed"
    );
    conversation.works();
    conversation.finish();
}

#[test]
fn a_longer_request_is_answered_by_an_error_and_never_sent() {
    let mut conversation = Conversation::begun(puppet(""));
    let long = "x".repeat(65 * MIB);
    // Ids come first, as most clients write them, or last, as the TypeScript SDK does, or nobody sees them.
    for (line, id) in [
        (
            format!(r#"{{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{{"name":"{long}"}}}}"#),
            json!("a"),
        ),
        (
            format!(r#"{{"method":"tools/call","params":{{"name":"{long}"}},"jsonrpc":"2.0","id":71}}"#),
            json!(71),
        ),
        (
            format!(r#"{{"method":"tools/call","params":{{"name":"{long}"}},"id":72,"jsonrpc":"2.0"}}"#),
            Value::Null,
        ),
    ] {
        conversation.say(&line);
        let answer = conversation.hear();
        assert_eq!((failure(&answer), &answer["id"]), ((-32084, "no"), &id));
    }
    conversation.works();
    assert_eq!(conversation.got().len(), 3);
    conversation.finish();
}
