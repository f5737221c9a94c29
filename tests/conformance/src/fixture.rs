//! The server under test: it speaks stdio and has all that the suite asks of a server, in both eras.
//!
//! Without `initialize` it is a server of 2026-07-28, which wants metadata with every request; with it, one of
//! 2025-11-25.

mod asking;
mod content;
mod prompts;
mod resources;
mod rounds;
mod subscriptions;
mod tools;

use std::collections::BTreeMap;
use std::io::{self, BufRead, Write};

use serde_json::{Map, Value, json};

use asking::Asked;
use rounds::Rounds;
use subscriptions::Subscriptions;

const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
const MODERN: &str = "2026-07-28";
/// What says how long it may be kept (2026-07-28, caching).
const CACHEABLE: &[&str] = &[
    "server/discover",
    "tools/list",
    "prompts/list",
    "resources/list",
    "resources/templates/list",
    "resources/read",
];

/// The code, the sentence and the data of an error.
type Failure = (i32, String, Value);

/// What comes of a request.
enum Answer {
    Result(Value),
    /// It comes later, or never.
    Later,
}

/// Serves until stdin ends.
pub fn serve() -> io::Result<()> {
    let mut fixture = Fixture::default();
    for line in io::stdin().lock().split(b'\n') {
        let Ok(message) = serde_json::from_slice(&line?) else { continue };
        fixture.hear(&message);
        let mut stdout = io::stdout().lock();
        for said in fixture.said.drain(..) {
            writeln!(stdout, "{said}")?;
        }
        stdout.flush()?;
    }
    Ok(())
}

#[derive(Default)]
struct Fixture {
    /// Whether the session began with `initialize`.
    has_session: bool,
    said: Vec<Value>,
    /// The requests to the client that wait for its answer, by their ids.
    asked: BTreeMap<String, Asked>,
    asks: u64,
    rounds: Rounds,
    subscriptions: Subscriptions,
    /// The ids of requests that were cancelled.
    cancelled: Vec<Value>,
}

impl Fixture {
    fn hear(&mut self, message: &Value) {
        let (id, method) = (message.get("id"), message["method"].as_str());
        match (id, method) {
            (Some(id), Some(method)) => self.answer(id, method, &message["params"]),
            (Some(id), None) => self.answered(id, message),
            (None, Some("notifications/cancelled")) => {
                let id = message["params"]["requestId"].clone();
                self.subscriptions.end(&id);
                self.cancelled.push(id);
            }
            _ => {}
        }
    }

    fn answer(&mut self, id: &Value, method: &str, params: &Value) {
        let answer = match self.result(id, method, params) {
            Ok(Answer::Later) => return,
            Ok(Answer::Result(result)) => {
                json!({ "jsonrpc": "2.0", "id": id, "result": self.complete(method, result) })
            }
            Err((code, message, data)) => {
                let mut error = json!({ "code": code, "message": message });
                if !data.is_null() {
                    error["data"] = data;
                }
                json!({ "jsonrpc": "2.0", "id": id, "error": error })
            }
        };
        self.said.push(answer);
    }

    /// A result with what every result of the later revision has.
    fn complete(&self, method: &str, mut result: Value) -> Value {
        if let Some(members) = result.as_object_mut().filter(|_| !self.has_session) {
            members.entry("resultType").or_insert(json!("complete"));
            if CACHEABLE.contains(&method) {
                members.entry("ttlMs").or_insert(json!(60_000));
                members.entry("cacheScope").or_insert(json!("private"));
            }
        }
        result
    }

    fn notify(&mut self, method: &str, params: &Value) {
        self.said.push(json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    fn result(&mut self, id: &Value, method: &str, params: &Value) -> Result<Answer, Failure> {
        let meta = &params["_meta"];
        if !self.has_session {
            if method == "initialize" && meta.get(VERSION).is_none() {
                self.has_session = true;
                return Ok(Answer::Result(welcome(params)));
            }
            accept(meta)?;
        }
        let result = match method {
            "server/discover" if !self.has_session => discovered(),
            "subscriptions/listen" if !self.has_session => {
                let acknowledged = self.subscriptions.begin(id, &params["notifications"]);
                self.notify("notifications/subscriptions/acknowledged", &acknowledged);
                return Ok(Answer::Later);
            }
            "ping" | "logging/setLevel" | "resources/subscribe" | "resources/unsubscribe"
                if self.has_session =>
            {
                json!({})
            }
            "tools/list" => tools::list(self.has_session),
            "tools/call" => return self.call(id, params),
            "resources/list" => resources::list(),
            "resources/templates/list" => resources::templates(),
            "resources/read" => resources::read(params, self.has_session)?,
            "prompts/list" => prompts::list(self.has_session),
            "prompts/get" if params["name"] == rounds::PROMPT && !self.has_session => rounds::prompt(params),
            "prompts/get" => prompts::get(params)?,
            "completion/complete" => {
                let begun = params["argument"]["value"].as_str().unwrap_or_default();
                let values: Vec<_> =
                    ["paris", "park", "party"].into_iter().filter(|word| word.starts_with(begun)).collect();
                json!({ "completion": { "total": values.len(), "values": values, "hasMore": false } })
            }
            _ => return Err((-32601, format!("no such method: {method}"), Value::Null)),
        };
        Ok(Answer::Result(result))
    }
}

fn welcome(params: &Value) -> Value {
    json!({
        "protocolVersion": params["protocolVersion"],
        "capabilities": {
            "tools": {},
            "resources": { "subscribe": true, "listChanged": true },
            "prompts": { "listChanged": true },
            "logging": {},
            "completions": {},
        },
        "serverInfo": { "name": "conformance-fixture", "version": "1" },
    })
}

fn discovered() -> Value {
    json!({
        "supportedVersions": [MODERN],
        "capabilities": {
            "tools": { "listChanged": true },
            "resources": {},
            "prompts": { "listChanged": true },
            "completions": {},
        },
        "_meta": { "io.modelcontextprotocol/serverInfo": { "name": "conformance-fixture", "version": "1" } },
    })
}

/// What every request has to say of itself (2026-07-28, metadata).
fn accept(meta: &Value) -> Result<(), Failure> {
    let version = meta[VERSION].as_str();
    let Some(version) = version.filter(|_| meta[CAPABILITIES].is_object()) else {
        return Err((-32602, "the metadata names no revision or no capabilities".into(), Value::Null));
    };
    if version != MODERN {
        let data = json!({ "supported": [MODERN], "requested": version });
        return Err((-32022, format!("unsupported revision: {version}"), data));
    }
    Ok(())
}

fn text(text: &str) -> Value {
    json!({ "content": [{ "type": "text", "text": text }] })
}

fn object(members: impl IntoIterator<Item = (&'static str, Value)>) -> Value {
    Value::Object(members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect::<Map<_, _>>())
}
