//! What the relay does with what it knows of a server from before.

use serde_json::value::RawValue;

use super::*;
use crate::canonical::hash;
use crate::memory::{List, Memory, Page, Told, asker};
use crate::message::{self, Message};
use crate::pins::{Believed, Hashes, Pin};

const GREETING: &str = r#"{"capabilities":{"tools":{"listChanged":true},"prompts":{}},"n":1.0}"#;
const TOOLS: &str = r#"{"tools":[{"name":"t"}]}"#;

fn hashes(definitions: &[&str]) -> Hashes {
    let hashed = |text: &&str| {
        let value: Value = serde_json::from_str(text).unwrap();
        (value["name"].as_str().unwrap().into(), hash(serde_json::from_str(text).unwrap()))
    };
    definitions.iter().map(hashed).collect()
}

/// The asker that an `initialize` comes from.
fn asker_of(hello: &str) -> String {
    let Message::Request { params, .. } = message::read(hello.as_bytes()) else { panic!("{hello}") };
    asker([params])
}

fn page(result: &str) -> Page {
    Page { cursor: None, result: result.into() }
}

fn past(pin: Pin, believed: &[&str]) -> Past {
    let lists = [(List::Tools, std::vec![page(TOOLS)])].into_iter().collect();
    let told = Told { greeting: Some(GREETING.into()), lists, ..Told::default() };
    let believed = Believed { tools: Some(hashes(believed)), ..Believed::default() };
    Past { pin, believed, memory: Memory::from([(asker_of(HELLO), told)]), answers: true, is_kept: true }
}

fn remembering(past: Past) -> Talk {
    Talk { relay: Relay::new(policy()).with_past(past), now: 0 }
}

/// One whose agent was greeted from memory, and whose tool `t` is believed and blocks others.
pub(super) fn recalled() -> Talk {
    let mut talk = remembering(past(Pin::Block, &[r#"{"name":"t"}"#]));
    let welcome = format!(r#"agent {{"jsonrpc":"2.0","id":0,"result":{GREETING}}}"#);
    assert_eq!(talk.agent(HELLO), [welcome, "recalled".into()]);
    assert!(talk.agent(READY).is_empty());
    talk
}

fn list(id: u32) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/list"}}"#)
}

fn tools(id: u32, definitions: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"tools":[{definitions}]}}}}"#)
}

/// What is learned is another test's.
fn without_learned(shown: Vec<String>) -> Vec<String> {
    shown.into_iter().filter(|told| !told.starts_with("learned")).collect()
}

#[test]
fn an_agent_is_answered_before_the_server_runs_and_its_first_call_starts_it() {
    let mut talk = recalled();
    assert_eq!(talk.agent(&list(1)), [format!(r#"agent {{"jsonrpc":"2.0","id":1,"result":{TOOLS}}}"#)]);
    let ping = r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#;
    assert_eq!(talk.agent(ping), [r#"agent {"jsonrpc":"2.0","id":2,"result":{}}"#]);
    assert_eq!(talk.agent(&call(3, "t")), ["start"]);
    assert_eq!(talk.started(), [format!("server {CLEARED}")]);
    // It is greeted in the agent's words, its tools are looked at in the agent's words, and then it is called.
    let welcome = format!(r#"{{"jsonrpc":"2.0","id":0,"result":{GREETING}}}"#);
    assert_eq!(talk.server(&welcome), [format!("server {READY}"), format!("server {}", list(1))]);
    assert_eq!(talk.server(&tools(1, r#"{"name":"t"}"#)), [format!("server {}", call(3, "t"))]);
    assert_eq!(talk.server(&result(3)), ["audit t done".into(), format!("agent {}", result(3))]);
    // Nothing has changed, and nothing is told.
    assert_eq!(talk.agent(&list(4)), [format!("server {}", list(4))]);
}

#[test]
fn an_agent_that_says_other_things_of_itself_asks_the_server() {
    let mut talk = remembering(past(Pin::Off, &[]));
    let other = HELLO.replace("\"c\"", "\"d\"");
    assert_eq!(talk.agent(&other), ["start"]);
    let mut talk = remembering(Past { answers: false, ..past(Pin::Off, &[]) });
    assert_eq!(talk.agent(HELLO), ["start"]);
}

#[test]
fn what_is_different_once_the_server_runs_is_told() {
    let mut talk = remembering(past(Pin::Off, &[]));
    talk.agent(HELLO);
    talk.agent(READY);
    talk.agent(&list(1));
    assert_eq!(talk.agent(&call(3, "t")), ["start"]);
    talk.started();
    let welcome = format!(r#"{{"jsonrpc":"2.0","id":0,"result":{GREETING}}}"#);
    assert_eq!(
        talk.server(&welcome),
        [format!("server {READY}"), format!("server {}", call(3, "t")), format!("server {}", list(1))]
    );
    let told = talk.server(&tools(1, r#"{"name":"t"},{"name":"u"}"#));
    assert!(told[0].starts_with("learned List"), "{told:?}");
    let changed = r#"agent {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;
    assert_eq!(told[1..], [changed]);
}

#[test]
fn a_list_that_has_shrunk_by_half_is_not_told_until_it_comes_again() {
    let lists = [(List::Tools, std::vec![page(r#"{"tools":[{"name":"t"},{"name":"u"},{"name":"v"}]}"#)])];
    let mut known = past(Pin::Off, &[]);
    known.memory.values_mut().for_each(|told| told.lists = lists.clone().into_iter().collect());
    let mut talk = remembering(known);
    talk.agent(HELLO);
    talk.agent(&list(1));
    talk.agent(&call(3, "t"));
    talk.started();
    talk.server(&format!(r#"{{"jsonrpc":"2.0","id":0,"result":{GREETING}}}"#));
    let told = talk.server(&tools(1, r#"{"name":"t"}"#));
    assert!(told.len() == 1 && told[0].starts_with("learned Doubted"), "{told:?}");
}

#[test]
fn tools_that_are_not_what_they_were_are_held_back() {
    let mut talk = recalled();
    assert_eq!(talk.agent(&call(3, "t")), ["start"]);
    talk.started();
    // Nobody has asked for the tools: the call's own id serves to look at them.
    let look = r#"server {"jsonrpc":"2.0","id":3,"method":"tools/list","params":{}}"#;
    let welcome = format!(r#"{{"jsonrpc":"2.0","id":0,"result":{GREETING}}}"#);
    assert_eq!(talk.server(&welcome), [format!("server {READY}"), look.into()]);
    let told = without_learned(talk.server(&tools(3, r#"{"name":"t","x":1},{"name":"u"}"#)));
    let reason = "the tool \\\"t\\\" of db has changed since it was first seen, and is held back until the user has approved it: squire approve db";
    assert!(
        told.iter().any(|told| told.starts_with("note Different") && told.contains("\\\"u\\\"")),
        "{told:?}"
    );
    let answer = told.iter().find(|told| told.starts_with("agent")).unwrap();
    assert!(answer.contains(reason), "{told:?}");
    assert_eq!(error_of(answer).0, i64::from(code::POLICY));
    assert!(told.contains(&"audit t refused".into()), "{told:?}");
    // They are on no list, and asking again does not help.
    talk.agent(&list(4));
    assert_eq!(
        talk.server(&tools(4, r#"{"name":"t","x":1},{"name":"u"}"#)),
        [r#"agent {"jsonrpc":"2.0","id":4,"result":{"tools":[]}}"#]
    );
    for tool in ["t", "u", "never-listed"] {
        assert_eq!(error_of(&talk.agent(&call(5, tool))[0]).0, i64::from(code::POLICY));
    }
    // The user has seen the difference.
    assert!(talk.relay.has_differences());
    let believed = Believed {
        tools: Some(hashes(&[r#"{"name":"t","x":1}"#, r#"{"name":"u"}"#])),
        ..Believed::default()
    };
    let told = shown(talk.relay.believe(believed));
    assert_eq!(told[0], r#"agent {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#);
    assert_eq!(talk.agent(&call(6, "t")), [format!("server {}", call(6, "t"))]);
}

#[test]
fn a_server_that_says_that_its_tools_have_changed_is_looked_at_before_the_next_call() {
    let mut talk = recalled();
    talk.agent(&call(3, "t"));
    talk.started();
    talk.server(&format!(r#"{{"jsonrpc":"2.0","id":0,"result":{GREETING}}}"#));
    talk.server(&tools(3, r#"{"name":"t"}"#));
    talk.server(&result(3));
    assert_eq!(talk.agent(&call(4, "t")), [format!("server {}", call(4, "t"))]);
    let changed = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;
    assert_eq!(talk.server(changed), [format!("agent {changed}")]);
    assert_eq!(
        talk.agent(&call(5, "t")),
        [r#"server {"jsonrpc":"2.0","id":5,"method":"tools/list","params":{}}"#]
    );
    // A list that never ends, or is refused, lets no call through.
    let refused = talk.server(r#"{"jsonrpc":"2.0","id":5,"error":{"code":-32601,"message":"no"}}"#);
    assert_eq!(refused[0], "audit t refused");
    assert_eq!(error_of(&refused[1]).0, i64::from(code::POLICY));
    talk.agent(&call(6, "t"));
    assert!(
        talk.server(r#"{"jsonrpc":"2.0","id":6,"result":{"tools":[],"nextCursor":"x"}}"#)[0]
            .contains("\"cursor\":\"x\"")
    );
    let refused = talk.server(r#"{"jsonrpc":"2.0","id":6,"result":{"tools":[],"nextCursor":"x"}}"#);
    assert_eq!(
        refused.last().map(|told| told.starts_with("server")),
        Some(true),
        "a page may name itself once"
    );
    let refused = talk.server(r#"{"jsonrpc":"2.0","id":6,"result":{"tools":[],"nextCursor":"x"}}"#);
    assert_eq!(refused[0], "audit t refused");
    // Nor does one that is never answered.
    talk.agent(&call(7, "t"));
    let told = talk.after(10_000);
    assert!(told.iter().any(|told| told.starts_with("agent") && told.contains("\"id\":7")), "{told:?}");
}

#[test]
fn instructions_and_prompts_are_held_back_too() {
    let mut known = past(Pin::Block, &[]);
    known.answers = false;
    known.believed.instructions = Some(Some(crate::memory::hash_of_instructions("be kind")));
    known.believed.prompts = Some(hashes(&[r#"{"name":"p"}"#]));
    let mut talk = remembering(known);
    talk.agent(HELLO);
    talk.started();
    let told = without_learned(talk.server(
        r#"{"jsonrpc":"2.0","id":0,"result":{"capabilities":{"tools":{"listChanged":true}},"instructions":"be evil"}}"#,
    ));
    assert!(
        told[0].starts_with("note Different(\"what db tells the model of itself has changed"),
        "{told:?}"
    );
    assert_eq!(
        told[1],
        r#"agent {"jsonrpc":"2.0","id":0,"result":{"capabilities":{"tools":{"listChanged":true}}}}"#
    );
    talk.agent(r#"{"jsonrpc":"2.0","id":1,"method":"prompts/list"}"#);
    let told = without_learned(
        talk.server(r#"{"jsonrpc":"2.0","id":1,"result":{"prompts":[{"name":"p"},{"name":"q"}]}}"#),
    );
    assert_eq!(told[1], r#"agent {"jsonrpc":"2.0","id":1,"result":{"prompts":[{"name":"p"}]}}"#);
    let get = |name: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":2,"method":"prompts/get","params":{{"name":"{name}"}}}}"#)
    };
    assert!(talk.agent(&get("q"))[0].contains("is held back"));
    assert_eq!(talk.agent(&get("p")), [format!("server {}", get("p"))]);
}

#[test]
fn the_first_lists_are_learned_and_the_same_ones_not_again() {
    let fresh = Past { is_kept: true, pin: Pin::Block, ..Past::default() };
    let mut talk = remembering(fresh);
    talk.agent(HELLO);
    talk.started();
    let told = talk.server(WELCOME);
    assert!(told[0].starts_with("learned Greeting"), "{told:?}");
    talk.agent(READY);
    talk.agent(&list(1));
    let first = r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a"}],"nextCursor":"2"}}"#;
    assert_eq!(talk.server(first), [format!("agent {first}")]);
    talk.agent(r#"{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{"cursor":"2"}}"#);
    let told = talk.server(&tools(2, r#"{"name":"b"}"#));
    assert!(told[0].starts_with("learned List"), "{told:?}");
    talk.agent(&list(3));
    assert_eq!(without_learned(talk.server(&tools(3, r#"{"name":"b"},{"name":"a"}"#))).len(), 1);
    // What comes later in the same session is held to it.
    talk.agent(&list(4));
    let told = without_learned(talk.server(&tools(4, r#"{"name":"b","x":1},{"name":"a"}"#)));
    assert_eq!(told[1], r#"agent {"jsonrpc":"2.0","id":4,"result":{"tools":[{"name":"a"}]}}"#);
}

#[test]
fn modern_agents_are_answered_from_memory_by_what_they_say_with_each_request() {
    let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c"},"io.modelcontextprotocol/clientCapabilities":{}}"#;
    let ask = |id: u32, method: &str, more: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{{meta}{more}}}}}"#)
    };
    let raw = |text| serde_json::from_str::<&RawValue>(text).unwrap();
    let who = asker([Some(raw("\"2026-07-28\"")), Some(raw(r#"{"name":"c"}"#)), Some(raw("{}"))]);
    let mut known = past(Pin::Block, &[r#"{"name":"t"}"#]);
    known.memory = known.memory.into_values().map(|told| (who.clone(), told)).collect();
    let mut talk = remembering(known);
    let discovered = talk.agent(&ask(1, "server/discover", ""));
    assert_eq!(
        discovered,
        [format!(r#"agent {{"jsonrpc":"2.0","id":1,"result":{GREETING}}}"#), "recalled".into()]
    );
    assert_eq!(talk.agent(&ask(2, "tools/list", "")).len(), 1);
    let called = ask(3, "tools/call", r#","name":"t""#);
    assert_eq!(talk.agent(&called), ["start"]);
    assert_eq!(talk.started(), [format!("server {}", ask(2, "tools/list", ""))]);
    assert_eq!(talk.server(&tools(2, r#"{"name":"t"}"#)), [format!("server {called}")]);
}

#[test]
fn a_spoiled_list_lets_no_call_through() {
    let mut talk = recalled();
    talk.agent(&call(3, "t"));
    talk.started();
    talk.server(&format!(r#"{{"jsonrpc":"2.0","id":0,"result":{GREETING}}}"#));
    let told = talk.server(r#"{"jsonrpc":"2.0","id":3,"result":{},"result":{}}"#);
    assert_eq!(told[0], "audit t refused", "{told:?}");
    assert_eq!(error_of(&told[1]).0, i64::from(code::POLICY));
}
