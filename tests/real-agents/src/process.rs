//! Runs one program to its end, or to the end of its time.

use std::fs::{self, File};
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// How a program ended and what it said.
#[derive(Debug)]
pub(crate) struct Finished {
    /// Its exit code; `None` where a signal ended it or its time ran out.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Runs `command` without input in a process group of its own, which ends with it.
///
/// What it says goes through files in `folder`: a process that it left behind cannot hold the reader up.
pub(crate) fn run(command: &mut Command, folder: &Path, limit: Duration) -> io::Result<Finished> {
    let (stdout, stderr) = (folder.join("stdout"), folder.join("stderr"));
    command
        .stdin(Stdio::null())
        .stdout(File::create(&stdout)?)
        .stderr(File::create(&stderr)?)
        .process_group(0);
    let mut child = command.spawn()?;
    let status = wait(&mut child, limit);
    end_group(child.id())?;
    child.wait()?;
    let said = |path| fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    Ok(Finished {
        code: status?.and_then(|status| status.code()),
        stdout: said(stdout)?,
        stderr: said(stderr)?,
    })
}

fn wait(child: &mut Child, limit: Duration) -> io::Result<Option<ExitStatus>> {
    let end = Instant::now() + limit;
    loop {
        let status = child.try_wait()?;
        if status.is_some() || Instant::now() > end {
            return Ok(status);
        }
        thread::sleep(Duration::from_millis(50));
    }
}

/// Kills what is left of a group; an empty one is what we hope for.
pub(crate) fn end_group(leader: u32) -> io::Result<()> {
    let kill = format!("kill -s KILL -- -{leader}");
    Command::new("sh").args(["-c", &kill]).stderr(Stdio::null()).status().map(drop)
}

#[cfg(test)]
mod tests {
    use super::run;
    use std::process::Command;
    use std::time::{Duration, Instant};

    #[test]
    fn a_program_says_how_it_ended() {
        let folder = tempfile::tempdir().unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", "echo out; echo err >&2; exit 3"]);
        let finished = run(&mut command, folder.path(), Duration::from_secs(10)).unwrap();
        assert_eq!(
            (finished.code, finished.stdout.as_str(), finished.stderr.as_str()),
            (Some(3), "out\n", "err\n")
        );
    }

    #[test]
    fn what_outlives_its_time_is_ended_with_its_children() {
        let folder = tempfile::tempdir().unwrap();
        let begin = Instant::now();
        let mut command = Command::new("sh");
        command.args(["-c", "sleep 60 & sleep 60"]);
        let finished = run(&mut command, folder.path(), Duration::from_millis(200)).unwrap();
        assert_eq!(finished.code, None);
        assert!(begin.elapsed() < Duration::from_secs(30));
    }
}
