//! Declarations out of what other tools write: an entry of a JSON file, a command line, a README's snippet. Pure.
//!
//! [`of_entry`] takes one entry in the shape that most agents share and gives fields of squire's, in which no value of a
//! secret stands: what looks like one is handed over beside them, as is what the reader of a README is to fill in.

mod blank;
mod credential;
mod entry;
mod names;
mod snippet;
mod string;
#[cfg(test)]
mod tests;
mod words;

use toml_edit::Table;

pub use credential::is_credential;
pub use entry::{of_entry, of_entry_of_project};
pub use names::legal;
pub use snippet::{Snippet, of_text};
pub use words::{named_after_address, of_words};

use crate::secrets::Value;

/// What one foreign entry came to.
pub struct Imported {
    /// The fields of `[servers.NAME]`, in the order of the schema.
    pub table: Table,
    /// What the fields refer to and nobody has said yet.
    pub wanted: Vec<Wanted>,
    /// What could not be translated, or means something else here: sentences for the user.
    pub notes: Vec<String>,
}

/// A secret that the fields refer to.
pub struct Wanted {
    /// Its name, as in `${secret:NAME}`.
    pub secret: String,
    /// The field that refers to it, as in `env.TOKEN`.
    pub field: String,
    /// The value, where the entry had it in clear; none where it had a placeholder.
    pub value: Option<Value>,
}
