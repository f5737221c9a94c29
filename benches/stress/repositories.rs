//! Hostile repositories: whatever lies in one, no command starts a process of it, connects to it, touches a file of it or
//! takes it for approved (cases B33, B35, B43, B65, B89, B97).

mod kinds;
mod pieces;

use std::collections::BTreeMap;
use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use super::counts::{Counts, parallel};
use super::programs::SQUIRE;
use super::random::Random;

/// Writes down what it was given, its private file included.
const AGENT: &str = "#!/bin/sh\n{ echo \"$0 $*\"; echo \"$OPENCODE_CONFIG_CONTENT\"; for word in \"$@\"; do case $word in --mcp-config=*) cat \"${word#*=}\";; esac; done; } >> \"$GIVEN\"\n";
const OWN: &str = "[servers.mine]\ncommand = \"true\"\nenv = { T = \"${env:USERS_TOKEN}\" }\n[profiles.work]\nservers = [\"mine\"]\n";
const TOKEN: &str = "S3CR3T_of_the_user";

/// What each repository is tried with.
const COMMANDS: &[&str] = &[
    "list",
    "list --json",
    "list --profile evil",
    "show evil",
    "show mine",
    "check",
    "check --json",
    "check --sarif",
    "describe",
    "describe claude",
    "describe codex",
    "describe cursor",
    "describe opencode",
    "launch claude",
    "launch claude --profile evil",
    "launch codex --server evil",
    "launch cursor",
    "launch opencode",
    "launch opencode --dry-run",
    "launch inspect",
    "launch inspect --profile default",
    "approve evil",
    "approve --digest 0 evil",
    "revoke evil",
    "doctor --json",
    "clean",
    "completions bash",
    "man launch",
    "schema",
];

pub(super) fn run(count: usize) -> Counts {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    let mut counts = parallel(count, |_, counts| one(port, counts));
    let connections = std::iter::from_fn(|| listener.accept().ok()).count();
    if connections > 0 {
        counts.wrong(format!("{connections} connections"));
    }
    counts
}

fn one(port: u16, counts: &mut Counts) {
    let temp = tempfile::tempdir().unwrap();
    let root = temp.path().canonicalize().unwrap();
    for directory in ["home/.config/squire", "repository/.git", "repository/sub/deep", "bin"] {
        fs::create_dir_all(root.join(directory)).unwrap();
    }
    fs::write(root.join("home/.config/squire/squire.toml"), OWN).unwrap();
    for agent in ["claude", "codex", "cursor-agent", "opencode"] {
        program(&root.join("bin").join(agent), AGENT);
    }
    let mut random = Random::new();
    let laid = pieces::lay(&root, port, &mut random);
    let from =
        ["repository", "repository/sub", "repository/sub/deep"][usize::try_from(random.below(3)).unwrap()];
    let before = state(&root.join("repository"));
    let mut gateway: Vec<String> = "gateway evil --agent codex".split(' ').map(str::to_owned).collect();
    for (option, path) in [
        ("--project", "repository"),
        ("--config", "home/.config/squire"),
        ("--state", "home/.local/state/squire"),
    ] {
        gateway.extend([option.to_owned(), root.join(path).display().to_string()]);
    }
    let commands =
        COMMANDS.iter().map(|words| words.split(' ').map(str::to_owned).collect()).chain([gateway]);
    for words in commands {
        let output = squire(&root, from, &words, &mut random);
        counts.count("commands", 1);
        judge(&root, &before, &words, &laid, &output, counts);
    }
    counts.count("repositories", 1);
}

fn squire(root: &Path, from: &str, words: &[String], random: &mut Random) -> Output {
    let bin = root.join("bin").display().to_string();
    let planted = root.join("repository/bin").display().to_string();
    // As `npm run` and direnv have it: entries of the project, relative and empty ones first.
    let path = match random.below(4) {
        0 => format!("{planted}:.:{bin}:/usr/bin:/bin"),
        1 => format!(":bin:{bin}:/usr/bin:/bin:"),
        _ => format!("{bin}:/usr/bin:/bin"),
    };
    // Without a terminal, whoever runs this: nobody is to be asked.
    let mut command = Command::new("setsid");
    command
        .args(["-w", SQUIRE])
        .args(words)
        .env_clear()
        .env("HOME", root.join("home"))
        .env("PATH", path)
        .env("USERS_TOKEN", TOKEN)
        .env("GIVEN", root.join("given"))
        .current_dir(root.join(from))
        .stdin(Stdio::null());
    command.output().unwrap()
}

fn judge(
    root: &Path,
    before: &BTreeMap<PathBuf, (u32, Vec<u8>)>,
    words: &[String],
    laid: &[&str],
    output: &Output,
    counts: &mut Counts,
) {
    let mut wrong = |what: &str| counts.wrong(format!("{what}: {words:?} in a repository of {laid:?}"));
    if root.join("pwned").exists() {
        wrong("a process of the repository ran");
    }
    if state(&root.join("repository")) != *before {
        wrong("the repository was touched");
    }
    if fs::read_dir(root.join("home/.local/state/squire/approvals"))
        .is_ok_and(|mut names| names.next().is_some())
    {
        wrong("something was approved");
    }
    let given = fs::read_to_string(root.join("given")).unwrap_or_default();
    if given.contains("pwned") {
        wrong("an agent was given a command of the repository");
    }
    let told = [&output.stdout[..], &output.stderr[..]].concat();
    let text = String::from_utf8_lossy(&told);
    if text.contains(TOKEN) || given.contains(TOKEN) {
        wrong("the user's token was shown");
    }
    // Completions hold escapes of their own.
    if words[0] != "completions" && (text.contains('\u{1b}') || text.contains('\u{202e}')) {
        wrong("text of the repository acts on the terminal");
    }
    if output.status.code().is_none_or(|code| code == 101) {
        wrong("squire did not end by itself");
    }
}

/// Every path below a directory with its permissions and bytes.
fn state(directory: &Path) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
    let mut found = BTreeMap::new();
    let mut open = vec![directory.to_path_buf()];
    while let Some(path) = open.pop() {
        let metadata = fs::symlink_metadata(&path).unwrap();
        let mut bytes = Vec::new();
        if metadata.is_dir() {
            open.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else if metadata.is_file() {
            bytes = fs::read(&path).unwrap();
        }
        found.insert(path, (metadata.mode(), bytes));
    }
    found
}

fn program(path: &Path, text: &str) {
    // Written by another process: a fork in another thread would hold it open, and no program starts that is written.
    let mut writer = Command::new("/bin/sh");
    writer.args(["-c", "printf %s \"$1\" > \"$2\"", "sh", text]).arg(path);
    assert!(writer.status().unwrap().success());
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}
