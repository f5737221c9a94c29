//! Edits of the text of a `squire.toml`. Pure: text in, text out.
//!
//! Each edit is a splice: bytes outside the place that it is about can't change, so comments, order, formatting, line
//! ends, a byte order mark and keys that this version does not know all stay (cases B16, B26). What an edit adds, the
//! opposite edit takes out to the byte.

mod insert;
mod layout;
mod members;
mod remove;
#[cfg(test)]
mod tests;
mod write;

use std::fmt;

use toml_edit::{Document as Parsed, Item, Table, Value};

/// Why a text can't be edited so. Each sentence fits behind the name of the file and `: `.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unfit {
    /// It is no TOML; what is wrong with it the reader tells, with the place.
    NotToml,
    /// Something on the way to the place is no table.
    NoTable(String),
    /// The place holds something else than an array of strings.
    NoArray(String),
    /// It is written in a way that squire reads and does not edit.
    ByHand(String),
}

impl fmt::Display for Unfit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotToml => formatter.write_str("it is no TOML"),
            Self::NoTable(path) => write!(formatter, "`{path}` is no table there"),
            Self::NoArray(path) => write!(formatter, "`{path}` is no array of names there"),
            Self::ByHand(path) => {
                write!(
                    formatter,
                    "`{path}` is written there in a way that squire does not edit; change it by hand"
                )
            }
        }
    }
}

impl std::error::Error for Unfit {}

/// The text of a file while it is edited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document(String);

impl Document {
    /// Takes a text, which must be TOML.
    pub fn parse(text: &str) -> Result<Self, Unfit> {
        parse(text)?;
        Ok(Self(text.to_owned()))
    }

    /// The text as it is now.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Whether something is written at a path, as in `["servers", "github"]`.
    pub fn has(&self, path: &[&str]) -> bool {
        self.get(path).is_some()
    }

    /// What is written at a path.
    pub fn get(&self, path: &[&str]) -> Option<Item> {
        parse(&self.0).ok().and_then(|parsed| find(parsed.as_item(), path).cloned())
    }

    /// The keys of the table at a path, in the order of the file.
    pub fn keys(&self, path: &[&str]) -> Vec<String> {
        let table = self.get(path);
        let keys = table
            .as_ref()
            .and_then(Item::as_table_like)
            .map(|table| table.iter().map(|(key, _)| key.to_owned()).collect());
        keys.unwrap_or_default()
    }

    /// Adds a table that is not there, `[servers.NAME]` or `[profiles.NAME]`, behind the last of its kind; the first of
    /// a kind comes last in the file.
    pub fn insert(&mut self, path: [&str; 2], fields: &Table) -> Result<(), Unfit> {
        self.0 = insert::table(&self.0, path, fields)?;
        Ok(())
    }

    /// Writes a value: in the place of the one that is there, or as a new key of its table, which is made where it is
    /// missing.
    pub fn set(&mut self, path: &[&str], value: &Value) -> Result<(), Unfit> {
        self.0 = insert::value(&self.0, path, value)?;
        Ok(())
    }

    /// Takes out what is written at a path: a value with the comment right above it, or a table with all that is in it
    /// and the comments that touch it. What a blank line sets off is about more than this, and stays. `false` where
    /// nothing is there.
    pub fn remove(&mut self, path: &[&str]) -> Result<bool, Unfit> {
        let removed = remove::item(&self.0, path)?;
        Ok(self.replace(removed))
    }

    /// Takes out the table at a path where nothing is left in it.
    pub fn remove_empty(&mut self, path: &[&str]) -> Result<bool, Unfit> {
        let is_empty =
            self.get(path).as_ref().and_then(Item::as_table_like).is_some_and(toml_edit::TableLike::is_empty);
        if is_empty { self.remove(path) } else { Ok(false) }
    }

    /// Adds a string to the array at a path, which is made where it is missing. `false` where it holds the string.
    pub fn push(&mut self, path: &[&str], string: &str) -> Result<bool, Unfit> {
        let pushed = members::push(&self.0, path, string)?;
        Ok(self.replace(pushed))
    }

    /// Takes a string out of the array at a path. `false` where it does not hold it.
    pub fn pull(&mut self, path: &[&str], string: &str) -> Result<bool, Unfit> {
        let pulled = members::pull(&self.0, path, string)?;
        Ok(self.replace(pulled))
    }

    fn replace(&mut self, text: Option<String>) -> bool {
        let is_new = text.is_some();
        self.0 = text.unwrap_or_else(|| std::mem::take(&mut self.0));
        is_new
    }
}

fn parse(text: &str) -> Result<Parsed<&str>, Unfit> {
    Parsed::parse(text).map_err(|_| Unfit::NotToml)
}

fn find<'a>(item: &'a Item, path: &[&str]) -> Option<&'a Item> {
    match path.split_first() {
        None => Some(item),
        Some((first, rest)) => find(item.as_table_like()?.get(first)?, rest),
    }
}

/// A path as a person writes it.
fn shown(path: &[&str]) -> String {
    path.iter().map(|key| write::key(key)).collect::<Vec<_>>().join(".")
}
