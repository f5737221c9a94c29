//! What policy says of one server, for the relay to keep.

use alloc::boxed::Box;
use alloc::string::String;

use crate::{Sealed, Time};

/// Whether the agent may see and call a tool of a name.
pub type Allows = Box<dyn Fn(&str) -> bool>;

/// What the audit keeps of a call's arguments, which are JSON text.
pub type Seal = Box<dyn Fn(&str) -> Option<Sealed>>;

/// Policy of one server.
pub struct Policy {
    /// Which tools the agent may see and call.
    pub allows: Allows,
    /// How many bytes the result of a call may have; what is longer is cut.
    pub result_limit: usize,
    /// How long a call may take without a word of progress.
    pub timeout: Time,
    /// How long the server may take until it answers the first request.
    pub startup_timeout: Time,
    /// How many failures in a row end the attempts.
    pub max_restarts: u32,
    /// Whether an agent is told by an answer without tools, and not by an error, that the server is not there: one that
    /// needs all of its servers starts all the same.
    pub stands_in: bool,
    /// Whether lists of tools say which ones are hidden: to squire's own client, and to no agent.
    pub tells_withheld: bool,
    /// What the audit keeps of arguments.
    pub seal: Seal,
    /// The server's name, for sentences.
    pub name: String,
}

/// Where results that were cut are kept whole.
pub trait Spill {
    /// Keeps one; gives the file's path, or `None` where it is not kept.
    fn keep(&mut self, result: &str) -> Option<String>;
}
