//! An HTTP client of nothing but sockets: the least that a call of a remote server can cost.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::thread;

use super::link::{HELLO, INITIALIZED, Link, WINDOW, is_answer, tool_call};

pub(super) struct PlainHttp {
    port: u16,
    session: String,
    /// One where calls go one by one, and as many as are under way at once.
    connections: Vec<Connection>,
    number: usize,
}

impl PlainHttp {
    /// Connects and greets it.
    pub(super) fn begin(port: u16) -> Self {
        let mut connection = Connection::open(port);
        let session = connection.post("", HELLO).session;
        connection.post(&session, INITIALIZED);
        Self { port, session, connections: vec![connection], number: 0 }
    }
}

impl Link for PlainHttp {
    fn call(&mut self) {
        self.number += 1;
        let reply = self.connections[0].post(&self.session, &tool_call(self.number));
        assert!(is_answer(&reply.body), "{}", reply.body);
    }

    fn call_many(&mut self, calls: usize) {
        let Self { port, session, connections, .. } = self;
        connections.resize_with(WINDOW, || Connection::open(*port));
        let session = session.as_str();
        thread::scope(|scope| {
            for connection in connections {
                scope.spawn(move || {
                    for id in 1..=calls / WINDOW {
                        assert!(is_answer(&connection.post(session, &tool_call(id)).body));
                    }
                });
            }
        });
    }

    fn process(&self) -> Option<u32> {
        None
    }
}

/// One connection, which is opened anew where the server has closed it meanwhile.
pub(super) struct Connection {
    port: u16,
    stream: BufReader<TcpStream>,
}

pub(super) struct Reply {
    pub(super) session: String,
    pub(super) body: String,
}

impl Connection {
    pub(super) fn open(port: u16) -> Self {
        let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
        stream.set_nodelay(true).unwrap();
        Self { port, stream: BufReader::new(stream) }
    }

    /// One round trip.
    pub(super) fn post(&mut self, session: &str, message: &str) -> Reply {
        self.try_post(session, message).unwrap_or_else(|| {
            *self = Self::open(self.port);
            self.try_post(session, message).unwrap()
        })
    }

    /// Nothing where the connection is closed.
    fn try_post(&mut self, session: &str, message: &str) -> Option<Reply> {
        let length = message.len();
        let session =
            if session.is_empty() { String::new() } else { format!("Mcp-Session-Id: {session}\r\n") };
        let request = format!(
            "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: application/json, text/event-stream\r\n\
             Content-Type: application/json\r\n{session}Content-Length: {length}\r\n\r\n{message}"
        );
        self.stream.get_mut().write_all(request.as_bytes()).ok()?;
        let mut reply = Reply { session: String::new(), body: String::new() };
        let (mut length, mut is_chunked, mut line) = (0, false, String::new());
        loop {
            line.clear();
            if self.stream.read_line(&mut line).ok()? == 0 {
                return None;
            }
            let header = line.trim_end().to_ascii_lowercase();
            match header.split_once(": ") {
                Some(("content-length", value)) => length = value.parse().unwrap(),
                Some(("transfer-encoding", "chunked")) => is_chunked = true,
                Some(("mcp-session-id", value)) => value.clone_into(&mut reply.session),
                None if header.is_empty() => break,
                _ => {}
            }
        }
        while is_chunked {
            line.clear();
            self.stream.read_line(&mut line).unwrap();
            length = u64::from_str_radix(line.trim_end(), 16).unwrap();
            is_chunked = length > 0;
            self.take(length, &mut reply.body);
            // Its line end.
            self.stream.read_line(&mut line).unwrap();
            length = 0;
        }
        self.take(length, &mut reply.body);
        Some(reply)
    }

    fn take(&mut self, length: u64, body: &mut String) {
        (&mut self.stream).take(length).read_to_string(body).unwrap();
    }
}
