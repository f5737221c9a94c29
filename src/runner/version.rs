//! Asks a program for its version.

use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// How long a program may take to say it.
const PATIENCE: Duration = Duration::from_secs(20);
/// More than any version.
const LIMIT: u64 = 4096;

/// What `PROGRAM --version` says first that looks like a version, run far from any project. The error says why there is
/// none.
pub fn version(program: &Path) -> Result<String, String> {
    let mut command = Command::new(program);
    command
        .arg("--version")
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut child = command.spawn().map_err(|error| format!("it can't be started: {error}"))?;
    let start = Instant::now();
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if start.elapsed() < PATIENCE => std::thread::sleep(Duration::from_millis(5)),
            Ok(None) | Err(_) => {
                // It may have ended by itself meanwhile.
                let _ = child.kill().and_then(|()| child.wait().map(drop));
                return Err(format!("it did not answer --version within {} s", PATIENCE.as_secs()));
            }
        }
    };
    if !status.success() {
        return Err(format!("its --version ended with {status}"));
    }
    let mut said = String::new();
    let read = child.stdout.take().map(|stdout| stdout.take(LIMIT).read_to_string(&mut said));
    read.and_then(Result::ok).and_then(|_| find(&said)).ok_or_else(|| "its --version says none".to_owned())
}

/// The first word that begins with a number and a dot: `codex-cli 0.171.0`, `2.1.197 (Claude Code)`.
fn find(said: &str) -> Option<String> {
    let words = said.split_whitespace().map(|word| word.strip_prefix('v').unwrap_or(word));
    let is_version = |word: &&str| {
        let digits = word.trim_start_matches(|c: char| c.is_ascii_digit());
        digits.len() < word.len() && digits.starts_with('.')
    };
    words.into_iter().find(is_version).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_as_agents_say_them() {
        assert_eq!(find("2.1.197 (Claude Code)\n").as_deref(), Some("2.1.197"));
        assert_eq!(find("codex-cli 0.171.0\n").as_deref(), Some("0.171.0"));
        assert_eq!(find("v1.18.33").as_deref(), Some("1.18.33"));
        assert_eq!(find("2025.10.28-0a91dc2").as_deref(), Some("2025.10.28-0a91dc2"));
        assert_eq!(find("no version 7"), None);
    }
}
