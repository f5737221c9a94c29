//! As much of HTTP/1.1 as the front needs: one request a connection, an answer at once or as events.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// One request.
pub(super) struct Request {
    pub(super) method: String,
    headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
}

impl Request {
    /// Reads one; `None` where the client hung up without a word.
    pub(super) fn read(connection: &TcpStream) -> io::Result<Option<Self>> {
        let mut input = BufReader::new(connection);
        let first = line(&mut input)?;
        let Some((method, _)) = first.split_once(' ') else { return Ok(None) };
        let mut request = Self { method: method.to_owned(), headers: Vec::new(), body: Vec::new() };
        loop {
            let header = line(&mut input)?;
            let Some((name, value)) = header.split_once(':') else { break };
            request.headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        let length = request.header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
        input.take(length).read_to_end(&mut request.body)?;
        Ok(Some(request))
    }

    /// A header by its name in lower case.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }
}

fn line(input: &mut impl BufRead) -> io::Result<String> {
    let mut text = String::new();
    input.read_line(&mut text)?;
    Ok(text.trim_end().to_owned())
}

/// Answers without a body.
pub(super) fn status(mut connection: &TcpStream, status: u16) -> io::Result<()> {
    write!(connection, "HTTP/1.1 {status} -\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
}

/// Answers with one message.
pub(super) fn json(mut connection: &TcpStream, status: u16, body: &str) -> io::Result<()> {
    let length = body.len();
    write!(
        connection,
        "HTTP/1.1 {status} -\r\ncontent-type: application/json\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
    )
}

/// Begins an answer of events, which ends with the connection.
pub(super) fn begin_events(mut connection: &TcpStream, session: Option<&str>) -> io::Result<()> {
    let session = session.map_or_else(String::new, |session| format!("mcp-session-id: {session}\r\n"));
    write!(
        connection,
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncache-control: no-cache\r\n{session}connection: close\r\n\r\n"
    )
}

pub(super) fn event(mut connection: &TcpStream, line: &str) -> io::Result<()> {
    write!(connection, "event: message\ndata: {line}\n\n")
}

/// Whether the client has hung up.
pub(super) fn is_gone(connection: &TcpStream) -> bool {
    let mut byte = [0];
    let waits = connection.set_read_timeout(Some(Duration::from_millis(1)));
    waits.is_err() || matches!(connection.peek(&mut byte), Ok(0))
}
