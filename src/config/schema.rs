//! What a `squire.toml` declares, as typed values that know where they stand.

use std::path::PathBuf;
use std::time::Duration;

use squire_strategies::{Name, Route, Text};

use super::problem::Place;

/// A value and where it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Located<T> {
    /// The value.
    pub value: T,
    /// Where its key, or it itself, begins.
    pub place: Place,
}

/// Who wrote a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LayerKind {
    /// The user, in the config directory.
    User,
    /// A repository.
    Project,
}

impl LayerKind {
    /// The word for it in output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Project => "project",
        }
    }
}

/// One source of declarations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layer {
    /// Who wrote it.
    pub kind: LayerKind,
    /// The file.
    pub path: PathBuf,
    /// What it declares.
    pub declarations: Declarations,
}

/// The content of one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Declarations {
    /// `[servers.NAME]`, in the order of the file.
    pub servers: Vec<Declaration>,
    /// `[profiles.NAME]`, in the order of the file.
    pub profiles: Vec<Profile>,
    /// `[servers.squire] disabled = true`: the built-in server is off.
    pub builtin_disabled: bool,
}

/// How a server is spoken to, as written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A program.
    Stdio,
    /// Streamable HTTP.
    Http,
    /// HTTP with server-sent events.
    Sse,
}

/// `[servers.NAME]`: what is written there; what is not written is `None`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Declaration {
    /// The server's name.
    pub name: Name,
    /// Where the table begins.
    pub place: Place,
    /// `transport`.
    pub transport: Option<Located<Kind>>,
    /// `command`, a string or an array.
    pub command: Option<Located<Vec<Text>>>,
    /// `args`.
    pub args: Option<Located<Vec<Text>>>,
    /// `env`.
    pub env: Option<Located<Vec<(String, Text)>>>,
    /// `inherit_env`.
    pub inherit_env: Option<Located<Vec<String>>>,
    /// `cwd`.
    pub cwd: Option<Located<Text>>,
    /// `url`.
    pub url: Option<Located<Text>>,
    /// `headers`.
    pub headers: Option<Located<Vec<(String, Text)>>>,
    /// `timeout`.
    pub timeout: Option<Located<Duration>>,
    /// `startup_timeout`.
    pub startup_timeout: Option<Located<Duration>>,
    /// `description`.
    pub description: Option<Located<String>>,
    /// `disabled`.
    pub disabled: Option<Located<bool>>,
    /// `route`.
    pub route: Option<Located<Route>>,
    /// Known fields that only the relay will act on; a server that has one is left out until then.
    pub needs_relay: Vec<Located<&'static str>>,
}

/// `[profiles.NAME]`: a named selection of servers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    /// Its name.
    pub name: String,
    /// Where the table begins.
    pub place: Place,
    /// The profiles whose servers come first.
    pub extends: Vec<Located<String>>,
    /// Its own servers.
    pub servers: Vec<Located<String>>,
    /// Servers whose tools it narrows, which only the relay will do.
    pub narrows: Vec<Located<String>>,
}
