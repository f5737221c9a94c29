//! A fake model on loopback that speaks the wire formats of the real ones.
//!
//! It holds one conversation: while the newest message is no tool result and the wanted tool is offered, it calls
//! it; otherwise it ends the turn and says what came back.

use crate::http::{self, Request, Response};
use serde_json::{Value, json};
use std::io::{self, BufReader};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

mod anthropic;
mod chat;
mod responses;

/// One request for a turn, as the model saw it.
#[derive(Debug, Clone, PartialEq)]
pub struct Turn {
    /// The full names of the tools that the agent offered.
    pub tools: Vec<String>,
    /// The tool that the model called.
    pub called: Option<String>,
    /// The text of the tool result that the request ended with.
    pub result: Option<String>,
}

/// The running endpoint; its threads end with the test program.
#[derive(Debug)]
pub struct Model {
    address: SocketAddr,
    turns: Arc<Mutex<Vec<Turn>>>,
    is_silent: Arc<AtomicBool>,
}

impl Model {
    /// Starts a model that calls the first tool whose full name ends with `wanted`.
    pub fn start(wanted: &'static str) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let model =
            Self { address: listener.local_addr()?, turns: Arc::default(), is_silent: Arc::default() };
        let (turns, is_silent) = (Arc::clone(&model.turns), Arc::clone(&model.is_silent));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (turns, is_silent) = (Arc::clone(&turns), Arc::clone(&is_silent));
                // A client that hangs up early is its own affair.
                thread::spawn(move || {
                    // No tool has a name that ends so.
                    let wanted = || if is_silent.load(Ordering::Relaxed) { " " } else { wanted };
                    serve(&stream, wanted, &turns).ok()
                });
            }
        });
        Ok(model)
    }

    /// The address to point an agent at, without a path.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// From now on it calls nothing, or does again.
    pub fn be_silent(&self, is_silent: bool) {
        self.is_silent.store(is_silent, Ordering::Relaxed);
    }

    /// The turns so far, oldest first.
    pub fn turns(&self) -> Vec<Turn> {
        self.turns.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn serve(stream: &TcpStream, wanted: impl Fn() -> &'static str, turns: &Mutex<Vec<Turn>>) -> io::Result<()> {
    let mut input = BufReader::new(stream);
    while let Some(request) = http::read(&mut input)? {
        let response = answer(&request, wanted(), turns);
        http::write(&mut &*stream, &request, &response)?;
    }
    Ok(())
}

fn answer(request: &Request, wanted: &str, turns: &Mutex<Vec<Turn>>) -> Response {
    let dialect = DIALECTS.iter().find(|dialect| request.path.ends_with(dialect.path));
    let (Some(dialect), Ok(body)) = (dialect, serde_json::from_slice(&request.body)) else {
        // Lists of models and counts of tokens: anything well-formed will do.
        return Response::json(json!({ "data": [], "models": [], "input_tokens": 1 }).to_string());
    };
    let question = (dialect.read)(&body);
    let reply = question.reply(wanted);
    turns.lock().unwrap_or_else(PoisonError::into_inner).push(Turn {
        tools: question.tools.iter().map(Tool::full_name).collect(),
        called: reply.tool().map(Tool::full_name),
        result: question.result,
    });
    (dialect.write)(&body, &reply)
}

/// One wire format.
struct Dialect {
    path: &'static str,
    read: fn(&Value) -> Question,
    write: fn(&Value, &Reply) -> Response,
}

static DIALECTS: [Dialect; 3] = [
    Dialect { path: "/messages", read: anthropic::read, write: anthropic::write },
    Dialect { path: "/responses", read: responses::read, write: responses::write },
    Dialect { path: "/chat/completions", read: chat::read, write: chat::write },
];

/// What a request asks, whatever its wire format.
#[derive(Debug, PartialEq)]
struct Question {
    tools: Vec<Tool>,
    /// The text of the tool result, where the newest message is one.
    result: Option<String>,
}

#[derive(Debug, Clone, PartialEq)]
struct Tool {
    /// Codex groups the tools of one server.
    namespace: Option<String>,
    name: String,
}

impl Tool {
    fn named(name: &Value) -> Self {
        Self { namespace: None, name: text(name) }
    }

    fn full_name(&self) -> String {
        let Self { namespace, name } = self;
        namespace.as_ref().map_or_else(|| name.clone(), |namespace| format!("{namespace}__{name}"))
    }
}

/// What the model does next.
#[derive(Debug, PartialEq)]
enum Reply {
    Call(Tool),
    Say(String),
}

/// The arguments of every call.
const ARGUMENTS: &str = r#"{"text":"hi"}"#;

impl Question {
    fn reply(&self, wanted: &str) -> Reply {
        if let Some(result) = &self.result {
            let start: String = result.chars().take(60).collect();
            return Reply::Say(format!("FINAL {} {start}", result.chars().count()));
        }
        let tool = self.tools.iter().find(|tool| tool.full_name().ends_with(wanted));
        tool.map_or_else(|| Reply::Say("no tool".into()), |tool| Reply::Call(tool.clone()))
    }
}

impl Reply {
    fn tool(&self) -> Option<&Tool> {
        match self {
            Self::Call(tool) => Some(tool),
            Self::Say(_) => None,
        }
    }
}

/// The text inside a tool result, whatever its shape.
fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().map(text).collect(),
        Value::Object(fields) => ["text", "output", "content"]
            .iter()
            .find_map(|key| fields.get(*key))
            .map_or_else(|| value.to_string(), text),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.to_string(),
    }
}

/// A stream of server-sent events, each named after its `type` where it has one.
fn event_stream(events: &[Value]) -> Response {
    let named = |event: &Value| match event["type"].as_str() {
        Some(kind) => format!("event: {kind}\ndata: {event}\n\n"),
        None => format!("data: {event}\n\n"),
    };
    let events: Vec<_> = events.iter().map(named).collect();
    Response { content_type: "text/event-stream", body: events.concat() }
}

#[cfg(test)]
mod tests {
    use super::{Model, Question, Reply, Tool, text};
    use serde_json::json;
    use std::io::{Read, Write};
    use std::net::TcpStream;

    fn question(tools: &[&str], result: Option<&str>) -> Question {
        let tools = tools.iter().map(|name| Tool::named(&json!(name))).collect();
        Question { tools, result: result.map(Into::into) }
    }

    #[test]
    fn the_wanted_tool_is_called() {
        assert_eq!(
            question(&["add", "a_echo"], None).reply("echo"),
            Reply::Call(Tool::named(&json!("a_echo")))
        );
    }

    #[test]
    fn without_the_wanted_tool_the_turn_ends() {
        assert_eq!(question(&["add"], None).reply("echo"), Reply::Say("no tool".into()));
    }

    #[test]
    fn a_result_ends_the_turn() {
        assert_eq!(question(&["echo"], Some("echo:hi")).reply("echo"), Reply::Say("FINAL 7 echo:hi".into()));
    }

    #[test]
    fn the_text_of_a_result_is_found_at_any_depth() {
        assert_eq!(text(&json!([{ "type": "text", "text": "a" }, { "content": [{ "text": "b" }] }])), "ab");
    }

    #[test]
    fn a_turn_is_recorded() {
        let model = Model::start("echo").unwrap();
        let body = json!({ "messages": [], "tools": [{ "name": "echo" }] }).to_string();
        let mut stream = TcpStream::connect(model.address).unwrap();
        write!(stream, "POST /v1/messages HTTP/1.1\r\ncontent-length: {}\r\n\r\n{body}", body.len()).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.contains("tool_use"), "{answer}");
        assert_eq!(model.turns()[0].called.as_deref(), Some("echo"));
    }
}
