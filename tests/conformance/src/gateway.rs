//! A gateway as an agent would start it, with a home of its own.

use std::env;
use std::fs;
use std::io;
use std::path::{self, Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use serde_json::{Value, json};
use tempfile::TempDir;

/// The home of gateways to one server.
pub struct Gateway {
    squire: PathBuf,
    home: TempDir,
}

impl Gateway {
    /// A gateway to the program of this command line.
    pub fn to_program<Word: AsRef<str>>(words: &[Word]) -> io::Result<Self> {
        // Strings and arrays of JSON are strings and arrays of TOML.
        let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
        Self::declared(&format!("command = {}", json!(words)))
    }

    /// A gateway to a remote server.
    pub fn to_url(url: &str) -> io::Result<Self> {
        Self::declared(&format!("url = {}", json!(url)))
    }

    fn declared(fields: &str) -> io::Result<Self> {
        let gateway = Self { squire: squire()?, home: tempfile::tempdir()? };
        for directory in ["config", "project"] {
            fs::create_dir(gateway.home.path().join(directory))?;
        }
        fs::write(gateway.home.path().join("config/squire.toml"), format!("[servers.server]\n{fields}\n"))?;
        Ok(gateway)
    }

    /// The command line of it.
    pub fn command(&self) -> Command {
        let home = self.home.path();
        let mut command = Command::new(&self.squire);
        command.args(["gateway", "server", "--agent", "claude"]);
        for (option, directory) in [("--project", "project"), ("--config", "config"), ("--state", "state")] {
            command.arg(option).arg(home.join(directory));
        }
        command.current_dir(home.join("project")).env("HOME", home).env_remove("SQUIRE_LAUNCH");
        command
    }
}

/// The program: `$SQUIRE`, else built once.
fn squire() -> io::Result<PathBuf> {
    static PROGRAM: OnceLock<Option<PathBuf>> = OnceLock::new();
    if let Some(path) = env::var_os("SQUIRE") {
        return path::absolute(path);
    }
    let built = PROGRAM.get_or_init(build);
    built.clone().ok_or_else(|| io::Error::other("squire was not built; or set SQUIRE to it"))
}

fn build() -> Option<PathBuf> {
    let output = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--message-format=json", "-p", "squire", "--bin", "squire"])
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2)?)
        .stderr(Stdio::inherit())
        .output()
        .ok()?;
    // Only Cargo knows where its target directory is.
    let messages = output.stdout.split(|byte| *byte == b'\n');
    messages
        .filter_map(|line| serde_json::from_slice::<Value>(line).ok())
        .find_map(|message| message["executable"].as_str().map(PathBuf::from))
}
