//! Other programs that are a server over stdio for an agent and connect to a remote one.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Names the directory that they are installed in.
pub(super) const DIRECTORY: &str = "SQUIRE_RELAY_PEERS";

#[derive(Clone)]
pub(super) struct Peer {
    pub(super) name: &'static str,
    program: Option<PathBuf>,
    /// What it wants before the address, and after it.
    words: (&'static [&'static str], &'static [&'static str]),
}

/// All of them, installed or not.
pub(super) fn all() -> [Peer; 2] {
    let directory = env::var_os(DIRECTORY).map(|directory| std::path::absolute(directory).unwrap());
    let program = |place: &str| {
        let program = directory.as_ref()?.join(place);
        program.is_file().then_some(program)
    };
    [
        Peer {
            name: "mcp-remote",
            program: program("node_modules/.bin/mcp-remote"),
            words: (&[], &["--transport", "http-only"]),
        },
        Peer {
            name: "mcp-proxy",
            program: program("venv/bin/mcp-proxy"),
            words: (&["--transport", "streamablehttp"], &[]),
        },
    ]
}

/// The server of somebody else, where it is installed beside them.
pub(super) fn everything() -> Option<PathBuf> {
    let directory = std::path::absolute(env::var_os(DIRECTORY)?).unwrap();
    Some(directory.join("node_modules/.bin/mcp-server-everything")).filter(|program| program.is_file())
}

impl Peer {
    pub(super) fn is_installed(&self) -> bool {
        self.program.is_some()
    }

    /// With its files in a home of its own.
    pub(super) fn command(&self, url: &str, home: &Path) -> Command {
        fs::create_dir_all(home).unwrap();
        let (before, after) = self.words;
        let mut command = Command::new(self.program.as_ref().unwrap());
        command.args(before).arg(url).args(after).env_clear();
        command.env("HOME", home).env("PATH", env::var_os("PATH").unwrap());
        command
    }
}
