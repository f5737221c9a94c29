//! What a `squire.toml` declares, as typed values that know where they stand.

use std::fmt;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use squire_strategies::{Name, Route, Text, Whereabouts};

use super::problem::Place;

/// Who wrote a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LayerKind {
    /// The user, by hand, in the config directory.
    User,
    /// A tool of the user, one file a server below `servers.d`.
    DropIn,
    /// A repository.
    Project,
    /// A repository, in a file that is an agent's: `.mcp.json`, `.cursor/mcp.json` or `.vscode/mcp.json`.
    Live,
    /// The user's own changes for one project, in the config directory.
    Local,
    /// The machine's administrator.
    Managed,
}

impl LayerKind {
    /// The word for it in output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::DropIn => "servers.d",
            Self::Project => "project",
            Self::Live => "live",
            Self::Local => "local",
            Self::Managed => "managed",
        }
    }

    /// Where it is, in a sentence.
    pub fn place(self) -> &'static str {
        match self {
            Self::User => "squire.toml",
            Self::DropIn => "servers.d",
            Self::Project => "the project's squire.toml",
            Self::Live => "the project's file of an agent",
            Self::Local => "the local layer",
            Self::Managed => "the machine's policy",
        }
    }

    /// Whether a repository wrote it.
    pub fn is_project(self) -> bool {
        match self {
            Self::Project | Self::Live => true,
            Self::User | Self::DropIn | Self::Local | Self::Managed => false,
        }
    }
}

/// Where a value is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The layer.
    pub layer: LayerKind,
    /// The file.
    pub path: Rc<Path>,
    /// The place in it.
    pub place: Place,
}

impl Origin {
    /// The directory that relative paths of a declaration are below: that of the file, or, of an agent's file in a
    /// directory of its own, the project's.
    pub fn directory(&self) -> &Path {
        let is_nested = self.layer == LayerKind::Live && !self.path.ends_with(".mcp.json");
        self.path.ancestors().nth(if is_nested { 2 } else { 1 }).unwrap_or(Path::new("/"))
    }

    /// The place, as notes have it.
    pub fn whereabouts(&self) -> Whereabouts {
        let Place { line, column } = self.place;
        Whereabouts { path: self.path.display().to_string().into(), position: Some((line, column)) }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.path.display(), self.place.line)
    }
}

/// A value and where it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Located<T> {
    /// The value.
    pub value: T,
    /// Where its key, or it itself, begins.
    pub origin: Origin,
}

/// The content of one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Declarations {
    /// `[servers.NAME]`, in the order of the file; shared with what is resolved of them.
    pub servers: Vec<Rc<Declaration>>,
    /// `[profiles.NAME]`, in the order of the file.
    pub profiles: Vec<Profile>,
    /// `[agents.NAME]`, in the order of the file.
    pub agents: Vec<AgentSettings>,
    /// `[policy]`.
    pub policy: Policy,
    /// `[servers.squire] disabled = true`: the built-in server is off.
    pub builtin_disabled: Option<Located<bool>>,
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

impl Kind {
    /// The transport that a word means.
    pub fn parse(word: &str) -> Option<Self> {
        match word {
            "stdio" => Some(Self::Stdio),
            "http" | "streamable-http" | "streamable_http" | "streamableHttp" => Some(Self::Http),
            "sse" => Some(Self::Sse),
            _ => None,
        }
    }

    /// The word for it in output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Stdio => "stdio",
            Self::Http => "http",
            Self::Sse => "sse",
        }
    }
}

/// `transport`, as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    /// A word.
    Fixed(Kind),
    /// A string with references, which the gateway looks at when it starts.
    Dynamic(Text),
}

/// `auth`: a secret in a header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Auth {
    /// The header's name.
    pub header: String,
    /// Whether `Bearer ` stands before the value.
    pub bearer: bool,
    /// The secret's name.
    pub secret: String,
}

/// Which tools of a server an agent sees: globs over names; a denied tool is never seen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Where it is written, the only ones.
    pub allow: Option<Vec<String>>,
    /// Never these.
    pub deny: Vec<String>,
}

/// `grants`: a ceiling on what the declaration uses, where it is written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Grants {
    /// Whether it may be remote.
    pub network: Option<bool>,
    /// Whether it may be a program.
    pub filesystem: Option<bool>,
    /// The secrets that it may name.
    pub secrets: Option<Vec<String>>,
}

/// `trust`, as written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// Believed.
    Trusted,
    /// Off until approved.
    Community,
}

macro_rules! declaration {
    ($($(#[doc = $doc:literal])+ $field:ident: $type:ty,)+) => {
        /// `[servers.NAME]`: what is written there; what is not written is `None`.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct Declaration {
            /// The server's name.
            pub name: Name,
            /// Where the table begins.
            pub origin: Origin,
            $($(#[doc = $doc])+ pub $field: Option<Located<$type>>,)+
        }

        impl Declaration {
            /// A declaration in which nothing is written yet.
            pub fn new(name: Name, origin: Origin) -> Self {
                Self { name, origin, $($field: None,)+ }
            }

            /// Takes every field that a higher layer writes; the others stay.
            pub fn amend(&mut self, higher: &Self) {
                $(if higher.$field.is_some() {
                    self.$field.clone_from(&higher.$field);
                })+
            }

            /// Whether it says by itself what the server is, so that it can be one of its own and not only a change.
            pub fn is_whole(&self) -> bool {
                self.command.is_some() || self.url.is_some()
            }

            /// The same declaration, of other places: that of each field by its key.
            pub(super) fn relocate(&mut self, origin: &Origin, place: &dyn Fn(&'static str) -> Place) {
                self.origin = origin.clone();
                $(if let Some(located) = &mut self.$field {
                    located.origin = Origin { place: place(stringify!($field)), ..origin.clone() };
                })+
            }

            /// Whether another declaration says the same, wherever it stands.
            fn has_the_values_of(&self, other: &Self) -> bool {
                let value = true;
                $(let value = value
                    && self.$field.as_ref().map(|it| &it.value) == other.$field.as_ref().map(|it| &it.value);)+
                value && self.name == other.name
            }

            /// Where each written field comes from, in the order of the schema.
            pub fn origins(&self) -> impl Iterator<Item = (&'static str, &Origin)> {
                let fields =
                    [$((stringify!($field), self.$field.as_ref().map(|located| &located.origin)),)+];
                fields.into_iter().filter_map(|(field, origin)| Some((field, origin?)))
            }
        }
    };
}

declaration! {
    /// `transport`.
    transport: Choice,
    /// `command`, a string or an array.
    command: Vec<Text>,
    /// `args`.
    args: Vec<Text>,
    /// `env`.
    env: Vec<(String, Text)>,
    /// `inherit_env`.
    inherit_env: Vec<String>,
    /// `cwd`.
    cwd: Text,
    /// `url`.
    url: Text,
    /// `headers`.
    headers: Vec<(String, Text)>,
    /// `auth`.
    auth: Auth,
    /// `client_cert`, a path.
    client_cert: Text,
    /// `client_key`, a path.
    client_key: Text,
    /// `ca`, a path.
    ca: Text,
    /// `timeout`.
    timeout: Duration,
    /// `startup_timeout`.
    startup_timeout: Duration,
    /// `result_limit`, in bytes.
    result_limit: u64,
    /// `description`.
    description: String,
    /// `disabled`.
    disabled: bool,
    /// `remove`.
    remove: bool,
    /// `tools`.
    tools: Filter,
    /// `grants`.
    grants: Grants,
    /// `route`.
    route: Route,
    /// `trust`.
    trust: Trust,
    /// `max_restarts`.
    max_restarts: u32,
    /// `sampling`, which is `false` or an error.
    sampling: bool,
    /// `audit`: `digest`, `full` or `off`.
    audit: String,
    /// `spill`: whether results that are cut are kept whole.
    spill: bool,
    /// `pin`: `block`, `warn` or `off`.
    pin: String,
}

impl Declaration {
    /// Whether another declaration says the same of a server of the same name, wherever and in whichever order it is
    /// written: one command line, however it is divided.
    pub fn says_the_same(&self, other: &Self) -> bool {
        self.in_order().has_the_values_of(&other.in_order())
    }

    fn in_order(&self) -> Self {
        let mut ordered = self.clone();
        if let (Some(command), Some(args)) = (&mut ordered.command, ordered.args.take()) {
            command.value.extend(args.value);
        }
        for table in [&mut ordered.env, &mut ordered.headers].into_iter().flatten() {
            table.value.sort_by(|one, other| one.0.cmp(&other.0));
        }
        ordered
    }
}

/// Where a project's server runs: below the directory of the file that declares it.
pub fn working_directory(declaration: &Declaration) -> PathBuf {
    let declaring = declaration.origin.directory();
    let written = declaration.cwd.as_ref().and_then(|cwd| cwd.value.literal());
    written.map_or_else(|| declaring.to_path_buf(), |written| declaring.join(written))
}

/// `[profiles.NAME]`: a named selection of servers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    /// Its name.
    pub name: String,
    /// Where the table begins.
    pub origin: Origin,
    /// The profiles whose servers come first.
    pub extends: Vec<Located<String>>,
    /// Its own servers.
    pub servers: Vec<Located<String>>,
    /// Servers whose tools it narrows.
    pub tools: Vec<(Located<String>, Filter)>,
    /// Servers without which there is no launch; `all` means every selected one.
    pub require: Vec<Located<String>>,
    /// Whether the agent's own servers are switched off.
    pub strict: Option<Located<bool>>,
}

/// `[agents.NAME]`: how the user launches an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentSettings {
    /// The agent, or a name of the user's own.
    pub name: String,
    /// Where the table begins.
    pub origin: Origin,
    /// The profile where the command line names none.
    pub profile: Option<Located<String>>,
    /// Servers whose tools it narrows.
    pub tools: Vec<(Located<String>, Filter)>,
    /// The known agent whose language a custom command speaks.
    pub strategy: Option<Located<String>>,
    /// The program and its first arguments.
    pub program: Option<Located<Vec<String>>>,
}

/// One entry of `rewrite_urls`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rewrite {
    /// What an address begins with.
    pub from: String,
    /// What it begins with instead.
    pub to: String,
}

macro_rules! policy {
    ($($(#[doc = $doc:literal])+ $field:ident: $type:ty,)+) => {
        /// `[policy]`: limits on every server.
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        pub struct Policy {
            $($(#[doc = $doc])+ pub $field: Option<Located<$type>>,)+
        }

        impl Policy {
            /// Takes every field that a higher layer writes; the others stay.
            pub fn amend(&mut self, higher: &Self) {
                $(if higher.$field.is_some() {
                    self.$field.clone_from(&higher.$field);
                })+
            }
        }
    };
}

policy! {
    /// The transports that run; all where nothing is written.
    transports: Vec<Kind>,
    /// Globs over names: no other server runs.
    allow_servers: Vec<String>,
    /// Globs over names: these don't run, whatever else is written.
    deny_servers: Vec<String>,
    /// Beginnings of addresses that are replaced; the first that fits.
    rewrite_urls: Vec<Rewrite>,
    /// Variables added to every stdio server that does not set them itself.
    env: Vec<(String, Text)>,
    /// The wait for one call where a server writes none.
    timeout: Duration,
    /// The largest result where a server writes none, in bytes.
    result_limit: u64,
    /// Whether results that are cut are kept whole.
    spill: bool,
    /// How many servers a project may declare.
    max_project_servers: u64,
    /// Whether the files of agents that a project has declare servers.
    live_sources: bool,
}

impl Policy {
    /// How many servers a project may declare where nothing else is written.
    const PROJECT_SERVERS: u64 = 16;

    /// How many servers a project may declare.
    pub fn project_servers(&self) -> u64 {
        self.max_project_servers.as_ref().map_or(Self::PROJECT_SERVERS, |limit| limit.value)
    }

    /// Whether the files of agents that a project has declare servers.
    pub fn has_live_sources(&self) -> bool {
        self.live_sources.as_ref().is_none_or(|live| live.value)
    }
}
