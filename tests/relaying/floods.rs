//! Sides that do not read, and servers that talk too much.

use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use super::conversation::{Conversation, HELLO, puppet, text};
use crate::support::eventually;

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

/// Where more waits for the server than may, the agent is not heard: its end is noticed all the same, and meanwhile
/// nobody looks again and again.
#[test]
fn an_agent_that_goes_while_it_is_not_heard_takes_all_with_it() {
    let mut conversation = Conversation::not_reading(puppet(""), &[]);
    let nap = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "nap", "arguments": { "milliseconds": 60_000 } } });
    let word =
        json!({ "jsonrpc": "2.0", "method": "notifications/x", "params": { "text": "y".repeat(50_000) } });
    let mut lines = vec![HELLO.to_owned(), nap.to_string()];
    lines.extend((0..1000).map(|_| word.to_string()));
    conversation.say_beside(lines);
    eventually("the server naps", || conversation.got().len() == 2);
    thread::sleep(Duration::from_secs(2));
    let before = conversation.wakings();
    thread::sleep(Duration::from_millis(500));
    assert!(conversation.wakings() - before < 10);
    conversation.stop_reading();
    let start = Instant::now();
    conversation.ends();
    assert!(start.elapsed() < Duration::from_secs(15), "{:?}", start.elapsed());
    conversation.nothing_is_left();
}
