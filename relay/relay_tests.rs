//! Conversations: what the relay does with the lines of either side.

use alloc::boxed::Box;
use std::collections::{BTreeMap, BTreeSet as Set};

use proptest::prelude::*;
use serde_json::{Value, json};

use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

use super::*;
use crate::action::Sealed;
use crate::answer::code;
use crate::policy::{Policy, Spill};

/// Keeps nothing.
struct Nowhere;

#[path = "past_tests.rs"]
mod past;

impl Spill for Nowhere {
    fn keep(&mut self, _: &str) -> Option<String> {
        None
    }
}

fn policy() -> Policy {
    Policy {
        allows: Box::new(|name| !name.starts_with("hidden")),
        result_limit: 1000,
        timeout: 10_000,
        startup_timeout: 30_000,
        max_restarts: 5,
        stands_in: true,
        tells_withheld: false,
        seal: Box::new(|arguments| Some(Sealed::Text(arguments.into()))),
        name: "db".into(),
    }
}

/// A relay and the time.
struct Talk {
    relay: Relay,
    now: Time,
}

const HELLO: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"roots":{},"sampling":{}},"clientInfo":{"name":"c","version":"1"}}}"#;
const CLEARED: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"roots":{}},"clientInfo":{"name":"c","version":"1"}}}"#;
const WELCOME: &str = r#"{"jsonrpc":"2.0","id":0,"result":{"capabilities":{"tools":{"listChanged":true}}}}"#;
const READY: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

impl Talk {
    fn new() -> Self {
        Self { relay: Relay::new(policy()), now: 0 }
    }

    /// One in which both sides have greeted each other.
    fn begun() -> Self {
        let mut talk = Self::new();
        assert_eq!(talk.agent(HELLO), ["start"]);
        assert_eq!(talk.started(), [format!("server {CLEARED}")]);
        assert_eq!(talk.server(WELCOME), [format!("agent {WELCOME}")]);
        assert_eq!(talk.agent(READY), [format!("server {READY}")]);
        talk
    }

    fn agent(&mut self, line: &str) -> Vec<String> {
        shown(self.relay.from_agent(line.into(), self.now))
    }

    fn server(&mut self, line: &str) -> Vec<String> {
        shown(self.relay.from_server(line.into(), &mut Nowhere, self.now))
    }

    fn started(&mut self) -> Vec<String> {
        shown(self.relay.started(self.now))
    }

    fn ended(&mut self) -> Vec<String> {
        shown(self.relay.ended("it ended with status 1", self.now))
    }

    fn after(&mut self, time: Time) -> Vec<String> {
        self.now += time;
        shown(self.relay.tick(self.now))
    }
}

/// What is to be done; how far the server has come is another test's.
fn shown(actions: Vec<Action>) -> Vec<String> {
    told(actions).into_iter().filter(|told| !told.starts_with("reached")).collect()
}

fn told(actions: Vec<Action>) -> Vec<String> {
    let text = |line: Vec<u8>| String::from_utf8(line).unwrap();
    actions
        .into_iter()
        .map(|action| match action {
            Action::ToAgent(line) => format!("agent {}", text(line)),
            Action::ToServer(line) => format!("server {}", text(line)),
            Action::Start => "start".into(),
            Action::Stop => "stop".into(),
            Action::Note(note) => format!("note {note:?}"),
            Action::Audit(call) => format!("audit {} {}", call.tool, call.outcome.as_str()),
            Action::Reached(step) => format!("reached {step:?}"),
            Action::Recalled => "recalled".into(),
            Action::Learned(learned) => format!("learned {learned:?}"),
        })
        .collect()
}

fn call(id: u32, tool: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{{}}}}}}"#
    )
}

fn error_of(shown: &str) -> (i64, String) {
    let value: Value = serde_json::from_str(shown.strip_prefix("agent ").unwrap()).unwrap();
    (value["error"]["code"].as_i64().unwrap(), value["error"]["message"].as_str().unwrap().into())
}

#[test]
fn what_policy_does_not_touch_keeps_its_bytes() {
    let mut talk = Talk::begun();
    let asked = r#"{"id" : "\u0061" , "jsonrpc":"2.0","method":"x/y","params":{"n":1.0,"_meta":{"progressToken":7,"traceparent":"t"}} , "new":1}"#;
    assert_eq!(talk.agent(asked), [format!("server {asked}")]);
    let told =
        r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":7,"progress":1.50}}"#;
    assert_eq!(talk.server(told), [format!("agent {told}")]);
    // A server that writes the id in its own way answers the same request.
    let answered = r#"{"jsonrpc":"2.0","result":{ "b":1e3,"a":[ ] },"id":"a"}"#;
    assert_eq!(talk.server(answered), [format!("agent {answered}")]);
    assert_eq!(talk.server(answered), ["note Unasked(\"\\\"a\\\"\")"]);
}

#[test]
fn each_direction_has_ids_of_its_own() {
    let mut talk = Talk::begun();
    talk.agent(r#"{"jsonrpc":"2.0","id":5,"method":"tools/list"}"#);
    let roots = r#"{"jsonrpc":"2.0","id":5,"method":"roots/list"}"#;
    assert_eq!(talk.server(roots), [format!("agent {roots}")]);
    let answer = r#"{"jsonrpc":"2.0","id":5,"result":{"roots":[]}}"#;
    assert_eq!(talk.agent(answer), [format!("server {answer}")]);
    assert_eq!(talk.agent(answer), ["note Unasked(\"5\")"]);
    let tools = r#"{"jsonrpc":"2.0","id":5,"result":{"tools":[]}}"#;
    assert_eq!(talk.server(tools), [format!("agent {tools}")]);
}

#[test]
fn hidden_tools_are_neither_listed_nor_called() {
    let mut talk = Talk::begun();
    talk.agent(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#);
    assert_eq!(
        talk.server(r#"{"id":1,"result":{"tools":[{"name":"hidden"},{"name":"open"}]},"jsonrpc":"2.0"}"#),
        [r#"agent {"id":1,"result":{"tools":[{"name":"open"}]},"jsonrpc":"2.0"}"#]
    );
    for line in [call(2, "hidden"), call(2, "\\u0068idden")] {
        let out = talk.agent(&line);
        assert_eq!(error_of(&out[0]).0, i64::from(code::POLICY));
        assert_eq!(out[1], "audit hidden refused");
    }
    // A name that two readers could take differently reaches nobody.
    let twice = r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"open","name":"hidden"}}"#;
    assert_eq!(error_of(&talk.agent(twice)[0]).0, i64::from(code::NOT_MESSAGE));
    // One without an id can't be answered, and a server may do it all the same.
    let silent = r#"{"jsonrpc":"2.0","method":"tools/call","params":{"name":"open"}}"#;
    assert_eq!(talk.agent(silent), ["note Refused(\"a tools/call without an id\")"]);
    let batch = format!("[{},{}]", call(4, "hidden"), call(5, "open"));
    let out = talk.agent(&batch);
    assert_eq!(error_of(&out[0]).0, i64::from(code::POLICY));
    assert_eq!(out[2], format!("server {}", call(5, "open")));
}

#[test]
fn sampling_is_refused_in_all_four_places() {
    // The capability of `initialize`: see `begun`.
    let mut talk = Talk::begun();
    let modern = |capabilities: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"a","_meta":{{"io.modelcontextprotocol/clientCapabilities":{capabilities}}}}}}}"#
        )
    };
    assert_eq!(
        talk.agent(&modern(r#"{"sampling":{},"elicitation":{ }}"#)),
        [format!("server {}", modern(r#"{"elicitation":{ }}"#))]
    );
    let out = talk.server(
        r#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","inputRequests":{"k":{"method":"sampling\/createMessage","params":{}}}}}"#,
    );
    assert_eq!(out[0], "note Sampling");
    assert!(out.iter().any(|line| line.starts_with("agent") && error_of(line).0 == i64::from(code::POLICY)));
    let out = talk.server(r#"{"jsonrpc":"2.0","id":9,"method":"sampling/createMessage","params":{}}"#);
    assert!(out[0].starts_with("server {\"jsonrpc\":\"2.0\",\"id\":9,\"error\""), "{out:?}");
    // Other requests for input go on.
    talk.agent(&call(2, "a"));
    let elicits = r#"{"jsonrpc":"2.0","id":2,"result":{"resultType":"input_required","inputRequests":{"k":{"method":"elicitation/create"}}}}"#;
    assert_eq!(talk.server(elicits)[1], format!("agent {elicits}"));
}

#[test]
fn a_call_that_takes_too_long_is_cancelled_and_progress_puts_it_off() {
    let mut talk = Talk::begun();
    let with_token = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow","_meta":{"progressToken":"t"}}}"#;
    talk.agent(with_token);
    assert_eq!(talk.relay.wake(), Some(10_000));
    assert!(talk.after(9_000).is_empty());
    talk.server(
        r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t","progress":1}}"#,
    );
    assert!(talk.after(9_000).is_empty());
    let out = talk.after(1_000);
    assert!(out[0].contains("notifications/cancelled") && out[0].contains("\"requestId\":1"), "{out:?}");
    assert_eq!(out[1], "audit slow timed-out");
    assert_eq!(error_of(&out[2]).0, i64::from(code::TIMEOUT));
    // Its late answer would be a second one.
    assert_eq!(talk.server(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#), ["note Unasked(\"1\")"]);
}

#[test]
fn a_crash_answers_at_once_and_a_new_start_comes_back_into_the_session() {
    let mut talk = Talk::begun();
    talk.agent(&call(1, "a"));
    let out = talk.ended();
    assert_eq!(out[0], "audit a broken");
    let (code, sentence) = error_of(&out[1]);
    assert_eq!(code, i64::from(code::SERVER));
    assert!(
        sentence.contains("it ended with status 1; it is started again in 1 s; the call may have"),
        "{sentence}"
    );
    // What is asked meanwhile waits.
    assert!(talk.agent(&call(2, "a")).is_empty());
    assert_eq!(talk.after(1000), ["start"]);
    assert_eq!(talk.started(), [format!("server {CLEARED}")]);
    assert_eq!(
        talk.server(WELCOME),
        [
            format!("server {READY}"),
            format!("server {}", call(2, "a")),
            r#"agent {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#.into(),
        ]
    );
    let answer = r#"{"jsonrpc":"2.0","id":2,"result":{"content":[]}}"#;
    assert_eq!(talk.server(answer)[1], format!("agent {answer}"));
}

#[test]
fn five_failures_in_a_row_end_the_attempts() {
    let mut talk = Talk::begun();
    for wait in [1000, 2000, 4000, 8000] {
        talk.ended();
        assert!(talk.after(wait - 1).is_empty());
        assert_eq!(talk.after(1), ["start"]);
        talk.started();
        talk.server(WELCOME);
    }
    talk.ended();
    assert!(talk.relay.has_failed());
    assert_eq!(talk.relay.wake(), None);
    let out = talk.agent(&call(9, "a"));
    assert!(error_of(&out[1]).1.contains("failed 5 times in a row"), "{out:?}");
    assert!(out[1].contains("\"completed\":\"no\""));
}

#[test]
fn a_server_that_can_not_start_is_not_silence() {
    let mut talk = Talk::new();
    talk.agent(HELLO);
    let out = talk.ended();
    let hello: Value = serde_json::from_str(out[0].strip_prefix("agent ").unwrap()).unwrap();
    assert_eq!(hello["result"]["protocolVersion"], "2025-06-18");
    assert!(hello["result"]["instructions"].as_str().unwrap().contains("it ended with status 1"));
    assert!(talk.agent(READY).is_empty());
    talk.now += 1;
    talk.ended();
    talk.ended();
    talk.ended();
    assert_eq!(
        talk.agent(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#),
        [r#"agent {"jsonrpc":"2.0","id":1,"result":{"tools":[]}}"#]
    );
    // Once it is there the agent is told.
    assert_eq!(talk.after(8000), ["start"]);
    talk.started();
    let out = talk.server(WELCOME);
    assert_eq!(out[0], format!("server {READY}"));
    assert!(out[1].contains("list_changed"));
}

#[test]
fn a_server_that_does_not_answer_the_first_word_is_stopped() {
    let mut talk = Talk::new();
    talk.agent(HELLO);
    talk.started();
    let out = talk.after(30_000);
    assert_eq!(out[0], "stop");
    assert!(out[1].contains("did not answer within 30 s"), "{out:?}");
    assert!(talk.ended().is_empty());
    assert_eq!(talk.relay.wake(), Some(31_000));
}

#[test]
fn a_subscription_is_asked_again_of_a_new_server() {
    let mut talk = Talk::new();
    let listen = r#"{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{}}"#;
    assert_eq!(talk.agent(listen), ["start"]);
    assert_eq!(talk.started(), [format!("server {listen}")]);
    assert!(talk.ended().is_empty());
    assert_eq!(talk.after(1000), ["start"]);
    assert_eq!(talk.started(), [format!("server {listen}")]);
}

#[test]
fn a_cancelled_call_is_not_answered_by_a_crash() {
    let mut talk = Talk::begun();
    talk.agent(&call(1, "a"));
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
    assert_eq!(talk.agent(cancel), ["audit a cancelled".into(), format!("server {cancel}")]);
    assert!(talk.ended().is_empty());
    // One that the server never had goes without a word.
    talk.agent(&call(2, "a"));
    assert_eq!(talk.agent(&cancel.replace(":1}", ":2}")), ["audit a cancelled"]);
    assert_eq!(talk.after(1000), ["start"]);
    talk.started();
    assert!(!talk.server(WELCOME).iter().any(|line| line.contains("tools/call")));
}

#[test]
fn noise_is_noted_and_answered_where_somebody_waits() {
    let mut talk = Talk::begun();
    assert_eq!(talk.server("npm warn deprecated").len(), 1);
    assert!(talk.server("").is_empty());
    assert_eq!(error_of(&talk.agent("nonsense")[0]).0, i64::from(code::NOT_JSON));
    assert!(talk.agent("  ").is_empty());
    talk.agent(r#"{"jsonrpc":"2.0","id":1,"method":"x"}"#);
    let out = talk.server(r#"{"jsonrpc":"2.0","id":1,"result":1,"result":2}"#);
    assert_eq!(error_of(&out[0]).0, i64::from(code::RELAY));
}

/// What may happen.
#[derive(Clone, Debug)]
enum Event {
    Ask(u8, u8),
    Cancel(u8),
    Answer(u8),
    Twice(u8),
    Crash,
    Wait(u16),
    Start,
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        4 => (any::<u8>(), 0_u8..4).prop_map(|(id, kind)| Event::Ask(id % 16, kind)),
        1 => (0_u8..16).prop_map(Event::Cancel),
        4 => (0_u8..16).prop_map(Event::Answer),
        1 => (0_u8..16).prop_map(Event::Twice),
        1 => Just(Event::Crash),
        2 => (0_u16..12_000).prop_map(Event::Wait),
        2 => Just(Event::Start),
    ]
}

proptest! {
    /// Whatever happens in whatever order, each request that was not cancelled is answered once, and nothing twice is
    /// sent to a server.
    #[test]
    fn every_request_gets_one_answer(
        events in proptest::collection::vec(event(), 1..80),
        is_remembered: bool,
    ) {
        let mut talk = if is_remembered { past::recalled() } else { Talk::begun() };
        let mut is_running = !is_remembered;
        let mut open: BTreeMap<u64, u32> = BTreeMap::new();
        let mut cancelled: Set<u64> = Set::new();
        let mut sent: Set<(u64, String)> = Set::new();
        let mut next = 100;
        let mut ids: BTreeMap<u8, u64> = BTreeMap::new();
        for event in events {
            let actions = match event {
                Event::Ask(slot, kind) => {
                    next += 1;
                    ids.insert(slot, next);
                    open.insert(next, 0);
                    let method = ["tools/call", "tools/list", "ping", "x"][usize::from(kind)];
                    let line = json!({"jsonrpc": "2.0", "id": next, "method": method, "params": {"name": "t"}});
                    talk.relay.from_agent(line.to_string().into_bytes(), talk.now)
                }
                Event::Cancel(slot) => {
                    let Some(id) = ids.get(&slot) else { continue };
                    cancelled.insert(*id);
                    let line = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}});
                    talk.relay.from_agent(line.to_string().into_bytes(), talk.now)
                }
                Event::Answer(slot) | Event::Twice(slot) => {
                    let Some(id) = ids.get(&slot) else { continue };
                    if !is_running || !sent.iter().any(|(sent, _)| sent == id) {
                        continue;
                    }
                    let result = json!({"tools": [{"name": "t"}]});
                    let line = json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string();
                    talk.relay.from_server(line.into_bytes(), &mut Nowhere, talk.now)
                }
                Event::Crash if is_running => {
                    is_running = false;
                    sent.clear();
                    talk.relay.ended("it crashed", talk.now)
                }
                Event::Crash => continue,
                Event::Wait(time) => {
                    talk.now += Time::from(time);
                    talk.relay.tick(talk.now)
                }
                Event::Start => {
                    if is_running || talk.relay.life.state != State::Starting {
                        continue;
                    }
                    is_running = true;
                    let mut actions = talk.relay.started(talk.now);
                    actions.extend(talk.relay.from_server(WELCOME.into(), &mut Nowhere, talk.now));
                    actions
                }
            };
            for action in actions {
                match action {
                    Action::ToAgent(line) => {
                        let value: Value = serde_json::from_slice(&line).unwrap();
                        if let Some(id) = value["id"].as_u64() {
                            *open.get_mut(&id).unwrap() += 1;
                        }
                    }
                    Action::ToServer(line) => {
                        prop_assert!(is_running);
                        let value: Value = serde_json::from_slice(&line).unwrap();
                        if let Some(id) = value["id"].as_u64().filter(|id| *id > 0) {
                            // A call that waits lends its id to the question for its tool.
                            let method = value["method"].as_str().unwrap_or_default().into();
                            prop_assert!(sent.insert((id, method)), "{id} was sent twice");
                        }
                    }
                    Action::Start
                    | Action::Stop
                    | Action::Note(_)
                    | Action::Audit(_)
                    | Action::Reached(_)
                    | Action::Recalled
                    | Action::Learned(_) => {}
                }
            }
            prop_assert!(open.values().all(|answers| *answers <= 1));
        }
        // The end: no server comes back, and all time passes.
        talk.relay.ended("it is over", talk.now).into_iter().for_each(|action| count(action, &mut open));
        for _ in 0..20 {
            talk.now += 70_000;
            talk.relay.tick(talk.now).into_iter().for_each(|action| count(action, &mut open));
            talk.relay.ended("it is over", talk.now).into_iter().for_each(|action| count(action, &mut open));
        }
        for (id, answers) in &open {
            let least = u32::from(!cancelled.contains(id));
            prop_assert!((least..=1).contains(answers), "{id} has {answers} answers");
        }
    }

    /// No bytes make it panic or grow without bound, and what is no message never reaches the other side.
    #[test]
    fn any_line_is_survived(line in "\\PC{0,60}", more in proptest::collection::vec(any::<u8>(), 0..60)) {
        let mut talk = Talk::begun();
        for line in [line.into_bytes(), more] {
            let is_json = serde_json::from_slice::<Value>(&line).is_ok();
            let to_server = talk.relay.from_agent(line.clone(), 0);
            let to_agent = talk.relay.from_server(line, &mut Nowhere, 0);
            if !is_json {
                prop_assert!(!to_server.iter().any(|action| matches!(action, Action::ToServer(_))));
                prop_assert!(!to_agent.iter().any(|action| matches!(action, Action::ToAgent(_))));
            }
        }
    }
}

fn count(action: Action, open: &mut BTreeMap<u64, u32>) {
    if let Action::ToAgent(line) = action {
        let value: Value = serde_json::from_slice(&line).unwrap();
        if let Some(answers) = value["id"].as_u64().and_then(|id| open.get_mut(&id)) {
            *answers += 1;
        }
    }
}

#[test]
fn a_number_comes_back_as_it_was_asked() {
    let mut talk = Talk::begun();
    let asked = r#"{"jsonrpc":"2.0","id":1.0,"method":"x"}"#;
    assert_eq!(talk.agent(asked), [format!("server {asked}")]);
    assert_eq!(
        talk.server(r#"{"id": 1, "result":{"n":1}}"#),
        [r#"agent {"id": 1.0, "result":{"n":1}}"#.to_string()]
    );
    // The other direction: the server asks, and the agent writes numbers in its own way.
    let asked = r#"{"jsonrpc":"2.0","id":-0,"method":"roots/list"}"#;
    assert_eq!(talk.server(asked), [format!("agent {asked}")]);
    assert_eq!(talk.agent(r#"{"id":0.0,"result":{}}"#), [r#"server {"id":-0,"result":{}}"#.to_string()]);
    // What policy changes keeps it too.
    assert_eq!(talk.agent(r#"{"id":2.0,"method":"tools/list"}"#).len(), 1);
    assert_eq!(
        talk.server(r#"{"id":2,"result":{"tools":[{"name":"a"},{"name":"hidden"}]}}"#),
        [r#"agent {"id":2.0,"result":{"tools":[{"name":"a"}]}}"#.to_string()]
    );
}

fn request(id: u32, method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#)
}

fn result(id: u32) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#)
}

#[test]
fn what_was_set_up_is_set_up_again() {
    let mut talk = Talk::begun();
    let level = request(1, "logging/setLevel", r#"{"level":"debug"}"#);
    let one = request(2, "resources/subscribe", r#"{"uri":"a://1"}"#);
    let other = request(3, "resources/subscribe", r#"{"uri":"a://2"}"#);
    let refused = request(4, "resources/subscribe", r#"{"uri":"a://3"}"#);
    let no_more = request(5, "resources/unsubscribe", r#"{"uri":"a://1"}"#);
    for (id, line) in [(1, &level), (2, &one), (3, &other), (5, &no_more)] {
        assert_eq!(talk.agent(line), [format!("server {line}")]);
        assert_eq!(talk.server(&result(id)), [format!("agent {}", result(id))]);
    }
    talk.agent(&refused);
    talk.server(r#"{"id":4,"error":{"code":-1,"message":"no"}}"#);
    // One that is not answered yet is answered by the end.
    talk.agent(&request(6, "resources/subscribe", r#"{"uri":"a://4"}"#));
    assert_eq!(error_of(&talk.ended()[0]).0, -32081);
    assert_eq!(talk.after(1000), ["start"]);
    talk.started();
    let changed = r#"agent {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;
    assert_eq!(
        talk.server(WELCOME),
        [format!("server {READY}"), format!("server {level}"), format!("server {other}"), changed.into()]
    );
    // The agent hears nothing of their answers.
    assert!(talk.server(&result(1)).is_empty());
    assert_eq!(
        talk.server(r#"{"id":3,"error":{"code":-1,"message":"gone"}}"#),
        [r#"note Refused("db does not take again what it had taken")"#]
    );
    assert_eq!(talk.server(&result(3)), ["note Unasked(\"3\")"]);
    // A session that the way to the server has begun again by itself is set up again too.
    let shown = shown(talk.relay.came_back());
    assert_eq!(shown, [format!("server {level}"), format!("server {other}"), changed.into()]);
    talk.server(&result(1));
    talk.server(&result(3));
    // A new session of the agent's has nothing set up.
    talk.agent(&HELLO.replace("\"id\":0", "\"id\":9"));
    talk.server(&WELCOME.replace("\"id\":0", "\"id\":9"));
    assert_eq!(super::tests::shown(talk.relay.came_back()), [changed]);
}

/// Revision 2026-07-28.
#[test]
fn a_subscription_is_asked_for_again_and_told_that_lists_may_have_changed() {
    let mut talk = Talk::new();
    let listen = request(
        1,
        "subscriptions/listen",
        r#"{"notifications":{"toolsListChanged":true,"resourcesListChanged":true}}"#,
    );
    assert_eq!(talk.agent(&listen), ["start"]);
    assert_eq!(talk.started(), [format!("server {listen}")]);
    talk.ended();
    assert_eq!(talk.after(1000), ["start"]);
    let changed = |list| {
        format!(
            r#"agent {{"jsonrpc":"2.0","method":"notifications/{list}/list_changed","params":{{"_meta":{{"io.modelcontextprotocol/subscriptionId":1}}}}}}"#
        )
    };
    assert_eq!(talk.started(), [format!("server {listen}"), changed("tools"), changed("resources")]);
}

#[test]
fn a_notification_waits_for_a_server_that_comes_back() {
    let mut talk = Talk::begun();
    let told = r#"{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}"#;
    talk.ended();
    assert!(talk.agent(told).is_empty());
    assert_eq!(talk.after(1000), ["start"]);
    talk.started();
    assert!(talk.agent(told).is_empty());
    let shown = talk.server(WELCOME);
    assert_eq!(shown[..3], [format!("server {READY}"), format!("server {told}"), format!("server {told}")]);
    // What never arrives is noted.
    for wait in [2000, 4000, 8000] {
        talk.ended();
        assert_eq!(talk.after(wait), ["start"]);
    }
    talk.agent(told);
    assert_eq!(talk.ended(), ["note Refused(\"1 notification: the server is not there\")"]);
    assert_eq!(talk.agent(told), ["note Refused(\"1 notification: the server is not there\")"]);
    assert_eq!(error_of(&talk.agent(&call(1, "a"))[1]).0, -32081);
    // Until the user wants it to be tried again.
    talk.relay.revive();
    assert_eq!(talk.agent(&call(2, "a")), ["start"]);
    assert_eq!(talk.started(), [format!("server {CLEARED}")]);
    assert!(talk.server(WELCOME).contains(&format!("server {}", call(2, "a"))));
}

#[test]
fn after_the_agents_last_word_no_start_is_promised() {
    let mut talk = Talk::begun();
    talk.agent(&call(1, "a"));
    assert!(talk.relay.said_all(0).is_empty());
    let shown = talk.ended();
    assert_eq!(error_of(&shown[1]).1, "squire: db: it ended with status 1; the call may have been completed");
    assert_eq!(talk.relay.wake(), None);
}

#[test]
fn a_way_that_failed_is_told_from_an_error_of_the_server() {
    let mut talk = Talk::begun();
    for (id, code, outcome) in [(1, -32083, "broken"), (2, -32603, "error")] {
        talk.agent(&call(id, "a"));
        let answer = format!(r#"{{"id":{id},"error":{{"code":{code},"message":"m"}}}}"#);
        assert_eq!(talk.server(&answer), [format!("audit a {outcome}"), format!("agent {answer}")]);
    }
}

fn parts(shown: &[String]) -> Vec<(i64, Value)> {
    let of = |shown: &String| {
        let (_, line) = shown.split_once(' ').unwrap();
        let value: Value = serde_json::from_str(line).unwrap();
        (value["error"]["code"].as_i64().unwrap(), value["id"].clone())
    };
    shown.iter().filter(|shown| !shown.starts_with("note") && !shown.starts_with("audit")).map(of).collect()
}

#[test]
fn whoever_waits_for_a_message_that_is_too_long_is_told() {
    let mut talk = Talk::begun();
    let agent = |talk: &mut Talk, part| shown(talk.relay.too_long_from_agent(part, 10));
    let server = |talk: &mut Talk, part| shown(talk.relay.too_long_from_server(part, 10, 0));
    let (request, response) = (&br#"{"id":7,"method":"m","params":{"#[..], &br#"{"id":7,"result":{"#[..]);
    let end = &br#"xx"},"jsonrpc":"2.0","id":7}"#[..];
    // The agent asks: it is answered once, by whichever part has the id.
    assert_eq!(parts(&agent(&mut talk, Part::Beginning(request))), [(-32084, json!(7))]);
    assert!(agent(&mut talk, Part::End(end)).is_empty());
    assert!(agent(&mut talk, Part::Beginning(br#"{"method":"m","params":{"#)).is_empty());
    assert_eq!(parts(&agent(&mut talk, Part::End(end))), [(-32084, json!(7))]);
    assert!(agent(&mut talk, Part::Beginning(b"xxx")).is_empty());
    assert_eq!(parts(&agent(&mut talk, Part::End(b"xxx"))), [(-32084, Value::Null)]);
    // The agent answers: the server is told.
    talk.server(r#"{"id":7,"method":"roots/list"}"#);
    let told = agent(&mut talk, Part::Beginning(response));
    assert!(told[0].starts_with("server ") && parts(&told) == [(-32084, json!(7))], "{told:?}");
    // The server answers: the agent is told, and a call is in the audit.
    talk.agent(&call(7, "a"));
    let told = server(&mut talk, Part::Beginning(response));
    assert!(told[0] == "audit a error" && parts(&told) == [(-32084, json!(7))], "{told:?}");
    talk.agent(&call(7, "a"));
    assert!(server(&mut talk, Part::Beginning(br#"{"result":{"#)).is_empty());
    assert_eq!(parts(&server(&mut talk, Part::End(end))), [(-32084, json!(7))]);
    // The server asks: it is answered itself.
    let told = server(&mut talk, Part::Beginning(request));
    assert!(told[0].starts_with("server ") && parts(&told) == [(-32084, json!(7))], "{told:?}");
}

#[test]
fn first_words_that_were_refused_are_not_repeated() {
    let mut talk = Talk::new();
    talk.agent(HELLO);
    talk.started();
    talk.server(r#"{"id":0,"error":{"code":-32022,"message":"unsupported"}}"#);
    talk.ended();
    assert_eq!(talk.after(1000), ["start"]);
    assert!(talk.started().is_empty());
}

#[test]
fn how_far_a_server_has_come_is_told_once() {
    let mut relay = Relay::new(policy());
    let mut reached = Vec::new();
    let mut keep = |actions: Vec<Action>| {
        reached.extend(told(actions).into_iter().filter(|told| told.starts_with("reached")));
    };
    keep(relay.from_agent(HELLO.into(), 0));
    keep(relay.started(0));
    keep(relay.from_server(WELCOME.into(), &mut Nowhere, 0));
    for id in [1, 3] {
        keep(relay.from_agent(request(id, "tools/list", "{}").into(), 0));
        keep(relay.from_agent(call(id + 1, "a").into(), 0));
        // An error is no list.
        let refused = format!(r#"{{"id":{id},"error":{{"code":-1,"message":"m"}}}}"#);
        let listed = format!(r#"{{"id":{id},"result":{{"tools":[]}}}}"#);
        keep(relay.from_server(if id == 1 { refused } else { listed }.into(), &mut Nowhere, 0));
        keep(relay.from_server(result(id + 1).into(), &mut Nowhere, 0));
    }
    assert_eq!(reached, ["reached Initialized", "reached Called", "reached Listed"]);
}

/// What brings a restarted server back into the session is the relay's own: a spoiled answer to it is none for the agent.
#[test]
fn a_spoiled_answer_to_the_relays_own_words_reaches_nobody() {
    for spoiled in
        [r#"{"jsonrpc":"2.0","id":0,"res5lt":{}}"#, r#"{"jsonrpc":"2.0","id":0,"result":{},"result":{}}"#]
    {
        let mut talk = Talk::begun();
        talk.ended();
        assert_eq!(talk.after(1000), ["start"]);
        assert_eq!(talk.started(), [format!("server {CLEARED}")]);
        let told = talk.server(spoiled);
        assert_eq!(told[0], "stop", "{told:?}");
        assert!(!told.iter().any(|told| told.starts_with("agent")), "{told:?}");
    }
}
