//! The client of an MCP server: it greets, lists the tools, calls one, and leaves nothing behind.
//!
//! It speaks both eras of the protocol ([`hello`]): sessions that begin with `initialize`, and 2026-07-28, in which each
//! request says what it is ([`Client::request`]).

mod call;
mod hello;
mod tools;

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

use super::connection::{Connection, Wait};
use super::error::Error;
use super::groups::Groups;
use super::http::Remote;
use super::mend::mend;
use super::message::{self, ErrorObject, Flaw, Incoming, METHOD_NOT_FOUND};
use super::noise::Noise;
use super::stdio::Process;
use super::{ABORT_GRACE, CLOSE_GRACE, MODERN_REVISION};

pub use call::{Called, Progress, Watch};
pub use hello::{Hello, Identity};
pub use tools::{Tool, Tools};

/// What a gateway says on stderr of a line of the server's that is no message, behind the server's name.
const NO_MESSAGE: &str = ": no message: ";

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

/// What a server said about itself. All of it is as it came: show it through
/// [`printable`](crate::printable::printable), except for the warnings, which are printable sentences.
#[derive(Debug, Clone, PartialEq)]
pub struct Listing {
    /// What it greeted with.
    pub hello: Hello,
    /// Its tools.
    pub tools: Tools,
    /// What works now but is not right.
    pub warnings: Vec<String>,
}

/// Connects to `endpoint`, asks for its tools and leaves. `timeout` bounds all of it up to the last answer (at most
/// a day). Ending the process of a stdio server may take 1.5 s more after a failure and 4 s after a success, and
/// nothing of it is left when this returns (cases B40, B57). Until then its process group is among `groups`.
pub fn inspect(endpoint: &Endpoint, timeout: Duration, groups: &Groups) -> Result<Listing, Error> {
    let mut client = Client::open(endpoint, timeout, groups)?;
    let outcome = client.greet().and_then(|hello| Ok((client.tools(&hello)?, hello)));
    let is_done = outcome.is_ok();
    let Left { warnings, output } = client.close(is_done);
    let (tools, hello) = outcome.map_err(|error| error.with_output(output))?;
    let warnings = [hello.warnings(), tools.warnings(), warnings].concat();
    Ok(Listing { hello, tools, warnings })
}

/// A conversation with one server. Whoever drops one without closing it leaves nothing behind.
pub struct Client {
    connection: Box<dyn Connection>,
    wait: Wait,
    began: Instant,
    requests: u64,
    noise: Noise,
    /// Whether it speaks the revision without sessions.
    is_modern: bool,
}

/// What a conversation leaves: what was not right in it, in printable sentences.
#[derive(Debug, Default)]
pub struct Left {
    /// All of it.
    pub warnings: Vec<String>,
    /// A clause about the lines of the server's output that were no messages, which is among the warnings, too.
    pub output: Option<String>,
}

impl Client {
    /// Begins to connect: starts the program of a stdio server. What follows has this much time, until
    /// [`allow`](Self::allow) gives it more.
    pub fn open(endpoint: &Endpoint, limit: Duration, groups: &Groups) -> Result<Self, Error> {
        let (began, wait) = (Instant::now(), Wait::new(limit));
        let connection: Box<dyn Connection> = match endpoint {
            Endpoint::Stdio { command, args, env, directory } => {
                Box::new(Process::start(command, args, env, directory.as_deref(), groups)?)
            }
            Endpoint::Http { url, headers } => Box::new(Remote::new(url, headers)?),
            Endpoint::Sse { .. } => return Err(Error::LegacySse),
        };
        Ok(Self::over(connection, wait, began))
    }

    fn over(connection: Box<dyn Connection>, wait: Wait, began: Instant) -> Self {
        Self { connection, wait, began, requests: 0, noise: Noise::default(), is_modern: false }
    }

    /// Gives what follows this much time, at most a day.
    pub fn allow(&mut self, limit: Duration) {
        self.wait = Wait::new(limit);
    }

    /// Ends the conversation, patiently where all went well.
    pub fn close(self, is_done: bool) -> Left {
        let Self { connection, mut noise, .. } = self;
        let said = connection.close(if is_done { CLOSE_GRACE } else { ABORT_GRACE });
        let mut warnings = Vec::new();
        for line in String::from_utf8_lossy(&said).lines() {
            // Our own gateway's words; a server may say on stderr what it likes.
            let Some(told) = line.strip_prefix("squire: ") else { continue };
            match told.split_once(NO_MESSAGE) {
                Some((_, line)) => noise.add(line.as_bytes()),
                None => warnings.push(crate::printable::excerpt(told.as_bytes(), 500)),
            }
        }
        let output = noise.summary();
        warnings.extend(output.clone());
        Left { warnings, output }
    }

    /// How long an answer of the server takes that asks nothing of it.
    pub fn round_trip(&mut self) -> Result<Duration, Error> {
        let began = Instant::now();
        // A server that has no `ping` answers all the same.
        match self.request(if self.is_modern { "server/discover" } else { "ping" }, Value::Null) {
            Ok(_) | Err(Error::Answered { by_squire: false, .. }) => Ok(began.elapsed()),
            Err(error) => Err(error),
        }
    }

    /// The result of the request `step`. Until it comes, pings are answered, everything else that the server asks
    /// for is refused, and lines that are no messages are collected.
    fn request(&mut self, step: &'static str, params: Value) -> Result<Value, Error> {
        let ours = self.ask(step, params)?;
        let wait = self.wait.during(step);
        loop {
            let line = self.connection.receive(wait)?;
            if let Some(outcome) = self.hear(&line, &ours, wait, &mut |_, _| {})? {
                return outcome.map_err(|error| Error::answered(step, error));
            }
        }
    }

    /// Sends a request; gives its id.
    fn ask(&mut self, step: &'static str, mut params: Value) -> Result<Value, Error> {
        self.requests += 1;
        let ours = Value::from(self.requests);
        if self.is_modern {
            describe(&mut params);
        }
        self.connection.send(&message::request(ours.clone(), step, params), self.wait.during(step))?;
        Ok(ours)
    }

    /// Takes one line: the outcome of the request `ours`, where it is that.
    fn hear(
        &mut self,
        line: &[u8],
        ours: &Value,
        wait: Wait,
        notified: &mut dyn FnMut(&str, &Value),
    ) -> Result<Option<Result<Value, ErrorObject>>, Error> {
        match read(line) {
            Incoming::Response { id, outcome } if id == *ours || (id.is_null() && outcome.is_err()) => {
                return Ok(Some(outcome));
            }
            Incoming::Request { id, method, .. } => self.connection.send(&answer(id, &method), wait)?,
            Incoming::Notification { method, params } => notified(&method, &params),
            // An answer that nobody asked for is as much out of place as a log line.
            Incoming::Response { .. } | Incoming::Garbage(_) => self.noise.add(line),
        }
        Ok(None)
    }
}

/// Says in a request of 2026-07-28 which revision it is of, and who asks.
fn describe(params: &mut Value) {
    if !params.is_object() {
        *params = Value::Object(Map::new());
    }
    let meta = &mut params["_meta"];
    if !meta.is_object() {
        *meta = json!({});
    }
    meta["io.modelcontextprotocol/protocolVersion"] = MODERN_REVISION.into();
    meta["io.modelcontextprotocol/clientInfo"] = ourselves();
    meta["io.modelcontextprotocol/clientCapabilities"] = json!({});
}

fn ourselves() -> Value {
    json!({ "name": "squire", "version": env!("CARGO_PKG_VERSION") })
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

fn answer(id: Value, method: &str) -> Value {
    if method == "ping" {
        return message::response(id, json!({}));
    }
    message::error(id, METHOD_NOT_FOUND, "squire only asks: it offers nothing to a server")
}

fn string(value: &Value, pointer: &str) -> Option<String> {
    value.pointer(pointer).and_then(Value::as_str).map(str::to_owned)
}

#[cfg(test)]
mod tests;
