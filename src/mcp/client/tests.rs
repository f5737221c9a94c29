use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use super::*;
use crate::mcp::Evidence;

/// Answers the n-th request with the n-th group of lines and keeps what was sent.
struct Script {
    replies: VecDeque<Vec<&'static str>>,
    ready: VecDeque<&'static str>,
    sent: Rc<RefCell<Vec<Value>>>,
}

impl Connection for Script {
    fn send(&mut self, message: &Value, _: Wait) -> Result<(), Error> {
        if message.get("id").is_some() && message.get("method").is_some() {
            self.ready.extend(self.replies.pop_front().unwrap_or_default());
        }
        self.sent.borrow_mut().push(message.clone());
        Ok(())
    }

    fn receive(&mut self, wait: Wait) -> Result<Vec<u8>, Error> {
        self.ready.pop_front().map(Into::into).ok_or_else(|| wait.timed_out(Evidence::default()))
    }

    fn negotiated(&mut self, _: &str) {}

    fn close(self: Box<Self>, _: Duration) -> Vec<u8> {
        Vec::new()
    }
}

const HELLO: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"fake","version":"1","title":"Fake"},"instructions":"be kind"}}"#;

fn list(replies: Vec<Vec<&'static str>>) -> (Result<Listing, Error>, Vec<Value>) {
    let sent = Rc::new(RefCell::new(Vec::new()));
    let script = Script { replies: replies.into(), ready: VecDeque::new(), sent: Rc::clone(&sent) };
    let wait = Wait::new(Duration::from_secs(9));
    let mut client = Client::over(Box::new(script), wait, Instant::now());
    let outcome = client.greet().and_then(|hello| Ok((client.tools(&hello)?, hello)));
    let Left { warnings, output } = client.close(true);
    let outcome = outcome.map_err(|error| error.with_output(output)).map(|(tools, hello)| {
        let warnings = [hello.warnings(), tools.warnings(), warnings].concat();
        Listing { hello, tools, warnings }
    });
    (outcome, sent.take())
}

#[test]
fn all_pages_are_listed() {
    let (listing, sent) = list(vec![
        vec![HELLO],
        vec![
            r#"{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"a","annotations":{"readOnlyHint":true}},{}],"nextCursor":"p2"}}"#,
        ],
        vec![r#"{"jsonrpc":"2.0","id":3,"result":{"tools":[],"nextCursor":7}}"#],
        vec![
            r#"{"jsonrpc":"2.0","id":4,"result":{"tools":[{"name":"b","description":"B"}],"nextCursor":""}}"#,
        ],
    ]);
    let listing = listing.unwrap();
    assert_eq!(
        listing.hello.server,
        Identity { name: "fake".into(), version: "1".into(), title: Some("Fake".into()) }
    );
    assert_eq!(
        (listing.hello.protocol.as_str(), listing.hello.instructions.as_deref()),
        ("2025-06-18", Some("be kind"))
    );
    let told = |tool: &Tool| (tool.name.clone(), tool.description.clone(), tool.read_only);
    let expected = [("a".into(), None, Some(true)), ("b".into(), Some("B".into()), None)];
    assert_eq!(listing.tools.shown.iter().map(told).collect::<Vec<_>>(), expected);
    assert_eq!(listing.warnings, ["1 of its tools have no name and cannot be called"]);
    let methods: Vec<_> = sent.iter().map(|message| message["method"].as_str().unwrap()).collect();
    assert_eq!(
        methods,
        ["initialize", "notifications/initialized", "tools/list", "tools/list", "tools/list"]
    );
    assert_eq!(sent[3]["params"], json!({ "cursor": "p2" }));
    assert_eq!(sent[4]["params"], json!({ "cursor": 7 }));
}

#[test]
fn a_list_that_never_ends_is_an_error() {
    let (outcome, _) = list(vec![
        vec![HELLO],
        vec![r#"{"jsonrpc":"2.0","id":2,"result":{"tools":[],"nextCursor":"p"}}"#],
        vec![r#"{"jsonrpc":"2.0","id":3,"result":{"tools":[],"nextCursor":"p"}}"#],
    ]);
    assert!(matches!(outcome, Err(Error::RepeatedCursor { cursor }) if cursor == "\"p\""));
}

#[test]
fn noise_is_one_warning_and_requests_are_answered() {
    let (listing, sent) = list(vec![
        vec!["Server v1 ready", "", "[1,2]", r#"{"level":"info"}"#, HELLO],
        vec![
            r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#,
            r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":"r","method":"roots/list"}"#,
            r#"{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"cut \ud83d"}]}}"#,
        ],
    ]);
    let listing = listing.unwrap();
    assert_eq!(listing.tools.shown[0].name, "cut \u{fffd}");
    assert_eq!(
        listing.warnings,
        ["its output held lines that are not MCP messages: `Server v1 ready` and 2 more"]
    );
    assert_eq!(sent[3], json!({ "jsonrpc": "2.0", "id": 2, "result": {} }));
    assert_eq!((&sent[4]["id"], &sent[4]["error"]["code"]), (&json!("r"), &json!(-32601)));
}

#[test]
fn a_banner_glued_to_the_answer_is_quoted_when_time_is_over() {
    let (outcome, _) = list(vec![vec![r#"ready> {"jsonrpc":"2.0","id":1,"result":{}}"#]]);
    let text = outcome.unwrap_err().to_string();
    assert!(text.starts_with("timed out after 9s in initialize; its output held a line"), "{text}");
    assert!(text.contains("`ready> {"), "{text}");
}

#[test]
fn revisions_are_negotiated() {
    let unknown = r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2099-01-01","capabilities":{},"serverInfo":{"name":"f","version":"1"}}}"#;
    let warnings = list(vec![vec![unknown]]).0.unwrap().warnings;
    assert!(warnings[0].contains("2099-01-01") && warnings[1].contains("no tools"), "{warnings:?}");

    let refusal = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Unsupported protocol version","data":{"supported":["2024-11-05","2025-03-26"]}}}"#;
    let (outcome, sent) = list(vec![vec![refusal]]);
    assert!(matches!(outcome, Err(Error::TimedOut { .. })));
    assert_eq!(sent[1]["params"]["protocolVersion"], "2025-03-26");
}

/// The code of the refusal does not matter (protocol 2026-07-28, versioning).
#[test]
fn b48_a_server_without_sessions_is_asked_what_it_is() {
    for refusal in [
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32022,"message":"no","data":{"supported":["2026-07-28"]}}}"#,
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no such method"}}"#,
    ] {
        let hello = r#"{"jsonrpc":"2.0","id":2,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"new","version":"3"}}}}"#;
        let tools = r#"{"jsonrpc":"2.0","id":3,"result":{"resultType":"complete","tools":[{"name":"a"}]}}"#;
        let (listing, sent) = list(vec![vec![refusal], vec![hello], vec![tools]]);
        let listing = listing.unwrap();
        let server = (listing.hello.server.name.as_str(), listing.hello.protocol.as_str());
        assert_eq!(server, ("new", "2026-07-28"));
        assert_eq!(listing.tools.shown[0].name, "a");
        assert_eq!(listing.warnings, Vec::<String>::new());
        let methods: Vec<_> = sent.iter().map(|message| message["method"].as_str().unwrap()).collect();
        assert_eq!(methods, ["initialize", "server/discover", "tools/list"]);
        for request in &sent[1..] {
            let meta = &request["params"]["_meta"];
            assert_eq!(meta["io.modelcontextprotocol/protocolVersion"], "2026-07-28");
            assert_eq!(meta["io.modelcontextprotocol/clientInfo"]["name"], "squire");
        }
        // One that speaks neither is told by its first words.
        let neither = r#"{"jsonrpc":"2.0","id":2,"error":{"code":-32601,"message":"nor this"}}"#;
        let outcome = list(vec![vec![refusal], vec![neither]]).0;
        assert!(outcome.unwrap_err().to_string().starts_with("answered initialize with an error: no"));
    }
}

#[test]
fn what_a_gateway_withholds_is_no_tool() {
    let (listing, _) = list(vec![
        vec![HELLO],
        vec![
            r#"{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"a"}],"_meta":{"squire/withheld":["b",null]}}}"#,
        ],
    ]);
    let listing = listing.unwrap();
    assert_eq!((listing.tools.shown.len(), listing.tools.withheld), (1, vec!["b".to_owned()]));
    assert_eq!(listing.warnings, ["1 of its tools have no name and cannot be called"]);
}

#[test]
fn a_refusal_of_the_gateway_is_no_reason_to_speak_another_revision() {
    let refusal = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32081,"message":"squire: db: it ended with status 1","data":{"by":"squire","completed":"no"}}}"#;
    let (outcome, sent) = list(vec![vec![refusal]]);
    assert_eq!(outcome.unwrap_err().to_string(), "it ended with status 1");
    assert_eq!(sent.len(), 1);
}

#[test]
fn a_call_keeps_the_bytes_and_hears_of_its_own_progress() {
    let script = Script {
        replies: vec![vec![
            r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":9,"progress":1}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1,"total":2,"message":"m"}}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{ "content":[], "n":1.0 }}"#,
        ]]
        .into(),
        ready: VecDeque::new(),
        sent: Rc::default(),
    };
    let wait = Wait::new(Duration::from_secs(9));
    let mut client = Client::over(Box::new(script), wait, Instant::now());
    let mut told = Vec::new();
    let mut watch = Watch { progress: &mut |progress| told.push(progress), is_over: &|| false };
    let called = client.call("t", &json!({ "a": 1 }), &mut watch).unwrap();
    assert_eq!(called.text, r#"{ "content":[], "n":1.0 }"#);
    let expected = Progress { progress: Some(1.0), total: Some(2.0), message: Some("m".into()) };
    assert_eq!(told, [expected]);
}

#[test]
fn a_call_that_nobody_waits_for_is_cancelled() {
    let sent = Rc::new(RefCell::new(Vec::new()));
    let script = Script { replies: VecDeque::new(), ready: VecDeque::new(), sent: Rc::clone(&sent) };
    let mut client = Client::over(Box::new(script), Wait::new(Duration::from_secs(9)), Instant::now());
    let mut watch = Watch { progress: &mut |_| {}, is_over: &|| true };
    let outcome = client.call("t", &json!({}), &mut watch);
    assert!(matches!(outcome, Err(Error::Interrupted)));
    let last = sent.take().pop().unwrap();
    assert_eq!(
        (&last["method"], &last["params"]["requestId"]),
        (&json!("notifications/cancelled"), &json!(1))
    );
}
