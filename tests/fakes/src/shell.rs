//! A shell as far as job control goes: `fake-shell TERMINAL foreground|background PROGRAM WORDS…` starts a session on
//! the terminal at that path and runs one job there, in a process group of its own.
//!
//! It tells on its first stdout, a line of JSON each: `{"started": PID}`, `{"stopped": SIGNAL}`, `{"exited": CODE}` and
//! `{"killed": SIGNAL}`, all but the first with `foreground`, whether the terminal was the job's. After a stop it waits
//! on its first stdin for `foreground`, `background` (both continue the whole group) or `one` (the job's first process
//! alone, which gets the terminal). After the end it waits for the end of stdin.

use std::env;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

use nix::sys::signal::{SigSet, Signal as Blocked};
use rustix::io::fcntl_dupfd_cloexec;
use rustix::process::{
    Pid, Signal, WaitOptions, WaitStatus, getpgrp, getpid, kill_process, kill_process_group, setsid, waitpid,
};
use rustix::stdio::{dup2_stderr, dup2_stdin, dup2_stdout};
use rustix::termios::{tcgetpgrp, tcsetpgrp};
use serde_json::{Value, json};

/// The word that makes it the job's own first step.
const JOB: &str = "job";

/// Runs one job as the command line says.
pub fn run() -> ExitCode {
    let mut words = env::args_os().skip(1);
    let first = words.next().unwrap_or_default();
    let place = words.next().unwrap_or_default();
    let job: Vec<OsString> = words.collect();
    let result = if first == JOB { become_job(&place, &job) } else { run_job(&first, &place, &job) };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("fake-shell: {error}");
            ExitCode::from(99)
        }
    }
}

/// As a shell's child: takes the terminal before the program can look at it.
fn become_job(place: &OsString, words: &[OsString]) -> io::Result<()> {
    if place == "foreground" {
        take_terminal(getpid())?;
    }
    let (program, words) = words.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    Err(Command::new(program).args(words).exec())
}

/// Works from the background too, as the signal that would forbid it is blocked meanwhile.
fn take_terminal(group: Pid) -> io::Result<()> {
    let output_stops = SigSet::from(Blocked::SIGTTOU);
    output_stops.thread_block()?;
    let taken = tcsetpgrp(io::stdin(), group);
    output_stops.thread_unblock()?;
    Ok(taken?)
}

fn run_job(terminal: &OsString, place: &OsString, words: &[OsString]) -> io::Result<()> {
    let mut orders = BufReader::new(File::from(fcntl_dupfd_cloexec(io::stdin(), 3)?)).lines();
    let mut reports = File::from(fcntl_dupfd_cloexec(io::stdout(), 3)?);
    setsid()?;
    // The first terminal that a session's leader opens is the session's.
    let terminal = File::options().read(true).write(true).open(terminal)?;
    dup2_stdin(&terminal)?;
    dup2_stdout(&terminal)?;
    dup2_stderr(&terminal)?;
    drop(terminal);

    let mut command = Command::new(env::current_exe()?);
    let child = command.arg(JOB).arg(place).args(words).process_group(0).spawn()?;
    let job = Pid::from_child(&child);
    tell(&mut reports, &json!({"started": child.id()}))?;
    loop {
        let Some((_, status)) = waitpid(Some(job), WaitOptions::UNTRACED)? else { continue };
        let was_jobs = tcgetpgrp(io::stdin()).is_ok_and(|group| group == job);
        take_terminal(getpgrp())?;
        tell(&mut reports, &report(status, was_jobs))?;
        let order = orders.next().transpose()?.unwrap_or_default();
        if !status.stopped() {
            return Ok(());
        }
        match order.as_str() {
            "foreground" => {
                take_terminal(job)?;
                kill_process_group(job, Signal::CONT)?;
            }
            "background" => kill_process_group(job, Signal::CONT)?,
            "one" => {
                take_terminal(job)?;
                kill_process(job, Signal::CONT)?;
            }
            _ => return Ok(()),
        }
    }
}

fn report(status: WaitStatus, was_jobs: bool) -> Value {
    let (what, number) = match (status.stopping_signal(), status.terminating_signal()) {
        (Some(signal), _) => ("stopped", Some(signal)),
        (_, Some(signal)) => ("killed", Some(signal)),
        _ => ("exited", status.exit_status()),
    };
    json!({what: number, "foreground": was_jobs})
}

fn tell(reports: &mut File, report: &Value) -> io::Result<()> {
    reports.write_all(format!("{report}\n").as_bytes())
}
