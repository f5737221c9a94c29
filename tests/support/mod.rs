//! The builder of a test: strict unless said otherwise. A run must exit 0 with nothing on stdout and stderr, in an
//! environment of its own: a home, a project, and a PATH whose first directory holds the fake agents.

mod canary;
mod listed;
mod programs;
mod running;
mod session;
pub(crate) mod soaking;
mod terminal;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod traced;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub(crate) mod tracer;
mod watched;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Output, Stdio};
use std::rc::Rc;

use serde_json::Value;
use tempfile::TempDir;

pub(crate) use canary::{CANARY, holds_canary};
pub(crate) use listed::{gateway_words, local_path};
pub(crate) use programs::{SQUIRE, fake_agent, fake_server, fake_shell, stranger};
pub(crate) use running::{Running, eventually};
pub(crate) use session::{Place, Session};
pub(crate) use watched::Watched;

/// One run of squire, and what it must show. A clone shares the directory, for several runs in one place.
#[must_use = "a test runs when it is told how it must end: success, code or signal"]
#[derive(Clone)]
pub(crate) struct Test {
    temp: Rc<Sandbox>,
    program: PathBuf,
    wrapper: Vec<OsString>,
    arguments: Vec<OsString>,
    environment: BTreeMap<OsString, OsString>,
    directory: PathBuf,
    stdin: Vec<u8>,
    stdout: Expected,
    stderr: Expected,
    unchanged: bool,
}

#[derive(Clone)]
enum Expected {
    Exactly(String),
    Anything,
}

/// The directory of a test. No run may leave a value of a secret in it where none was: that is looked at after each
/// run, and at the end for those that end in another way.
pub(crate) struct Sandbox {
    temp: TempDir,
    /// The files that hold a value and may: its sources, and what servers write down that are to have it.
    known: RefCell<BTreeSet<PathBuf>>,
}

impl Sandbox {
    fn new(temp: TempDir) -> Self {
        Self { temp, known: RefCell::default() }
    }

    pub(crate) fn path(&self) -> &Path {
        self.temp.path()
    }

    /// What holds a value now, before a run, is no work of the run.
    fn know_sources(&self) {
        self.known.borrow_mut().extend(canary::holders(self.path()));
    }

    /// Files that hold a value and may not.
    fn leaks(&self, is_users: impl Fn(&str, &str) -> bool) -> Vec<PathBuf> {
        let known = self.known.borrow();
        let log = self.path().join("agent.json");
        let may = |path: &PathBuf| {
            known.contains(path)
                || path.ends_with(".config/squire/secrets.toml")
                || (*path == log && !canary::agent_holds_canary(&log, &is_users))
        };
        canary::holders(self.path()).into_iter().filter(|path| !may(path)).collect()
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            let leaks = self.leaks(|_, value| value.contains(CANARY));
            assert!(leaks.is_empty(), "values of secrets were left in {leaks:?}");
        }
    }
}

/// What a run left behind, for more to be asked of it.
pub(crate) struct Run {
    pub(crate) temp: Rc<Sandbox>,
    /// With the changing parts replaced, as in expectations.
    pub(crate) stdout: String,
    /// With the changing parts replaced, as in expectations.
    pub(crate) stderr: String,
}

impl Test {
    /// A home (`home`), a project (`project`, a repository, the working directory) and a place for agents (`bin`).
    pub(crate) fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().canonicalize().unwrap();
        for directory in ["home", "project/.git", "bin"] {
            fs::create_dir_all(root.join(directory)).unwrap();
        }
        let path = format!("{}:/usr/local/bin:/usr/bin:/bin", root.join("bin").display());
        let environment = BTreeMap::from([
            ("HOME".into(), root.join("home").into()),
            ("PATH".into(), path.into()),
            ("FAKE_AGENT_LOG".into(), root.join("agent.json").into()),
        ]);
        Self {
            directory: root.join("project"),
            temp: Rc::new(Sandbox::new(temp)),
            program: SQUIRE.into(),
            wrapper: Vec::new(),
            arguments: Vec::new(),
            environment,
            stdin: Vec::new(),
            stdout: Expected::Exactly(String::new()),
            stderr: Expected::Exactly(String::new()),
            unchanged: false,
        }
    }

    /// The directory that everything lies in; `<T>` in expectations.
    pub(crate) fn root(&self) -> PathBuf {
        self.temp.path().canonicalize().unwrap()
    }

    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        self.root().join(relative)
    }

    /// The user's `squire.toml`. `<server>` in it is the fake server, `<T>` the test's directory.
    pub(crate) fn config(self, text: &str) -> Self {
        let text = self.filled(text);
        self.write("home/.config/squire/squire.toml", text)
    }

    /// The user's `secrets.toml`, which nobody else can read.
    pub(crate) fn secrets(self, text: &str) -> Self {
        let text = self.filled(text);
        canary::assert_values_are_marked(&text);
        let path = "home/.config/squire/secrets.toml";
        self.write(path, text).mode(path, 0o600)
    }

    /// Writes a file; its directories are made.
    pub(crate) fn write(self, relative: &str, bytes: impl AsRef<[u8]>) -> Self {
        let path = self.path(relative);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
        self
    }

    /// A file that is to hold a value after a run: the log of the server that it is for.
    pub(crate) fn receiver(self, relative: &str) -> Self {
        self.temp.known.borrow_mut().insert(self.temp.path().join(relative));
        self
    }

    pub(crate) fn mode(self, relative: &str, mode: u32) -> Self {
        fs::set_permissions(self.path(relative), fs::Permissions::from_mode(mode)).unwrap();
        self
    }

    pub(crate) fn link(self, target: impl AsRef<Path>, relative: &str) -> Self {
        let path = self.path(relative);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        symlink(target, path).unwrap();
        self
    }

    /// Puts the fake agent on PATH as `name`; it runs `script` (see `tests/fakes/README.md`).
    pub(crate) fn agent(self, name: &str, script: &str) -> Self {
        let script = self.filled(script);
        self.link(fake_agent(), &format!("bin/{name}")).env("FAKE_AGENT", script)
    }

    /// Writes a program. Another process writes it: while this one holds it open, a fork in another thread would hold
    /// it open too, and the kernel starts no program that is being written ("Text file busy").
    pub(crate) fn script(self, relative: &str, text: &str) -> Self {
        let text = self.filled(text);
        let test = self.write(relative, "");
        let mut writer = Command::new("/bin/sh");
        writer.args(["-c", "printf %s \"$1\" > \"$2\"", "sh", &text]).arg(test.path(relative));
        assert!(writer.status().unwrap().success());
        test.mode(relative, 0o755)
    }

    /// Starts squire by another path to it.
    pub(crate) fn program(mut self, relative: &str) -> Self {
        self.program = self.path(relative);
        self
    }

    /// Starts squire from a shell, behind these commands, as its successor.
    pub(crate) fn behind(mut self, commands: &str) -> Self {
        let script = format!("{commands}; exec \"$@\"");
        self.wrapper = ["/bin/sh", "-c", &script, "sh"].map(OsString::from).to_vec();
        self
    }

    pub(crate) fn env(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.environment.insert(name.into(), value.into());
        self
    }

    pub(crate) fn env_remove(mut self, name: &str) -> Self {
        self.environment.remove(&OsString::from(name));
        self
    }

    /// The working directory, below the test's directory.
    pub(crate) fn directory(mut self, relative: &str) -> Self {
        self.directory = self.path(relative);
        self
    }

    pub(crate) fn args<Argument: Into<OsString>>(
        mut self,
        arguments: impl IntoIterator<Item = Argument>,
    ) -> Self {
        self.arguments.extend(arguments.into_iter().map(Into::into));
        self
    }

    pub(crate) fn stdin(mut self, bytes: impl AsRef<[u8]>) -> Self {
        self.stdin = bytes.as_ref().to_vec();
        self
    }

    /// For another command line in the same place.
    pub(crate) fn without_arguments(mut self) -> Self {
        self.arguments.clear();
        self
    }

    /// What stdout must be, to the byte; see [`Test::root`] and [`normal`] for what is replaced.
    pub(crate) fn stdout(mut self, text: impl Into<String>) -> Self {
        self.stdout = Expected::Exactly(text.into());
        self
    }

    pub(crate) fn stderr(mut self, text: impl Into<String>) -> Self {
        self.stderr = Expected::Exactly(text.into());
        self
    }

    /// The test looks at stdout itself.
    pub(crate) fn any_stdout(mut self) -> Self {
        self.stdout = Expected::Anything;
        self
    }

    /// The test looks at stderr itself.
    pub(crate) fn any_stderr(mut self) -> Self {
        self.stderr = Expected::Anything;
        self
    }

    /// Nothing below home and project may be another after the run, directories and permissions included.
    pub(crate) fn unchanged(mut self) -> Self {
        self.unchanged = true;
        self
    }

    #[track_caller]
    pub(crate) fn success(self) -> Run {
        self.code(0)
    }

    #[track_caller]
    pub(crate) fn code(self, code: i32) -> Run {
        self.end(ExitStatus::from_raw(code << 8))
    }

    /// For a test that looks at the exit code itself.
    #[track_caller]
    pub(crate) fn ends(self) -> (Run, Option<i32>) {
        let (run, status) = self.start().end(None);
        (run, status.code())
    }

    #[track_caller]
    pub(crate) fn signal(self, signal: i32) -> Run {
        self.end(ExitStatus::from_raw(signal))
    }

    /// The command as it would run, for a test that needs more than a start and an end.
    pub(crate) fn command(&self) -> Command {
        self.temp.know_sources();
        let mut words = self.wrapper.iter().cloned().chain([self.program.clone().into()]);
        let mut command = Command::new(words.next().unwrap());
        command
            .args(words)
            .args(&self.arguments)
            .env_clear()
            .envs(&self.environment)
            .current_dir(&self.directory);
        command
    }

    /// Starts squire, for a test that does something while the agent runs.
    #[track_caller]
    pub(crate) fn start(self) -> Running {
        let before = self.unchanged.then(|| snapshot(&self.root()));
        let agents_own = agents_own(&self.path("home"));
        let mut command = self.command();
        let child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        Running::new(self, child, before, agents_own)
    }

    #[track_caller]
    fn end(self, status: ExitStatus) -> Run {
        self.start().end(Some(status)).0
    }

    #[track_caller]
    fn judge(
        self,
        output: &Output,
        status: Option<ExitStatus>,
        before: Option<Snapshot>,
        agents_own_before: &[AgentsOwn],
    ) -> Run {
        let root = self.root();
        let is_users = |name: &str, value: &str| {
            self.environment.get(OsStr::new(name)).is_some_and(|own| own.to_str() == Some(value))
        };
        let leaks = self.temp.leaks(is_users);
        let said = [&output.stdout, &output.stderr].map(|bytes| holds_canary(bytes));
        let run = Run {
            stdout: normal(&String::from_utf8_lossy(&output.stdout), &root),
            stderr: normal(&String::from_utf8_lossy(&output.stderr), &root),
            temp: self.temp,
        };
        let mut wrong = Vec::new();
        if !leaks.is_empty() || said.contains(&true) {
            wrong.push(format!("a value of a secret is in stdout or stderr: {said:?}, or in {leaks:?}"));
        }
        // A core file is the system's business.
        if let Some(status) = status
            && (output.status.code(), output.status.signal()) != (status.code(), status.signal())
        {
            wrong.push(format!("status: {} instead of {status}", output.status));
        }
        for (name, found, expected) in
            [("stdout", &run.stdout, &self.stdout), ("stderr", &run.stderr, &self.stderr)]
        {
            if let Expected::Exactly(expected) = expected
                && found != expected
            {
                wrong.push(format!("{name}:\n{found}\ninstead of:\n{expected}"));
            }
        }
        // Every command of the suite: the agents' own user files are the agents' business.
        let agents_own_after = agents_own(&root.join("home"));
        if agents_own_before != agents_own_after {
            wrong.push(format!("the agents' own: {agents_own_before:?} became {agents_own_after:?}"));
        }
        if let Some(before) = before {
            let after = snapshot(&root);
            let all = before.keys().chain(after.keys());
            let changed: Vec<&String> = all.filter(|path| before.get(*path) != after.get(*path)).collect();
            if !changed.is_empty() {
                wrong.push(format!("changed: {changed:?}"));
            }
        }
        let words = self.arguments.iter().map(|word| word.to_string_lossy().chars().take(200).collect());
        let words: Vec<String> = words.collect();
        assert!(
            wrong.is_empty(),
            "squire {}\n{}\n(stdout: {}\nstderr: {})",
            words.join(" "),
            wrong.join("\n"),
            run.stdout,
            run.stderr
        );
        run
    }

    fn filled(&self, text: &str) -> String {
        text.replace("<server>", fake_server().to_str().unwrap())
            .replace("<T>", self.root().to_str().unwrap())
    }
}

impl Run {
    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        self.temp.path().canonicalize().unwrap().join(relative)
    }

    /// What the fake agent was given.
    #[track_caller]
    pub(crate) fn agent(&self) -> Value {
        let path = self.path("agent.json");
        assert!(path.exists(), "the agent was not started; stderr: {}", self.stderr);
        // An umask may have made it unreadable.
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
    }

    /// The bytes of the agent's arguments, as they came.
    #[track_caller]
    pub(crate) fn agent_argument_bytes(&self) -> Vec<Vec<u8>> {
        let agent = self.agent();
        if let Some(bytes) = agent.get("argv_bytes") {
            return serde_json::from_value(bytes.clone()).unwrap();
        }
        let arguments: Vec<String> = serde_json::from_value(agent["argv"].clone()).unwrap();
        arguments.into_iter().map(String::into_bytes).collect()
    }

    /// A variable that the agent was given.
    #[track_caller]
    pub(crate) fn agent_variable(&self, name: &str) -> Option<String> {
        self.agent()["env"].get(name).map(|value| value.as_str().unwrap().to_owned())
    }

    /// The file that the agent was given at a path with this end, as it saw it.
    #[track_caller]
    pub(crate) fn agent_file(&self, end: &str) -> Value {
        let files = self.agent()["files"].as_array().unwrap().clone();
        let found = files.into_iter().find(|file| file["path"].as_str().unwrap().ends_with(end));
        found.unwrap_or_else(|| panic!("the agent had no file {end}"))
    }

    /// The agent's arguments, with the changing parts replaced.
    #[track_caller]
    pub(crate) fn agent_arguments(&self) -> Vec<String> {
        let root = self.temp.path().canonicalize().unwrap();
        let arguments = self.agent()["argv"].as_array().unwrap().clone();
        arguments.iter().map(|argument| normal(argument.as_str().unwrap(), &root)).collect()
    }

    pub(crate) fn agent_was_started(&self) -> bool {
        self.path("agent.json").exists()
    }

    /// Every file below the state directory but what remembers launches that ended, for "nothing is left".
    #[track_caller]
    pub(crate) fn state_left(&self) -> Vec<String> {
        let mut files = self.files_below("home/.local");
        let merges = "state/squire/merges/";
        let journals: Vec<String> = files
            .iter()
            .filter(|file| file.starts_with(merges) && file.strip_suffix(".json").is_some())
            .cloned()
            .collect();
        for journal in journals {
            let text = fs::read_to_string(self.path("home/.local").join(&journal)).unwrap();
            let parsed: Value = serde_json::from_str(&text).unwrap();
            assert_eq!(parsed["launches"], serde_json::json!([]), "{text}");
            let lock = journal.replace(".json", ".lock");
            files.retain(|file| *file != journal && *file != lock);
        }
        files
    }

    /// Every file below a directory but what remembers launches and servers, for "nothing is left".
    pub(crate) fn files_below(&self, relative: &str) -> Vec<String> {
        let mut files = self.all_files_below(relative);
        let remembers = |file: &String| {
            file.split('/').any(|part| ["past", "deliveries", "tools", "answers"].contains(&part))
        };
        files.retain(|file| !remembers(file));
        files
    }

    /// Every file below a directory.
    pub(crate) fn all_files_below(&self, relative: &str) -> Vec<String> {
        let mut files = Vec::new();
        let mut open = vec![self.path(relative)];
        while let Some(directory) = open.pop() {
            for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
                if entry.file_type().unwrap().is_dir() {
                    open.push(entry.path());
                } else {
                    files.push(entry.path().strip_prefix(self.path(relative)).unwrap().display().to_string());
                }
            }
        }
        files.sort();
        files
    }
}

/// Declarations of servers that differ in their names alone: `s0`, `s1` …
pub(crate) fn many_servers(count: usize) -> String {
    let one = |number: usize| format!("[servers.s{number}]\ncommand = \"s\"\n");
    (0..count).map(one).collect::<Vec<_>>().concat()
}

/// A file of an agent: its bytes, permissions and time, or that it is not there.
pub(crate) type AgentsOwn = (&'static str, Option<(Vec<u8>, u32, std::time::SystemTime)>);

/// The agents' own user files. What is no regular file has its type alone, as it can't be read.
fn agents_own(home: &Path) -> Vec<AgentsOwn> {
    const FILES: &[&str] = &[
        ".claude.json",
        ".claude/settings.json",
        ".codex/config.toml",
        ".codex/auth.json",
        ".cursor/mcp.json",
        ".cursor/permissions.json",
        ".config/opencode/config.json",
        ".config/opencode/opencode.json",
        ".config/opencode/opencode.jsonc",
        ".opencode/opencode.json",
    ];
    let state = |file: &str| {
        let path = home.join(file);
        let metadata = fs::symlink_metadata(&path).ok()?;
        let bytes = if metadata.is_file() { fs::read(&path).unwrap_or_default() } else { Vec::new() };
        Some((bytes, metadata.permissions().mode(), metadata.modified().unwrap()))
    };
    FILES.iter().map(|file| (*file, state(file))).collect()
}

/// Kind, permissions and content of each path.
type Snapshot = BTreeMap<String, (String, Vec<u8>)>;

/// Everything below home and project.
fn snapshot(root: &Path) -> Snapshot {
    let mut found = BTreeMap::new();
    let mut open = vec![root.join("home"), root.join("project")];
    while let Some(path) = open.pop() {
        let metadata = fs::symlink_metadata(&path).unwrap();
        let kind = metadata.file_type();
        let bytes = if kind.is_file() { fs::read(&path).unwrap() } else { Vec::new() };
        if kind.is_dir() {
            open.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        }
        let told = format!("{kind:?} {:o}", metadata.permissions().mode());
        found.insert(path.display().to_string(), (told, bytes));
    }
    found
}

/// Replaces what differs between two runs: the test's directory by `<T>`, programs by `<squire>` and `<server>`, the
/// random names by `<private>`, times by `<n> ms`.
pub(crate) fn normal(text: &str, root: &Path) -> String {
    let mut text = text
        .replace(root.to_str().unwrap(), "<T>")
        .replace(SQUIRE, "<squire>")
        .replace(fake_server().to_str().unwrap(), "<server>");
    let is_random = |word: &str| word.len() == 32 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let words: Vec<String> = text
        .split(['/', ' ', '"', '=', '.', '-'])
        .filter(|word| is_random(word))
        .map(str::to_owned)
        .collect();
    for word in words {
        text = text.replace(&word, "<private>");
    }
    let mut out = String::new();
    for (index, piece) in text.split(" ms").enumerate() {
        if index > 0 {
            let digits = out.len() - out.trim_end_matches(|c: char| c.is_ascii_digit()).len();
            if digits > 0 {
                out.truncate(out.len() - digits);
                out.push_str("<n>");
            }
            out.push_str(" ms");
        }
        out.push_str(piece);
    }
    out
}
