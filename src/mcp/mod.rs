//! The wire: what squire says to an MCP server, and what it says as one.
//!
//! [`message`] knows the shape of JSON-RPC messages and [`lines`] cuts a byte stream into them; both are pure.
//! [`Client`] connects, lists the tools, calls one and leaves: it talks over a connection, which is a
//! child process (stdio) or a remote address (Streamable HTTP, whose event streams have a parser of their own); what
//! of that the gateway needs for its own conversations is in [`web`] and [`events`].
//! [`serve`] is the other side: a small server over any reader and writer, for the built-in server and for the
//! stand-in that explains why a real one could not be started. Nothing here reads the environment, writes a file or prints.

mod client;
mod connection;
mod error;
pub(crate) mod events;
mod groups;
mod http;
pub mod lines;
mod mend;
pub mod message;
mod noise;
mod server;
mod stdio;
pub(crate) mod web;

use std::time::Duration;

pub use client::{
    Called, Client, Endpoint, Hello, Identity, Left, Listing, Progress, Tool, Tools, Watch, inspect,
};
pub use error::{Error, Evidence};
pub use events::{Event, Events};
pub use groups::Groups;
pub use server::{Call, Reply, Service, ServiceTool, refuse, serve};
pub(crate) use stdio::last_lines;

/// Every protocol revision that squire knows, oldest first.
pub const REVISIONS: [&str; 5] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"];

/// The revision that squire offers as a client, and answers as a server to one it does not know: the newest that
/// begins with `initialize` (2026-07-28 has no sessions).
pub const OFFERED_REVISION: &str = "2025-11-25";

/// The newest revision, which has no sessions: each request says what it is.
pub const MODERN_REVISION: &str = "2026-07-28";

/// The longest line, event or body that is accepted from the other side, in bytes.
pub const LINE_LIMIT: usize = 16 * 1024 * 1024;

/// How much of the end of a server's stderr is kept, in bytes (case B46).
pub const STDERR_LIMIT: usize = 64 * 1024;

/// The most pages of one list that are asked for (case B10).
pub const PAGE_LIMIT: usize = 1000;

/// How long each step of an orderly end may take: after stdin is closed, and again after SIGTERM (case B40).
const CLOSE_GRACE: Duration = Duration::from_secs(2);

/// The same after a failure: a server that did not answer in time is not waited for again (case B57).
const ABORT_GRACE: Duration = Duration::from_millis(750);

/// Whether `revision` begins with `initialize`: all that are known but 2026-07-28.
fn has_initialize(revision: &str) -> bool {
    REVISIONS.contains(&revision) && revision <= OFFERED_REVISION
}
