//! Secrets: which ones there are, where their values come from, and the values themselves, for the moment in which the
//! one server that needs them is started.
//!
//! [`Secrets`] is what the user's `secrets.toml` says and holds no value, so it may be looked at and printed. A
//! [`Value`] is fetched by a gateway for its own server, by `squire secret check` to see whether it can be had, and by
//! nobody else; it can't be printed, compared, copied or written down.

mod command;
mod edit;
mod fetch;
mod json_schema;
mod memory;
mod need;
mod sources;
mod store;
mod value;

pub use edit::{NewSource, remove, set, set_all};
pub use fetch::{Failure, Values, fetch, obstacle};
pub use json_schema::json_schema;
pub use memory::guard;
pub use need::{Lack, of_declaration, used};
pub use sources::{Secret, Secrets, Source};
pub use store::{change, holds};
pub use value::Value;

/// The largest value, in bytes: of a file, of a command's output, of stdin.
pub const LARGEST: usize = 64 * 1024;
