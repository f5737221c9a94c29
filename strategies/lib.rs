//! How each coding agent takes MCP servers: pure plans from resolved servers to artifacts.
//!
//! A [`Strategy`] says which files it wants to see ([`Strategy::reads`]), and turns servers and the contents of
//! those files into [`Artifacts`]: files to write or merge, arguments to add, environment to set, notes. It does
//! nothing itself. The crate is `no_std`, so there is no file, clock, process or environment to reach for; the
//! compiler keeps it so.
//!
//! Adding an agent is one file here, one `mod` line and one entry in [`AGENTS`].

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod artifacts;
mod credentials;
mod deceptive;
mod entries;
mod environment;
pub mod export;
mod exposure;
mod gateway;
mod json;
pub mod json_edit;
mod json_members;
mod json_removal;
mod mcp_servers;
mod name;
mod placement;
mod repository;
mod repository_server;
mod server;
mod splice;
mod strategy;
mod taken;
mod text;
mod toml_text;

mod claude;
mod codex;
mod cursor;
mod inspect;
mod opencode;

pub use artifacts::{Argument, Artifacts, Code, Effect, File, Note, Refusal, Switched, Whereabouts};
pub use credentials::{is_masked, masked_address, masked_header, masked_text};
pub use deceptive::{is_deceptive, spelled_in_json};
pub use entries::Entries;
pub use environment::{BASE_ENVIRONMENT, LAUNCH_VARIABLE, LOADER_ENVIRONMENT, PROXY_VARIABLES};
pub use gateway::{Gateway, SWITCHED_OFF};
pub use json::{compact as compact_json, parse as parse_jsonc};
pub use json_members::{Member, members};
pub use name::{Name, NameError};
pub use placement::{Arity, BareWord, Placement, Spot};
pub use repository_server::{Approved, RepositoryServer};
pub use server::{Dynamic, Field, NotChosen, Remote, ResolvedServer, Route, Stdio, Tier, Transport};
pub use strategy::{Base, Content, Description, Launch, Program, Read, Strategy, ToolNames};
pub use text::{Reference, Source, Text, TextError};
pub use toml_text::{key as toml_key, string as toml_string};

/// Every agent that squire knows, in the order in which they are listed.
pub static AGENTS: &[&dyn Strategy] =
    &[&claude::Claude, &codex::Codex, &cursor::Cursor, &opencode::OpenCode, &inspect::Inspect];

/// The agent that squire itself is.
pub const OWN_AGENT: &str = "inspect";

/// The strategy of the agent with this name.
pub fn find(name: &str) -> Option<&'static dyn Strategy> {
    AGENTS.iter().copied().find(|strategy| strategy.name() == name)
}
