//! The first words with a server, in either era.

use std::time::Duration;

use serde_json::{Value, json};

use super::{Client, ourselves, string};
use crate::mcp::error::Error;
use crate::mcp::message;
use crate::mcp::{MODERN_REVISION, OFFERED_REVISION, REVISIONS, has_initialize};
use crate::printable::printable;

/// What a server greeted with, as it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hello {
    /// Who it says it is.
    pub server: Identity,
    /// The protocol revision that is spoken.
    pub protocol: String,
    /// Its advice to the model.
    pub instructions: Option<String>,
    /// Whether it announces tools.
    pub has_tools: bool,
    /// From the beginning until it answered.
    pub took: Duration,
}

/// The `serverInfo` of a server, with empty strings for what it left out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Identity {
    /// The name for programs.
    pub name: String,
    /// The version, in no fixed form.
    pub version: String,
    /// The name for people (revision 2025-06-18).
    pub title: Option<String>,
}

impl Hello {
    fn of(result: &Value, protocol: String, took: Duration) -> Self {
        // 2026-07-28 has it among what each result may say.
        let info = ["/serverInfo", "/_meta/io.modelcontextprotocol~1serverInfo"]
            .into_iter()
            .find_map(|place| result.pointer(place))
            .unwrap_or(&Value::Null);
        let server = Identity {
            name: string(info, "/name").unwrap_or_default(),
            version: string(info, "/version").unwrap_or_default(),
            title: string(info, "/title"),
        };
        let instructions = string(result, "/instructions");
        let has_tools = result.pointer("/capabilities/tools").is_some_and(|tools| !tools.is_null());
        Self { server, protocol, instructions, has_tools, took }
    }

    /// What is not right in it, in printable sentences.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if !REVISIONS.contains(&self.protocol.as_str()) {
            let revision = printable(&self.protocol);
            warnings.push(format!(
                "speaks protocol revision {revision}, which this version of squire does not know"
            ));
        }
        if self.server.name.is_empty() {
            warnings.push("does not say its name (serverInfo.name), which agents may require".to_owned());
        }
        if !self.has_tools {
            warnings.push("announces no tools (capabilities.tools), so agents do not ask for any".to_owned());
        }
        warnings
    }
}

impl Client {
    /// Greets the server. Sessions come first: every agent opens one, and not every server outlives a question before
    /// `initialize`. One that refuses, with whatever code, is asked for what it is as in 2026-07-28.
    pub fn greet(&mut self) -> Result<Hello, Error> {
        let refusal = match self.initialize() {
            Ok(result) => return self.begin(&result),
            Err(error @ Error::Answered { by_squire: false, .. }) => error,
            Err(error) => return Err(error),
        };
        self.is_modern = true;
        self.connection.negotiated(MODERN_REVISION);
        match self.request("server/discover", Value::Null) {
            Ok(result) => Ok(Hello::of(&result, MODERN_REVISION.to_owned(), self.began.elapsed())),
            // It speaks neither: what it said first is about what agents say.
            Err(_) => Err(refusal),
        }
    }

    /// The result of `initialize`. A server that refuses the offered revision and names others is asked once more,
    /// for the newest of them that is known (case B48).
    fn initialize(&mut self) -> Result<Value, Error> {
        let outcome = self.request("initialize", opening(OFFERED_REVISION));
        let Err(Error::Answered { supported, .. }) = &outcome else { return outcome };
        let lower = REVISIONS.into_iter().rev().find(|&revision| {
            revision != OFFERED_REVISION
                && has_initialize(revision)
                && supported.iter().any(|one| one == revision)
        });
        match lower {
            Some(revision) => self.request("initialize", opening(revision)),
            None => outcome,
        }
    }

    fn begin(&mut self, result: &Value) -> Result<Hello, Error> {
        let took = self.began.elapsed();
        let Some(protocol) = string(result, "/protocolVersion") else {
            return Err(Error::Malformed { step: "initialize", expected: "protocolVersion" });
        };
        self.connection.negotiated(&protocol);
        let initialized = message::notification("notifications/initialized", Value::Null);
        self.connection.send(&initialized, self.wait.during("notifications/initialized"))?;
        Ok(Hello::of(result, protocol, took))
    }
}

fn opening(revision: &str) -> Value {
    json!({ "protocolVersion": revision, "capabilities": {}, "clientInfo": ourselves() })
}
