//! `squire gateway` in a place of its own.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::programs::SQUIRE;

/// The gateway of `[servers.a]`, which these lines declare; its files are below `root`.
pub(crate) fn gateway(root: &Path, declaration: &str) -> Command {
    let [config, state, project] = ["config", "state", "project"].map(|name| root.join(name));
    for directory in [&config, &project] {
        fs::create_dir_all(directory).unwrap();
    }
    fs::write(config.join("squire.toml"), format!("[servers.a]\n{declaration}\n")).unwrap();
    let mut command = Command::new(SQUIRE);
    command.args(["gateway", "a", "--agent", "claude", "--project"]).arg(&project);
    command.arg("--config").arg(config).arg("--state").arg(state).env_clear();
    // Without a working directory of its own: a static program would copy itself to start it there, which no other way
    // to a server has to wait for.
    command.env("HOME", root).env("PATH", "/usr/bin:/bin");
    command
}
