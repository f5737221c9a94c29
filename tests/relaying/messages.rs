//! Generated messages: what the protocol's revisions know and what none does, written as no writer of JSON would.
//! None of them is one that policy touches.

use proptest::prelude::*;
use proptest::sample::select;

/// What stands for the id in a line.
pub(super) const ID: &str = "@ID@";

/// One thing that is said, and what is answered to it.
#[derive(Clone, Debug)]
pub(super) enum Exchange {
    AgentAsks { request: String, answer: String, spelling: usize },
    AgentTells(String),
    ServerAsks { request: String, answer: String, spelling: usize },
    ServerTells(String),
}

const AGENT_ASKS: &[&str] = &[
    "initialize",
    "server/discover",
    "ping",
    "tools/list",
    "tools/call",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "resources/subscribe",
    "resources/unsubscribe",
    "prompts/list",
    "prompts/get",
    "completion/complete",
    "logging/setLevel",
    "tasks/list",
    "tasks/get",
    "tasks/result",
    "tasks/update",
    "tasks/cancel",
    "subscriptions/listen",
    "x/unknown",
    "\\u0078/\\/é",
];
const SERVER_ASKS: &[&str] =
    &["ping", "roots/list", "elicitation/create", "tasks/get", "x/unknown", "sampling/none"];
const TOLD: &[&str] = &[
    "notifications/initialized",
    "notifications/cancelled",
    "notifications/progress",
    "notifications/message",
    "notifications/resources/updated",
    "notifications/resources/list_changed",
    "notifications/tools/list_changed",
    "notifications/prompts/list_changed",
    "notifications/roots/list_changed",
    "notifications/elicitation/complete",
    "notifications/subscriptions/acknowledged",
    "notifications/tasks/status",
    "notifications/unknown",
    "\\u006e",
];
/// Numbers that differ from what their value is written as, or have no value that every reader knows.
const NUMBERS: &[&str] = &[
    "0",
    "-0",
    "1.0",
    "1.00",
    "1e2",
    "1E+2",
    "-1.5e-10",
    "9007199254740993",
    "12345678901234567890123",
    "1e400",
    "0.1e1",
];
/// Parts of strings: escapes where none is needed, none where others escape, and a half of a pair.
const PIECES: &[&str] = &[
    "a",
    "Z",
    " ",
    "é",
    "\\u00e9",
    "\\u00E9",
    "e\u{301}",
    "🙂",
    "\\ud83d\\ude42",
    "\\/",
    "/",
    "\\\"",
    "\\\\",
    "\\n",
    "\\t",
    "\\u0000",
    "\u{2028}",
    "\\u2028",
    "\u{feff}",
    "\u{202e}",
    "\u{7f}",
    "<",
    "\\ud800",
    "@",
    "{",
    "]",
    ":",
];
/// Names that policy does not look for.
const KEYS: &[&str] = &[
    "a",
    "B",
    "",
    "é",
    "\\u00e9",
    "x-y/z",
    "$schema",
    "annotations",
    "icons",
    "execution",
    "nextCursor",
    "cursor",
    "uri",
    "ttlMs",
    "cacheScope",
    "resultType",
    "requestState",
    "task",
    "level",
    "__proto__",
    "io.example/x",
    "traceparent",
];

fn space() -> impl Strategy<Value = &'static str> {
    select(&["", "", "", " ", "\t", "  "][..])
}

fn string() -> impl Strategy<Value = String> {
    prop_oneof![
        prop::collection::vec(select(PIECES), 0..8).prop_map(|pieces| format!("\"{}\"", pieces.concat())),
        "[^\"\\\\\\p{Cc}]{0,12}".prop_map(|text| format!("\"{text}\"")),
    ]
}

/// An object of these members, with more that nobody knows, in any order and with any space between.
fn object(
    known: Vec<(&'static str, BoxedStrategy<String>)>,
    more: BoxedStrategy<String>,
) -> BoxedStrategy<String> {
    let (keys, values): (Vec<_>, Vec<_>) = known.into_iter().unzip();
    let unknown = prop::collection::btree_map(select(KEYS), more, 0..4);
    let parts = (values, unknown, any::<prop::sample::Index>(), space(), space(), space());
    parts
        .prop_map(move |(values, unknown, turn, outer, before, behind)| {
            let known = keys.iter().copied().zip(values);
            let mut members: Vec<String> = known
                .chain(unknown)
                .map(|(key, value)| format!("{before}\"{key}\"{behind}:{before}{value}{behind}"))
                .collect();
            let turn = turn.index(members.len().max(1));
            members.rotate_left(turn);
            format!("{{{outer}{}}}", members.join(","))
        })
        .boxed()
}

fn value() -> BoxedStrategy<String> {
    let leaf = prop_oneof![
        select(NUMBERS).prop_map(str::to_owned),
        any::<i64>().prop_map(|number| number.to_string()),
        any::<f64>()
            .prop_filter("JSON has no such", |number| number.is_finite())
            .prop_map(|number| format!("{number:e}")),
        string(),
        select(&["true", "false", "null", "{}", "[ ]"][..]).prop_map(str::to_owned),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let array = (prop::collection::vec(inner.clone(), 0..4), space())
            .prop_map(|(values, space)| format!("[{space}{}{space}]", values.join(&format!("{space},"))));
        prop_oneof![array, object(Vec::new(), inner.boxed())]
    })
    .boxed()
}

fn exactly(text: &'static str) -> BoxedStrategy<String> {
    Just(text.to_owned()).boxed()
}

fn line(known: Vec<(&'static str, BoxedStrategy<String>)>) -> BoxedStrategy<String> {
    let version = exactly("\"2.0\"");
    let known = [("jsonrpc", version)].into_iter().chain(known).collect();
    (object(known, value()), space(), space())
        .prop_map(|(object, before, behind)| format!("{before}{object}{behind}"))
        .boxed()
}

fn method(methods: &'static [&'static str]) -> BoxedStrategy<String> {
    select(methods).prop_map(|method| format!("\"{method}\"")).boxed()
}

fn meta() -> BoxedStrategy<String> {
    let version = "io.modelcontextprotocol/protocolVersion";
    let capabilities = "io.modelcontextprotocol/clientCapabilities";
    object(
        vec![
            ("progressToken", prop_oneof![string(), select(NUMBERS).prop_map(str::to_owned)].boxed()),
            (version, exactly("\"2026-07-28\"")),
            (capabilities, object(vec![("elicitation", value())], value())),
        ],
        value(),
    )
}

fn params() -> BoxedStrategy<String> {
    prop_oneof![
        object(vec![("name", string_of_a_name()), ("arguments", value()), ("_meta", meta())], value()),
        object(vec![("name", string_of_a_name()), ("arguments", object(Vec::new(), value()))], value()),
        object(vec![("name", string_of_a_name()), ("inputResponses", value())], value()),
    ]
    .boxed()
}

fn string_of_a_name() -> BoxedStrategy<String> {
    select(&["\"tool\"", "\"\\u0074ool\"", "\"ü-🙂\""][..]).prop_map(str::to_owned).boxed()
}

fn answer() -> BoxedStrategy<String> {
    let id = || ("id", exactly(ID));
    let tool = object(vec![("name", string_of_a_name()), ("inputSchema", value())], value());
    let tools = prop::collection::vec(tool, 0..3).prop_map(|tools| format!("[{}]", tools.join(" ,"))).boxed();
    let announced = object(vec![("listChanged", exactly("true"))], value());
    let capabilities = object(vec![("tools", announced)], value());
    let asks = object(vec![("method", exactly("\"elicitation/create\"")), ("params", value())], value());
    let inputs = object(vec![("one", asks)], exactly("{\"method\":\"roots/list\"}"));
    let result = prop_oneof![
        object(vec![("content", value()), ("structuredContent", value()), ("isError", value())], value()),
        object(vec![("tools", tools)], value()),
        object(vec![("capabilities", capabilities), ("serverInfo", value())], value()),
        object(vec![("inputRequests", inputs)], value()),
        object(Vec::new(), value()),
    ];
    let error = object(vec![("code", value()), ("message", string().boxed()), ("data", value())], value());
    prop_oneof![4 => line(vec![id(), ("result", result.boxed())]), 1 => line(vec![id(), ("error", error)])]
        .boxed()
}

fn asks(methods: &'static [&'static str]) -> impl Strategy<Value = (String, String, usize)> {
    let request = line(vec![("id", exactly(ID)), ("method", method(methods)), ("params", params())]);
    (request, answer(), 0..SPELLINGS)
}

/// Anything that either side says and policy leaves alone.
pub(super) fn exchange() -> impl Strategy<Value = Exchange> {
    let told = || {
        prop_oneof![
            line(vec![("method", method(TOLD)), ("params", params())]),
            line(vec![("method", method(TOLD)), ("params", value())]),
            line(vec![("method", method(TOLD))]),
        ]
    };
    prop_oneof![
        asks(AGENT_ASKS).prop_map(|(request, answer, spelling)| Exchange::AgentAsks {
            request,
            answer,
            spelling
        }),
        told().prop_map(Exchange::AgentTells),
        asks(SERVER_ASKS).prop_map(|(request, answer, spelling)| Exchange::ServerAsks {
            request,
            answer,
            spelling
        }),
        told().prop_map(Exchange::ServerTells),
    ]
}

const SPELLINGS: usize = 7;

/// The id of this number in one of its spellings, no two of which are the same id.
pub(super) fn id(number: usize, spelling: usize) -> String {
    match spelling {
        0 => format!("{number}"),
        1 => format!("\"{number}\""),
        2 => format!("-{number}.50"),
        3 => format!("{number}E+00"),
        4 => format!("\"\\u0061\\/{number}🙂\""),
        5 => format!("9007199254740993{number:05}"),
        _ => format!("\"\\ud800{number}\""),
    }
}
