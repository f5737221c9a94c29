//! The figures of a leg, a line each way.

use super::leg::{Figures, Summary};
use super::link::WINDOW;
use super::memory::Memory;
use super::peers::{DIRECTORY, Peer};

pub(super) fn print(leg: &Summary, peers: &[Peer]) {
    println!("\n{} ({WINDOW} under way)", leg.title);
    println!(
        "way            p50 us    added   p99 us   calls/s  first answer ms   VmRSS    Pss  private MiB"
    );
    for figures in &leg.ways {
        let Figures { name, p50, added, p99, rate, first, .. } = figures;
        let first = if first.is_nan() { String::new() } else { format!("{first:.2}") };
        let memory = figures.memory.map_or(String::new(), shown);
        println!("{name:12}  {p50:7.1}  {added:7.1}  {p99:7.1}  {rate:8.0}  {first:>15}  {memory}");
        if let Some(warden) = figures.warden {
            println!("{:63}  {}", "  its warden", shown(warden));
        }
    }
    // A leg has ways through them all or through none.
    let has_peers = leg.ways.iter().all(|way| way.name != "copier");
    for peer in peers.iter().filter(|peer| has_peers && !peer.is_installed()) {
        println!("{:12}  not installed in what {DIRECTORY} names", peer.name);
    }
}

fn shown(memory: Memory) -> String {
    let Memory { resident, proportional, private, .. } = memory;
    format!("{resident:6.1} {proportional:6.1}  {private:6.1}")
}
