//! Declarations out of what other tools write: their files, an entry of one, a command line, a README's snippet. Pure.
//!
//! [`FORMATS`] has a row for each kind of file, which finds its entries. [`of_entry`] and [`Foreign::translate`] make
//! fields of squire's of one entry, in which no value of a secret stands: what looks like one is handed over beside
//! them, as is what the reader of a README is to fill in. What is not carried over is said, with its line and the reason.

mod blank;
mod credential;
mod dialect;
mod entry;
mod foreign;
mod formats;
mod names;
mod reference;
mod snippet;
mod string;
#[cfg(test)]
mod tests;
mod tree;
mod values;
mod words;

use toml_edit::Table;

pub use credential::is_credential;
pub use entry::{of_entry, of_entry_of_project};
pub use foreign::{Declared, Foreign, Found, Input, Profile, Scope};
pub use formats::{FORMATS, Format, Home, OwnFile, format, recognise};
pub use names::legal;
pub use snippet::{Snippet, of_text};
pub use tree::{Tree, Unread};
pub use words::{named_after_address, of_words};

use super::Place;
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

/// What one entry of a file came to.
pub struct Translated {
    /// The fields of `[servers.NAME]`, in the order of the schema.
    pub table: Table,
    /// What the fields refer to and nobody has said yet.
    pub wanted: Vec<Wanted>,
    /// What was not carried over, or means something else here.
    pub remarks: Vec<Remark>,
}

/// A secret that the fields refer to.
pub struct Wanted {
    /// Its name, as in `${secret:NAME}`.
    pub secret: String,
    /// The field that refers to it, as in `env.TOKEN`.
    pub field: String,
    /// The value, where the entry had it in clear; none where it had a placeholder.
    pub value: Option<Value>,
    /// The file whose content it is, where the entry names one.
    pub file: Option<String>,
}

/// A sentence for the user about one place of a file. No value of a secret is in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    /// Where it is so.
    pub place: Place,
    /// What is so.
    pub sentence: String,
}

/// What the strings of an entry may refer to, beside itself.
pub struct Context<'a> {
    /// The directory of the file, against which it names others.
    pub directory: Option<&'a str>,
    /// The project that the file is of, where it is of one.
    pub workspace: Option<&'a str>,
    /// What the file asks its user for.
    pub inputs: &'a [Input],
    /// Whether a secret of this name is there already and is another one than this value.
    pub is_taken: &'a dyn Fn(&str, Option<&Value>) -> bool,
    /// Whether a credential in clear stays where it is.
    pub keeps_credentials: bool,
}

impl Context<'_> {
    /// Of an entry that stands alone.
    pub const NONE: Self = Self {
        directory: None,
        workspace: None,
        inputs: &[],
        is_taken: &|_, _| false,
        keeps_credentials: false,
    };
}
