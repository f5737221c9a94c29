//! An HTTP front for servers that speak stdio: the conformance suite talks to nothing but HTTP.
//!
//! Each session of the revisions with `initialize` gets a process of its own; 2026-07-28 has no sessions, and one
//! process answers all. Which stream a message belongs to is what stdio does not tell: one that names a subscription
//! goes there, every other to the newest request that waits, else to the stream that a GET opened.

mod http;
mod process;

use std::collections::BTreeMap;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde_json::{Value, json};

use http::Request;
use process::Process;

const SESSION: &str = "mcp-session-id";
const VERSION: &str = "mcp-protocol-version";
const WITH_SESSIONS: &[&str] = &["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
const META_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
/// How often a stream looks whether its client is still there.
const GLANCE: Duration = Duration::from_millis(20);

/// How a server is started.
pub type Start = dyn Fn() -> io::Result<Command> + Send + Sync;

/// A front that serves as long as it lives.
pub struct Front {
    address: SocketAddr,
    shared: Arc<Shared>,
}

struct Shared {
    start: Box<Start>,
    sessions: Mutex<BTreeMap<String, Arc<Process>>>,
    opened: AtomicUsize,
    /// The ends of processes that outlive the end of their input: nobody has to wait for them but the front's own end.
    endings: Mutex<Vec<JoinHandle<()>>>,
}

/// The one process of the revision without sessions.
const STATELESS: &str = "";

impl Front {
    /// Listens on loopback; `start` is asked for a command whenever a process is needed.
    pub fn new(start: Box<Start>) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            start,
            sessions: Mutex::default(),
            opened: AtomicUsize::new(1),
            endings: Mutex::default(),
        });
        let accepting = Arc::clone(&shared);
        thread::spawn(move || {
            for connection in listener.incoming().flatten() {
                let shared = Arc::clone(&accepting);
                // A client that hangs up is no matter of the front's.
                thread::spawn(move || shared.converse(&connection));
            }
        });
        Ok(Self { address, shared })
    }

    /// Where it listens.
    pub fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }
}

impl Drop for Front {
    fn drop(&mut self) {
        let sessions: Vec<_> = std::mem::take(&mut *self.shared.sessions()).into_values().collect();
        for process in sessions {
            self.shared.end(process);
        }
        let endings = std::mem::take(&mut *self.shared.endings());
        for ending in endings {
            // One that panicked has said so.
            ending.join().unwrap_or_default();
        }
    }
}

impl Shared {
    fn sessions(&self) -> MutexGuard<'_, BTreeMap<String, Arc<Process>>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn endings(&self) -> MutexGuard<'_, Vec<JoinHandle<()>>> {
        self.endings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn end(&self, process: Arc<Process>) {
        self.endings().push(thread::spawn(move || drop(process)));
    }

    /// One request a connection.
    fn converse(&self, connection: &TcpStream) -> io::Result<()> {
        let Some(request) = Request::read(connection)? else { return Ok(()) };
        if !is_local(&request) {
            return http::status(connection, 403);
        }
        let session = request.header(SESSION);
        match (request.method.as_str(), session) {
            ("POST", _) => self.post(&request, connection),
            ("GET", Some(session)) => match self.find(session) {
                Some(process) => {
                    let (ticket, lines) = process.open(None);
                    let streamed = stream(connection, None, None, &lines);
                    process.close(ticket);
                    streamed.map(drop)
                }
                None => http::status(connection, 404),
            },
            ("DELETE", Some(session)) => {
                let Some(process) = self.sessions().remove(session) else {
                    return http::status(connection, 404);
                };
                self.end(process);
                http::status(connection, 200)
            }
            _ => http::status(connection, 405),
        }
    }

    fn stateless(&self) -> io::Result<Arc<Process>> {
        let mut sessions = self.sessions();
        if let Some(process) = sessions.get(STATELESS) {
            return Ok(Arc::clone(process));
        }
        let process = Arc::new(Process::start(&mut (self.start)()?)?);
        sessions.insert(STATELESS.into(), Arc::clone(&process));
        Ok(process)
    }

    fn find(&self, session: &str) -> Option<Arc<Process>> {
        self.sessions().get(session).cloned()
    }

    fn post(&self, request: &Request, connection: &TcpStream) -> io::Result<()> {
        let Ok(message) = serde_json::from_slice::<Value>(&request.body) else {
            return http::json(connection, 400, &error(&Value::Null, -32700, "no JSON"));
        };
        let version = request.header(VERSION);
        let told = message["params"]["_meta"][META_VERSION].as_str();
        let has_sessions = request.header(SESSION).is_some()
            || (told.is_none() && version.is_none_or(|version| WITH_SESSIONS.contains(&version)));
        if has_sessions {
            self.in_session(request, &message, connection)
        } else {
            self.alone(request, &message, connection)
        }
    }

    /// A message of 2026-07-28.
    fn alone(&self, request: &Request, message: &Value, connection: &TcpStream) -> io::Result<()> {
        let told = message["params"]["_meta"][META_VERSION].as_str();
        if told.is_some() && told != request.header(VERSION) {
            let sentence = "the header and the metadata name different revisions";
            return http::json(connection, 400, &error(&message["id"], -32020, sentence));
        }
        let process = self.stateless()?;
        let Some(id) = id_of_request(message) else {
            process.say(&request.body)?;
            return http::status(connection, 202);
        };
        let (ticket, lines) = process.open(Some(&id));
        process.say(&request.body)?;
        let is_over = match first(connection, &lines) {
            First::Gone => false,
            First::Ended => http::status(connection, 502).is_ok(),
            First::Line(line) => match serde_json::from_str::<Value>(&line) {
                Ok(answer) if answer.get("method").is_none() => {
                    http::json(connection, status_of(&answer), &line)?;
                    true
                }
                _ => stream(connection, None, Some(line), &lines).unwrap_or(false),
            },
        };
        process.close(ticket);
        if !is_over {
            // On this wire a stream that is closed is the cancellation.
            let params = json!({ "requestId": message["id"], "reason": "the stream was closed" });
            let line = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params });
            process.say(line.to_string().as_bytes())?;
        }
        Ok(())
    }

    /// A message of a revision with sessions.
    fn in_session(&self, request: &Request, message: &Value, connection: &TcpStream) -> io::Result<()> {
        let (session, process) = match request.header(SESSION) {
            Some(session) => match self.find(session) {
                Some(process) => (session.to_owned(), process),
                None => return http::status(connection, 404),
            },
            None if message["method"] == "initialize" => {
                let session = format!("session-{}", self.opened.fetch_add(1, Ordering::Relaxed));
                let process = Arc::new(Process::start(&mut (self.start)()?)?);
                self.sessions().insert(session.clone(), Arc::clone(&process));
                (session, process)
            }
            None => return http::status(connection, 400),
        };
        let Some(id) = id_of_request(message) else {
            process.say(&request.body)?;
            return http::status(connection, 202);
        };
        let (ticket, lines) = process.open(Some(&id));
        process.say(&request.body)?;
        let streamed = stream(connection, Some(&session), None, &lines);
        process.close(ticket);
        streamed.map(drop)
    }
}

enum First {
    Line(String),
    /// The process said no more.
    Ended,
    /// The client is no longer there.
    Gone,
}

fn first(connection: &TcpStream, lines: &Receiver<String>) -> First {
    loop {
        match lines.recv_timeout(GLANCE) {
            Ok(line) => return First::Line(line),
            Err(RecvTimeoutError::Disconnected) => return First::Ended,
            Err(RecvTimeoutError::Timeout) if http::is_gone(connection) => return First::Gone,
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}

/// Writes what comes as events; whether the last of it came.
fn stream(
    connection: &TcpStream,
    session: Option<&str>,
    begun: Option<String>,
    lines: &Receiver<String>,
) -> io::Result<bool> {
    http::begin_events(connection, session)?;
    let mut next = begun;
    loop {
        let line = match next.take() {
            Some(line) => line,
            None => match first(connection, lines) {
                First::Line(line) => line,
                First::Ended => return Ok(true),
                First::Gone => return Ok(false),
            },
        };
        http::event(connection, &line)?;
    }
}

/// The guard against rebinding that the suite asks of every server on loopback.
fn is_local(request: &Request) -> bool {
    let is_own = |host: &str| {
        let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
        ["localhost", "127.0.0.1", "[::1]"].contains(&name)
    };
    request.header("host").is_some_and(is_own)
        && request.header("origin").is_none_or(|origin| origin.strip_prefix("http://").is_some_and(is_own))
}

fn id_of_request(message: &Value) -> Option<String> {
    message.get("method")?;
    message.get("id").map(Value::to_string)
}

/// Revision 2026-07-28, Streamable HTTP: the statuses of errors that the transport knows.
fn status_of(answer: &Value) -> u16 {
    match answer["error"]["code"].as_i64() {
        Some(-32601) => 404,
        Some(-32602 | -32600 | -32022..=-32020) => 400,
        _ => 200,
    }
}

fn error(id: &Value, code: i32, message: &str) -> String {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } }).to_string()
}
