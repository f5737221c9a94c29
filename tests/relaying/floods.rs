//! Sides that do not read, and servers that talk too much.

use std::thread;
use std::time::Duration;

use serde_json::json;

use super::conversation::{Conversation, HELLO, puppet, text};

/// Nobody reads the gateway's stderr here either.
#[test]
fn a_flood_of_stderr_blocks_nobody() {
    let (_unread, stderr) = std::io::pipe().unwrap();
    let mut conversation = Conversation::with_stderr(puppet(""), stderr);
    conversation.begin();
    let answer = conversation.call("stderr", &json!({ "bytes": 8 * 1024 * 1024 }));
    assert_eq!(text(&answer), "said");
    conversation.works();
    conversation.finish();
}

/// More is under way each way than all pipes hold, and neither side reads for 2 s.
#[test]
fn an_agent_and_a_server_that_do_not_read_do_not_lock_each_other() {
    let mut conversation = Conversation::not_reading(puppet(""), &[]);
    let call = |id: usize, tool: &str, arguments: &serde_json::Value| {
        json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": tool, "arguments": arguments } })
            .to_string()
    };
    let nap = call(1, "nap", &json!({ "milliseconds": 2000 }));
    let large = "y".repeat(50_000);
    let mut lines = vec![HELLO.to_owned(), nap];
    lines.extend((2..=400).map(|id| call(id, "echo", &json!({ "text": large }))));
    conversation.say_beside(lines);
    thread::sleep(Duration::from_secs(2));
    conversation.listen();
    for id in 0..=400 {
        let answer = conversation.hear();
        assert_eq!(answer["id"], id);
        assert!(id < 2 || text(&answer).len() == large.len() + 5, "{id}");
    }
}
