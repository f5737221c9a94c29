//! Names of servers, legal in every agent.

use alloc::string::String;
use core::fmt;

/// The name of a server, legal in every agent, so that nothing is ever rewritten at launch.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(String);

/// Why a word is no server name. Each sentence fits behind "the name `X` ".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameError {
    /// Nothing was written.
    Empty,
    /// It does not begin with a letter.
    Start,
    /// It does not end with a letter or digit.
    End,
    /// A character that some agent rewrites or refuses (cases B05, B06).
    Character(char),
    /// More than 32 characters: agents build `mcp__NAME__TOOL`, which model APIs limit to 64 (case B09).
    TooLong,
    /// `__` separates server and tool in the names that agents build.
    DoubleUnderscore,
    /// An agent drops a server of this name without a word, or squire uses it itself.
    Reserved,
}

impl fmt::Display for NameError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => formatter.write_str("is empty"),
            Self::Start => formatter.write_str("does not begin with a letter"),
            Self::End => formatter.write_str("does not end with a letter or digit"),
            Self::Character(found) => {
                write!(formatter, "holds {found:?}; letters, digits, `-` and `_` are legal in every agent")
            }
            Self::TooLong => formatter.write_str("is longer than 32 characters"),
            Self::DoubleUnderscore => {
                formatter.write_str("holds `__`, which agents put between server and tool")
            }
            Self::Reserved => formatter.write_str("is reserved: an agent or squire itself uses it"),
        }
    }
}

impl Name {
    /// The built-in server.
    pub const SQUIRE: &'static str = "squire";
    /// Names that agents drop without a word: Claude Code 2.1.197 the first three, Codex 0.171.0 the last.
    pub const RESERVED: &'static [&'static str] =
        &[Self::SQUIRE, "workspace", "computer-use", "claude-in-chrome", "codex_apps"];

    /// Checks a name as written: `^[A-Za-z]([A-Za-z0-9_-]{0,30}[A-Za-z0-9])?$`, no `__`, not reserved.
    pub fn parse(text: &str) -> Result<Self, NameError> {
        let Some(first) = text.chars().next() else { return Err(NameError::Empty) };
        if let Some(strange) = text.chars().find(|c| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))) {
            return Err(NameError::Character(strange));
        }
        if !first.is_ascii_alphabetic() {
            return Err(NameError::Start);
        }
        if !text.ends_with(|last: char| last.is_ascii_alphanumeric()) {
            return Err(NameError::End);
        }
        if text.len() > 32 {
            return Err(NameError::TooLong);
        }
        if text.contains("__") {
            return Err(NameError::DoubleUnderscore);
        }
        if Self::RESERVED.iter().any(|reserved| collides(reserved, text)) {
            return Err(NameError::Reserved);
        }
        Ok(Self(text.into()))
    }

    /// The name of the built-in server, which no declaration can have.
    pub fn squire() -> Self {
        Self(Self::SQUIRE.into())
    }

    /// The name as written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// Whether some agent would take two names for one: equal after lower-casing and `-` to `_` (case B07).
pub(crate) fn collides(one: &str, other: &str) -> bool {
    one.bytes().map(fold).eq(other.bytes().map(fold))
}

fn fold(byte: u8) -> u8 {
    if byte == b'-' { b'_' } else { byte.to_ascii_lowercase() }
}

impl Name {
    /// Whether some agent would take the two for one: equal after lower-casing and `-` to `_` (case B07).
    pub fn collides(&self, other: &Self) -> bool {
        collides(&self.0, &other.0)
    }

    /// The one spelling of all names that collide.
    pub fn folded(&self) -> String {
        self.0.bytes().map(fold).map(char::from).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_legal_in_every_agent() {
        for good in ["a", "A1", "my-db", "my_db", &"x".repeat(32)] {
            assert_eq!(Name::parse(good).map(|name| name.0).as_deref(), Ok(good));
        }
        for (bad, reason) in [
            ("", NameError::Empty),
            ("acme.search", NameError::Character('.')), // B05
            ("Sales Force", NameError::Character(' ')), // B06
            ("@acme/db", NameError::Character('@')),    // B06
            ("Ünï", NameError::Character('Ü')),
            ("1st", NameError::Start),
            ("-a", NameError::Start),
            ("a-", NameError::End),
            ("a__b", NameError::DoubleUnderscore),
            (&"x".repeat(33), NameError::TooLong), // B09
            ("squire", NameError::Reserved),
            ("Computer_Use", NameError::Reserved),
        ] {
            assert_eq!(Name::parse(bad), Err(reason), "{bad:?}");
        }
    }

    #[test]
    fn b07_names_that_an_agent_would_take_for_one_collide() {
        let name = |text| Name::parse(text).unwrap();
        assert!(name("my-db").collides(&name("My_DB")));
        assert!(!name("my-db").collides(&name("mydb")));
    }
}
