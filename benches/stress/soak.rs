//! Calls by the hundred thousand through gateways whose servers keep dying: each is answered, none is sent twice, and no
//! gateway grows.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::counts::Counts;
use super::gateway::gateway;
use super::memory::Memory;
use super::programs::fake_server;
use super::random::Random;
use super::soaking::{Came, Got, Soak};

/// A server that fails again within a minute waits longer each time, until the calls behind it are not held any more:
/// each gateway has few crashes.
const GATEWAYS: usize = 10;
const CRASHES: usize = 3;
/// How often the memory of a gateway is looked at.
const LOOKS: usize = 10;
/// From this look on a gateway is to stay as it is: its server has come back, and all that it ever needs is there.
const WARM: usize = 4;
/// How many more MiB a gateway may have at the end than at that look, of pages behind which there is no file: what it reads
/// of its own program for the first time is no growth. What the allocator keeps differs by some tenths from run to run,
/// whatever the number of calls; with a million of them nine bytes a call would be too much.
const GROWTH: f64 = 0.5;
/// Far above the longest wait for a server.
const PATIENCE: Duration = Duration::from_secs(60);

pub(super) fn run(calls: usize) -> Counts {
    let share = calls / GATEWAYS;
    // Built before the first gateway waits for it.
    let server = fake_server();
    let begin = Instant::now();
    let soaked: Vec<Soaked> = thread::scope(|scope| {
        let soaking: Vec<_> = (0..GATEWAYS).map(|_| scope.spawn(|| soak(share, &server))).collect();
        soaking.into_iter().map(|soaking| soaking.join().unwrap()).collect()
    });
    println!("{} calls took {:.1} s", share * GATEWAYS, begin.elapsed().as_secs_f64());
    let mut counts = Counts::default();
    for (number, soaked) in soaked.iter().enumerate() {
        soaked.count(number, &mut counts);
    }
    print_memory(&soaked);
    counts
}

/// What came of one gateway's calls.
struct Soaked {
    came: Came,
    got: Got,
    crashes: usize,
    /// After each tenth of the calls.
    memory: Vec<Memory>,
    is_well_ended: bool,
}

fn soak(calls: usize, server: &Path) -> Soaked {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().canonicalize().unwrap();
    let log = root.join("log");
    // Strings and arrays of JSON are strings and arrays of TOML.
    let command = json!([server, "stdio", "--mode", "puppet", "--log", log]);
    let mut child = gateway(&root, &format!("command = {command}"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut random = Random::new();
    let below = |limit| usize::try_from(random.below(u64::try_from(limit).unwrap())).unwrap();
    let plan = Soak::by_chance(calls, CRASHES, below);
    let lines = listen(&mut child);
    let mut stdin = child.stdin.take().unwrap();
    let mut say = |line: &str| writeln!(stdin, "{line}").unwrap();
    let params = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "soak", "version": "1" } });
    say(&json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params }).to_string());
    let welcome: Value = serde_json::from_slice(&lines.recv_timeout(PATIENCE).unwrap()).unwrap();
    assert_eq!(welcome["result"]["serverInfo"]["name"], "fake-server", "{welcome}");
    say(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string());

    let mut memory = Vec::new();
    let look = |answered| {
        if answered % (calls / LOOKS) == 0 {
            memory.push(Memory::of(child.id()));
        }
    };
    let came = plan.run(say, || lines.recv_timeout(PATIENCE).ok(), look);
    drop(stdin);
    let is_well_ended = child.wait().unwrap().success();
    Soaked { came, got: Got::read(&log), crashes: plan.crashes.len(), memory, is_well_ended }
}

/// What the gateway says, in a thread of its own: so the one that asks can stop waiting.
fn listen(child: &mut Child) -> Receiver<Vec<u8>> {
    let stdout = BufReader::new(child.stdout.take().unwrap());
    let (sender, lines) = channel();
    thread::spawn(move || {
        for line in stdout.split(b'\n').map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    lines
}

impl Soaked {
    fn count(&self, number: usize, counts: &mut Counts) {
        let Self { came, got, .. } = self;
        counts.count("calls that were answered", came.answered);
        counts.count("calls that were answered as broken", came.broken);
        counts.count("calls that the server got", got.calls);
        counts.count("crashes", self.crashes);
        counts.count("starts of the server", got.starts);
        let none = [
            (came.unanswered, "were never answered"),
            (came.answered_twice, "were answered twice"),
            (came.odd.len(), "had another answer"),
            (got.twice, "were sent twice"),
        ];
        for (count, what) in none.into_iter().filter(|(count, _)| *count > 0) {
            counts.wrong(format!("gateway {number}: {count} calls {what}; {:?}", came.odd.first()));
        }
        if got.starts != self.crashes + 1 {
            counts.wrong(format!("gateway {number}: {} starts for {} crashes", got.starts, self.crashes));
        }
        if !self.is_well_ended {
            counts.wrong(format!("gateway {number} did not end well"));
        }
        let growth = self.growth();
        if growth.is_none_or(|growth| growth > GROWTH) {
            let looks: Vec<f64> = self.memory.iter().map(|memory| memory.anonymous).collect();
            counts.wrong(format!("gateway {number} grew by {growth:.2?} MiB: {looks:.2?}"));
        }
    }

    /// From the look at which it is warm to the last.
    fn growth(&self) -> Option<f64> {
        Some(self.memory.get(LOOKS - 1)?.anonymous - self.memory.get(WARM - 1)?.anonymous)
    }
}

fn print_memory(soaked: &[Soaked]) {
    let row = |of: fn(&Memory) -> f64| {
        let median = |look: usize| {
            let looks = soaked.iter().filter_map(|soaked| soaked.memory.get(look));
            let mut taken: Vec<f64> = looks.map(of).collect();
            taken.sort_unstable_by(f64::total_cmp);
            taken.get(taken.len() / 2).map_or("-".to_owned(), |taken| format!("{taken:6.2}"))
        };
        (0..LOOKS).map(median).collect::<Vec<_>>().join(" ")
    };
    println!("MiB of the gateway in the middle, after each tenth of the calls");
    println!("VmRSS   {}", row(|memory| memory.resident));
    println!("RssAnon {}", row(|memory| memory.anonymous));
    let most = soaked.iter().filter_map(Soaked::growth).fold(f64::NEG_INFINITY, f64::max);
    println!("from the fourth tenth on RssAnon grew by at most {most:.2} MiB; {GROWTH} are allowed");
}
