//! Another user of the machine reads nothing of what squire makes (threat T6): not the secrets, not the state, not the
//! private files and the merged file of a launch that runs.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::support::{Test, stranger};

const AGENTS: [(&str, &str); 4] =
    [("claude", "claude"), ("codex", "codex"), ("cursor", "cursor-agent"), ("opencode", "opencode")];
const SERVERS: &str = "[servers.a]\ncommand = \"x\"\nenv = { T = \"${secret:k}\" }\n";
const PROJECT: &str = "[servers.p]\ncommand = \"true\"\n";

/// Everything below a directory, itself included.
fn paths(root: &Path) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::from([root.to_path_buf()]);
    let mut open = vec![root.to_path_buf()];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(directory).unwrap().map(Result::unwrap) {
            found.insert(entry.path());
            if entry.file_type().unwrap().is_dir() {
                open.push(entry.path());
            }
        }
    }
    found
}

/// A home that others may look into, as many are: what guards squire's files is squire's own.
fn opened(test: Test) -> Test {
    ["", "home", "home/.config", "home/.local/state", "home/.local", "project", "run", "bin"].iter().fold(
        test.write("home/.config/x", "").write("home/.local/state/x", "").write("run/x", ""),
        |test, path| test.mode(path, 0o755),
    )
}

/// What another user can have of these.
fn readable(paths: &BTreeSet<PathBuf>) -> Value {
    let mut child = Command::new(stranger()).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    for path in paths {
        writeln!(stdin, "{}", path.display()).unwrap();
    }
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "no other user can be had");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// What squire made since, which another user must be able to have nothing of.
#[track_caller]
fn assert_nothing(test: &Test, before: &BTreeSet<PathBuf>, expected: &[&str]) -> usize {
    let made: BTreeSet<PathBuf> = paths(&test.root()).difference(before).cloned().collect();
    for expected in expected {
        let is_made = made.iter().any(|path| path.display().to_string().contains(expected));
        assert!(is_made, "{expected} was not made: {made:?}");
    }
    // A directory of the project is made as the user's own programs make them: what is in it is guarded, its name is not.
    let made: BTreeSet<PathBuf> =
        made.into_iter().filter(|path| !(path.starts_with(test.path("project")) && path.is_dir())).collect();
    let told = readable(&made);
    assert_eq!(told["tried"], made.len());
    assert_eq!(told["readable"], serde_json::json!([]), "another user reads {} bytes", told["bytes"]);
    assert_eq!(told["bytes"], 0);
    made.len()
}

#[test]
fn b31_another_user_reads_nothing() {
    let mut report = io::stderr();
    if !rustix::process::geteuid().is_root() {
        report.write_all(b"NOT RUN: only root can become another user\n").unwrap();
        return;
    }
    let mut tried = 0;
    for (agent, program) in AGENTS {
        for runtime in [false, true] {
            let test = opened(Test::new().agent(program, "touch <T>/ready; wait-file <T>/go"));
            let mut test = test.write("open", "anybody's").behind("umask 000");
            if runtime {
                let directory = test.path("run/user");
                fs::create_dir(&directory).unwrap();
                fs::set_permissions(&directory, fs::Permissions::from_mode(0o700)).unwrap();
                test = test.env("XDG_RUNTIME_DIR", directory);
            }
            let control = readable(&BTreeSet::from([test.path("open"), test.path("home")]));
            assert_eq!(control["readable"].as_array().unwrap().len(), 2, "the control: {control}");

            let before = paths(&test.root());
            let set = test.clone().args(["secret", "set", "k"]).stdin("S3CR3T").any_stderr();
            set.success();
            tried += assert_nothing(&test, &before, &["secrets.toml"]);

            let test = test.config(SERVERS).project(PROJECT);
            let before: BTreeSet<PathBuf> = before
                .into_iter()
                .chain(["home/.config/squire/squire.toml", "project/squire.toml"].map(|path| test.path(path)))
                .collect();
            approve(&test);
            let launched = test.clone().args(["launch", agent]).any_stderr().start();
            crate::support::eventually("the agent runs", || test.path("ready").exists());
            // What the agent made is the agent's.
            let agents = ["ready", "agent.json", ".agent.json.new"].map(|path| test.path(path));
            let before: BTreeSet<PathBuf> = before.into_iter().chain(agents).collect();
            let expected: &[&str] = match agent {
                "claude" if runtime => &["launches/", "approvals/", "run/user/squire/"],
                "claude" => &["launches/", "approvals/", "private/"],
                "cursor" => &["launches/", "approvals/", "merges/", ".cursor/mcp.json"],
                _ => &["launches/", "approvals/"],
            };
            tried += assert_nothing(&test, &before, expected);
            fs::write(test.path("go"), "").unwrap();
            launched.success();
            let before: BTreeSet<PathBuf> = before.into_iter().chain([test.path("go")]).collect();
            tried += assert_nothing(&test, &before, &["secrets.toml"]);
        }
    }
    writeln!(report, "another user tried {tried} files and directories, and read 0 bytes").unwrap();
}

/// So that there is an approval, and a log of it.
fn approve(test: &Test) {
    let asked = test.clone().args(["approve", "--digest", "0", "p"]).any_stderr().code(1);
    let digest =
        asked.stderr.split(" is ").nth(1).and_then(|rest| rest.split(',').next()).unwrap().to_owned();
    test.clone().args(["approve", "--digest", &digest, "p"]).any_stdout().success();
}
