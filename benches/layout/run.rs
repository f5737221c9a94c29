//! From a program to the order of its functions.

mod calls;
mod linked;
mod scenarios;
mod script;

#[path = "../shared/declarations.rs"]
mod declarations;
#[path = "../shared/gateway.rs"]
mod gateway;
#[path = "../../tests/support/programs.rs"]
#[expect(dead_code, reason = "the agents are for the tests")]
mod programs;
#[path = "../shared/remote_server.rs"]
mod remote_server;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use linked::Section;

/// The scenarios, as directories of traces, and what of squire runs in them. A function lies with the first that calls
/// it, so that what all call stands at the beginning.
const ORDER: [(&str, &str); 4] =
    [("program", "warden"), ("program", "gateway"), ("launch", "launch"), ("remote", "gateway")];

pub(super) fn run() {
    // What cargo hands to every benchmark is no word of ours.
    if std::env::args().any(|word| word == "--list") {
        return;
    }
    let place = tempfile::tempdir().unwrap();
    let root = place.path().canonicalize().unwrap();
    let (squire, sections) = linked::program(&root);
    scenarios::play(&root, &squire);
    let ran = ORDER.map(|(scenario, subcommand)| {
        let addresses = calls::of(&traces(&root, scenario), &squire, subcommand);
        assert!(!addresses.is_empty(), "no {subcommand} was traced with {scenario}");
        addresses
    });
    let is_called =
        |section: &Section, addresses: &BTreeSet<u64>| addresses.range(section.addresses()).next().is_some();
    let of_none =
        sections.iter().filter(|section| !ran.iter().any(|addresses| is_called(section, addresses)));
    let of_none: BTreeSet<String> = of_none.map(Section::pattern).collect();
    let mut patterns = Vec::new();
    let mut known = BTreeSet::new();
    for ((scenario, subcommand), addresses) in ORDER.iter().zip(&ran) {
        let (mut functions, mut size) = (0, 0);
        for section in sections.iter().filter(|section| is_called(section, addresses)) {
            // What is called has namesakes that are not: of many types, as a rule.
            let is_sharp = !of_none.contains(&section.pattern());
            let pattern = if is_sharp { section.pattern() } else { section.exact_pattern() };
            if known.insert(section.name()) {
                (functions, size) = (functions + 1, size + section.size);
            }
            if !patterns.contains(&pattern) {
                patterns.push(pattern);
            }
        }
        println!("{scenario:8} {subcommand:8} {functions:5} functions more, {:5} KiB", size / 1024);
    }
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(".cargo/layout.ld");
    fs::write(&file, script::script(&patterns)).unwrap();
}

/// Where the traces of a scenario are.
fn traces(root: &Path, scenario: &str) -> PathBuf {
    let traces = root.join("traces").join(scenario);
    fs::create_dir_all(&traces).unwrap();
    traces
}
