//! Servers of a few lines, and [`Way`] to them.

mod eras;
mod failures;
mod sessions;
mod sse;
mod tls;

use std::future::Future;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value as Json;
use tokio::task::LocalSet;
use zeroize::Zeroizing;

use super::target::Transport;
use super::way::Way;
use super::*;
use crate::gateway::lines::Piece;
use crate::secrets::Value;

/// A request as it came.
#[derive(Clone, Debug)]
struct Request {
    /// The method and the path.
    line: String,
    /// The head in lower case.
    head: String,
    body: String,
}

impl Request {
    fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| line.strip_prefix(&format!("{name}: ")))
    }

    fn is(&self, method: &str) -> bool {
        self.body.contains(&format!("\"method\":\"{method}\""))
    }
}

/// What a server was asked, in the order in which it came.
#[derive(Clone)]
struct Server {
    url: String,
    seen: Arc<Mutex<Vec<Request>>>,
}

impl Server {
    /// A server that answers every request, one connection each, as `answer` does.
    fn new(answer: impl Fn(&Request, &mut TcpStream) + Send + Sync + 'static) -> Self {
        Self::at(TcpListener::bind("127.0.0.1:0").unwrap(), answer)
    }

    fn at(listener: TcpListener, answer: impl Fn(&Request, &mut TcpStream) + Send + Sync + 'static) -> Self {
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let seen: Arc<Mutex<Vec<Request>>> = Arc::default();
        let (answer, all) = (Arc::new(answer), Arc::clone(&seen));
        thread::spawn(move || {
            while let Ok((mut stream, _)) = listener.accept() {
                let (answer, all) = (Arc::clone(&answer), Arc::clone(&all));
                thread::spawn(move || {
                    let Some(request) = read_request(&mut stream) else { return };
                    all.lock().unwrap().push(request.clone());
                    answer(&request, &mut stream);
                });
            }
        });
        Self { url, seen }
    }

    fn requests(&self) -> Vec<Request> {
        self.seen.lock().unwrap().clone()
    }

    /// Waits until so many requests have come.
    async fn has_seen(&self, count: usize) -> Vec<Request> {
        let began = Instant::now();
        while self.requests().len() < count {
            assert!(began.elapsed() < Duration::from_secs(10), "{:#?}", self.requests());
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        self.requests()
    }
}

fn read_request(stream: &mut impl Read) -> Option<Request> {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).ok()? == 0 {
            return None;
        }
    }
    let line = head.lines().next()?.trim_end_matches(" HTTP/1.1").to_owned();
    // Values are compared as they came, names in lower case.
    let head: Vec<String> = head
        .lines()
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| format!("{}: {value}", name.to_ascii_lowercase()))
        .collect();
    let request = Request { line, head: head.join("\n"), body: String::new() };
    let length = request.header("content-length").map_or(0, |length| length.parse().unwrap());
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Request { body: String::from_utf8(body).unwrap(), ..request })
}

/// Writes to a client that may have gone.
fn write(stream: &mut impl Write, text: &str) {
    let _ = stream.write_all(text.as_bytes()).and_then(|()| stream.flush());
}

fn reply(stream: &mut impl Write, status: &str, headers: &str, body: &str) {
    let length = body.len();
    write(
        stream,
        &format!("HTTP/1.1 {status}\r\n{headers}Connection: close\r\nContent-Length: {length}\r\n\r\n{body}"),
    );
}

fn json(stream: &mut impl Write, body: &str) {
    reply(stream, "200 OK", "Content-Type: application/json\r\n", body);
}

fn accepted(stream: &mut impl Write) {
    reply(stream, "202 Accepted", "", "");
}

/// Begins a stream that ends with its connection.
fn open_stream(stream: &mut impl Write) {
    write(stream, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n");
}

/// Waits until the other side closes the connection.
fn wait_for_close(stream: &mut TcpStream) {
    stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    let _ = stream.read(&mut [0; 16]);
}

/// The answer to a request, with its own id.
fn answer_to(request: &Request, result: &str) -> String {
    let message: Json = serde_json::from_str(&request.body).unwrap();
    format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, message["id"])
}

const INITIALIZE: &str =
    r#"{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-11-25"}}"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
const HELLO: &str = r#"{"protocolVersion":"2025-06-18","capabilities":{}}"#;

/// Answers `initialize` with a session, notifications with 202, GET with 405, DELETE with 200; false for the rest.
fn is_usual(request: &Request, stream: &mut TcpStream, session: &str) -> bool {
    if request.is("initialize") {
        let headers = format!("Content-Type: application/json\r\nMcp-Session-Id: {session}\r\n");
        reply(stream, "200 OK", &headers, &answer_to(request, HELLO));
    } else if request.line.starts_with("GET") {
        reply(stream, "405 Method Not Allowed", "", "");
    } else if request.line.starts_with("DELETE") {
        reply(stream, "200 OK", "", "");
    } else if !request.body.contains("\"id\"") {
        accepted(stream);
    } else {
        return false;
    }
    true
}

fn target(url: &str, transport: Transport) -> Target {
    let secret = Value::exactly(Zeroizing::new(b"Bearer very-secret".to_vec())).unwrap();
    Target {
        name: "web".into(),
        url: url.into(),
        headers: vec![("Authorization".into(), secret)],
        transport,
        identity: None,
        ca: None,
    }
}

/// A way to a server and what comes from there.
struct Driven {
    way: Way,
    /// What came of the start, until it is looked at.
    came: Option<FromServer>,
    /// How often the server was said to have forgotten what the agent set up.
    came_back: usize,
}

impl Driven {
    fn start(target: Target) -> Self {
        let mut way = Way::new(target);
        let came = way.start();
        Self { way, came, came_back: 0 }
    }

    /// Started, over Streamable HTTP.
    async fn http(server: &Server) -> Self {
        let mut driven = Self::start(target(&server.url, Transport::Http));
        driven.has_started().await;
        driven
    }

    /// The same with a session.
    async fn initialized(server: &Server) -> Self {
        let mut driven = Self::http(server).await;
        driven.send(INITIALIZE);
        assert_eq!(driven.line().await, format!(r#"{{"jsonrpc":"2.0","id":"i","result":{HELLO}}}"#));
        driven.send(INITIALIZED);
        driven
    }

    fn send(&mut self, line: &str) {
        self.way.send(line.as_bytes().to_vec());
    }

    async fn next(&mut self) -> FromServer {
        self.within(Duration::from_secs(20)).await.expect("nothing came")
    }

    async fn within(&mut self, limit: Duration) -> Option<FromServer> {
        if let Some(event) = self.came.take() {
            return Some(event);
        }
        tokio::time::timeout(limit, self.way.hear()).await.ok()
    }

    async fn has_started(&mut self) {
        let event = self.next().await;
        assert!(matches!(event, FromServer::Started), "{event:?}");
    }

    async fn line(&mut self) -> String {
        let mut event = self.next().await;
        while matches!(event, FromServer::CameBack) {
            self.came_back += 1;
            event = self.next().await;
        }
        match event {
            FromServer::Said(Piece::Line(line)) => {
                let text = String::from_utf8(line).unwrap();
                assert!(!text.contains("very-secret"), "{text}");
                text
            }
            other => panic!("{other:?}"),
        }
    }

    /// The message, the id and the word about completion of an error of our own.
    async fn error(&mut self) -> (String, Json, String) {
        let line: Json = serde_json::from_str(&self.line().await).unwrap();
        assert_eq!(line["error"]["code"], squire_relay::code::TRANSPORT);
        let text = |value: &Json| value.as_str().unwrap().to_owned();
        let error = &line["error"];
        (text(&error["message"]), line["id"].clone(), text(&error["data"]["completed"]))
    }

    async fn ended(&mut self) -> String {
        match self.next().await {
            FromServer::Ended(reason) => {
                assert!(!reason.contains("very-secret"), "{reason}");
                self.is_silent().await;
                reason
            }
            other => panic!("{other:?}"),
        }
    }

    /// Nothing more comes for a while.
    async fn is_silent(&mut self) {
        let more = self.within(Duration::from_millis(100)).await;
        assert!(more.is_none(), "{more:?}");
    }
}

fn drive(work: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    LocalSet::new().block_on(&runtime, work);
    runtime.shutdown_background();
}
