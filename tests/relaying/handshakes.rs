//! The first turns of the real agents, as the package `tests/real-agents` recorded them (`UPDATE_RECORDED=1`).

use serde_json::Value;

use super::conversation::{Conversation, puppet, text};

/// Says all of a first turn, as its agent would; gives what the server got.
#[track_caller]
fn replay(lines: &[String]) -> Vec<String> {
    let mut conversation = Conversation::start(puppet(""));
    for line in lines {
        conversation.say(line);
        let message: Value = serde_json::from_str(line).unwrap();
        let Some(id) = message.get("id") else { continue };
        let answer = conversation.hear();
        assert_eq!(answer["id"], *id, "{answer}");
        match message["method"].as_str().unwrap() {
            "initialize" => {
                assert_eq!(answer["result"]["protocolVersion"], message["params"]["protocolVersion"]);
            }
            "tools/list" => assert_eq!(answer["result"]["tools"][0]["name"], "echo", "{answer}"),
            "tools/call" => assert_eq!(text(&answer), "echo:hi", "{answer}"),
            method => panic!("{method} is new in a first turn"),
        }
    }
    let got = conversation.got();
    conversation.finish();
    got
}

#[track_caller]
fn arrives(recording: &str) {
    let lines: Vec<String> = recording.lines().map(str::to_owned).collect();
    assert!(
        lines[0].contains("\"initialize\"") && lines.last().unwrap().contains("\"tools/call\""),
        "{lines:?}"
    );
    assert_eq!(replay(&lines), lines);
    // None of them offers samples yet; one that does is as it was without.
    let mut offering = lines.clone();
    offering[0] =
        lines[0].replacen("\"capabilities\":{", "\"capabilities\":{\"sampling\":{\"tools\":{}},", 1);
    assert_ne!(offering, lines);
    assert_eq!(replay(&offering), lines);
}

#[test]
fn the_first_turn_of_claude_code_arrives_as_it_was_said() {
    arrives(include_str!("recorded/claude.jsonl"));
}

#[test]
fn the_first_turn_of_codex_arrives_as_it_was_said() {
    arrives(include_str!("recorded/codex.jsonl"));
}

#[test]
fn the_first_turn_of_opencode_arrives_as_it_was_said() {
    arrives(include_str!("recorded/opencode.jsonl"));
}
