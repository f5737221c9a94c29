//! The Streamable HTTP transport, on a port of its own choice.

use std::collections::HashSet;
use std::io::{self, BufReader};
use std::net::TcpStream;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use serde_json::Value;

use super::http_messages::{Request, Response};
use super::listening::{self, die};
use super::mode::Mode;
use super::service::{Reaction, Service};

const SESSION: &str = "Mcp-Session-Id";
const CHALLENGE: &str = r#"Bearer resource_metadata="http://127.0.0.1/meta""#;

/// Writes the port to its file and serves until the process is killed; returns the exit status.
pub(crate) fn serve(service: Service, port_file: &Path) -> io::Result<u8> {
    let endpoint = Arc::new(Endpoint { service, sessions: Mutex::default(), opened: AtomicUsize::new(0) });
    listening::serve(port_file, move |connection| endpoint.converse(connection))
}

struct Endpoint {
    service: Service,
    sessions: Mutex<HashSet<String>>,
    opened: AtomicUsize,
}

impl Endpoint {
    fn converse(&self, mut connection: &TcpStream) -> io::Result<()> {
        let mut reader = BufReader::new(connection);
        while let Some(request) = Request::read(&mut reader)? {
            self.service.log.append(&request.event())?;
            let (response, last) = self.respond(&request)?;
            response.write(&mut connection)?;
            if last {
                die();
            }
            if request.closes() {
                break;
            }
        }
        Ok(())
    }

    /// The response, and whether the process ends with it.
    fn respond(&self, request: &Request) -> io::Result<(Response, bool)> {
        let response = match (&self.service.mode, request.method.as_str()) {
            (Mode::Html, _) => Response::with_body("200 OK", "text/html", "<html>Hello</html>".into()),
            _ if request.path != "/mcp" => Response::empty("404 Not Found"),
            (Mode::Http401, "POST") => {
                Response::empty("401 Unauthorized").header("WWW-Authenticate", CHALLENGE)
            }
            (_, "POST") => return self.post(request),
            (_, "DELETE") => self.close_session(request),
            _ => Response::empty("405 Method Not Allowed").header("Allow", "POST, DELETE"),
        };
        Ok((response, false))
    }

    fn post(&self, request: &Request) -> io::Result<(Response, bool)> {
        let message: Value = serde_json::from_slice(&request.body).unwrap_or_default();
        let opens = message["method"] == "initialize";
        if !opens && self.service.mode != Mode::Modern && !self.has_session(request) {
            return Ok((Response::empty("404 Not Found"), false));
        }
        let (reply, last) = match self.service.react(&request.body)? {
            Reaction::Hang => loop {
                thread::park();
            },
            Reaction::Accept => return Ok((Response::empty("202 Accepted"), false)),
            Reaction::Reply(reply) => (reply, false),
            Reaction::LastReply(reply) => (reply, true),
        };
        let response = if self.service.mode == Mode::SseReply {
            Response::event(&reply)
        } else {
            Response::with_body("200 OK", "application/json", reply.to_string())
        };
        Ok((if opens { response.header(SESSION, &self.open_session()) } else { response }, last))
    }

    fn open_session(&self) -> String {
        let session = format!("session-{}", self.opened.fetch_add(1, Ordering::Relaxed) + 1);
        self.sessions().insert(session.clone());
        session
    }

    fn has_session(&self, request: &Request) -> bool {
        session(request).is_some_and(|session| self.sessions().contains(session))
    }

    fn close_session(&self, request: &Request) -> Response {
        let closed = session(request).is_some_and(|session| self.sessions().remove(session));
        Response::empty(if closed { "200 OK" } else { "404 Not Found" })
    }

    fn sessions(&self) -> MutexGuard<'_, HashSet<String>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn session(request: &Request) -> Option<&str> {
    request.header("mcp-session-id")
}
