//! An HTTP client of nothing but sockets: the least that a call of a remote server can cost.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::thread;

use super::link::{HELLO, INITIALIZED, Link, WINDOW, is_answer, tool_call};

pub(super) struct PlainHttp {
    port: u16,
    session: String,
    /// One where calls go one by one, and as many as are under way at once.
    connections: Vec<BufReader<TcpStream>>,
    number: usize,
}

impl PlainHttp {
    /// Connects and greets it.
    pub(super) fn begin(port: u16) -> Self {
        let mut connection = connect(port);
        let session = post(&mut connection, "", HELLO).session;
        post(&mut connection, &session, INITIALIZED);
        Self { port, session, connections: vec![connection], number: 0 }
    }
}

impl Link for PlainHttp {
    fn call(&mut self) {
        self.number += 1;
        let reply = post(&mut self.connections[0], &self.session, &tool_call(self.number));
        assert!(is_answer(&reply.body), "{}", reply.body);
    }

    fn call_many(&mut self, calls: usize) {
        let Self { port, session, connections, .. } = self;
        connections.resize_with(WINDOW, || connect(*port));
        let session = session.as_str();
        thread::scope(|scope| {
            for connection in connections {
                scope.spawn(move || {
                    for id in 1..=calls / WINDOW {
                        assert!(is_answer(&post(connection, session, &tool_call(id)).body));
                    }
                });
            }
        });
    }

    fn process(&self) -> Option<u32> {
        None
    }
}

pub(super) fn connect(port: u16) -> BufReader<TcpStream> {
    let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
    stream.set_nodelay(true).unwrap();
    BufReader::new(stream)
}

pub(super) struct Reply {
    pub(super) session: String,
    pub(super) body: String,
}

/// One round trip. The connection is kept.
pub(super) fn post(connection: &mut BufReader<TcpStream>, session: &str, message: &str) -> Reply {
    let length = message.len();
    let session = if session.is_empty() { String::new() } else { format!("Mcp-Session-Id: {session}\r\n") };
    let request = format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: application/json, text/event-stream\r\n\
         Content-Type: application/json\r\n{session}Content-Length: {length}\r\n\r\n{message}"
    );
    connection.get_mut().write_all(request.as_bytes()).unwrap();
    let mut reply = Reply { session: String::new(), body: String::new() };
    let (mut length, mut is_chunked, mut line) = (0, false, String::new());
    loop {
        line.clear();
        connection.read_line(&mut line).unwrap();
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
        connection.read_line(&mut line).unwrap();
        length = u64::from_str_radix(line.trim_end(), 16).unwrap();
        is_chunked = length > 0;
        connection.take(length).read_to_string(&mut reply.body).unwrap();
        // Its line end.
        connection.read_line(&mut line).unwrap();
        length = 0;
    }
    connection.take(length).read_to_string(&mut reply.body).unwrap();
    reply
}
