//! The least that can stand between an agent's pipes and a server over HTTP: a process that posts line by line and
//! passes each answer on before it reads the next, so that it is no measure of pipelined calls.

use std::io::Write;

use super::plain_http::Connection;

/// Tells this program to be one, to the server of this port.
pub(super) const PORT: &str = "SQUIRE_BENCHMARK_BRIDGE";

pub(super) fn pass_on(port: u16) {
    let (mut connection, mut session) = (Connection::open(port), String::new());
    let mut output = std::io::stdout().lock();
    for line in std::io::stdin().lines() {
        let reply = connection.post(&session, &line.unwrap());
        if session.is_empty() {
            session = reply.session;
        }
        if !reply.body.is_empty() {
            output.write_all((reply.body + "\n").as_bytes()).unwrap();
            output.flush().unwrap();
        }
    }
}
