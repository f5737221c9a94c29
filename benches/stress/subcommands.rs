//! The subcommands, and what they share.

mod checkpoints;
mod counts;
mod editor;
mod flips;
mod kills;
mod place;
mod random;
mod repositories;
mod shapes;
mod soak;

#[path = "../shared/gateway.rs"]
mod gateway;
#[path = "../shared/memory.rs"]
#[expect(dead_code, reason = "the other measures are for another benchmark")]
mod memory;
#[path = "../../tests/support/programs.rs"]
#[expect(dead_code, reason = "its agents and servers are for the tests")]
mod programs;
#[path = "../../tests/support/soaking.rs"]
mod soaking;
#[path = "../../tests/support/tracer/mod.rs"]
#[expect(dead_code, reason = "faults are for the tests")]
mod tracer;

use std::process::ExitCode;
use std::time::Duration;

use counts::Counts;

/// How long the agent runs, in microseconds; tells this program to be one.
const AGENT: &str = "SQUIRE_STRESS_AGENT";

pub(super) fn run() -> ExitCode {
    if let Some(time) = std::env::var_os(AGENT) {
        let time = time.to_str().and_then(|time| time.parse().ok()).unwrap();
        std::thread::sleep(Duration::from_micros(time));
        return ExitCode::SUCCESS;
    }
    // Cargo adds options of its own.
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let count = |usual| words.get(1).map_or(usual, |count| count.parse().unwrap());
    let counts = match words.first().map(String::as_str) {
        Some("checkpoints") => checkpoints::run(words.get(1).map_or("", String::as_str)),
        Some("kills") => kills::run(count(2000)),
        Some("editor") => editor::run(count(500)),
        Some("flips") => flips::run(count(1000)),
        Some("repositories") => repositories::run(count(1000)),
        Some("soak") => soak::run(count(100_000)),
        // `cargo bench` without words measures, and this measures nothing.
        None => Counts::default(),
        Some(other) => {
            panic!(
                "no such stress: {other}; there are checkpoints, kills, editor, flips, repositories and soak"
            )
        }
    };
    counts.print();
    if counts.are_all_right() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
