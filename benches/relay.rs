//! What stands between an agent and a server costs: `cargo bench --bench relay`, with `-- ROUNDS` behind it for another
//! number of rounds.
//!
//! Three ways to a program: its own pipes; a process that copies bytes with two threads, which is the least that
//! anything in between can cost; and `squire gateway` with its audit. And to a server over streamable HTTP, which
//! answers at once or after 20 ms: an HTTP client of nothing but sockets, which is the least that a call can cost; an
//! ordinary HTTP client, which is what an agent has that speaks HTTP itself; that of sockets in a process of its own,
//! which is the least that stands between pipes and such a server; and squire. Where `SQUIRE_RELAY_PEERS` names a directory that has
//! them, other clients of stdio that connect to HTTP too, and the same ways to a server of somebody else's:
//!
//!     npm install --prefix DIR mcp-remote @modelcontextprotocol/server-everything
//!     python3 -m venv DIR/venv && DIR/venv/bin/pip install mcp-proxy
//!
//! In a round each way has its turns of a few calls, so that whatever else the machine does falls on all of them alike.
//! What is printed is the median over rounds, and what a way adds is compared within its round.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a benchmark writes its files, prints its table and fails by a panic"
)]

#[path = "relay/run.rs"]
mod run;

fn main() {
    run::run();
}
