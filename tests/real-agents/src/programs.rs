//! The programs under test, built once where no variable names them.

use serde_json::Value;
use std::env;
use std::io;
use std::path::{self, Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// The `squire` program: `$SQUIRE`, else built.
pub(crate) fn squire() -> io::Result<PathBuf> {
    static PROGRAM: OnceLock<Option<PathBuf>> = OnceLock::new();
    find(&PROGRAM, "SQUIRE", "squire", "squire")
}

/// The test server: `$SQUIRE_FAKE_SERVER`, else built.
pub(crate) fn fake_server() -> io::Result<PathBuf> {
    static PROGRAM: OnceLock<Option<PathBuf>> = OnceLock::new();
    find(&PROGRAM, "SQUIRE_FAKE_SERVER", "squire-fakes", "fake-server")
}

fn find(
    program: &OnceLock<Option<PathBuf>>,
    variable: &str,
    package: &str,
    name: &str,
) -> io::Result<PathBuf> {
    if let Some(path) = env::var_os(variable) {
        return path::absolute(path);
    }
    let built = program.get_or_init(|| build(package, name));
    built.clone().ok_or_else(|| io::Error::other(format!("{name} was not built; or set {variable} to it")))
}

fn build(package: &str, name: &str) -> Option<PathBuf> {
    let output = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--message-format=json", "-p", package, "--bin", name])
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2)?)
        .stderr(Stdio::inherit())
        .output()
        .ok()?;
    // Only Cargo knows where its target directory is.
    let messages = output.stdout.split(|byte| *byte == b'\n');
    messages.filter_map(|line| serde_json::from_slice::<Value>(line).ok()).find_map(|message| {
        let built = message["target"]["name"] == name;
        message["executable"].as_str().filter(|_| built).map(PathBuf::from)
    })
}
