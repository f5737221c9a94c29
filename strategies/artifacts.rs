//! What a plan consists of: descriptors only. The runner is the one who acts on them.

use alloc::boxed::Box;
use alloc::format;
use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use crate::entries::Entries;
use crate::name::Name;

/// Everything that equips one agent for one launch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Artifacts {
    /// Files to write or to merge into.
    pub files: Vec<File>,
    /// Arguments to add before the user's, which what the user says there overrides.
    pub leading: Vec<Argument>,
    /// Arguments to add behind the user's.
    pub arguments: Vec<Argument>,
    /// Variables to set for the agent: names of settings, never a value of the user.
    pub environment: Vec<(String, String)>,
    /// What is left out, switched off or worth knowing.
    pub notes: Vec<Note>,
    /// The servers of other files that are switched off, which the notes name in sentences.
    pub switched_off: Vec<Switched>,
}

/// A server that is none of ours, and switched off for the launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Switched {
    /// Its name in the file.
    pub name: String,
    /// The file.
    pub file: String,
    /// Why.
    pub code: Code,
}

/// A file of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum File {
    /// A file of our own in the launch's private directory, gone after the launch.
    Private {
        /// Its name there.
        name: &'static str,
        /// All of it.
        text: String,
    },
    /// Entries in a JSON file of the project, put back after the launch.
    Merge {
        /// The file, relative to the working directory.
        path: &'static str,
        /// The object at the top level that the entries go into.
        at: &'static str,
        /// Our entries; one of the user's with the same name returns after the launch.
        entries: Rc<Entries>,
    },
}

/// One argument to add.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Argument {
    /// Its text, or the text before a path.
    pub text: String,
    /// The private file whose path follows the text.
    pub file: Option<&'static str>,
    /// The server it is for, so that an argument too long can be named.
    pub server: Option<Name>,
}

impl Argument {
    /// An argument that is just text.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), file: None, server: None }
    }
}

/// Something that the user should know: a stable code and a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The stable code, for scripts.
    pub code: Code,
    /// The server it is about.
    pub server: Option<Name>,
    /// What is so, and why. Fits behind the server's name.
    pub sentence: String,
    /// What the user can do about it.
    pub mend: Option<String>,
    /// The file that it speaks of, where that is not the declaration of the server.
    pub place: Option<Whereabouts>,
}

impl Note {
    /// The sentence behind the place that it speaks of.
    pub fn located(&self) -> String {
        self.place
            .as_ref()
            .map_or_else(|| self.sentence.clone(), |place| format!("{place}: {}", self.sentence))
    }
}

/// A file, and where in it, as editors write it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Whereabouts {
    /// The file's path, for people.
    pub path: Box<str>,
    /// The line and the character in it, both from 1, where they are known.
    pub position: Option<(usize, usize)>,
}

impl fmt::Display for Whereabouts {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.path)?;
        self.position.map_or(Ok(()), |(line, column)| write!(formatter, ":{line}:{column}"))
    }
}

impl core::error::Error for Refusal {}

macro_rules! codes {
    ($($(#[doc = $doc:literal])+ $variant:ident = $word:literal $effect:ident,)+) => {
        /// Reason codes. Their words are stable.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Code { $($(#[doc = $doc])+ $variant,)+ }

        impl Code {
            /// Every code, in the order of the documentation.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The word in output.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)+ }
            }

            /// What the reason does to the server.
            pub fn effect(self) -> Effect {
                match self { $(Self::$variant => Effect::$effect,)+ }
            }
        }
    };
}

/// What a note's reason does to its server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// The agent does not get it.
    LeftOut,
    /// The agent gets it, and will not use it.
    SwitchedOff,
    /// Good to know.
    Remark,
    /// The launch is refused.
    Refused,
}

codes! {
    /// A community server that the user has not approved.
    NotApproved = "not-approved" LeftOut,
    /// A project's server with the name of one of the user's.
    NameTaken = "name-taken" LeftOut,
    /// The declaration says `disabled = true`.
    Disabled = "disabled" LeftOut,
    /// The policy of the user or the machine.
    Policy = "policy" LeftOut,
    /// A reference that can't be resolved, and `--allow-missing`.
    Unresolved = "unresolved" LeftOut,
    /// The declaration needs what no gateway does yet.
    NeedsGateway = "needs-gateway" LeftOut,
    /// The agent does not speak the server's transport.
    Transport = "transport" LeftOut,
    /// The agent's own configuration has a server of this name, and the agent would mix the two.
    AgentHasIt = "agent-has-it" LeftOut,
    /// The agent would change a string of the entry.
    Inexpressible = "inexpressible" LeftOut,
    /// What carries the entry to the agent would show a credential to others.
    Exposed = "exposed" LeftOut,
    /// The agent's own state switches off a server of this name.
    AgentDisabled = "agent-disabled" SwitchedOff,
    /// The user's arguments start no session that could use servers.
    NoSession = "no-session" Remark,
    /// The agent asks before a tool is used, or before a server is loaded.
    AgentApproval = "agent-approval" Remark,
    /// The agent does not start where the server can't be reached.
    AgentRequires = "agent-requires" Remark,
    /// The agent has no place for a setting of the declaration.
    Unenforced = "unenforced" Remark,
    /// The agent's own servers that `--strict` switches off for the launch.
    Hidden = "hidden" Remark,
    /// A file of the agent could not be read, so collisions can't be known.
    Unreadable = "unreadable" Remark,
    /// An approval of the user's that can't be read, and approves nothing.
    UnreadableApproval = "approval-unreadable" Remark,
    /// A server of the agent's own project files that nobody but the repository asked for.
    RepositoryServer = "repository-server" Remark,
    /// What is written and has no effect.
    Unused = "unused" Remark,
    /// A project file that was not used.
    ProjectFile = "project-file" Remark,
    /// What the servers are merged into is the user's too, and can't take them.
    Unmergeable = "unmergeable" Refused,
    /// The agent's own servers can't be switched off, which `--strict` or a profile asks for.
    NoStrict = "no-strict" Refused,
    /// The servers are more than what carries them can hold.
    TooLarge = "too-large" Refused,
}

/// A plan that can't be made at all: the launch is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The stable code, for scripts.
    pub code: Code,
    /// What is so, and why.
    pub sentence: String,
    /// What the user can do about it.
    pub mend: Option<String>,
    /// The file that it speaks of.
    pub place: Option<Whereabouts>,
}

impl Refusal {
    /// A refusal for a reason that no file explains.
    pub(crate) fn new(code: Code, sentence: impl Into<String>, mend: &str) -> Self {
        Self { code, sentence: sentence.into(), mend: Some(mend.into()), place: None }
    }

    /// Place, sentence and mend, where there is one line for them.
    pub fn on_one_line(&self) -> String {
        let place = self.place.as_ref().map(|place| format!("{place}: ")).unwrap_or_default();
        let mend = self.mend.as_ref().map(|mend| format!("; {mend}")).unwrap_or_default();
        format!("{place}{}{mend}", self.sentence)
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = &self.place {
            write!(formatter, "{place}: ")?;
        }
        formatter.write_str(&self.sentence)?;
        self.mend.iter().try_for_each(|mend| write!(formatter, "\n  help: {mend}"))
    }
}
