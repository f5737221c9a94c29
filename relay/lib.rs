//! What squire's gateway does with each message between an agent and a server. Pure: lines and times in, actions out.
//!
//! [`Relay`] is told of every line of either side, of the server's start and end, and of the time; it answers with
//! [`Action`]s for the one who holds the pipes. A line that policy does not touch goes on as the bytes that came. Where
//! policy touches one, the rest of it keeps its bytes ([`edit`]): a value that was read and written again would lose
//! what no reader knows, and numbers and orders that agents keep caches by.
//!
//! The protocol's revisions from 2024-11-05 to 2026-07-28 differ for the relay in one thing: those with `initialize`
//! have a session that a restarted server has to be brought back into; 2026-07-28 has none.

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod action;
mod answer;
mod canonical;
mod cap;
mod edit;
mod hello;
mod memory;
mod message;
mod pending;
mod pins;
mod policy;
mod relay;
mod settings;
mod supervision;
mod tools;

pub use action::{Action, Call, Note, Outcome, Sealed, Step};
pub use answer::{code, server_error, transport_error};
pub use canonical::{ALGORITHM, hash};
pub use memory::{
    Definition, Learned, List, Memory, Page, Told, definitions, hash_of_instructions, instructions,
};
pub use pins::{Believed, Hashes, Pin};
pub use policy::{Allows, Policy, Seal, Spill};
pub use relay::{Part, Past, Relay};
pub use supervision::backoff;
pub use tools::WITHHELD;

/// Milliseconds on a clock that never goes back; the caller chooses its beginning.
pub type Time = u64;
