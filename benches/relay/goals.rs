//! What squire holds itself to, and whether it was reached.

use super::leg::{Figures, Summary};

pub(super) fn print(legs: &[Summary]) {
    let [program, remote, far, others @ ..] = legs else { return };
    println!();
    let (squire, copier) = (way(program, "squire"), way(program, "copier"));
    let ratio = squire.added / copier.added;
    goal(ratio <= 1.5, &format!("adds at the median at most 1.5 times what a copier adds: {ratio:.2}"));
    let part = squire.rate / copier.rate * 100.0;
    goal(part >= 80.0, &format!("has pipelined at least 80 % of a copier's throughput: {part:.0} %"));
    let first = squire.first_added;
    goal(first <= 3.0, &format!("adds to the first answer of a program at most 3 ms: {first:.2}"));
    let own = resident(squire);
    let both = own + squire.warden.map_or(f64::NAN, |warden| warden.resident);
    goal(own <= 4.0, &format!("takes before a program at most 4 MiB: {own:.1}, {both:.1} with its warden"));
    let own = resident(way(remote, "squire"));
    goal(own <= 14.0, &format!("takes before a remote server at most 14 MiB: {own:.1}"));
    for leg in [far].into_iter().chain(others) {
        let [direct, squire, bridge] = ["direct", "squire", "bridge"].map(|name| way(leg, name));
        // Nobody who waits for an answer can tell what is less than the calls differ by themselves.
        let (own, added) = (direct.p99 - direct.p50, squire.added - direct.added);
        let text = format!(
            "adds to an agent's own call of {} less than such calls differ by themselves (p99 - p50): {added:.0} us, {own:.0} us",
            leg.name
        );
        goal(added <= own, &text);
        let part = added / direct.p50 * 100.0;
        let [beside_sockets, bridge] = [squire, bridge].map(|way| way.added);
        println!(
            "{:7}  (that is {part:.1} % of it; to one of nothing but sockets {beside_sockets:.0} us, a bare bridge {bridge:.0} us)",
            ""
        );
    }
    let [direct, squire, bridge] = ["direct", "squire", "bridge"].map(|name| way(remote, name).added);
    println!(
        "{:7}  (to one that is answered at once: {:.0} us; to one of nothing but sockets {squire:.0} us, a bare bridge {bridge:.0} us)",
        "",
        squire - direct
    );
}

fn way<'a>(leg: &'a Summary, name: &str) -> &'a Figures {
    leg.ways.iter().find(|way| way.name == name).unwrap()
}

fn resident(figures: &Figures) -> f64 {
    figures.memory.map_or(f64::NAN, |memory| memory.resident)
}

fn goal(is_reached: bool, text: &str) {
    println!("{:7}  {text}", if is_reached { "reached" } else { "missed" });
}
