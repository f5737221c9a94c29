//! Every key of a `squire.toml`, once: the reader looks keys up here and lists them from here, and the JSON Schema is
//! made of it.
//!
//! A key that the reader is to take is an arm of its `match` on `id`, and only a row here leads to an arm: neither can
//! be forgotten without the compiler saying so.

/// One key of a table.
#[derive(Debug)]
pub(super) struct Field<Id: 'static> {
    /// Which arm of the reader takes it.
    pub(super) id: Id,
    pub(super) key: &'static str,
    pub(super) shape: Shape,
    /// What an editor shows as its name.
    pub(super) title: &'static str,
    /// What an editor shows beside the key.
    pub(super) description: &'static str,
    pub(super) default: Option<Sample>,
    pub(super) examples: &'static [Sample],
}

/// What a key takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// `[servers.NAME]` tables.
    Servers,
    /// `[profiles.NAME]` tables.
    Profiles,
    /// A string that may hold references.
    Text,
    /// An array of such strings.
    Texts,
    /// A plain string.
    String,
    Boolean,
    Duration,
    /// A program, or an array of a program and its arguments.
    Command,
    Url,
    /// Variables and their values.
    Environment,
    Headers,
    /// An array of names of environment variables.
    VariableNames,
    ServerNames,
    ProfileNames,
    /// A table whose keys are names of servers.
    ByServer,
    Transport,
    Route,
    /// Whatever is written: only the relay will look at it.
    ForRelay,
    /// A known word that this version refuses.
    Refused,
}

/// A value as it could be written.
#[derive(Clone, Copy, Debug)]
pub(super) enum Sample {
    Word(&'static str),
    Words(&'static [&'static str]),
    Pair(&'static str, &'static str),
    Flag(bool),
}

/// The keys at the top.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Section {
    Servers,
    Profiles,
    Refused,
}

/// The keys of `[servers.NAME]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ServerField {
    Transport,
    Command,
    Args,
    Env,
    InheritEnv,
    Cwd,
    Url,
    Headers,
    Timeout,
    StartupTimeout,
    Description,
    Disabled,
    Route,
    /// Every field that only the relay will act on.
    Relay,
}

/// The keys of `[profiles.NAME]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProfileField {
    Extends,
    Servers,
    Tools,
    Refused,
}

use Sample::{Flag, Pair, Word, Words};

/// A whole file.
pub(super) static SECTIONS: &[Field<Section>] = &[
    Field::new(
        Section::Servers,
        "servers",
        Shape::Servers,
        "Servers",
        "The MCP servers, a table each: [servers.NAME].",
    ),
    Field::new(
        Section::Profiles,
        "profiles",
        Shape::Profiles,
        "Profiles",
        "Named selections of servers, a table each: [profiles.NAME]. A launch without --profile and --server takes `default`, where there is one.",
    ),
    Field::refused(Section::Refused, "agents"),
    Field::refused(Section::Refused, "policy"),
];

/// `[servers.NAME]`.
pub(super) static SERVER: &[Field<ServerField>] = &[
    Field::new(
        ServerField::Transport,
        "transport",
        Shape::Transport,
        "Transport",
        "How the server is spoken to. Without it: `stdio` with `command`, `http` with `url`.",
    )
    .examples(&[Word("sse")]),
    Field::new(
        ServerField::Command,
        "command",
        Shape::Command,
        "Program",
        "The program of a stdio server: a string, or an array of the program and its arguments. Not with `url`.",
    )
    .examples(&[Word("github-mcp-server"), Words(&["npx", "-y", "@example/mcp-postgres"])]),
    Field::new(
        ServerField::Args,
        "args",
        Shape::Texts,
        "Arguments",
        "Arguments of the program, behind those in `command`. They are never rewritten.",
    )
    .examples(&[Words(&["--user=${env:DB_USER}"])]),
    Field::new(
        ServerField::Env,
        "env",
        Shape::Environment,
        "Variables",
        "Environment variables of this server alone. References are resolved when the server starts.",
    )
    .examples(&[Pair("DB_URL", "${env:DATABASE_URL}")]),
    Field::new(
        ServerField::InheritEnv,
        "inherit_env",
        Shape::VariableNames,
        "Inherited variables",
        "Names of variables that are handed on to the server, beyond the base environment (HOME, PATH, LANG, XDG_*, proxies and the like).",
    )
    .examples(&[Words(&["PGHOST"])]),
    Field::new(
        ServerField::Cwd,
        "cwd",
        Shape::Text,
        "Working directory",
        "Where the program runs; below the home directory unless absolute. Without it: the launch's working directory.",
    )
    .examples(&[Word("~/work")]),
    Field::new(
        ServerField::Url,
        "url",
        Shape::Url,
        "Address",
        "The address of a remote server. Not with `command`.",
    )
    .examples(&[Word("https://docs.example.com/mcp")]),
    Field::new(
        ServerField::Headers,
        "headers",
        Shape::Headers,
        "Headers",
        "Headers that are sent to a remote server with every request.",
    )
    .examples(&[Pair("X-Feature-Flag", "mcp-beta")]),
    Field::new(
        ServerField::Timeout,
        "timeout",
        Shape::Duration,
        "Wait for a call",
        "The longest wait for one call, of at most 24 days.",
    )
    .default(Word("5m"))
    .examples(&[Word("90s"), Word("2m")]),
    Field::new(
        ServerField::StartupTimeout,
        "startup_timeout",
        Shape::Duration,
        "Wait for the start",
        "The longest wait for the server's start, of at most 24 days.",
    )
    .default(Word("30s"))
    .examples(&[Word("1m")]),
    Field::new(
        ServerField::Description,
        "description",
        Shape::String,
        "Description",
        "What the server is good for: for people, and for the agent that asks the built-in server.",
    )
    .examples(&[Word("the app's own database")]),
    Field::new(ServerField::Disabled, "disabled", Shape::Boolean, "Disabled", "`true` takes the server out.")
        .default(Flag(false)),
    Field::new(
        ServerField::Route,
        "route",
        Shape::Route,
        "Route",
        "How the agent reaches the server: `direct`, itself and with its own OAuth, for plain remote servers; `gateway`, through squire, for everything else. Without it squire chooses.",
    )
    .examples(&[Word("gateway")]),
    Field::relay("auth", "Authentication", "How squire authenticates to a remote server."),
    Field::relay("client_cert", "Client certificate", "The certificate that squire shows to a remote server."),
    Field::relay("client_key", "Client key", "The key of `client_cert`."),
    Field::relay("ca", "Authorities", "The certificate authorities that a remote server is checked against."),
    Field::relay("result_limit", "Limit of results", "The largest result of a tool that reaches the agent."),
    Field::relay("grants", "Grants", "What the server may use at most: network, file system, secrets."),
    Field::relay("tools", "Tools", "Which tools the agent sees: patterns of names to allow and to deny."),
    Field::relay("trust", "Trust", "How far the declaration is believed."),
    Field::relay("max_restarts", "Restarts", "How many failures in a row the gateway stands."),
    Field::relay("sampling", "Sampling", "Whether the server may ask the agent's model."),
    Field::relay("audit", "Audit", "What the gateway writes down of each call."),
    Field::relay("pin", "Pin of tools", "What happens when a server changes its tools."),
    Field::relay("remove", "Remove", "Takes the server of a lower layer out."),
];

/// `[profiles.NAME]`.
pub(super) static PROFILE: &[Field<ProfileField>] = &[
    Field::new(
        ProfileField::Extends,
        "extends",
        Shape::ProfileNames,
        "Extends",
        "The profiles whose servers come first, in this order.",
    )
    .default(Words(&[]))
    .examples(&[Words(&["base"])]),
    Field::new(
        ProfileField::Servers,
        "servers",
        Shape::ServerNames,
        "Servers",
        "The profile's own servers, in this order.",
    )
    .default(Words(&[]))
    .examples(&[Words(&["docs", "database"])]),
    Field::new(
        ProfileField::Tools,
        "tools",
        Shape::ByServer,
        "Tools",
        "Filters of tools, one a server: tools.NAME = { deny = [] }. Only the relaying gateway will apply them: until then a server that has one is left out.",
    ),
    Field::refused(ProfileField::Refused, "require"),
    Field::refused(ProfileField::Refused, "strict"),
];

impl<Id: Copy> Field<Id> {
    const fn new(
        id: Id,
        key: &'static str,
        shape: Shape,
        title: &'static str,
        description: &'static str,
    ) -> Self {
        Self { id, key, shape, title, description, default: None, examples: &[] }
    }

    const fn refused(id: Id, key: &'static str) -> Self {
        Self::new(id, key, Shape::Refused, "", "")
    }

    const fn default(mut self, default: Sample) -> Self {
        self.default = Some(default);
        self
    }

    const fn examples(mut self, examples: &'static [Sample]) -> Self {
        self.examples = examples;
        self
    }
}

impl Field<ServerField> {
    const fn relay(key: &'static str, title: &'static str, description: &'static str) -> Self {
        Self::new(ServerField::Relay, key, Shape::ForRelay, title, description)
    }
}

/// The row of a key.
pub(super) fn find<Id>(table: &'static [Field<Id>], key: &str) -> Option<&'static Field<Id>> {
    table.iter().find(|field| field.key == key)
}

/// All keys, in the order in which a person is told of them.
pub(super) fn keys<Id>(table: &'static [Field<Id>]) -> Vec<&'static str> {
    table.iter().map(|field| field.key).collect()
}
