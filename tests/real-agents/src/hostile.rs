//! Hostile repositories of the kinds that `cargo bench --bench stress -- repositories` tries with fakes, one launch each.

use crate::agents::Agent;
use crate::driver::{LIMIT, Speed};
use crate::process;
use crate::repository::{By, Seen, Situation, Stage};
use kinds::{Aim, declarations, others};
use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io;
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

#[path = "../../../benches/stress/repositories/kinds.rs"]
mod kinds;

/// How many repositories there are; each has two kinds of things in it.
pub fn count() -> usize {
    declarations(&Aim { pwned: "", repository: "", port: 0 }).len()
}

/// What came of a launch in one.
#[derive(Debug)]
pub struct Outcome {
    /// The kinds of things in it.
    pub kinds: [&'static str; 2],
    /// What the agent and the user's own server did.
    pub seen: Seen,
    /// Whether a process of the repository ran.
    pub pwned: bool,
    /// How often somebody connected to where it wanted.
    pub connections: usize,
    /// Its files that are no longer what they were.
    pub touched: Vec<PathBuf>,
    /// Approvals that nobody gave.
    pub approvals: usize,
}

impl fmt::Display for Outcome {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kinds, seen, pwned, connections, touched, approvals } = self;
        write!(
            out,
            "{kinds:?}: pwned {pwned}, {connections} connections, {approvals} approvals, touched {touched:?}\n{seen}"
        )
    }
}

/// Launches an agent in the repository of a number, whose user has declared a server.
pub fn launch(agent: &Agent, program: &Path, number: usize) -> io::Result<Outcome> {
    let words = (agent.arguments)(Speed::Quick.server());
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut stage = Stage::set(Situation {
        agent,
        program,
        files: &[],
        own: &[],
        directory: "",
        has_server: true,
        approved: &[],
        by: By::Squire(&[]),
        words: &words,
    })?;
    let listener = TcpListener::bind("127.0.0.1:0")?;
    listener.set_nonblocking(true)?;
    let (pwned, repository) = (stage.home.beside("pwned"), stage.home.project());
    let (shown_pwned, shown) = (pwned.display().to_string(), repository.display().to_string());
    let aim = Aim { pwned: &shown_pwned, repository: &shown, port: listener.local_addr()?.port() };
    let kinds = lay(&aim, number)?;
    // As `npm run` and direnv have it: an entry of the project before all others.
    let path = format!("{shown}/bin:{}", stage.path_of_command());
    stage.command.env("PATH", path);

    let before = state(&repository)?;
    let finished = process::run(&mut stage.command, &stage.home.beside(""), LIMIT)?;
    let after = state(&repository)?;
    // OpenCode makes this one beside its own files, whoever starts it.
    let is_agents = |path: &Path| path.ends_with(".opencode/.gitignore");
    let differs = |path: &&PathBuf| before.get(*path) != after.get(*path) && !is_agents(path);
    let approvals = fs::read_dir(stage.home.path().join(".local/state/squire/approvals"));
    Ok(Outcome {
        kinds,
        seen: stage.seen(finished.code, finished.stderr)?,
        pwned: pwned.exists(),
        connections: std::iter::from_fn(|| listener.accept().ok()).count(),
        touched: before.keys().chain(after.keys()).filter(differs).cloned().collect(),
        approvals: approvals.map_or(0, Iterator::count),
    })
}

/// Lays one squire.toml and one other thing.
fn lay(aim: &Aim<'_>, number: usize) -> io::Result<[&'static str; 2]> {
    let repository = Path::new(aim.repository);
    fs::create_dir(repository.join(".git"))?;
    let Some((declared, text)) = declarations(aim).into_iter().nth(number) else {
        return Err(io::Error::other("there is no such repository"));
    };
    let file = repository.join("squire.toml");
    let mut others = others(aim);
    if number < others.len() {
        let (kind, path, contents) = others.swap_remove(number);
        let path = repository.join(path);
        fs::create_dir_all(path.parent().unwrap_or(repository))?;
        fs::write(path, contents)?;
        fs::write(file, text)?;
        return Ok([declared, kind]);
    }
    let kind = match (number - others.len()) % 4 {
        0 => {
            fs::write(repository.join("elsewhere"), text)?;
            symlink(repository.join("elsewhere"), &file)?;
            "a linked squire.toml"
        }
        1 => {
            fs::write(&file, text)?;
            fs::set_permissions(&file, fs::Permissions::from_mode(0o666))?;
            "a squire.toml that everybody may write"
        }
        2 => {
            fs::create_dir(&file)?;
            "a squire.toml that is a directory"
        }
        _ => {
            fs::write(file, text)?;
            plant(aim)?;
            "programs of its own"
        }
    };
    Ok([declared, kind])
}

/// Programs under names that others look up.
fn plant(aim: &Aim<'_>) -> io::Result<()> {
    for directory in ["", "bin"].map(|directory| Path::new(aim.repository).join(directory)) {
        fs::create_dir_all(&directory)?;
        for name in ["evil", "claude", "codex", "opencode", "true", "fake-server"] {
            let path = directory.join(name);
            fs::write(&path, format!("#!/bin/sh\ntouch {}\n", aim.pwned))?;
            fs::set_permissions(path, fs::Permissions::from_mode(0o755))?;
        }
    }
    Ok(())
}

/// Every path below a directory with its permissions and bytes.
fn state(directory: &Path) -> io::Result<BTreeMap<PathBuf, (u32, Vec<u8>)>> {
    let mut found = BTreeMap::new();
    let mut open = vec![directory.to_path_buf()];
    while let Some(path) = open.pop() {
        let metadata = fs::symlink_metadata(&path)?;
        if metadata.is_dir() {
            for entry in fs::read_dir(&path)? {
                open.push(entry?.path());
            }
        }
        let bytes = if metadata.is_file() { fs::read(&path)? } else { Vec::new() };
        found.insert(path, (metadata.mode(), bytes));
    }
    Ok(found)
}
