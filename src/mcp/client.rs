//! The client that connects to a server, lists its tools and leaves.

use std::collections::HashSet;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};

use super::connection::{Connection, Wait};
use super::error::Error;
use super::groups::Groups;
use super::http::Remote;
use super::mend::mend;
use super::message::{self, Flaw, Incoming, METHOD_NOT_FOUND};
use super::noise::Noise;
use super::stdio::Process;
use super::{ABORT_GRACE, CLOSE_GRACE, OFFERED_REVISION, PAGE_LIMIT, REVISIONS, has_initialize};
use crate::printable::printable;

/// Where a server is. It holds resolved secrets, so it can be neither printed nor compared.
pub enum Endpoint {
    /// A program that speaks on its standard streams.
    Stdio {
        /// The program: a path, or a name that is looked up on the PATH in `env`.
        command: OsString,
        /// Its arguments.
        args: Vec<OsString>,
        /// Its complete environment.
        env: Vec<(OsString, OsString)>,
        /// Its working directory, squire's own where none is given.
        directory: Option<PathBuf>,
    },
    /// A remote server that speaks Streamable HTTP.
    Http {
        /// Its address.
        url: String,
        /// The headers of every request, their names and values.
        headers: Vec<(String, String)>,
    },
    /// A remote server that speaks HTTP with SSE as in revision 2024-11-05: always [`Error::LegacySse`].
    Sse {
        /// Its address.
        url: String,
        /// The headers of every request, their names and values.
        headers: Vec<(String, String)>,
    },
}

/// What a server said about itself. All of it is as it came: show it through [`printable`],
/// except for the warnings, which are printable sentences.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listing {
    /// Who it says it is.
    pub server: Identity,
    /// The protocol revision that it answered with.
    pub protocol: String,
    /// Its advice to the model.
    pub instructions: Option<String>,
    /// Its tools, in its order.
    pub tools: Vec<Tool>,
    /// What works now but is not right.
    pub warnings: Vec<String>,
}

/// The `serverInfo` of a server, with empty strings for what it left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// The name for programs.
    pub name: String,
    /// The version, in no fixed form.
    pub version: String,
    /// The name for people (revision 2025-06-18).
    pub title: Option<String>,
}

/// One tool of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tool {
    /// The name by which it is called.
    pub name: String,
    /// What it says that it does.
    pub description: Option<String>,
    /// What it says about changing anything (`annotations.readOnlyHint`): a hint, never a reason to trust.
    pub read_only: Option<bool>,
}

/// Connects to `endpoint`, asks for its tools and leaves. `timeout` bounds all of it up to the last answer (at most
/// a day). Ending the process of a stdio server may take 1.5 s more after a failure and 4 s after a success, and
/// nothing of it is left when this returns (cases B40, B57). Until then its process group is among `groups`.
pub fn inspect(endpoint: &Endpoint, timeout: Duration, groups: &Groups) -> Result<Listing, Error> {
    let wait = Wait::new(timeout);
    let connection: Box<dyn Connection> = match endpoint {
        Endpoint::Stdio { command, args, env, directory } => {
            Box::new(Process::start(command, args, env, directory.as_deref(), groups)?)
        }
        Endpoint::Http { url, headers } => Box::new(Remote::new(url, headers)?),
        Endpoint::Sse { .. } => return Err(Error::LegacySse),
    };
    let mut client = Client { connection, wait, requests: 0, noise: Noise::default() };
    let outcome = client.list();
    let Client { connection, noise, .. } = client;
    connection.close(if outcome.is_ok() { CLOSE_GRACE } else { ABORT_GRACE });
    outcome.map_err(|error| error.with_output(noise.summary()))
}

struct Client {
    connection: Box<dyn Connection>,
    wait: Wait,
    requests: u64,
    noise: Noise,
}

impl Client {
    fn list(&mut self) -> Result<Listing, Error> {
        let mut hello = self.initialize()?;
        let Some(protocol) = string(&hello, "/protocolVersion") else {
            return Err(Error::Malformed { step: "initialize", expected: "protocolVersion" });
        };
        self.connection.negotiated(&protocol);
        let initialized = message::notification("notifications/initialized", Value::Null);
        self.connection.send(&initialized, self.wait.during("notifications/initialized"))?;

        let mut warnings = Vec::new();
        if !REVISIONS.contains(&protocol.as_str()) {
            let revision = printable(&protocol);
            warnings.push(format!(
                "speaks protocol revision {revision}, which this version of squire does not know"
            ));
        }
        let server = Identity {
            name: string(&hello, "/serverInfo/name").unwrap_or_default(),
            version: string(&hello, "/serverInfo/version").unwrap_or_default(),
            title: string(&hello, "/serverInfo/title"),
        };
        if server.name.is_empty() {
            warnings.push("does not say its name (serverInfo.name), which agents may require".to_owned());
        }
        let tools = if hello.pointer_mut("/capabilities/tools").is_some_and(|tools| !tools.is_null()) {
            self.tools(&mut warnings)?
        } else {
            warnings.push("announces no tools (capabilities.tools), so agents do not ask for any".to_owned());
            Vec::new()
        };
        warnings.extend(self.noise.summary());
        Ok(Listing { server, protocol, instructions: string(&hello, "/instructions"), tools, warnings })
    }

    /// The result of `initialize`. A server that refuses the offered revision and names others is asked once more,
    /// for the newest of them that is known (case B48).
    fn initialize(&mut self) -> Result<Value, Error> {
        let outcome = self.request("initialize", hello(OFFERED_REVISION));
        let Err(Error::Answered { supported, .. }) = &outcome else { return outcome };
        let lower = REVISIONS.into_iter().rev().find(|&revision| {
            revision != OFFERED_REVISION
                && has_initialize(revision)
                && supported.iter().any(|one| one == revision)
        });
        match lower {
            Some(revision) => self.request("initialize", hello(revision)),
            None => outcome,
        }
    }

    /// All pages of `tools/list`: an absent, null or empty cursor ends it, one that was there before is an error
    /// (case B10). A cursor goes back as it came.
    fn tools(&mut self, warnings: &mut Vec<String>) -> Result<Vec<Tool>, Error> {
        let mut tools = Vec::new();
        let mut nameless = 0_usize;
        let mut seen = HashSet::new();
        let mut params = Value::Null;
        for _ in 0..PAGE_LIMIT {
            let mut page = self.request("tools/list", params)?;
            let Some(entries) = page.get("tools").and_then(Value::as_array) else {
                return Err(Error::Malformed { step: "tools/list", expected: "array `tools`" });
            };
            for entry in entries {
                match tool(entry) {
                    Some(tool) => tools.push(tool),
                    None => nameless += 1,
                }
            }
            let cursor = page.get_mut("nextCursor").map_or(Value::Null, Value::take);
            if cursor.is_null() || cursor == "" {
                if nameless > 0 {
                    warnings.push(format!("{nameless} of its tools have no name and cannot be called"));
                }
                return Ok(tools);
            }
            if !seen.insert(cursor.to_string()) {
                return Err(Error::RepeatedCursor { cursor: cursor.to_string() });
            }
            params = json!({ "cursor": cursor });
        }
        Err(Error::TooManyPages { limit: PAGE_LIMIT })
    }

    /// The result of the request `step`. Until it comes, pings are answered, everything else that the server asks
    /// for is refused, and lines that are no messages are collected.
    fn request(&mut self, step: &'static str, params: Value) -> Result<Value, Error> {
        let wait = self.wait.during(step);
        self.requests += 1;
        let ours = Value::from(self.requests);
        self.connection.send(&message::request(ours.clone(), step, params), wait)?;
        loop {
            let line = self.connection.receive(wait)?;
            match read(&line) {
                Incoming::Response { id, outcome } if id == ours || (id.is_null() && outcome.is_err()) => {
                    return outcome.map_err(|error| Error::answered(step, error));
                }
                Incoming::Request { id, method, .. } => self.connection.send(&answer(id, &method), wait)?,
                Incoming::Notification { .. } => {}
                // An answer that nobody asked for is as much out of place as a log line.
                Incoming::Response { .. } | Incoming::Garbage(_) => self.noise.add(&line),
            }
        }
    }
}

/// What `line` is, after mending where it is not JSON as it came.
fn read(line: &[u8]) -> Incoming {
    let incoming = message::classify(line);
    if incoming == Incoming::Garbage(Flaw::NotJson) {
        message::classify(mend(line).as_bytes())
    } else {
        incoming
    }
}

fn hello(revision: &str) -> Value {
    json!({
        "protocolVersion": revision,
        "capabilities": {},
        "clientInfo": { "name": "squire", "version": env!("CARGO_PKG_VERSION") },
    })
}

fn answer(id: Value, method: &str) -> Value {
    if method == "ping" {
        return message::response(id, json!({}));
    }
    message::error(id, METHOD_NOT_FOUND, "squire only lists tools: it offers nothing to a server")
}

fn tool(entry: &Value) -> Option<Tool> {
    Some(Tool {
        name: string(entry, "/name").filter(|name| !name.is_empty())?,
        description: string(entry, "/description"),
        read_only: entry.pointer("/annotations/readOnlyHint").and_then(Value::as_bool),
    })
}

fn string(value: &Value, pointer: &str) -> Option<String> {
    value.pointer(pointer).and_then(Value::as_str).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::collections::VecDeque;
    use std::rc::Rc;

    use super::*;

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
            self.ready
                .pop_front()
                .map(Into::into)
                .ok_or_else(|| wait.timed_out(super::super::Evidence::default()))
        }

        fn negotiated(&mut self, _: &str) {}

        fn close(self: Box<Self>, _: Duration) {}
    }

    const HELLO: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"fake","version":"1","title":"Fake"},"instructions":"be kind"}}"#;

    fn list(replies: Vec<Vec<&'static str>>) -> (Result<Listing, Error>, Vec<Value>) {
        let sent = Rc::new(RefCell::new(Vec::new()));
        let script = Script { replies: replies.into(), ready: VecDeque::new(), sent: Rc::clone(&sent) };
        let wait = Wait::new(Duration::from_secs(9));
        let mut client = Client { connection: Box::new(script), wait, requests: 0, noise: Noise::default() };
        let outcome = client.list().map_err(|error| error.with_output(client.noise.summary()));
        drop(client);
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
            listing.server,
            Identity { name: "fake".into(), version: "1".into(), title: Some("Fake".into()) }
        );
        assert_eq!(
            (listing.protocol.as_str(), listing.instructions.as_deref()),
            ("2025-06-18", Some("be kind"))
        );
        let a = Tool { name: "a".into(), description: None, read_only: Some(true) };
        let b = Tool { name: "b".into(), description: Some("B".into()), read_only: None };
        assert_eq!(listing.tools, [a, b]);
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
        assert_eq!(listing.tools[0].name, "cut \u{fffd}");
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

        let modern = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32022,"message":"no","data":{"supported":["2026-07-28"]}}}"#;
        let (outcome, sent) = list(vec![vec![modern]]);
        assert!(outcome.unwrap_err().to_string().contains("it speaks the protocol revisions 2026-07-28"));
        assert_eq!(sent.len(), 1);
    }
}
