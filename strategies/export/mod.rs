//! Servers in the persistent formats of agents and editors, for those that squire does not launch.
//!
//! A server is said whole or not at all: what a format has no words for, such as a secret, a filter by globs or a directory,
//! leaves it out with the reason. Its gateway's entry is always sayable: it starts squire, which keeps all of that. No
//! value is ever written, only the names of variables, in the syntax of each.

mod claude;
mod claude_desktop;
mod codex;
mod copilot;
mod cursor;
mod gemini;
mod json;
mod opencode;
mod said;
mod vscode;
mod windsurf;
mod zed;

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::artifacts::{Code, Note};
use crate::gateway::Gateway;
use crate::server::{ResolvedServer, Route, Transport};
pub use said::Tools;
use said::{Said, Syntax, Timeouts};

/// How one agent or editor keeps its servers.
pub struct Format {
    /// The word behind `squire export`.
    pub name: &'static str,
    /// Its own name.
    pub title: &'static str,
    /// Where what is printed belongs.
    pub file: &'static str,
    /// Whether it speaks streamable HTTP, and whether HTTP with server-sent events.
    remote: (bool, bool),
    syntax: Syntax,
    /// The text of a file that has these servers alone.
    document: fn(&[Said]) -> String,
}

/// Every format, in the order in which they are listed: the agents that squire launches come first.
pub static FORMATS: &[&Format] = &[
    &claude::FORMAT,
    &codex::FORMAT,
    &cursor::FORMAT,
    &opencode::FORMAT,
    &vscode::FORMAT,
    &gemini::FORMAT,
    &windsurf::FORMAT,
    &zed::FORMAT,
    &claude_desktop::FORMAT,
    &copilot::FORMAT,
];

/// What helps where a format has no words.
const AS_GATEWAY: &str = "export it as a gateway of squire: --gateway";

/// The format of this name.
pub fn format(name: &str) -> Option<&'static Format> {
    FORMATS.iter().copied().find(|format| format.name == name)
}

/// A secret that goes into a header.
#[derive(Clone, Copy, Debug)]
pub struct Bearing<'a> {
    /// The header's name.
    pub header: &'a str,
    /// Whether `Bearer ` stands before the value.
    pub bearer: bool,
    /// The secret's name.
    pub secret: &'a str,
}

/// A server that is to be said.
#[derive(Clone, Debug)]
pub struct Exported<'a> {
    /// The server.
    pub server: &'a ResolvedServer,
    /// The secret of its `auth`.
    pub auth: Option<Bearing<'a>>,
    /// Which of its tools there are.
    pub tools: Tools<'a>,
    /// What only its gateway does, as a field of the declaration.
    pub of_gateway: Option<&'static str>,
    /// The fields of the declaration that only its gateway keeps, and that it works without.
    pub unkept: Vec<&'static str>,
}

/// What the agent is called in the entries of gateways, and what those of a server share.
pub type Gateways<'a> = (&'a str, &'a dyn Fn(&ResolvedServer) -> Gateway);

/// What servers came to.
#[derive(Debug)]
pub struct Document {
    /// The text of the file.
    pub text: String,
    /// The names of those that are in it.
    pub servers: Vec<String>,
    /// Why others are not, and what does not hold for those that are.
    pub notes: Vec<Note>,
}

impl Format {
    /// Whether it reaches a server of this transport by itself.
    pub fn speaks(&self, transport: &Transport) -> bool {
        match transport {
            Transport::Http(_) => self.remote.0,
            Transport::Sse(_) => self.remote.1,
            Transport::Builtin | Transport::Stdio(_) | Transport::Dynamic(_) => false,
        }
    }

    /// Says servers. `variable_of` is the variable that a secret's value comes from, where it comes from one. With gateways
    /// every server but those that the agent is to reach directly is squire's gateway in its place.
    pub fn document(
        &self,
        servers: &[Exported<'_>],
        variable_of: &dyn Fn(&str) -> Option<String>,
        gateways: Option<Gateways<'_>>,
    ) -> Document {
        let (mut said, mut notes) = (Vec::new(), Vec::new());
        for exported in servers {
            let server = exported.server;
            let by_itself = || self.by_itself(exported, variable_of);
            let result = match gateways {
                None => by_itself(),
                // What the agent is to reach directly keeps its own sign-in, where it can be said.
                Some((agent, gateway)) => Some(by_itself())
                    .filter(|said| server.route == Route::Direct && said.is_ok())
                    .unwrap_or_else(|| said::of_gateway(&self.syntax, agent, &gateway(server), server)),
            };
            match result {
                Ok(one) => {
                    notes.extend(self.unsaid(&one, exported));
                    said.push(one);
                }
                Err(reason) => notes.push(Note {
                    code: Code::Inexpressible,
                    server: Some(server.name.clone()),
                    sentence: reason,
                    mend: gateways.is_none().then(|| AS_GATEWAY.into()),
                    place: None,
                }),
            }
        }
        let servers = said.iter().map(|said| said.name.clone()).collect();
        Document { text: (self.document)(&said), servers, notes }
    }

    fn by_itself(
        &self,
        exported: &Exported<'_>,
        variable_of: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Said, String> {
        let transport = &exported.server.transport;
        if transport.remote().is_some()
            && !self.speaks(transport)
            && !matches!(transport, Transport::Dynamic(_))
        {
            let word = transport.as_str();
            return Err(format!("{} has no servers of the transport {word}", self.title));
        }
        said::of_server(&self.syntax, exported, variable_of)
    }

    /// What is written of a server and has no place.
    fn unsaid(&self, said: &Said, exported: &Exported<'_>) -> Vec<Note> {
        let server = exported.server;
        let note = |sentence: String, mend: Option<&str>| Note {
            code: Code::Unenforced,
            server: Some(server.name.clone()),
            sentence,
            mend: mend.map(ToString::to_string),
            place: None,
        };
        let mut notes = Vec::new();
        if !said.unpinned.is_empty() {
            let names = said.unpinned.join(", ");
            let title = self.title;
            let sentence = format!("{title} must have these variables in its own environment: {names}");
            notes.push(note(sentence, None));
        }
        if said.is_gateway {
            return notes;
        }
        notes.extend(self.timeouts_without_a_place(server).map(|sentence| note(sentence, None)));
        if !exported.unkept.is_empty() {
            let fields = exported.unkept.join(", ");
            notes.push(note(
                format!("only squire's gateway keeps what it declares: {fields}"),
                Some(AS_GATEWAY),
            ));
        }
        notes
    }

    fn timeouts_without_a_place(&self, server: &ResolvedServer) -> Option<String> {
        let title = self.title;
        let fields = match (self.syntax.timeouts, server.timeout, server.startup_timeout) {
            (Timeouts::Shared, for_calls, Some(for_start)) if for_calls != Some(for_start) => {
                return Some(format!(
                    "the file of {title} has one place for timeout and startup_timeout, where the longer of what is declared stands"
                ));
            }
            (Timeouts::Each | Timeouts::Shared, ..) | (_, None, None) | (Timeouts::ForCalls, _, None) => {
                return None;
            }
            (Timeouts::Neither, Some(_), None) => "timeout",
            (Timeouts::Neither, None, Some(_)) | (Timeouts::ForCalls, _, Some(_)) => "startup_timeout",
            (Timeouts::Neither, Some(_), Some(_)) => "timeout and startup_timeout",
        };
        Some(format!("the file of {title} has no place for its {fields}"))
    }
}

/// A text as it is, where nothing in it would be replaced.
fn unless(is_replaced: bool, text: &str) -> Option<String> {
    (!is_replaced).then(|| text.to_string())
}
