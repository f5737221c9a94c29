//! Case B66: a server whose tools are not what they were when they were seen first.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::conversation::{Conversation, failure, text};
use crate::support::{Test, eventually};

const FIRST: &str = r#"{"tools":[{"name":"t","description":"Reads one file.","annotations":{"readOnlyHint":true},"inputSchema":{"type":"object","required":["a","b"],"properties":{"a":{},"b":{}}}}],"prompts":[{"name":"p"}],"instructions":"Be kind."}"#;

fn server(pin: &str) -> Test {
    Test::new()
        .config(&format!(
            "[servers.a]\ncommand = [\"<server>\", \"stdio\", \"--log\", \"<T>/log\", \"--definitions\", \"<T>/defined\"]\n{pin}"
        ))
        .write("defined", FIRST)
}

/// The tools, and the sentences about what is different.
fn session(test: &Test, defined: &str) -> (Vec<String>, String, Conversation) {
    let mut conversation = Conversation::begun(test.clone().without_arguments().write("defined", defined));
    let names = tools(&mut conversation);
    let stderr = conversation.stderr();
    (names, stderr, conversation)
}

fn tools(conversation: &mut Conversation) -> Vec<String> {
    let id = conversation.ask("tools/list", &json!({}));
    let (answer, _) = conversation.answer(id);
    answer["result"]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap().to_owned())
        .collect()
}

/// The server is asked anew: what was remembered would answer from before.
fn forget(test: &Test) {
    let _ = fs::remove_dir_all(test.path("home/.local/state/squire/answers"));
}

fn approve(test: &Test) -> String {
    let wrong = test.clone().without_arguments().args(["approve", "--digest", "0", "a"]).any_stderr().code(1);
    let digest =
        wrong.stderr.split(" is ").nth(1).and_then(|rest| rest.split(',').next()).unwrap().to_owned();
    let told = format!("approved a {digest}\n");
    test.clone().without_arguments().args(["approve", "--digest", &digest, "a"]).stdout(told).success();
    digest
}

#[test]
fn b66_a_changed_tool_is_held_back_with_the_reason_until_the_user_approves_it() {
    let test = server("pin = \"block\"\n");
    let (names, stderr, first) = session(&test, FIRST);
    assert_eq!((names, stderr.as_str()), (vec!["t".to_owned()], ""));
    first.finish();
    for changed in [
        FIRST.replace("one file", "every file"),
        FIRST.replace(r#""b":{}"#, r#""b":{},"c":{}"#),
        FIRST.replace("true", "false"),
    ] {
        forget(&test);
        let (names, stderr, mut second) = session(&test, &changed);
        let reason = "the tool \"t\" of a has changed since it was first seen, and is held back until the user has approved it: squire approve a";
        assert_eq!((names, stderr), (vec![], format!("squire: {reason}\n")));
        let answer = second.call("t", &json!({}));
        assert_eq!(failure(&answer), (-32085, "no"));
        assert_eq!(answer["error"]["message"], format!("squire: {reason}"));
        second.finish();
    }
    // The user's word reaches a gateway that runs: the tool is there, and the agent is told, whatever it does meanwhile.
    forget(&test);
    let (_, _, mut third) = session(&test, &FIRST.replace("true", "false"));
    approve(&test);
    assert_eq!(third.hear(), json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" }));
    assert_eq!(third.hear(), json!({ "jsonrpc": "2.0", "method": "notifications/prompts/list_changed" }));
    assert_eq!(text(&third.call("t", &json!({}))), "called:t");
    assert_eq!(tools(&mut third), ["t"]);
    third.finish();
}

#[test]
fn b66_an_order_is_no_change_and_a_name_that_is_new_is_one() {
    let test = server("pin = \"block\"\n");
    session(&test, FIRST).2.finish();
    forget(&test);
    let turned = r#"{"instructions":"Be kind.","prompts":[{"name":"p"}],"tools":[{"inputSchema":{"properties":{"b":{},"a":{}},"required":["b","a"],"type":"object"},"annotations":{"readOnlyHint":true},"description":"Reads one file.","name":"t"}]}"#;
    let (names, stderr, second) = session(&test, turned);
    assert_eq!((names, stderr.as_str()), (vec!["t".to_owned()], ""));
    second.finish();
    forget(&test);
    let more = FIRST.replace(r#""tools":["#, r#""tools":[{"name":"t_","inputSchema":{"type":"object"}},"#);
    let (names, stderr, mut third) = session(&test, &more);
    assert_eq!(names, ["t"]);
    assert!(stderr.contains("the tool \"t_\" of a is new, and is held back"), "{stderr}");
    // Nor is one called that no list has.
    for tool in ["t_", "hidden"] {
        assert_eq!(failure(&third.call(tool, &json!({}))), (-32085, "no"));
    }
    assert_eq!(text(&third.call("t", &json!({}))), "called:t");
    third.finish();
}

/// An agent that calls by heart: the tools are looked at before.
#[test]
fn b66_a_tool_is_looked_at_before_it_is_called() {
    let test = server("pin = \"block\"\n");
    session(&test, FIRST).2.finish();
    forget(&test);
    let changed = test.clone().without_arguments().write("defined", FIRST.replace("one file", "every file"));
    let mut second = Conversation::begun(changed);
    assert_eq!(failure(&second.call("t", &json!({}))), (-32085, "no"));
    let received = second.events("receive");
    assert!(!received.iter().any(|event| event["message"]["method"] == "tools/call"), "{received:?}");
    second.finish();
}

#[test]
fn b66_prompts_and_what_it_tells_the_model_are_held_back_too() {
    let test = server("pin = \"block\"\n");
    let (_, _, mut first) = session(&test, FIRST);
    let id = first.ask("prompts/list", &json!({}));
    assert_eq!(first.answer(id).0["result"]["prompts"], json!([{ "name": "p" }]));
    first.finish();
    forget(&test);
    let changed = FIRST.replace("kind", "evil").replace(r#"{"name":"p"}"#, r#"{"name":"p"},{"name":"q"}"#);
    let mut second = Conversation::start(test.clone().without_arguments().write("defined", changed));
    assert_eq!(second.begin()["result"].get("instructions"), None);
    let id = second.ask("prompts/list", &json!({}));
    assert_eq!(second.answer(id).0["result"]["prompts"], json!([{ "name": "p" }]));
    let id = second.ask("prompts/get", &json!({ "name": "q" }));
    assert!(second.answer(id).0["error"]["message"].as_str().unwrap().contains("is held back"));
    second.finish();
}

/// What the user's own server of the tier community changes passes, and is noted.
#[test]
fn a_change_is_noted_where_it_is_not_blocked() {
    let test = server("pin = \"warn\"\n");
    session(&test, FIRST).2.finish();
    forget(&test);
    let (names, stderr, mut second) = session(&test, &FIRST.replace("one", "every"));
    assert_eq!(names, ["t"]);
    assert_eq!(
        stderr,
        "squire: the tool \"t\" of a has changed since it was first seen; squire approve a shows it\n"
    );
    assert_eq!(text(&second.call("t", &json!({}))), "called:t");
    second.finish();
    // Without pins nothing is told.
    let test = server("");
    session(&test, FIRST).2.finish();
    forget(&test);
    let (names, stderr, second) = session(&test, &FIRST.replace("one", "every"));
    assert_eq!((names, stderr.as_str()), (vec!["t".to_owned()], ""));
    second.finish();
}

#[test]
fn the_difference_is_shown_word_by_word_and_doctor_names_it() {
    let test = server("pin = \"block\"\n");
    session(&test, FIRST).2.finish();
    forget(&test);
    session(&test, &FIRST.replace("one", "every").replace("true", "false")).2.finish();
    let doctor = test.clone().without_arguments().args(["doctor", "--json"]).any_stdout().code(1);
    let found: Value = serde_json::from_str(&doctor.stdout).unwrap();
    let finding =
        found["findings"].as_array().unwrap().iter().find(|finding| finding["code"] == "tools-different");
    assert_eq!(
        finding.unwrap()["sentence"],
        "a: 1 of what it tells of itself differ from what was seen first"
    );
    let shown = crate::trust::shown_by_approve(&test.without_arguments(), "a");
    let mut rest = shown.replace("\\\"", "\"");
    for part in [
        "what it tells of itself is not what was seen first:",
        "the tool t: readOnlyHint was true, and is false",
        "the tool t has changed",
        "description = Reads [-one-]{+every+} file.",
        "annotations = {\"readOnlyHint\":[-true-]{+false+}}",
    ] {
        // In this order.
        rest = rest.split_once(part).unwrap_or_else(|| panic!("{part}: {shown}")).1.to_owned();
    }
}

/// Case B66 (h), treated otherwise than there: a record that can't be read blocks nothing that its last good copy knows.
#[test]
fn b66_a_record_that_cannot_be_read_is_stood_in_for() {
    let test = server("pin = \"block\"\n");
    session(&test, FIRST).2.finish();
    forget(&test);
    let record = || -> PathBuf {
        let files = fs::read_dir(test.path("home/.local/state/squire/tools")).unwrap();
        files
            .map(|entry| entry.unwrap().path())
            .find(|path| path.extension().is_some_and(|end| end == "json"))
            .unwrap()
    };
    fs::write(record(), "{").unwrap();
    forget(&test);
    let (names, stderr, second) = session(&test, &FIRST.replace("one", "every"));
    assert_eq!(names, Vec::<String>::new());
    assert!(stderr.contains("its copy stands in for it (squire doctor)"), "{stderr}");
    second.finish();
    fs::write(record(), "{").unwrap();
    let doctor = test.clone().without_arguments().args(["doctor", "--json"]).any_stdout().code(1);
    assert!(
        doctor.stdout.contains("tools-unreadable")
            && doctor.stdout.contains("its copy stands in for it, of a"),
        "{}",
        doctor.stdout
    );
}

/// An agent that knows the names by heart and never asks for a list: what it calls first is what is believed.
#[test]
fn b66_a_call_by_heart_has_the_tools_recorded() {
    let test = server("pin = \"block\"\n");
    for (defined, code) in [(FIRST.to_owned(), None), (FIRST.replace("one file", "every file"), Some(-32085))]
    {
        let mut session = Conversation::begun(test.clone().without_arguments().write("defined", defined));
        let answer = session.call("t", &json!({}));
        assert_eq!(answer["error"]["code"].as_i64(), code, "{answer}");
        session.finish();
    }
}

/// Neither of the two files can be read: nothing is believed until the user has seen it.
#[test]
fn b66_where_no_record_can_be_read_nothing_is_believed() {
    let test = server("pin = \"block\"\n");
    session(&test, FIRST).2.finish();
    let records = || {
        fs::read_dir(test.path("home/.local/state/squire/tools")).unwrap().map(|entry| entry.unwrap().path())
    };
    for record in records().filter(|path| path.extension().is_some()) {
        fs::write(record, "{").unwrap();
    }
    let (names, stderr, second) = session(&test, FIRST);
    assert!(
        names.is_empty() && stderr.contains("nothing of its server is believed (squire doctor)"),
        "{stderr}"
    );
    second.finish();
    approve(&test);
    let (names, _, third) = session(&test, FIRST);
    assert_eq!(names, ["t"]);
    third.finish();
}

/// A server that repeats its secret in what it tells of itself: the value is in no file of squire's.
#[test]
fn b91_a_secret_that_a_server_tells_is_not_recorded() {
    let test = server("pin = \"block\"\nenv = { TOKEN = \"${secret:k}\" }\n")
        .secrets("[secrets.k]\nvalue = \"S3CR3T-canary\"\n")
        .receiver("log")
        .receiver("defined");
    let (_, _, first) = session(&test, &FIRST.replace("one file", "S3CR3T-canary"));
    let told = "a tells a secret of yours in what it says of itself";
    eventually("it is told", || first.stderr().contains(told));
    first.finish();
    let state = test.path("home/.local/state/squire");
    for directory in ["tools", "answers"] {
        for entry in fs::read_dir(state.join(directory)).into_iter().flatten().flatten() {
            let text = fs::read_to_string(entry.path()).unwrap_or_default();
            assert!(!text.contains("S3CR3T-canary"), "{}: {text}", entry.path().display());
        }
    }
}
