//! Servers as strategies see them: declarations after layers, profile, policy and trust.

use alloc::borrow::Cow;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;
use core::iter;
use core::time::Duration;

use crate::credentials::{is_credential, looks_like_a_token, masked_address, masked_header};
use crate::name::Name;
use crate::text::{Source, Text};

/// How far a declaration is believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tier {
    /// The server inside the squire binary.
    Builtin,
    /// Written by hand by the user.
    Trusted,
    /// Brought by a tool or a repository: off until the user approves it.
    Community,
}

impl Tier {
    /// The word for it in output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Builtin => "builtin",
            Self::Trusted => "trusted",
            Self::Community => "community",
        }
    }
}

/// How the agent reaches a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    /// The agent starts `squire gateway NAME` in the server's place.
    Gateway,
    /// The agent's native entry: its own connection, its own OAuth.
    Direct,
}

impl Route {
    /// The word for it in output and in a declaration.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Gateway => "gateway",
            Self::Direct => "direct",
        }
    }
}

/// A program that speaks MCP over its standard streams. References in it stay references.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stdio {
    /// The program: a name to look up, or a path.
    pub command: Text,
    /// Its arguments, as they are.
    pub args: Vec<Text>,
    /// Variables set for this server alone, in the order of the declaration.
    pub env: Vec<(String, Text)>,
    /// Variables handed on from the launch's environment, beyond the base environment.
    pub inherit_env: Vec<String>,
    /// Where it runs; the launch's working directory where nothing is written.
    pub cwd: Option<Text>,
}

impl Stdio {
    fn texts(&self) -> impl Iterator<Item = (Field<'_>, &Text)> {
        iter::once((Field::plain("command"), &self.command))
            .chain(self.args.iter().map(|text| (Field::plain("args"), text)))
            .chain(self.env.iter().map(|(name, text)| (Field { key: "env", name: Some(name) }, text)))
            .chain(self.cwd.iter().map(|text| (Field::plain("cwd"), text)))
    }
}

/// A server behind an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remote {
    /// The address.
    pub url: Text,
    /// Headers sent with every request, in the order of the declaration.
    pub headers: Vec<(String, Text)>,
}

impl Remote {
    fn texts(&self) -> impl Iterator<Item = (Field<'_>, &Text)> {
        iter::once((Field::plain("url"), &self.url))
            .chain(self.headers.iter().map(|(name, text)| (Field { key: "headers", name: Some(name) }, text)))
    }

    /// The part that probably holds a credential in clear: a header by its name, or a word of the address.
    ///
    /// It may be carried where the user alone can read it, but in no argument and no file of a project (cases B32,
    /// B70), nor where other servers see it (B91).
    pub fn credential(&self) -> Option<String> {
        let header = self
            .headers
            .iter()
            .find(|(name, value)| is_credential(name) || value.literal().is_some_and(looks_like_a_token));
        header.map(|(name, _)| name).map(|name| alloc::format!("the header {name}")).or_else(|| {
            let url = self.url.literal()?;
            let after_scheme = url.split_once("://").map_or(url, |(_, rest)| rest);
            let (host, query) = after_scheme.split_once('?').unwrap_or((after_scheme, ""));
            let authority = host.split('/').next().unwrap_or(host);
            let parameter = query
                .split('&')
                .map(|pair| pair.split('=').next().unwrap_or(pair))
                .find(|name| is_credential(name));
            let user = authority.contains('@').then(|| "the user in its url".into());
            let token = || looks_like_a_token(url).then(|| "a token in its url".into());
            user.or_else(|| parameter.map(|name| alloc::format!("`{name}` in its url"))).or_else(token)
        })
    }
}

/// Where in a declaration a string stands, as in `command` and `env.NAME`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field<'a> {
    key: &'static str,
    name: Option<&'a str>,
}

impl Field<'_> {
    fn plain(key: &'static str) -> Self {
        Self { key, name: None }
    }

    /// A string of the field `key`; of a table such as `env`, that of `name`.
    pub fn of<'a>(key: &'static str, name: Option<&'a str>) -> Field<'a> {
        Field { key, name }
    }

    /// The declaration's field.
    pub fn key(&self) -> &'static str {
        self.key
    }

    /// The name in it, of a variable or a header.
    pub fn name(&self) -> Option<&str> {
        self.name
    }

    /// A string of this field for people: no credential is left in it.
    pub(crate) fn masked(&self, value: &str) -> String {
        match (self.key, self.name) {
            ("url", _) => masked_address(value),
            ("headers", Some(name)) => masked_header(name, value),
            _ => value.to_string(),
        }
    }
}

impl fmt::Display for Field<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.key)?;
        self.name.map_or(Ok(()), |name| write!(formatter, ".{name}"))
    }
}

/// What a server is and how it is spoken to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Transport {
    /// The server inside the squire binary.
    Builtin,
    /// A program on this machine.
    Stdio(Stdio),
    /// Streamable HTTP.
    Http(Remote),
    /// HTTP with server-sent events, deprecated since 2025-03-26 and still common.
    Sse(Remote),
    /// One of these, which the gateway chooses when it starts.
    Dynamic(Dynamic),
}

/// A transport that a reference chooses: `stdio`, `http` or `sse`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dynamic {
    /// The string that comes out as one of the words.
    pub choice: Text,
    /// What runs where it is `stdio`.
    pub stdio: Option<Stdio>,
    /// What is spoken to where it is `http` or `sse`.
    pub remote: Option<Remote>,
}

impl Transport {
    /// The word for it in output and in a declaration.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Builtin => "builtin",
            Self::Stdio(_) => "stdio",
            Self::Http(_) => "http",
            Self::Sse(_) => "sse",
            Self::Dynamic(_) => "dynamic",
        }
    }

    /// The address of a remote server.
    pub fn remote(&self) -> Option<&Remote> {
        match self {
            Self::Http(remote) | Self::Sse(remote) => Some(remote),
            Self::Builtin | Self::Stdio(_) | Self::Dynamic(_) => None,
        }
    }

    /// Every string of the declaration that may hold a reference, with the field that it is written in. Of a
    /// transport that is yet to be chosen these are the strings of all.
    pub fn texts(&self) -> impl Iterator<Item = (Field<'_>, &Text)> {
        let (choice, stdio, remote) = match self {
            Self::Builtin => (None, None, None),
            Self::Stdio(stdio) => (None, Some(stdio), None),
            Self::Http(remote) | Self::Sse(remote) => (None, None, Some(remote)),
            Self::Dynamic(Dynamic { choice, stdio, remote }) => {
                (Some(choice), stdio.as_ref(), remote.as_ref())
            }
        };
        let choice = choice.into_iter().map(|choice| (Field::plain("transport"), choice));
        let stdio = stdio.into_iter().flat_map(Stdio::texts);
        choice.chain(stdio).chain(remote.into_iter().flat_map(Remote::texts))
    }

    /// The transport that a choice comes out as: the fields of the others are dropped before anything looks at their
    /// references. Any other transport is itself. `lookup` is that of [`Text::expand`].
    pub fn chosen(&self, lookup: impl FnMut(&Source) -> Option<String>) -> Result<Cow<'_, Self>, NotChosen> {
        let Self::Dynamic(Dynamic { choice, stdio, remote }) = self else { return Ok(Cow::Borrowed(self)) };
        let word = choice.expand(lookup).map_err(|missing| NotChosen::Unset(missing.to_string()))?;
        let (word, chosen) = match word.as_str() {
            "stdio" => ("stdio", stdio.clone().map(Self::Stdio)),
            "http" | "streamable-http" | "streamable_http" | "streamableHttp" => {
                ("http", remote.clone().map(Self::Http))
            }
            "sse" => ("sse", remote.clone().map(Self::Sse)),
            _ => return Err(NotChosen::NoTransport(choice.to_string())),
        };
        chosen.map(Cow::Owned).ok_or_else(|| NotChosen::NoServer { choice: choice.to_string(), word })
    }
}

/// Why a choice of the transport comes out as none. It shows the choice as it is declared, never a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotChosen {
    /// This reference in it can't be resolved.
    Unset(String),
    /// The choice comes out as no transport.
    NoTransport(String),
    /// The choice comes out as one that the declaration has no server for.
    NoServer {
        /// The choice.
        choice: String,
        /// The transport.
        word: &'static str,
    },
}

impl fmt::Display for NotChosen {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("transport: ")?;
        match self {
            Self::Unset(reference) => write!(formatter, "{reference} is not set"),
            Self::NoTransport(choice) => {
                write!(formatter, "{choice} comes out as none of `stdio`, `http` and `sse`")
            }
            Self::NoServer { choice, word } => {
                write!(formatter, "{choice} comes out as `{word}`, and the declaration has no such server")
            }
        }
    }
}

impl core::error::Error for NotChosen {}

/// A server after layers, profile, policy and trust: what would run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolvedServer {
    /// Its name, the same in every agent.
    pub name: Name,
    /// How far the declaration is believed.
    pub tier: Tier,
    /// What it is and how it is spoken to.
    pub transport: Transport,
    /// How the agent reaches it.
    pub route: Route,
    /// The longest wait for its start, where the declaration names one.
    pub startup_timeout: Option<Duration>,
    /// The longest wait for one call, reset by progress, where the declaration names one.
    pub timeout: Option<Duration>,
    /// What the user wrote about it.
    pub description: Option<String>,
    /// Where it is declared, as `FILE:LINE`; empty for the built-in server.
    pub origin: String,
    /// The directory of the file that declares it, for a server of a project.
    pub declared_in: Option<String>,
    /// The environment variables that the sources of its secrets read: names, as the user's secrets.toml has them.
    pub secret_variables: Vec<String>,
}

impl ResolvedServer {
    /// The wait for a start where none is declared.
    pub const STARTUP_TIMEOUT: Duration = Duration::from_secs(30);
    /// The wait for a call where none is declared.
    pub const TIMEOUT: Duration = Duration::from_secs(5 * 60);
    /// What an agent is told to wait beyond squire's own limit, so that the gateway answers first.
    pub const GRACE: Duration = Duration::from_secs(5);

    /// How long an agent is told to wait for the start.
    pub fn agent_startup_timeout(&self) -> Duration {
        self.startup_timeout.unwrap_or(Self::STARTUP_TIMEOUT) + Self::GRACE
    }

    /// How long an agent is told to wait for a call.
    pub fn agent_timeout(&self) -> Duration {
        self.timeout.unwrap_or(Self::TIMEOUT) + Self::GRACE
    }

    /// The environment variables that the declaration and the sources of its secrets name: `${env:…}` references,
    /// `inherit_env`, a secret's `env`, the `inherit_env` of a secret's command.
    pub fn declared_variables(&self) -> Vec<&str> {
        let mut names = Vec::new();
        for (_, text) in self.transport.texts() {
            for reference in text.references() {
                match &reference.source {
                    Source::Environment(name) => names.push(name.as_str()),
                    Source::Secret(_) => {}
                }
            }
        }
        let stdio = match &self.transport {
            Transport::Stdio(stdio) => Some(stdio),
            Transport::Dynamic(dynamic) => dynamic.stdio.as_ref(),
            Transport::Builtin | Transport::Http(_) | Transport::Sse(_) => None,
        };
        names.extend(stdio.into_iter().flat_map(|stdio| &stdio.inherit_env).map(String::as_str));
        names.extend(self.secret_variables.iter().map(String::as_str));
        names
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b32_a_credential_in_clear_is_noticed_by_its_place() {
        let remote = |url: &str, headers: &[&str]| Remote {
            url: Text::plain(url),
            headers: headers.iter().map(|name| ((*name).into(), Text::plain("v"))).collect(),
        };
        let found = |url, headers: &[&str]| remote(url, headers).credential();
        assert_eq!(found("https://h/mcp?page=1", &["X-Feature-Flag"]), None);
        assert_eq!(found("https://h/mcp", &["X-Api-Key"]).as_deref(), Some("the header X-Api-Key"));
        assert_eq!(found("https://u:p@h/mcp", &[]).as_deref(), Some("the user in its url"));
        assert_eq!(found("https://h/u@x?a=1&api_token=2", &[]).as_deref(), Some("`api_token` in its url"));
        assert_eq!(found("https://h/ghp_x/mcp", &[]).as_deref(), Some("a token in its url"));
        assert_eq!(
            found("https://h/s/a1b2c3d4e5f6a7b8c9d0e1f2a3b4/mcp", &[]).as_deref(),
            Some("a token in its url")
        );
        assert_eq!(found("https://docs.a-rather-long-example-name.com/v1/streamable-http/mcp", &[]), None);
    }
}
