//! An agent in a repository that somebody else wrote, bare and under squire: what the repository gets to run.

use crate::agents::Agent;
use crate::driver::{BASE, LIMIT, Speed, Transport, search_path};
use crate::home::Home;
use crate::model::Model;
use crate::server::Server;
use crate::terminal::Terminal;
use crate::{process, programs};
use serde_json::{Value, json};
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

/// How the agent is started.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum By<'a> {
    /// By its own name, as without squire.
    Itself,
    /// `squire launch AGENT OPTIONS`.
    Squire(&'a [&'a str]),
}

/// A repository, and a user in it.
#[derive(Debug, Clone, Copy)]
pub struct Situation<'a> {
    /// The agent.
    pub agent: &'a Agent,
    /// Its program.
    pub program: &'a Path,
    /// The repository's files. `<mark>/NAME` leaves a mark of that name, in a shell; `<server>` is the test server, and
    /// `<log>` where it writes what is seen.
    pub files: &'a [(&'a str, &'a str)],
    /// Files of the user, below the home directory.
    pub own: &'a [(&'a str, &'a str)],
    /// Where in the repository the user stands.
    pub directory: &'a str,
    /// Whether the user has declared a server.
    pub has_server: bool,
    /// The servers of the repository that the user has approved.
    pub approved: &'a [&'a str],
    /// What starts the agent.
    pub by: By<'a>,
    /// The agent's words.
    pub words: &'a [&'a str],
}

/// What came of it.
#[derive(Debug)]
pub struct Seen {
    /// The exit code, where it ended by itself.
    pub code: Option<i32>,
    /// What was printed to stderr, or is on the screen.
    pub shown: String,
    /// The marks that the repository's commands left, each once and sorted.
    pub marks: Vec<String>,
    /// What the repository's commands found in their environment.
    pub environment_of_marks: String,
    /// What the user's own server wrote down.
    pub log: Vec<Value>,
    /// The home directory of the launch.
    pub home: PathBuf,
    /// The PATH of the launch.
    pub path: OsString,
}

impl fmt::Display for Seen {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "code {:?}, marks {:?}\n--- shown\n{}", self.code, self.marks, self.shown)?;
        self.log.iter().try_for_each(|record| writeln!(out, "{record}"))
    }
}

/// One run in a folder of its own.
pub(crate) struct Stage {
    pub(crate) home: Home,
    server: Server,
    pub(crate) command: Command,
    path: OsString,
    /// Ends with the run.
    _model: Model,
}

impl Stage {
    pub(crate) fn set(situation: Situation<'_>) -> io::Result<Self> {
        let Situation { agent, program, files, own, directory, has_server, approved, by, words } = situation;
        let model = Model::start("echo")?;
        let mut home = Home::new()?;
        let server = Server::new(Transport::Stdio, Speed::Quick, &home)?;
        if has_server {
            home.write(".config/squire/squire.toml", server.declaration.clone())?;
        }
        agent.write_settings(&mut home, &model.url())?;
        let project = home.project().display().to_string();
        for (name, text) in own {
            home.write(name, text.replace("<project>", &project))?;
        }
        let marks = home.beside("marks");
        fs::create_dir(&marks)?;
        let mark = format!("env > {}", marks.display());
        for (name, text) in files {
            let file = home.project().join(name);
            fs::create_dir_all(file.parent().unwrap_or(Path::new("/")))?;
            let text = text
                .replace("<mark>", &mark)
                .replace("<log>", &home.beside("server.jsonl").display().to_string());
            fs::write(file, text.replace("<server>", &programs::fake_server()?.display().to_string()))?;
        }
        let directory = home.project().join(directory);
        fs::create_dir_all(&directory)?;

        let path = search_path(agent, program, &home)?;
        let mut command = match by {
            By::Itself => Command::new(program),
            By::Squire(options) => {
                let mut command = Command::new(programs::squire()?);
                command.args(["launch", agent.name]).args(options).arg("--");
                command
            }
        };
        command
            .args(words)
            .current_dir(directory)
            .env_clear()
            .env("HOME", home.path())
            .env("PATH", &path)
            .env("TERM", "xterm-256color")
            .env(BASE, home.path().join(".cache"))
            .envs(agent.environment.iter().copied());
        for name in approved {
            approve(name, &command)?;
        }
        Ok(Self { home, server, command, path, _model: model })
    }

    /// The PATH of the launch.
    pub(crate) fn path_of_command(&self) -> String {
        self.path.to_string_lossy().into_owned()
    }

    fn marks(&self) -> io::Result<Vec<String>> {
        let entries = fs::read_dir(self.home.beside("marks"))?;
        let mut marks: Vec<String> = entries
            .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
            .collect::<io::Result<_>>()?;
        marks.sort();
        Ok(marks)
    }

    pub(crate) fn seen(&self, code: Option<i32>, shown: String) -> io::Result<Seen> {
        let marks = self.marks()?;
        let texts = marks.iter().map(|mark| fs::read_to_string(self.home.beside("marks").join(mark)));
        Ok(Seen {
            code,
            shown,
            environment_of_marks: texts.collect::<io::Result<_>>()?,
            marks,
            log: self.server.log(),
            home: self.home.path(),
            path: self.path.clone(),
        })
    }
}

/// Approves a server in the surroundings of a launch: a wrong digest is told the right one.
fn approve(name: &str, launch: &Command) -> io::Result<()> {
    let run = |digest: &str| {
        let mut command = Command::new(programs::squire()?);
        command.args(["approve", "--digest", digest, name]).env_clear();
        command.envs(launch.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.current_dir(launch.get_current_dir().unwrap_or(Path::new("/"))).output()
    };
    let refused = String::from_utf8_lossy(&run("0")?.stderr).into_owned();
    let digest = refused.split(" files is ").nth(1).and_then(|rest| rest.split(',').next());
    let approved = run(digest.unwrap_or_default())?;
    if approved.status.success() { Ok(()) } else { Err(io::Error::other(refused)) }
}

/// Runs the agent headless.
pub fn run(situation: Situation<'_>) -> io::Result<Seen> {
    let mut stage = Stage::set(situation)?;
    let finished = process::run(&mut stage.command, &stage.home.beside(""), LIMIT)?;
    stage.seen(finished.code, finished.stderr)
}

/// Shows the agent on a terminal, and says yes to the question that holds `question`. Ends it once `is_enough` of what was
/// seen, or when a minute has gone, and a while later: what is slow would be noticed too.
pub fn watch(
    situation: Situation<'_>,
    question: &str,
    is_enough: impl Fn(&Seen) -> bool,
) -> io::Result<Seen> {
    let mut stage = Stage::set(situation)?;
    let terminal = Terminal::run(&mut stage.command)?;
    let end = Instant::now() + Duration::from_secs(60);
    let mut answered = false;
    loop {
        thread::sleep(Duration::from_millis(200));
        let screen = terminal.words();
        if !answered && screen.contains(question) {
            thread::sleep(Duration::from_secs(1));
            terminal.press(b"\r")?;
            answered = true;
        }
        if answered && is_enough(&stage.seen(None, screen)?) || Instant::now() > end {
            break;
        }
    }
    thread::sleep(Duration::from_secs(3));
    let screen = terminal.words();
    terminal.end()?;
    stage.seen(None, screen)
}

/// The state of a user of Claude Code who has begun before, and trusts the project.
pub fn claude_state() -> String {
    let state = json!({
        "hasCompletedOnboarding": true,
        "theme": "dark",
        "customApiKeyResponses": { "approved": ["sk-ant-fake"], "rejected": [] },
        "projects": { "<project>": { "hasTrustDialogAccepted": true } },
    });
    state.to_string()
}

impl Seen {
    /// The environment of the user's own server.
    pub fn environment(&self) -> Option<&serde_json::Map<String, Value>> {
        self.log.iter().find(|record| record["event"] == "start")?["env"].as_object()
    }

    /// How many processes of the test server started.
    pub fn starts(&self) -> usize {
        self.log.iter().filter(|record| record["event"] == "start").count()
    }

    /// Whether the user's own server started.
    pub fn has_started_ours(&self) -> bool {
        self.environment().is_some()
    }

    /// Whether a variable has the launch's value in the user's own server.
    pub fn is_of_the_launch(&self, name: &str, value: &OsStr) -> bool {
        let given = self.environment().and_then(|environment| environment.get(name)).and_then(Value::as_str);
        given.is_some_and(|given| OsStr::new(given) == value)
    }
}
