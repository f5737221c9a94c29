//! Results that are cut, and kept whole.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use super::conversation::{Conversation, puppet, text};

/// The marker of a cut result of 5,000 bytes of text.
#[track_caller]
fn cut(more: &str) -> (Conversation, String, String) {
    let mut conversation = Conversation::begun(puppet(more));
    let answer = conversation.call("bytes", &json!({ "bytes": 5000 }));
    let marker = answer["result"]["content"][1]["text"].as_str().unwrap_or_else(|| panic!("{answer}"));
    (conversation, text(&answer).to_owned(), marker.to_owned())
}

#[track_caller]
fn check_kept(more: &str, limit: usize) {
    let (conversation, beginning, marker) = cut(more);
    assert!(beginning.len() <= limit && beginning.len() + 100 > limit, "{}", beginning.len());
    let result = json!({ "content": [{ "type": "text", "text": "x".repeat(5000) }] }).to_string();
    let start = format!("[... truncated at {limit} bytes; all {} bytes: ", result.len());
    let path = marker.strip_prefix(&start).and_then(|rest| rest.strip_suffix(']')).expect(&marker);
    assert_eq!(fs::read_to_string(path).unwrap(), result);
    assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o7777, 0o600);
    assert!(path.starts_with(conversation.test.path("home/.local/state/squire").to_str().unwrap()), "{path}");
    conversation.finish();
}

#[test]
fn a_result_is_cut_as_its_server_or_the_policy_says() {
    check_kept("result_limit = 1000\n", 1000);
    check_kept("result_limit = \"2KiB\"\n[policy]\nresult_limit = \"1MiB\"\n", 2048);
    check_kept("[policy]\nresult_limit = 1500\n", 1500);
}

#[test]
fn without_spill_the_rest_is_kept_nowhere() {
    for more in ["result_limit = 1000\nspill = false\n", "result_limit = 1000\n[policy]\nspill = false\n"] {
        let (conversation, _, marker) = cut(more);
        assert_eq!(marker, "[... truncated at 1000 bytes]");
        assert!(!conversation.test.path("home/.local/state/squire/spill").exists());
        conversation.finish();
    }
}

#[test]
fn structured_content_is_never_cut_to_half() {
    let mut conversation = Conversation::begun(puppet("result_limit = 1000\n"));
    let structured = json!({ "a": "x".repeat(2000) });
    let long =
        json!({ "jsonrpc": "2.0", "id": 1, "result": { "content": [], "structuredContent": structured } });
    let answer = conversation.call("say", &json!({ "line": long.to_string() }));
    assert_eq!(answer["result"].as_object().unwrap().keys().collect::<Vec<_>>(), ["content"]);
    conversation.finish();
}
