//! The lines that a gateway writes of its calls.

use std::fs;

use rustix::process::{Resource, Rlimit, prlimit};
use serde_json::{Value, json};

use super::conversation::{Conversation, puppet};
use crate::support::eventually;

const WORDS: &str = "w0rds-of-an-argument";

/// Every way in which a call ends but those that take long; gives the lines.
fn lines(more: &str) -> (String, Vec<Value>) {
    let mut conversation = Conversation::begun(puppet(&format!(
        "timeout = \"1s\"\ntools = {{ deny = [\"hidden\"] }}\nmax_restarts = 1\n{more}"
    )));
    conversation.call("echo", &json!({ "text": WORDS }));
    conversation.call("unknown", &json!({ "text": WORDS }));
    conversation.call("hidden", &json!({ "text": WORDS }));
    conversation.call("silence", &json!({ "text": WORDS }));
    let id = conversation.ask_tool("silence", &json!({ "text": WORDS }));
    conversation.say(&format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#
    ));
    conversation.call("crash", &json!({ "text": WORDS }));
    conversation.call("echo", &json!({ "text": WORDS }));
    // Its directory stays as long as this.
    let test = conversation.test.clone();
    conversation.finish();
    let text =
        fs::read_to_string(test.path("home/.local/state/squire/audit/calls.jsonl")).unwrap_or_default();
    let lines = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    (text, lines)
}

#[test]
fn each_call_has_one_line_with_its_outcome() {
    let (text, lines) = lines("");
    let calls: Vec<(&str, &str)> = lines
        .iter()
        .filter(|line| line.get("tool").is_some())
        .map(|line| (line["tool"].as_str().unwrap(), line["outcome"].as_str().unwrap()))
        .collect();
    let expected = [
        ("echo", "done"),
        ("unknown", "error"),
        ("hidden", "refused"),
        ("silence", "timed-out"),
        ("silence", "cancelled"),
        ("crash", "broken"),
        ("echo", "unreached"),
    ];
    assert_eq!(calls, expected);
    assert!(!text.contains(WORDS), "{text}");
    for line in &lines {
        assert_eq!((&line["agent"], &line["server"]), (&json!("claude"), &json!("a")));
        assert!(line["arguments_digest"].is_string(), "{line}");
    }
    assert!(lines[0]["asked"].as_u64().unwrap() > 80 && lines[0]["answered"].as_u64().unwrap() > 50);
    assert!(lines[3]["milliseconds"].as_u64().unwrap() >= 990);
}

#[test]
fn all_or_nothing_is_written_where_that_is_declared() {
    let (_, full) = lines("audit = \"full\"\n");
    assert!(full.iter().all(|line| line["arguments"]["text"] == WORDS), "{full:?}");
    assert_eq!(full.len(), 7);
    assert_eq!(lines("audit = \"off\"\n").1.len(), 0);
}

/// `ulimit -f`: the system tells by a signal that ends a process, unless that is asked to be told by the call itself.
#[test]
fn a_file_that_may_not_grow_costs_lines_and_no_call() {
    let mut conversation = Conversation::begun(puppet(""));
    conversation.works();
    let audit = conversation.test.path("home/.local/state/squire/audit/calls.jsonl");
    let length = || fs::metadata(&audit).map_or(0, |file| file.len());
    eventually("the first call is written", || length() > 200);
    let no_more = Rlimit { current: Some(length()), maximum: None };
    prlimit(Some(conversation.pid()), Resource::Fsize, no_more).unwrap();
    conversation.works();
    eventually("the loss is told", || conversation.stderr().contains("not every call gets into the audit"));
    conversation.works();
    conversation.close_stdin();
    assert!(conversation.ends().success());
    conversation.nothing_is_left();
}
