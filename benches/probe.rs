//! How long it takes to ask servers: `cargo bench --bench probe`, with `-- ROUNDS` behind it for another number of rounds.
//!
//! A hundred servers, of which the slowest takes some seconds to start, are probed at once, in turns with that one alone:
//! the goal is at most 20 % more. With the path of mcporter in `MCPORTER` (npm), `list` and `call` of both are measured
//! with the same servers, in turns.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a benchmark writes its files, prints its table and fails by a panic"
)]

use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;
use std::{env, fs};

const SQUIRE: &str = env!("CARGO_BIN_EXE_squire");
const SERVERS: usize = 100;
/// How long the slowest takes to greet, and the others one after the other, in milliseconds.
const SLOWEST: usize = 8000;
const ROUNDS: usize = 5;
/// How many servers both clients list, and how many rounds.
const FEW: usize = 5;
const TURNS: usize = 15;

fn main() {
    let rounds = env::args().find_map(|word| word.parse().ok()).unwrap_or(ROUNDS).max(1);
    let place = tempfile::tempdir().unwrap();
    let root = place.path().canonicalize().unwrap();
    let server = fake_server();
    many(&root.join("many"), &server, rounds);
    match env::var_os("MCPORTER") {
        Some(mcporter) => beside(&root.join("few"), &server, &mcporter),
        None => println!("mcporter is not measured: MCPORTER=PROGRAM names it (npm install mcporter)"),
    }
}

fn many(home: &Path, server: &Path, rounds: usize) {
    let delays = (1..=SERVERS).map(|number| SLOWEST * number / SERVERS);
    let config = delays.enumerate().fold(String::new(), |mut config, (number, delay)| {
        let server = server.display();
        writeln!(
            config,
            "[servers.s{number}]\ncommand = [\"{server}\", \"stdio\", \"--mode\", \"slow:{delay}\"]"
        )
        .unwrap();
        config
    });
    let config_directory = home.join(".config/squire");
    fs::create_dir_all(&config_directory).unwrap();
    fs::write(config_directory.join("squire.toml"), config).unwrap();
    let slowest = format!("s{}", SERVERS - 1);
    let (mut alone, mut all) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        alone.push(timed(home, SQUIRE.as_ref(), &["probe", &slowest]));
        all.push(timed(home, SQUIRE.as_ref(), &["probe"]));
    }
    let [alone, all] = [median(&mut alone), median(&mut all)];
    println!("the slowest alone: {alone:.0} ms; {SERVERS} at once: {all:.0} ms (medians of {rounds})");
    let share = (all / alone - 1.0) * 100.0;
    let reached = if share <= 20.0 { "yes" } else { "no" };
    println!(
        "{reached:3}  probes {SERVERS} servers in the time of the slowest and at most 20 % more: {share:.1} %"
    );
}

fn beside(home: &Path, server: &Path, mcporter: &OsString) {
    let config_directory = home.join(".config/squire");
    fs::create_dir_all(&config_directory).unwrap();
    let (mut ours, mut theirs) = (String::new(), Vec::new());
    for number in 0..FEW {
        let server = server.display();
        writeln!(ours, "[servers.s{number}]\ncommand = [\"{server}\", \"stdio\"]").unwrap();
        theirs.push(format!("\"s{number}\":{{\"command\":\"{server}\",\"args\":[\"stdio\"]}}"));
    }
    fs::write(config_directory.join("squire.toml"), ours).unwrap();
    let file = home.join("mcporter.json");
    fs::write(&file, format!("{{\"mcpServers\":{{{}}}}}", theirs.join(","))).unwrap();
    let file = file.display().to_string();
    let jobs: [(&str, Vec<&str>, Vec<&str>); 2] = [
        ("list", vec!["probe"], vec!["--config", &file, "list"]),
        ("call", vec!["call", "s0", "echo", "text=x"], vec!["--config", &file, "call", "s0.echo", "text=x"]),
    ];
    for (job, squire_words, mcporter_words) in &jobs {
        let (mut squire, mut other) = (Vec::new(), Vec::new());
        for _ in 0..TURNS {
            squire.push(timed(home, SQUIRE.as_ref(), squire_words));
            other.push(timed(home, mcporter.as_ref(), mcporter_words));
        }
        let [squire, other] = [median(&mut squire), median(&mut other)];
        println!("{job}: squire {squire:.0} ms, mcporter {other:.0} ms (medians of {TURNS}, {FEW} servers)");
    }
}

/// Runs one command to its end; gives milliseconds.
fn timed(home: &Path, program: &Path, words: &[&str]) -> f64 {
    let mut command = Command::new(program);
    command.args(words).env_clear().env("HOME", home).env("PATH", env::var_os("PATH").unwrap_or_default());
    command.current_dir(home).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let start = Instant::now();
    let output = command.output().unwrap();
    assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    start.elapsed().as_secs_f64() * 1e3
}

fn median(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// The fake server beside squire, which cargo builds for no benchmark.
fn fake_server() -> PathBuf {
    let directory = Path::new(SQUIRE).parent().unwrap();
    let mut build = Command::new(env!("CARGO"));
    build
        .args(["build", "--quiet", "--package", "squire-fakes", "--target-dir"])
        .arg(directory.parent().unwrap());
    if directory.ends_with("release") {
        build.arg("--release");
    }
    assert!(build.current_dir(env!("CARGO_MANIFEST_DIR")).status().unwrap().success());
    directory.join("fake-server")
}
