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
    /// Whether only the relay will act on it: until then a server that it concerns is left out.
    pub(super) relay: bool,
}

/// What a key takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// `[servers.NAME]` tables.
    Servers,
    /// `[profiles.NAME]` tables.
    Profiles,
    /// `[agents.NAME]` tables.
    Agents,
    /// `[policy]`.
    Policy,
    /// A string that may hold references.
    Text,
    /// An array of such strings.
    Texts,
    /// A plain string.
    String,
    /// An array of plain strings, the first of which is a program.
    Program,
    Boolean,
    /// `false` alone.
    False,
    /// A whole number from 0.
    Number,
    Duration,
    /// A number of bytes.
    Size,
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
    ProfileName,
    /// Names or globs.
    Globs,
    /// Which tools are seen.
    Filter,
    /// A filter a server.
    Filters,
    Auth,
    Grants,
    Transport,
    /// An array of transports.
    Transports,
    Rewrites,
    /// One of some words.
    OneOf(&'static [&'static str]),
    /// The name of an agent that squire knows.
    Strategy,
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
    Agents,
    Policy,
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
    Auth,
    ClientCert,
    ClientKey,
    Ca,
    Timeout,
    StartupTimeout,
    ResultLimit,
    Description,
    Disabled,
    Remove,
    Tools,
    Grants,
    Route,
    Trust,
    MaxRestarts,
    Sampling,
    Audit,
    Spill,
    Pin,
}

/// The keys of `[profiles.NAME]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProfileField {
    Extends,
    Servers,
    Tools,
    Require,
    Strict,
}

/// The keys of `[agents.NAME]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AgentField {
    Profile,
    Tools,
    Strategy,
    Program,
}

/// The keys of `[policy]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PolicyField {
    Transports,
    AllowServers,
    DenyServers,
    RewriteUrls,
    Env,
    Timeout,
    ResultLimit,
    Spill,
    MaxProjectServers,
    LiveSources,
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
    Field::new(
        Section::Agents,
        "agents",
        Shape::Agents,
        "Agents",
        "What the user sets for an agent, and custom commands that speak a known agent's language, a table each: [agents.NAME].",
    ),
    Field::new(
        Section::Policy,
        "policy",
        Shape::Policy,
        "Policy",
        "Limits on every server. The machine's policy in /etc/squire/policy.toml wins over the user's.",
    ),
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
        Shape::OneOf(&["gateway", "direct"]),
        "Route",
        "How the agent reaches the server: `direct`, itself and with its own OAuth, for plain remote servers; `gateway`, through squire, for everything else. Without it squire chooses.",
    )
    .examples(&[Word("gateway")]),
    Field::new(ServerField::Auth, "auth", Shape::Auth, "Authentication", "A secret of secrets.toml in a header: of the type bearer in Authorization behind `Bearer `, of the type header in a header of any name."),
    Field::new(ServerField::ClientCert, "client_cert", Shape::Text, "Client certificate", "The file of the certificate that squire shows to a remote server."),
    Field::new(ServerField::ClientKey, "client_key", Shape::Text, "Client key", "The file of the key of `client_cert`."),
    Field::new(ServerField::Ca, "ca", Shape::Text, "Authorities", "The file of the certificate authorities that a remote server is checked against."),
    Field::new(ServerField::ResultLimit, "result_limit", Shape::Size, "Limit of results", "The largest result of a tool that reaches the agent.").default(Word("64KiB")).examples(&[Word("256KiB")]),
    Field::new(ServerField::Tools, "tools", Shape::Filter, "Tools", "Which tools the agent sees: globs of names to allow and to deny; deny wins."),
    Field::new(ServerField::Grants, "grants", Shape::Grants, "Grants", "A ceiling on what the declaration uses, where it is written: using more is an error."),
    Field::new(ServerField::Remove, "remove", Shape::Boolean, "Remove", "In the local layer: takes the server of a lower layer out.").default(Flag(false)),
    Field::new(ServerField::Trust, "trust", Shape::OneOf(&["trusted", "community"]), "Trust", "How far the declaration is believed: a community server is off until it is approved. Not for a project to say.").examples(&[Word("community")]),
    Field::new(ServerField::MaxRestarts, "max_restarts", Shape::Number, "Restarts", "How many failures in a row the gateway stands."),
    Field::new(ServerField::Sampling, "sampling", Shape::False, "Sampling", "Whether the server may ask the agent's model: squire refuses it.").default(Flag(false)),
    Field::new(ServerField::Audit, "audit", Shape::OneOf(&["digest", "full", "off"]), "Audit", "What the gateway writes down of each call: a digest of its arguments, the arguments themselves, or nothing at all. Not for a project to say.").default(Word("digest")),
    Field::new(ServerField::Spill, "spill", Shape::Boolean, "Whole results", "`false`: a result that is too long for the agent is cut, and kept nowhere. Else the whole of it is in a private file for a day.").default(Flag(true)),
    Field::new(ServerField::Pin, "pin", Shape::OneOf(&["block", "warn", "off"]), "Pin of tools", "What happens when a server changes its tools. Not for a project to say.").relay(),
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
        Shape::Filters,
        "Tools",
        "Narrower filters of tools, one a server: tools.NAME = { deny = [] }.",
    ),
    Field::new(
        ProfileField::Require,
        "require",
        Shape::ServerNames,
        "Required servers",
        "Servers without which there is no launch, as with --require; `all` means every selected one.",
    )
    .examples(&[Words(&["github"])]),
    Field::new(
        ProfileField::Strict,
        "strict",
        Shape::Boolean,
        "Strict",
        "`true` switches the agent's own servers off for the launch, as --strict does.",
    )
    .default(Flag(false)),
];

/// `[agents.NAME]`.
pub(super) static AGENT: &[Field<AgentField>] = &[
    Field::new(
        AgentField::Profile,
        "profile",
        Shape::ProfileName,
        "Profile",
        "The profile that a launch of this agent takes where the command line selects nothing.",
    ),
    Field::new(
        AgentField::Tools,
        "tools",
        Shape::Filters,
        "Tools",
        "Narrower filters of tools for this agent, one a server.",
    ),
    Field::new(
        AgentField::Strategy,
        "strategy",
        Shape::Strategy,
        "Strategy",
        "The known agent whose language a custom command speaks.",
    )
    .examples(&[Word("claude")]),
    Field::new(
        AgentField::Program,
        "program",
        Shape::Program,
        "Program",
        "What runs as the agent, and its first arguments.",
    )
    .examples(&[Words(&["fuelclaude", "--team"])]),
];

/// `[policy]`.
pub(super) static POLICY: &[Field<PolicyField>] = &[
    Field::new(
        PolicyField::Transports,
        "transports",
        Shape::Transports,
        "Transports",
        "The transports that run; all without it.",
    )
    .examples(&[Words(&["stdio", "http"])]),
    Field::new(
        PolicyField::AllowServers,
        "allow_servers",
        Shape::Globs,
        "Allowed servers",
        "Globs over names: no other server runs.",
    )
    .examples(&[Words(&["*"])]),
    Field::new(
        PolicyField::DenyServers,
        "deny_servers",
        Shape::Globs,
        "Denied servers",
        "Globs over names: these don't run, whatever else is written.",
    )
    .examples(&[Words(&["legacy-*"])]),
    Field::new(
        PolicyField::RewriteUrls,
        "rewrite_urls",
        Shape::Rewrites,
        "Rewritten addresses",
        "Beginnings of addresses that are replaced; the first that fits.",
    ),
    Field::new(
        PolicyField::Env,
        "env",
        Shape::Environment,
        "Variables",
        "Variables added to every stdio server that does not set them itself.",
    )
    .examples(&[Pair("HTTPS_PROXY", "http://proxy:3128")]),
    Field::new(
        PolicyField::Timeout,
        "timeout",
        Shape::Duration,
        "Wait for a call",
        "The longest wait for one call where a server writes none.",
    )
    .default(Word("5m")),
    Field::new(
        PolicyField::ResultLimit,
        "result_limit",
        Shape::Size,
        "Limit of results",
        "The largest result where a server writes none.",
    )
    .default(Word("64KiB")),
    Field::new(
        PolicyField::Spill,
        "spill",
        Shape::Boolean,
        "Whole results",
        "`false`: results that are too long for the agent are kept nowhere, whatever a server says.",
    )
    .default(Flag(true)),
    Field::new(
        PolicyField::MaxProjectServers,
        "max_project_servers",
        Shape::Number,
        "Servers of a project",
        "How many servers a project may declare; the file of one that declares more is left out. 16 without it.",
    ),
    Field::new(
        PolicyField::LiveSources,
        "live_sources",
        Shape::Boolean,
        "Agents' files as sources",
        "`false`: `.mcp.json`, `.cursor/mcp.json` and `.vscode/mcp.json` of a project declare no servers.",
    )
    .default(Flag(true)),
];

impl<Id: Copy> Field<Id> {
    const fn new(
        id: Id,
        key: &'static str,
        shape: Shape,
        title: &'static str,
        description: &'static str,
    ) -> Self {
        Self { id, key, shape, title, description, default: None, examples: &[], relay: false }
    }

    /// Only the relay acts on it.
    const fn relay(mut self) -> Self {
        self.relay = true;
        self
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

/// The row of a key.
pub(super) fn find<Id>(table: &'static [Field<Id>], key: &str) -> Option<&'static Field<Id>> {
    table.iter().find(|field| field.key == key)
}

/// All keys, in the order in which a person is told of them.
pub(super) fn keys<Id>(table: &'static [Field<Id>]) -> Vec<&'static str> {
    table.iter().map(|field| field.key).collect()
}
