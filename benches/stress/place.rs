//! A home and a project for one stress.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use tempfile::TempDir;

use super::AGENT;
use super::programs::{SQUIRE, traced};

pub(super) struct Place {
    _temp: TempDir,
    pub(super) root: PathBuf,
}

impl Place {
    pub(super) fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().canonicalize().unwrap();
        for directory in ["home/.config/squire", "project/.git", "bin"] {
            fs::create_dir_all(root.join(directory)).unwrap();
        }
        symlink(std::env::current_exe().unwrap(), root.join("bin/cursor-agent")).unwrap();
        let servers = "[servers.docs]\nurl = \"https://docs.example.com/mcp\"\n";
        fs::write(root.join("home/.config/squire/squire.toml"), servers).unwrap();
        Self { _temp: temp, root }
    }

    pub(super) fn project(&self) -> PathBuf {
        self.root.join("project")
    }

    pub(super) fn file(&self) -> PathBuf {
        self.root.join("project/.cursor/mcp.json")
    }

    /// A launch of Cursor, whose agent runs for a time.
    pub(super) fn launch(&self, agent: Duration) -> Command {
        self.equipped(Command::new(SQUIRE), &["launch", "cursor", "--quiet"], agent)
    }

    /// The next command, which settles what dead launches left.
    pub(super) fn next(&self) -> Command {
        self.equipped(Command::new(SQUIRE), &["list"], Duration::ZERO)
    }

    /// The same two, to be traced.
    pub(super) fn traced_launch(&self) -> Command {
        self.equipped(Command::new(traced()), &[SQUIRE, "launch", "cursor", "--quiet"], Duration::ZERO)
    }

    pub(super) fn traced_next(&self) -> Command {
        self.equipped(Command::new(traced()), &[SQUIRE, "list"], Duration::ZERO)
    }

    fn equipped(&self, mut command: Command, words: &[&str], agent: Duration) -> Command {
        command
            .args(words)
            .env_clear()
            .env("HOME", self.root.join("home"))
            .env("PATH", format!("{}:/usr/local/bin:/usr/bin:/bin", self.root.join("bin").display()))
            .env(AGENT, agent.as_micros().to_string())
            .current_dir(self.project())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command
    }

    /// Runs the next command; it must do its work.
    pub(super) fn settle(&self) -> Result<(), String> {
        let output = self.next().stderr(Stdio::piped()).output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        if output.status.success() { Ok(()) } else { Err(format!("list: {}: {told}", output.status)) }
    }

    /// What must not be there once all is settled: names of ours in the project, private files, copies of the user's
    /// text and files that were being written. A file's journal may stay, for what comes later, and a save that a newer
    /// one stands in place of.
    pub(super) fn strays(&self) -> Vec<String> {
        let state = self.root.join("home/.local/state/squire");
        let names = |directory: PathBuf| {
            let entries = fs::read_dir(directory).into_iter().flatten().flatten();
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect::<Vec<_>>()
        };
        let may_stay = |name: &String| {
            Path::new(name)
                .extension()
                .is_some_and(|ending| ending == "json" || ending == "lock" || ending == "saved")
        };
        let project = names(self.project()).into_iter().chain(names(self.project().join(".cursor")));
        let ours = project.filter(|name| name.starts_with(".squire-"));
        let noted = ["merges", "launches"].into_iter().flat_map(|kind| names(state.join(kind)));
        let noted = noted.filter(|name| !may_stay(name));
        ours.chain(noted).chain(names(state.join("private"))).collect()
    }
}
