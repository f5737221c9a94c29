//! What the targets of the agents' files share: a launch of two servers in a project.

use squire_strategies::{
    Approved, Artifacts, Content, Gateway, Launch, Name, Read, Refusal, Remote, ResolvedServer, Route, Stdio,
    Strategy, Text, Tier, Transport, find,
};

/// The name of the server that runs through the gateway, and of the one that is reached directly.
pub const OURS: [&str; 2] = ["ours", "docs"];

/// Plans a launch of an agent that finds these files and variables.
pub fn plan(agent: &str, found: &[(Read, &[u8])], strict: bool) -> Result<Artifacts, Refusal> {
    let strategy = strategy(agent);
    let contents: Vec<Content> = found.iter().map(|(read, bytes)| content(*read, bytes)).collect();
    let gateway = Gateway {
        program: "/usr/bin/squire".into(),
        project: Some("/p".into()),
        profiles: Vec::new(),
        config: "/c".into(),
        state: "/s".into(),
    };
    let servers = servers();
    let servers: Vec<&ResolvedServer> = servers.iter().collect();
    let launch = Launch {
        agent,
        gateway: &gateway,
        servers: &servers,
        contents: &contents,
        directory: "/p",
        strict,
        agent_servers: false,
        words: &[],
        approved: &Approved::default(),
        unquoted: &[],
    };
    let planned = strategy.plan(&launch);
    assert_eq!(strategy.plan(&launch), planned, "two plans of one launch");
    planned
}

/// The strategy of an agent.
pub fn strategy(agent: &str) -> &'static dyn Strategy {
    find(agent).expect("a known agent")
}

/// The pieces of an input, between its NULs.
pub fn pieces(data: &[u8]) -> Vec<&[u8]> {
    data.split(|byte| *byte == 0).collect()
}

fn content(read: Read, bytes: &[u8]) -> Content {
    let place = match read {
        Read::Variable(name) | Read::FileNamedBy(name) => name.into(),
        Read::UserFile(_, path) => format!("/h/{path}"),
        Read::Merged(path) | Read::Upward(path) => format!("/p/{path}"),
    };
    Content { read, place, bytes: Ok(bytes.to_vec()) }
}

fn servers() -> [ResolvedServer; 2] {
    let stdio = Stdio {
        command: Text::plain("x"),
        args: Vec::new(),
        env: Vec::new(),
        inherit_env: Vec::new(),
        cwd: None,
    };
    let remote = Remote { url: Text::plain("https://docs.example.com/mcp"), headers: Vec::new() };
    let server = |name, transport, route| ResolvedServer {
        name: Name::parse(name).expect("a name"),
        tier: Tier::Trusted,
        transport,
        route,
        startup_timeout: None,
        timeout: None,
        description: None,
        origin: "squire.toml:1".into(),
        declared_in: None,
        secret_variables: Vec::new(),
    };
    let [ours, docs] = OURS;
    [
        server(ours, Transport::Stdio(stdio), Route::Gateway),
        server(docs, Transport::Http(remote), Route::Direct),
    ]
}
