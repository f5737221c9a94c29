//! The test server, declared as a user would declare it.

use crate::home::Home;
use crate::programs;
use serde_json::{Value, json};
use std::fs;
use std::io;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// How the agent reaches the server.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Transport {
    /// A child process, started for the agent.
    Stdio,
    /// A server that already runs.
    Http,
    /// The same over HTTP with server-sent events, of revision 2024-11-05.
    Sse,
}

/// How long the server takes to start.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Speed {
    /// At once.
    Quick,
    /// As a first `npx` or `uvx` run does.
    Slow,
    /// It never does.
    Dead,
}

impl Speed {
    /// The name that a server of this speed is declared under.
    pub const fn server(self) -> &'static str {
        match self {
            Self::Quick => "quick",
            Self::Slow => "slow",
            Self::Dead => "dead",
        }
    }

    const fn arguments(self) -> &'static [&'static str] {
        match self {
            Self::Quick => &[],
            Self::Slow => &["--mode", "slow:8000"],
            Self::Dead => &["--mode", "die"],
        }
    }
}

/// The variable that the declaration gives to a stdio server.
pub const DECLARED: (&str, &str) = ("SQUIRE_TEST_DECLARED", "yes");

/// The server of one launch.
#[derive(Debug)]
pub(crate) struct Server {
    /// The text of `squire.toml`.
    pub(crate) declaration: String,
    log: PathBuf,
    /// What the test itself started.
    process: Option<Child>,
}

impl Server {
    pub(crate) fn new(transport: Transport, speed: Speed, home: &Home) -> io::Result<Self> {
        let program = programs::fake_server()?;
        let (log, port) = (home.beside("server.jsonl"), home.beside("port"));
        let name = speed.server();
        let (kind, path, field) = match transport {
            Transport::Stdio => {
                // Strings and arrays of JSON are strings and arrays of TOML.
                let words = json!([program, "stdio", "--log", log]);
                let command = words.as_array().into_iter().flatten().cloned();
                let command: Vec<_> =
                    command.chain(speed.arguments().iter().map(|word| json!(word))).collect();
                let (variable, value) = DECLARED;
                let declaration = format!(
                    "[servers.{name}]\ncommand = {}\nenv = {{ {variable} = \"{value}\" }}\n",
                    Value::from(command)
                );
                return Ok(Self { declaration, log, process: None });
            }
            Transport::Http => ("http", "mcp", ""),
            Transport::Sse => ("sse", "sse", "transport = \"sse\"\n"),
        };
        let mut command = Command::new(program);
        command.arg(kind).arg("--port-file").arg(&port).arg("--log").arg(&log).args(speed.arguments());
        let process = Some(command.stdin(Stdio::null()).spawn()?);
        let mut server = Self { declaration: String::new(), log, process };
        server.declaration =
            format!("[servers.{name}]\nurl = \"http://127.0.0.1:{}/{path}\"\n{field}", read_port(&port)?);
        Ok(server)
    }

    /// One that is started by whoever is told its program, and the program.
    pub(crate) fn unlisted(home: &Home) -> io::Result<(Self, PathBuf)> {
        let server = Self { declaration: String::new(), log: home.beside("server.jsonl"), process: None };
        Ok((server, programs::fake_server()?))
    }

    /// The arguments of such a one.
    pub(crate) fn arguments(&self) -> Vec<String> {
        vec!["stdio".into(), "--log".into(), self.log.display().to_string()]
    }

    /// What the server has written down so far.
    pub(crate) fn log(&self) -> Vec<Value> {
        let text = fs::read_to_string(&self.log).unwrap_or_default();
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(process) = &mut self.process {
            // It may have ended by itself.
            process.kill().ok();
            process.wait().ok();
        }
    }
}

fn read_port(file: &PathBuf) -> io::Result<u16> {
    let end = Instant::now() + Duration::from_secs(10);
    loop {
        let port = fs::read_to_string(file).unwrap_or_default().trim().parse();
        match port {
            Ok(port) => return Ok(port),
            Err(_) if Instant::now() < end => thread::sleep(Duration::from_millis(20)),
            Err(error) => return Err(io::Error::other(format!("the test server named no port: {error}"))),
        }
    }
}
