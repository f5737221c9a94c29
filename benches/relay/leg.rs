//! All ways to one server, measured in turns.

use std::fs;
use std::time::Instant;

use super::link::{Link, latency, throughput};
use super::memory::Memory;
use super::spread::{median, quantile};

/// How many calls a way has before the next one's turn.
const TURN: usize = 50;

/// How a server can be reached.
pub(super) struct Way {
    name: &'static str,
    open: Box<dyn Fn() -> Box<dyn Link>>,
}

pub(super) struct Leg {
    title: &'static str,
    ways: Vec<Measured>,
    calls: usize,
    pipelined: usize,
    starts: usize,
    turn: usize,
}

/// A way, and what each round said of it.
struct Measured {
    way: Way,
    link: Box<dyn Link>,
    p50: Vec<f64>,
    p99: Vec<f64>,
    rates: Vec<f64>,
    firsts: Vec<f64>,
}

/// What all rounds say of a leg. The first way is the one that costs least.
pub(super) struct Summary {
    pub(super) name: &'static str,
    pub(super) title: String,
    pub(super) ways: Vec<Figures>,
}

/// Medians over the rounds.
pub(super) struct Figures {
    pub(super) name: &'static str,
    /// Microseconds of a call.
    pub(super) p50: f64,
    pub(super) p99: f64,
    /// What it takes longer at the median than the first way.
    pub(super) added: f64,
    /// Pipelined calls a second.
    pub(super) rate: f64,
    /// Milliseconds from its start to the first answer.
    pub(super) first: f64,
    /// What it takes longer to that than the first way.
    pub(super) first_added: f64,
    /// After all calls: its own process, and squire's parent of a program.
    pub(super) memory: Option<Memory>,
    pub(super) warden: Option<Memory>,
}

impl Way {
    pub(super) fn new(name: &'static str, open: impl Fn() -> Box<dyn Link> + 'static) -> Self {
        Self { name, open: Box::new(open) }
    }
}

impl Leg {
    /// With so many calls one by one, pipelined ones and starts a round.
    pub(super) fn new(
        title: &'static str,
        ways: Vec<Way>,
        calls: usize,
        pipelined: usize,
        starts: usize,
    ) -> Self {
        let measured = |way: Way| {
            let link = (way.open)();
            Measured { way, link, p50: vec![], p99: vec![], rates: vec![], firsts: vec![] }
        };
        let ways = ways.into_iter().map(measured).collect();
        Self { title, ways, calls, pipelined, starts, turn: TURN }
    }

    /// Of a server that takes its time: fewer calls, and no starts, which say nothing new.
    pub(super) fn slow(self) -> Self {
        Self { calls: 20, pipelined: 128, starts: 0, turn: 5, ..self }
    }

    /// Every way once; `counts` or warms.
    pub(super) fn round(&mut self, counts: bool) {
        let mut times = vec![Vec::new(); self.ways.len()];
        for _ in 0..self.calls / self.turn {
            for (measured, times) in self.ways.iter_mut().zip(&mut times) {
                times.extend((0..self.turn).map(|_| latency(&mut *measured.link)));
            }
        }
        for (measured, times) in self.ways.iter_mut().zip(times) {
            let rate = throughput(&mut *measured.link, self.pipelined);
            if counts {
                measured.p50.push(median(&times));
                measured.p99.push(quantile(&times, 0.99));
                measured.rates.push(rate);
            }
        }
        for _ in 0..self.starts {
            for measured in &mut self.ways {
                let start = Instant::now();
                let link = (measured.way.open)();
                let first = start.elapsed().as_secs_f64() * 1e3;
                drop(link);
                if counts {
                    measured.firsts.push(first);
                }
            }
        }
    }

    pub(super) fn summary(&self) -> Summary {
        let Self { title, ways, calls, pipelined, starts, turn: _ } = self;
        let first = &ways[0];
        let figures = |measured: &Measured| {
            let process = measured.link.process();
            let warden = process.filter(|_| measured.way.name == "squire").and_then(child_of);
            Figures {
                name: measured.way.name,
                p50: median(&measured.p50),
                p99: median(&measured.p99),
                added: added(&measured.p50, &first.p50),
                rate: median(&measured.rates),
                first: if *starts > 0 { median(&measured.firsts) } else { f64::NAN },
                first_added: if *starts > 0 { added(&measured.firsts, &first.firsts) } else { f64::NAN },
                memory: process.map(Memory::of),
                warden: warden.map(Memory::of),
            }
        };
        let ways = ways.iter().map(figures).collect();
        let starts = if *starts > 0 { format!(", {starts} starts") } else { String::new() };
        let title = format!("{title}; a round: {calls} calls one by one, {pipelined} pipelined{starts}");
        Summary { name: self.title, title, ways }
    }
}

/// The median of what each is more than its counterpart in the same turn.
fn added(values: &[f64], baseline: &[f64]) -> f64 {
    let differences: Vec<f64> =
        values.iter().zip(baseline).map(|(value, baseline)| value - baseline).collect();
    median(&differences)
}

/// The one child of a process, if it has one.
fn child_of(parent: u32) -> Option<u32> {
    let children = fs::read_to_string(format!("/proc/{parent}/task/{parent}/children")).ok()?;
    children.split_whitespace().next()?.parse().ok()
}
