//! Tools that are hidden, and samples that are refused.

use std::fs;

use serde_json::{Value, json};

use super::conversation::{Conversation, HELLO, failure, puppet, text};
use crate::support::{Test, eventually};

const TOOLS: &str = "read,read_all,write,delete";

fn with_tools(mode: &str, more: &str) -> Test {
    Test::new().config(&format!(
        "[servers.a]\ncommand = [\"<server>\", \"stdio\", \"--log\", \"<T>/log\", \"--mode\", \"{mode}\", \"--tools\", \"{TOOLS}\"]\n{more}"
    ))
}

/// The names on every page.
fn listed(conversation: &mut Conversation) -> Vec<String> {
    let (mut names, mut cursor) = (Vec::new(), Value::Null);
    loop {
        let params = if cursor.is_null() { json!({}) } else { json!({ "cursor": cursor }) };
        let id = conversation.ask("tools/list", &params);
        let (page, _) = conversation.answer(id);
        let tools = page["result"]["tools"].as_array().unwrap_or_else(|| panic!("{page}"));
        names.extend(tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()));
        cursor = page["result"]["nextCursor"].clone();
        if cursor.is_null() {
            return names;
        }
    }
}

#[test]
fn a_hidden_tool_is_on_no_page_and_can_not_be_called() {
    for mode in ["puppet", "pages"] {
        let test = with_tools(mode, "tools = { allow = [\"read*\", \"delete\"], deny = [\"delete\"] }\n");
        let mut conversation = Conversation::begun(test);
        assert_eq!(listed(&mut conversation), ["read", "read_all"], "{mode}");
        assert_eq!(text(&conversation.call("read", &json!({ "text": "x" }))), "echo:x");
        let before = conversation.events("receive").len();
        for hidden in ["delete", "write"] {
            let refusal = conversation.call(hidden, &json!({}));
            assert_eq!(failure(&refusal), (-32085, "no"), "{refusal}");
            assert_eq!(
                refusal["error"]["message"],
                format!("squire: the user's list does not let this agent use the tool \"{hidden}\" of a")
            );
        }
        for hidden in [r"\u0064elete", r"del\u0065te"] {
            conversation.say(&format!(
                r#"{{"jsonrpc":"2.0","id":77,"method":"tools\/call","params":{{"n\u0061me":"{hidden}"}}}}"#
            ));
            assert_eq!(failure(&conversation.hear()), (-32085, "no"));
        }
        conversation.say(
            r#"{"jsonrpc":"2.0","id":78,"method":"tools/call","params":{"name":"read","name":"delete"}}"#,
        );
        assert_eq!(failure(&conversation.hear()), (-32600, "no"));
        conversation.say(
            r#"{"jsonrpc":"2.0","id":79,"method":"ping","method":"tools/call","params":{"name":"delete"}}"#,
        );
        assert_eq!(failure(&conversation.hear()), (-32600, "no"));
        assert_eq!(conversation.events("receive").len(), before, "the server got one of them");
        conversation.finish();
    }
}

#[test]
fn filters_of_profiles_and_agents_only_narrow() {
    let agent = "[agents.claude]\ntools = { a = { deny = [\"write\"] } }\n";
    let profile =
        "[profiles.careful]\nservers = [\"a\"]\ntools = { a = { allow = [\"read\", \"write\"] } }\n";
    for (more, words, expected) in [
        ("", &[][..], vec!["read", "read_all", "write", "delete"]),
        (agent, &[], vec!["read", "read_all", "delete"]),
        (profile, &[], vec!["read", "read_all", "write", "delete"]),
        (profile, &["--profile", "careful"], vec!["read", "write"]),
        (&format!("{agent}{profile}"), &["--profile", "careful"], vec!["read"]),
    ] {
        let mut conversation = Conversation::not_reading(with_tools("puppet", more), words);
        conversation.listen();
        conversation.begin();
        assert_eq!(listed(&mut conversation), expected, "{more}");
        let answer = conversation.call("delete", &json!({ "text": "" }));
        assert_eq!(answer.get("error").is_none(), expected.contains(&"delete"), "{answer}");
        conversation.finish();
    }
}

/// Launches may share a file, and an agent then starts the gateway from another launch's entry.
#[test]
fn filters_of_a_launch_hold_in_the_entry_of_another_one() {
    let profile = "[profiles.careful]\nservers = [\"a\"]\ntools = { a = { deny = [\"delete\"] } }\n";
    let test = with_tools("puppet", profile).agent("claude", "touch <T>/ready; wait-file <T>/go");
    let launched = test.clone().args(["launch", "claude", "--quiet", "--profile", "careful"]).start();
    eventually("the agent starts", || test.path("ready").exists());
    let agent: Value = serde_json::from_slice(&fs::read(test.path("agent.json")).unwrap()).unwrap();
    let under = test.clone().env("SQUIRE_LAUNCH", agent["env"]["SQUIRE_LAUNCH"].as_str().unwrap());
    let mut conversation = Conversation::begun(under);
    assert_eq!(listed(&mut conversation), ["read", "read_all", "write"]);
    assert_eq!(failure(&conversation.call("delete", &json!({ "text": "" }))), (-32085, "no"));
    conversation.finish();
    fs::write(test.path("go"), "").unwrap();
    launched.success();
    let mut conversation = Conversation::begun(test);
    assert_eq!(listed(&mut conversation), ["read", "read_all", "write", "delete"]);
    conversation.finish();
}

#[test]
fn a_sample_is_refused_and_never_offered() {
    let mut conversation = Conversation::start(puppet(""));
    conversation.say(&HELLO.replace("{\"roots\":{}}", "{\"roots\":{},\"sampling\":{}}"));
    conversation.hear();
    let answer = conversation.call("sample", &json!({}));
    let refusal: Value = serde_json::from_str(text(&answer)).unwrap();
    assert_eq!((&refusal["id"], failure(&refusal)), (&json!("sample"), (-32085, "no")));
    let hello: Value = serde_json::from_str(&conversation.got()[0]).unwrap();
    assert_eq!(hello["params"]["capabilities"], json!({ "roots": {} }));
    // In the revision without a session it comes in a result.
    let id = conversation.ask_tool(
        "say",
        &json!({ "line": r#"{"jsonrpc":"2.0","id":2,"result":{"resultType":"input_required","inputRequests":{"k":{"method":"sampling/createMessage"}}}}"# }),
    );
    assert_eq!(id, 2);
    assert_eq!(failure(&conversation.hear()).0, -32085);
    conversation.finish();
}
