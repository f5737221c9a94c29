//! The one interface between squire and an agent.

use alloc::string::String;
use alloc::vec::Vec;

use crate::artifacts::{Artifacts, Refusal};
use crate::gateway::Gateway;
use crate::placement::Placement;
use crate::repository_server::{Approved, RepositoryServer};
use crate::server::{ResolvedServer, Transport};

/// How one agent takes MCP servers for one launch.
pub trait Strategy: Sync {
    /// The word behind `squire launch`.
    fn name(&self) -> &'static str;

    /// What runs.
    fn program(&self) -> Program;

    /// What a person is told of it.
    fn description(&self) -> Description;

    /// Whether the agent itself speaks a transport, so that a server of it can be reached directly.
    fn speaks(&self, transport: &Transport) -> bool;

    /// What it must see to plan: nothing else is read for it.
    fn reads(&self) -> &'static [Read] {
        &[]
    }

    /// The words that may name another directory, whose project the agent then reads in place of the one that it is
    /// started in; `None` where no word can. The variable PWD names one, too, for an agent that has such words.
    fn directories<'a>(&self, words: &[&'a [u8]]) -> Option<Vec<&'a [u8]>> {
        let _ = words;
        None
    }

    /// Its command line, where servers are carried by arguments; `None` where the words of the user don't matter.
    fn placement(&self) -> Option<&'static Placement> {
        None
    }

    /// Whether it shows by itself why a server failed. For any other agent a gateway whose server can't be started
    /// answers in its place, with no tools and the reason.
    fn shows_failures(&self) -> bool {
        false
    }

    /// How a tool is called before its model, where there is a limit to that.
    fn tool_names(&self) -> Option<ToolNames> {
        None
    }

    /// The servers of the agent's own project files, which the user may approve. `unquoted` is as in [`Launch`]; the
    /// error says which file can't be read as the agent reads it.
    fn repository_servers(
        &self,
        contents: &[Content],
        unquoted: &[String],
    ) -> Result<Vec<RepositoryServer>, String> {
        let _ = (contents, unquoted);
        Ok(Vec::new())
    }

    /// Turns servers into what equips the agent. A server that it can't take is left out by a note and changes no
    /// other; an error refuses the launch.
    fn plan(&self, launch: &Launch<'_>) -> Result<Artifacts, Refusal>;
}

/// What runs as the agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    /// A program that is looked up.
    Named(&'static str),
    /// squire itself, with this subcommand.
    Squire(&'static str),
}

/// The name of a tool before the model: a prefix, the server's name, a separator, the tool's name. One that is too long
/// is dropped by the agent, or makes the model's API refuse every tool at once (case B09).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ToolNames {
    /// What stands before the server's name.
    pub prefix: &'static str,
    /// What stands between it and the tool's.
    pub separator: &'static str,
    /// The most characters of all of it.
    pub limit: usize,
}

impl ToolNames {
    /// How long a name is, in characters, where that is too long.
    pub fn excess(&self, server: &str, tool: &str) -> Option<usize> {
        let parts = [self.prefix, server, self.separator, tool];
        let length: usize = parts.iter().map(|part| part.chars().count()).sum();
        (length > self.limit).then_some(length)
    }
}

/// What a person is told of an agent, by `describe` and in the README's table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Description {
    /// The agent's own name.
    pub title: &'static str,
    /// What carries the servers to it.
    pub carries: &'static str,
    /// What happens to a server of the same name in the agent's own config.
    pub same_name: &'static str,
    /// What the user does about the agent's own question before a server or a tool is used.
    pub approval: &'static str,
    /// The version whose behaviour the strategy is built on.
    pub verified: &'static str,
}

/// Something that a strategy must see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Read {
    /// The value of an environment variable.
    Variable(&'static str),
    /// A file of the user.
    UserFile(Base, &'static str),
    /// The file that an environment variable names.
    FileNamedBy(&'static str),
    /// A file of the project below the working directory, which the launch merges into: read as it is read there, so
    /// that what can't be merged is known before.
    Merged(&'static str),
    /// A file of the project: in the working directory and in every directory above it.
    Upward(&'static str),
}

/// Where a file of the user lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    /// The home directory.
    Home,
    /// The directory that a variable names, if it is set.
    Named(&'static str),
    /// The directory that a variable names, or one below the home directory where it is unset.
    Variable(&'static str, &'static str),
}

/// What was found for a [`Read`]; what does not exist has no entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Content {
    /// What was asked for.
    pub read: Read,
    /// The file's path or the variable's name, for people.
    pub place: String,
    /// Its bytes, or the reason why they can't be had.
    pub bytes: Result<Vec<u8>, String>,
}

/// Everything that a plan depends on.
#[derive(Clone, Copy, Debug)]
pub struct Launch<'a> {
    /// The agent's name as launched.
    pub agent: &'a str,
    /// What the gateway entries share.
    pub gateway: &'a Gateway,
    /// The servers, in their order.
    pub servers: &'a [&'a ResolvedServer],
    /// What was found of [`Strategy::reads`].
    pub contents: &'a [Content],
    /// The working directory's real path.
    pub directory: &'a str,
    /// Whether the agent's own servers are switched off for this launch.
    pub strict: bool,
    /// Whether servers of the agent's own project files stay on, approved or not.
    pub agent_servers: bool,
    /// Which of them the user has approved.
    pub approved: &'a Approved,
    /// The variables of the launch whose values could end a string or a comment of JSON text that they are put into
    /// as they are: they hold a quote, a backslash, a control character or `*/`.
    pub unquoted: &'a [String],
    /// The words that the agent will read, for what they say of its own servers.
    pub words: &'a [&'a [u8]],
}

impl Launch<'_> {
    /// Whether a variable has a value.
    pub(crate) fn is_set(&self, variable: &'static str) -> bool {
        self.contents.iter().any(|content| content.read == Read::Variable(variable))
    }
}
