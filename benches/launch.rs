//! What a launch and a listing cost beside the bare program: `cargo bench --bench launch`, with `-- ROUNDS` behind it
//! for another number of rounds.
//!
//! Every command runs once a round, so that whatever else the machine does falls on all of them alike, and what a
//! command adds is compared within its round: a clock that drifts from round to round moves both sides. CPU time is
//! user and system time of the whole process with its children, as the kernel counts it for the one who waits. The
//! agents are this very program, which greets and ends: what an agent makes of its servers is no cost of squire's.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a benchmark writes its files, prints its table and fails by a panic"
)]

use std::fmt::{self, Write as _};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use declarations::declarations;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;

#[path = "shared/declarations.rs"]
mod declarations;

const SQUIRE: &str = env!("CARGO_BIN_EXE_squire");
/// Tells this program to be a hello-world.
const HELLO: &str = "SQUIRE_BENCHMARK_HELLO";
/// Enough for about a minute.
const ROUNDS: usize = 300;

const AGENTS: &[(&str, &str)] =
    &[("claude", "claude"), ("codex", "codex"), ("cursor", "cursor-agent"), ("opencode", "opencode")];

fn main() {
    if std::env::var_os(HELLO).is_some() {
        println!("hello, world");
        return;
    }
    let rounds = std::env::args().find_map(|word| word.parse().ok()).unwrap_or(ROUNDS).max(1);
    // In memory where that can be had: ext4 passes one by one over all inodes that were freed within half a minute, so
    // that after a thousand launches each would pay some half a millisecond that a launch of one's own does not.
    let memory = Path::new("/dev/shm");
    let place = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.unwrap();
    let mut bench = Bench::new(&place.path().canonicalize().unwrap());
    bench.run(rounds);
    print!("{}\n{}", bench.table(rounds), bench.goals());
}

/// A command and what each of its runs cost.
struct Measured {
    name: String,
    /// The name of what its cost is compared with.
    baseline: &'static str,
    command: Command,
    /// In milliseconds, in the order of the rounds.
    cpu: Vec<f64>,
    wall: Vec<f64>,
}

struct Bench(Vec<Measured>);

impl Bench {
    fn new(root: &Path) -> Self {
        let hello = std::env::current_exe().unwrap();
        for directory in ["home", "project/.git", "bin"] {
            fs::create_dir_all(root.join(directory)).unwrap();
        }
        for (_, program) in AGENTS {
            symlink(&hello, root.join("bin").join(program)).unwrap();
        }
        let mut bench = Self(Vec::new());
        bench.add(root, 0, "", "/bin/true".as_ref(), "");
        bench.add(root, 0, "/bin/true", &hello, "");
        for servers in [1, 20, 100, 200] {
            for (agent, _) in AGENTS {
                bench.add(root, servers, "hello", SQUIRE.as_ref(), &format!("launch {agent} --quiet"));
            }
        }
        for servers in [1, 20, 1000] {
            bench.add(root, servers, "hello", SQUIRE.as_ref(), "list");
        }
        for servers in [20, 1000] {
            bench.add(root, servers, "hello", SQUIRE.as_ref(), "check");
        }
        bench.add(root, 20, "hello", SQUIRE.as_ref(), "describe codex");
        bench
    }

    fn add(&mut self, root: &Path, servers: usize, baseline: &'static str, program: &Path, words: &str) {
        let config = root.join(format!("config-{servers}"));
        fs::create_dir_all(&config).unwrap();
        fs::write(config.join("squire.toml"), declarations(servers)).unwrap();
        let mut command = Command::new(program);
        command
            .args(words.split_whitespace())
            .env_clear()
            .env("HOME", root.join("home"))
            .env("PATH", format!("{}:/usr/local/bin:/usr/bin:/bin", root.join("bin").display()))
            .env("SQUIRE_CONFIG_DIR", config)
            // Of its own, so that a launch removes the record of no launch but its own last one.
            .env("SQUIRE_STATE_DIR", root.join(format!("state-{}", self.0.len())))
            .env(HELLO, "1")
            .current_dir(root.join("project"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let name = match (words, baseline) {
            ("", "") => program.display().to_string(),
            ("", _) => "hello".into(),
            (words, _) => format!("{words}, {servers}"),
        };
        self.0.push(Measured { name, baseline, command, cpu: Vec::new(), wall: Vec::new() });
    }

    fn run(&mut self, rounds: usize) {
        // The first round warms what lies on disk and counts for nothing.
        for round in 0..=rounds {
            for measured in &mut self.0 {
                let (cpu, start) = (cpu_of_children(), Instant::now());
                let status = measured.command.status().unwrap();
                let (wall, cpu) = (start.elapsed().as_secs_f64() * 1000.0, cpu_of_children() - cpu);
                // `check` of very many servers finds that OpenCode can't take them.
                assert!(matches!(status.code(), Some(0 | 1)), "{}: {status}", measured.name);
                if round > 0 {
                    measured.cpu.push(cpu);
                    measured.wall.push(wall);
                }
            }
        }
    }

    /// How much more a command takes than its baseline in the same round, of what `times` says.
    fn added(&self, name: &str, times: fn(&Measured) -> &[f64]) -> Option<Spread> {
        let find = |name| self.0.iter().find(|measured| measured.name == name);
        let measured = find(name)?;
        let pairs = times(measured).iter().zip(times(find(measured.baseline)?));
        Some(Spread::of(pairs.map(|(time, baseline)| time - baseline)))
    }

    fn table(&self, rounds: usize) -> String {
        let mut table = format!(
            "milliseconds, {rounds:4} rounds                CPU                           wall\n\
             command, servers               min   median  added (min)       min   median  added (min)   to\n"
        );
        for measured in &self.0 {
            let _ = write!(table, "{:27}", measured.name);
            for times in [cpu, wall] {
                let Spread { least, median } = Spread::of(times(measured).iter().copied());
                let added =
                    self.added(&measured.name, times).map_or(String::new(), |added| added.to_string());
                let _ = write!(table, "{least:7.2}  {median:7.2}  {added:14}");
            }
            let _ = writeln!(table, " {}", measured.baseline);
        }
        table
    }

    fn goals(&self) -> String {
        let mut goals = String::new();
        let mut goal = |reached: bool, text: &str| {
            let _ = writeln!(goals, "{:3}  {text}", if reached { "yes" } else { "no" });
        };
        for (agent, _) in AGENTS {
            let added = |servers: u8| self.added(&format!("launch {agent} --quiet, {servers}"), cpu).unwrap();
            let of_20 = added(20);
            goal(of_20.median <= 2.0, &format!("launch {agent} of 20 adds at most 2 ms of CPU: {of_20}"));
            let few = (added(100).median - added(1).median) / 99.0;
            let many = (added(200).median - added(100).median) / 100.0;
            // A quarter for chance.
            goal(
                many <= few * 1.25,
                &format!("launch {agent} costs no more per server: {few:.4} up to 100, {many:.4} up to 200"),
            );
        }
        let list = self.added("list, 20", cpu).unwrap();
        goal(list.median <= 1.0, &format!("list of 20 adds at most 1 ms of CPU to a hello-world: {list}"));
        let hello = self.0.iter().find(|measured| measured.name == "hello").unwrap();
        let bare = Spread::of(cpu(hello).iter().copied());
        let _ = writeln!(
            goals,
            "     (a process of this build that does nothing but greet takes {bare} ms of CPU)"
        );
        goals
    }
}

/// The CPU time of all children that were waited for, and of theirs, in milliseconds.
fn cpu_of_children() -> f64 {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).unwrap();
    let time = usage.user_time() + usage.system_time();
    Duration::from_micros(time.num_microseconds().unsigned_abs()).as_secs_f64() * 1000.0
}

fn cpu(measured: &Measured) -> &[f64] {
    &measured.cpu
}

fn wall(measured: &Measured) -> &[f64] {
    &measured.wall
}

/// What many rounds say of one thing.
struct Spread {
    least: f64,
    median: f64,
}

impl Spread {
    fn of(times: impl Iterator<Item = f64>) -> Self {
        let mut sorted: Vec<f64> = times.collect();
        sorted.sort_unstable_by(f64::total_cmp);
        Self { least: sorted[0], median: sorted[sorted.len() / 2] }
    }
}

impl fmt::Display for Spread {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(&format!("{:.2} ({:.2})", self.median, self.least))
    }
}
