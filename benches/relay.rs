//! What stands between an agent and a server costs: `cargo bench --bench relay`, with `-- CALLS` behind it for another
//! number of sequential calls.
//!
//! Three ways to the same server, in turns of a few calls each, so that whatever else the machine does falls on all of
//! them alike: its own pipes; a process that copies bytes with two threads, which is the least that anything in between
//! can cost; and `squire gateway` with its audit.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a benchmark writes its files, prints its table and fails by a panic"
)]

use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;
use std::{env, fs, thread};

const SQUIRE: &str = env!("CARGO_BIN_EXE_squire");
/// Tells this program to copy bytes between its own streams and the server that this names.
const COPIER: &str = "SQUIRE_BENCHMARK_COPIER";
const CALLS: usize = 2000;
/// How many calls each way has before the next one's turn.
const TURN: usize = 50;
/// How many calls are under way at once where they are pipelined, and how many a turn has.
const WINDOW: usize = 64;
const PIPELINED: usize = 2000;
const PIPELINED_TURNS: usize = 15;
const STARTS: usize = 30;
const HELLO: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}"#;

fn main() {
    if let Some(server) = env::var_os(COPIER) {
        copy(server.as_ref());
        return;
    }
    let calls = env::args().find_map(|word| word.parse().ok()).unwrap_or(CALLS).max(TURN);
    let memory = Path::new("/dev/shm");
    let place = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.unwrap();
    let root = place.path().canonicalize().unwrap();
    let server = fake_server();
    let ways = [Way::Direct, Way::Copier, Way::Squire];
    let mut starts = ways.map(|_| Vec::new());
    for _ in 0..STARTS {
        for (way, starts) in ways.iter().zip(&mut starts) {
            let start = Instant::now();
            let link = way.open(&root, &server);
            starts.push(start.elapsed().as_secs_f64() * 1e3);
            link.close();
        }
    }
    let mut links = ways.map(|way| way.open(&root, &server));
    let (mut sequential, mut pipelined) = (ways.map(|_| Vec::new()), ways.map(|_| Vec::new()));
    // The first turn warms caches and counts for nothing.
    for turn in 0..=calls / TURN {
        for (link, times) in links.iter_mut().zip(&mut sequential) {
            let turn_times = (0..TURN).map(|_| link.call_once());
            if turn == 0 {
                turn_times.for_each(drop);
            } else {
                times.extend(turn_times);
            }
        }
    }
    for _ in 0..PIPELINED_TURNS {
        for (link, rates) in links.iter_mut().zip(&mut pipelined) {
            rates.push(link.pipelined());
        }
    }
    println!(
        "{calls} calls one by one, {PIPELINED_TURNS} x {PIPELINED} calls of which {WINDOW} are under way"
    );
    println!("way        p50 us   added   p99 us   calls/s    first answer ms");
    let summaries: Vec<[f64; 4]> = (0..ways.len())
        .map(|way| {
            [
                quantile(&mut sequential[way], 0.5),
                quantile(&mut sequential[way], 0.99),
                quantile(&mut pipelined[way], 0.5),
                quantile(&mut starts[way], 0.5),
            ]
        })
        .collect();
    let added = |way: usize| summaries[way][0] - summaries[0][0];
    for (way, [median, high, rate, first]) in summaries.iter().enumerate() {
        println!(
            "{:9}  {median:6.1}  {:6.1}   {high:6.1}  {rate:8.0}    {first:6.2}",
            format!("{:?}", ways[way]),
            added(way)
        );
    }
    let [_, copier, squire] = &summaries[..] else { return };
    let goal = |reached: bool, text: String| println!("{:3}  {text}", if reached { "yes" } else { "no" });
    let ratio = added(2) / added(1);
    goal(ratio <= 1.5, format!("adds at the median at most 1.5 times what a copier adds: {ratio:.2}"));
    let ratio = squire[2] / copier[2];
    goal(
        ratio >= 0.8,
        format!("has pipelined at least 80 % of a copier's throughput: {:.0} %", ratio * 100.0),
    );
    let start = squire[3] - summaries[0][3];
    goal(start <= 3.0, format!("adds to the first answer at most 3 ms: {start:.2}"));
    let gateway = links[2].child.id();
    let warden = child_of(gateway);
    let [own, parent] = [gateway, warden].map(memory_of);
    println!(
        "gateway: VmRSS {:.1} MiB, Pss {:.1} MiB; warden: VmRSS {:.1} MiB, Pss {:.1} MiB",
        own.0, own.1, parent.0, parent.1
    );
    goal(
        own.0 <= 4.0,
        format!("takes at most 4 MiB: {:.1} the gateway, {:.1} with its warden", own.0, own.0 + parent.0),
    );
    links.into_iter().for_each(Link::close);
}

#[derive(Clone, Copy, Debug)]
enum Way {
    Direct,
    Copier,
    Squire,
}

/// A server that has been greeted.
struct Link {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    number: usize,
    line: String,
}

impl Way {
    fn open(self, root: &Path, server: &Path) -> Link {
        let mut command = match self {
            Self::Direct => {
                let mut command = Command::new(server);
                command.arg("stdio");
                command
            }
            Self::Copier => {
                let mut command = Command::new(env::current_exe().unwrap());
                command.env(COPIER, server);
                command
            }
            Self::Squire => gateway(root, server),
        };
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let mut link = Link { child, input, output, number: 0, line: String::new() };
        link.say(HELLO);
        link.hear();
        link
    }
}

impl Link {
    fn say(&mut self, line: &str) {
        self.input.write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    fn hear(&mut self) {
        self.line.clear();
        assert!(self.output.read_line(&mut self.line).unwrap() > 0, "the server has ended");
        assert!(self.line.contains("\"result\""), "{}", self.line);
    }

    fn call(&mut self) {
        self.number += 1;
        let id = self.number;
        self.say(&format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"echo","arguments":{{"text":"hello"}}}}}}"#
        ));
    }

    /// Microseconds.
    fn call_once(&mut self) -> f64 {
        let start = Instant::now();
        self.call();
        self.hear();
        start.elapsed().as_secs_f64() * 1e6
    }

    /// Calls per second.
    fn pipelined(&mut self) -> f64 {
        let start = Instant::now();
        for call in 0..PIPELINED + WINDOW {
            if call < PIPELINED {
                self.call();
            }
            if call >= WINDOW {
                self.hear();
            }
        }
        f64::from(u32::try_from(PIPELINED).unwrap()) / start.elapsed().as_secs_f64()
    }

    fn close(mut self) {
        drop(self.input);
        self.child.wait().unwrap();
    }
}

fn gateway(root: &Path, server: &Path) -> Command {
    let [config, state, project] = ["config", "state", "project"].map(|name| root.join(name));
    for directory in [&config, &project] {
        fs::create_dir_all(directory).unwrap();
    }
    let declaration = format!("[servers.a]\ncommand = [{:?}, \"stdio\"]\n", server.display().to_string());
    fs::write(config.join("squire.toml"), declaration).unwrap();
    let mut command = Command::new(SQUIRE);
    command.args(["gateway", "a", "--agent", "claude", "--project"]).arg(&project);
    command.arg("--config").arg(config).arg("--state").arg(state).env_clear();
    command.env("HOME", root).env("PATH", "/usr/bin:/bin").current_dir(project);
    command
}

/// Between this process's own streams and a server's, with a thread each way.
fn copy(server: &Path) {
    let mut command = Command::new(server);
    let mut child =
        command.arg("stdio").env_remove(COPIER).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (mut input, mut output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    thread::spawn(move || pass_on(&mut std::io::stdin().lock(), &mut input));
    pass_on(&mut output, &mut std::io::stdout().lock());
    child.wait().unwrap();
}

fn pass_on(from: &mut impl Read, to: &mut impl Write) {
    let mut buffer = vec![0; 64 * 1024];
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        if to.write_all(&buffer[..count]).and_then(|()| to.flush()).is_err() {
            return;
        }
    }
}

/// Cargo builds the programs of another package for no benchmark.
fn fake_server() -> PathBuf {
    let directory = Path::new(SQUIRE).parent().unwrap();
    let mut build = Command::new(env!("CARGO"));
    build.args(["build", "--quiet", "--package", "squire-fakes", "--target-dir"]);
    build.arg(directory.parent().unwrap()).current_dir(env!("CARGO_MANIFEST_DIR"));
    if directory.ends_with("release") {
        build.arg("--release");
    }
    assert!(build.status().unwrap().success(), "the fakes could not be built");
    directory.join("fake-server")
}

/// The value at this place between the least and the greatest.
fn quantile(values: &mut [f64], place: f64) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "an index"
    )]
    let index = (values.len() as f64 * place) as usize;
    values[index.min(values.len() - 1)]
}

/// The one child of a process.
fn child_of(parent: u32) -> u32 {
    let children = fs::read_to_string(format!("/proc/{parent}/task/{parent}/children")).unwrap();
    children.split_whitespace().next().unwrap().parse().unwrap()
}

/// `VmRSS` and `Pss` of a process, in MiB.
fn memory_of(process: u32) -> (f64, f64) {
    let read = |file: &str, key: &str| {
        let text = fs::read_to_string(format!("/proc/{process}/{file}")).unwrap_or_default();
        let line = text.lines().find(|line| line.starts_with(key));
        let kilobytes: Option<f64> = line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok());
        kilobytes.unwrap_or(f64::NAN) / 1024.0
    };
    (read("status", "VmRSS:"), read("smaps_rollup", "Pss:"))
}
