//! What `squire list` tells, and where the local layer and a gateway's entry are.

use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt;

use serde_json::Value;
use sha2::{Digest, Sha256};

use super::Test;

impl Test {
    /// The servers of `list --json`, but for the built-in one: these keys of each. Nothing is changed by it.
    #[track_caller]
    pub(crate) fn listed(self, keys: &[&str]) -> Vec<String> {
        let run = self.args(["list", "--json"]).any_stdout().unchanged().success();
        let listed: Value = serde_json::from_str(&run.stdout).unwrap();
        let told = |server: &Value| {
            keys.iter().map(|key| server[*key].as_str().unwrap_or("-")).collect::<Vec<_>>().join(" | ")
        };
        listed["servers"].as_array().unwrap().iter().skip(1).map(told).collect()
    }

    /// The user's own changes for the project in `project`.
    pub(crate) fn local(self, text: &str) -> Self {
        let (path, text) = (local_path(&self, "project"), self.filled(text));
        self.write(&path, text)
    }

    /// The project's file.
    pub(crate) fn project(self, text: &str) -> Self {
        let text = self.filled(text);
        self.write("project/squire.toml", text)
    }
}

/// `<config>/projects/<directory name>-<12 hex of SHA-256 of the project's real path>.toml`, below the test's
/// directory.
pub(crate) fn local_path(test: &Test, project: &str) -> String {
    let real = test.path(project).canonicalize().unwrap();
    let mut hex = String::new();
    for byte in &Sha256::digest(real.as_os_str().as_bytes())[..6] {
        write!(hex, "{byte:02x}").unwrap();
    }
    let name = real.file_name().unwrap().to_str().unwrap();
    format!("home/.config/squire/projects/{name}-{hex}.toml")
}

/// The words of a gateway's entry.
pub(crate) fn gateway_words(test: &Test, name: &str, agent: &str) -> Vec<String> {
    let path = |relative: &str| test.path(relative).display().to_string();
    let [project, config, state] =
        [path("project"), path("home/.config/squire"), path("home/.local/state/squire")];
    let words =
        ["gateway", name, "--agent", agent, "--project", &project, "--config", &config, "--state", &state];
    words.map(str::to_owned).to_vec()
}
