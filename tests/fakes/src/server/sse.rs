//! HTTP with server-sent events (revision 2024-11-05): a stream for what the server says, named by a session, and an
//! address for what it is told.

use std::collections::HashMap;
use std::io::{self, BufReader, Write};
use std::net::TcpStream;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::http_messages::{Request, Response, event_chunk};
use super::listening::{self, die};
use super::service::{Reaction, Service};

const STREAM: &str = "/sse";
const MESSAGES: &str = "/messages?session=";

/// Writes the port to its file and serves until the process is killed; returns the exit status.
pub(crate) fn serve(service: Service, port_file: &Path) -> io::Result<u8> {
    let endpoint = Arc::new(Endpoint { service, streams: Mutex::default(), opened: AtomicUsize::new(0) });
    listening::serve(port_file, move |connection| endpoint.converse(connection))
}

struct Endpoint {
    service: Service,
    streams: Mutex<HashMap<String, TcpStream>>,
    opened: AtomicUsize,
}

impl Endpoint {
    fn converse(&self, mut connection: &TcpStream) -> io::Result<()> {
        let mut reader = BufReader::new(connection);
        while let Some(request) = Request::read(&mut reader)? {
            self.service.log.append(&request.event())?;
            match (request.method.as_str(), request.path.as_str(), request.path.strip_prefix(MESSAGES)) {
                ("GET", STREAM, _) => return self.stream(connection, &mut reader),
                ("POST", _, Some(session)) if self.streams().contains_key(session) => {
                    Response::empty("202 Accepted").write(&mut connection)?;
                    self.take(session, &request.body)?;
                }
                (_, STREAM, _) => {
                    let response = Response::empty("405 Method Not Allowed").header("Allow", "GET");
                    response.write(&mut connection)?;
                }
                _ => Response::empty("404 Not Found").write(&mut connection)?,
            }
            if request.closes() {
                break;
            }
        }
        Ok(())
    }

    /// Opens a session, which lasts until its client hangs up.
    fn stream(&self, mut connection: &TcpStream, reader: &mut BufReader<&TcpStream>) -> io::Result<()> {
        let session = (self.opened.fetch_add(1, Ordering::Relaxed) + 1).to_string();
        Response::stream().write_head(&mut connection)?;
        // Before its client knows of it: that may write at once.
        self.streams().insert(session.clone(), connection.try_clone()?);
        let told = connection.write_all(&event_chunk("endpoint", &format!("{MESSAGES}{session}")));
        let end = told.and_then(|()| Request::read(reader));
        self.streams().remove(&session);
        end.map(drop)
    }

    /// Takes a message; what it is answered goes to the stream, if that is still there.
    fn take(&self, session: &str, message: &[u8]) -> io::Result<()> {
        let (reply, last) = match self.service.react(message)? {
            Reaction::Hang | Reaction::Accept => return Ok(()),
            Reaction::Reply(reply) => (reply, false),
            Reaction::LastReply(reply) => (reply, true),
        };
        if let Some(mut stream) = self.streams().get(session) {
            stream.write_all(&event_chunk("message", &reply.to_string()))?;
        }
        if last {
            die();
        }
        Ok(())
    }

    fn streams(&self) -> MutexGuard<'_, HashMap<String, TcpStream>> {
        self.streams.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
