//! One launch of a real agent through squire, and all that can be known about it afterwards.

use crate::agents::Agent;
use crate::home::Home;
use crate::model::{Model, Turn};
use crate::server::Server;
pub use crate::server::{DECLARED, Speed, Transport};
use crate::{process, programs};
use serde_json::{Value, json};
use std::env;
use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// A variable of the launch that no server may see.
pub const CANARY: &str = "SQUIRE_TEST_CANARY";

/// A variable of the launch that every stdio server sees, though Codex and others hold it back from what they start:
/// only an entry of squire's asks for it.
pub const BASE: &str = "XDG_CACHE_HOME";

/// The variable that an imported server has a secret in.
pub const IMPORTED: &str = "SQUIRE_TEST_IMPORTED";

/// Far above what a launch takes, also with a slow server on a busy machine.
pub(crate) const LIMIT: Duration = Duration::from_secs(180);

/// What came of a launch.
#[derive(Debug)]
pub struct Outcome {
    /// The exit code; `None` where the time ran out or a signal ended it.
    pub code: Option<i32>,
    /// What the launch printed.
    pub stdout: String,
    /// What it printed to stderr.
    pub stderr: String,
    /// The conversation with the model.
    pub turns: Vec<Turn>,
    /// What the server wrote down.
    pub log: Vec<Value>,
    /// How far the server has come, as `squire status` tells it.
    pub way: Value,
    /// The agent's own settings afterwards.
    pub settings: String,
    /// The files of the user that were changed, and what was left in the project.
    pub changed: Vec<PathBuf>,
}

/// Launches an agent headless with one server declared, as its user would have it call the server's tool.
pub fn launch(agent: &Agent, program: &Path, transport: Transport, speed: Speed) -> io::Result<Outcome> {
    run(agent, program, transport, speed, &(agent.arguments)(speed.server()))
}

/// Runs `squire launch AGENT -- ARGUMENTS` with one server declared.
pub fn run(
    agent: &Agent,
    program: &Path,
    transport: Transport,
    speed: Speed,
    arguments: &[String],
) -> io::Result<Outcome> {
    run_with(agent, program, transport, speed, &[], arguments)
}

/// Runs `squire launch AGENT OPTIONS -- ARGUMENTS` with one server declared.
pub fn run_with(
    agent: &Agent,
    program: &Path,
    transport: Transport,
    speed: Speed,
    options: &[String],
    arguments: &[String],
) -> io::Result<Outcome> {
    Setting::new(agent, program, transport, speed)?.run(options, arguments)
}

/// A home in which one agent is launched, with one server declared, as often as a test wants.
#[derive(Debug)]
pub struct Setting<'a> {
    agent: &'a Agent,
    /// The model that the agent talks to.
    pub model: Model,
    home: Home,
    server: Server,
    search_path: OsString,
}

impl<'a> Setting<'a> {
    /// Declares the server, and writes what the agent's user has configured.
    pub fn new(agent: &'a Agent, program: &Path, transport: Transport, speed: Speed) -> io::Result<Self> {
        let model = Model::start("echo")?;
        let mut home = Home::new()?;
        let server = Server::new(transport, speed, &home)?;
        home.write(".config/squire/squire.toml", server.declaration.clone())?;
        agent.write_settings(&mut home, &model.url())?;
        let search_path = search_path(agent, program, &home)?;
        Ok(Self { agent, model, home, server, search_path })
    }

    /// The same server, imported from what the user has in Cursor's file, with a token in clear, and approved.
    pub fn importing(agent: &'a Agent, program: &Path, token: &str) -> io::Result<Self> {
        let model = Model::start("echo")?;
        let mut home = Home::new()?;
        let (server, command) = Server::unlisted(&home)?;
        let entry = json!({ "command": command, "args": server.arguments(), "env": { IMPORTED: token } });
        let file = json!({ "mcpServers": { Speed::Quick.server(): entry } });
        home.write(".cursor/mcp.json", format!("{file:#}"))?;
        agent.write_settings(&mut home, &model.url())?;
        let search_path = search_path(agent, program, &home)?;
        let setting = Self { agent, model, home, server, search_path };
        setting.finishes(&["import", "cursor"])?;
        // A wrong digest is told the right one.
        let name = Speed::Quick.server();
        let told = setting.finishes(&["approve", "--digest", "0", name])?.stderr;
        let digest = told.split(" is ").nth(1).and_then(|rest| rest.split(',').next()).unwrap_or_default();
        setting.finishes(&["approve", "--digest", digest, name])?;
        Ok(setting)
    }

    fn finishes(&self, words: &[&str]) -> io::Result<process::Finished> {
        process::run(self.squire()?.args(words), &self.home.beside(""), LIMIT)
    }

    /// One launch. The server's log is of all launches.
    pub fn run(&self, options: &[String], arguments: &[String]) -> io::Result<Outcome> {
        let Self { agent, model, home, server, .. } = self;
        let before = model.turns().len();
        let mut command = self.squire()?;
        command
            .args(["launch", agent.name])
            .args(options)
            .arg("--")
            .args(arguments)
            .env(CANARY, "1")
            .envs(agent.environment.iter().copied());
        let finished = process::run(&mut command, &home.beside(""), LIMIT)?;
        let told = process::run(self.squire()?.args(["status", "--json"]), &home.beside(""), LIMIT)?;
        let told: Value = serde_json::from_str(&told.stdout).unwrap_or_default();
        let servers = told["launches"][0]["servers"].as_array();
        let own = servers.into_iter().flatten().find(|server| server["name"] != "squire");
        Ok(Outcome {
            code: finished.code,
            stdout: finished.stdout,
            stderr: finished.stderr,
            turns: model.turns().split_off(before),
            log: server.log(),
            way: own.cloned().unwrap_or_default(),
            settings: fs::read_to_string(home.path().join(agent.settings_file()))?,
            changed: home.changed()?,
        })
    }

    fn squire(&self) -> io::Result<Command> {
        let mut command = Command::new(programs::squire()?);
        command
            .current_dir(self.home.project())
            .env_clear()
            .env("HOME", self.home.path())
            .env("PATH", &self.search_path)
            .env(BASE, self.home.path().join(".cache"));
        Ok(command)
    }
}

/// The PATH of a machine where just this agent is installed.
pub(crate) fn search_path(agent: &Agent, program: &Path, home: &Home) -> io::Result<OsString> {
    let folder = home.beside("bin");
    fs::create_dir(&folder)?;
    symlink(program, folder.join(agent.name))?;
    let rest = env::var_os("PATH").unwrap_or_default();
    env::join_paths([folder].into_iter().chain(env::split_paths(&rest))).map_err(io::Error::other)
}

impl Outcome {
    /// The first request in which the agent offered tools: titles and summaries are asked for without.
    pub fn first_turn(&self) -> Option<&Turn> {
        self.turns.iter().find(|turn| !turn.tools.is_empty())
    }

    /// The records of one event in the server's log.
    pub fn events<'a>(&'a self, event: &'a str) -> impl Iterator<Item = &'a Value> {
        self.log.iter().filter(move |record| record["event"] == event)
    }
}

/// All of it, for a test that failed.
impl fmt::Display for Outcome {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { code, stdout, stderr, turns, log, way, settings: _, changed } = self;
        writeln!(
            out,
            "code {code:?}, changed {changed:?}\n--- stdout\n{stdout}\n--- stderr\n{stderr}\n--- turns"
        )?;
        turns.iter().try_for_each(|turn| writeln!(out, "{turn:?}"))?;
        writeln!(out, "--- server: {way}")?;
        log.iter().try_for_each(|record| writeln!(out, "{record}"))
    }
}
