//! What squire holds itself to, and whether it was reached.

use super::leg::{Figures, Summary};

pub(super) fn print(program: &Summary, remote: &Summary, far: &Summary) {
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
    let squire = way(far, "squire");
    let part = squire.added / (squire.p50 - squire.added) * 100.0;
    goal(part <= 1.0, &format!("adds to a remote call of 20 ms at most 1 %: {part:.1} %"));
    for (leg, what) in [(far, "that call"), (remote, "one that is answered at once")] {
        let [squire, bridge] = ["squire", "bridge"].map(|name| way(leg, name).added);
        println!("{:7}  (squire adds to {what} {squire:.0} us, a bare bridge {bridge:.0} us)", "");
    }
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
