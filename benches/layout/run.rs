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
#[expect(dead_code, reason = "that of somebody else is for the benchmark")]
mod remote_server;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use linked::Section;

/// The scenarios, as directories of traces, and what of squire runs in them. A function lies with the first that calls
/// it, so that what all call stands at the beginning.
const ORDER: [(&str, &str); 4] =
    [("program", "warden"), ("program", "gateway"), ("launch", "launch"), ("remote", "gateway")];

/// What valgrind does without and other machines do not: instructions for SHA, and the system's own functions, whose
/// names the C library compares.
const UNTRACED: [&str; 2] = ["*(.text.*7x86_sha8compress)", "*libc.a:strcmp-*(.text .text.*)"];

pub(super) fn run() {
    assert!(calls::can_be_traced(), "valgrind is missing");
    let place = tempfile::tempdir().unwrap();
    let root = place.path().canonicalize().unwrap();
    let (squire, sections) = linked::program(&root);
    scenarios::play(&root, &squire);
    let mut patterns = UNTRACED.map(str::to_owned).to_vec();
    let mut known = BTreeSet::from_iter(patterns.clone());
    for (scenario, subcommand) in ORDER {
        let addresses = calls::of(&traces(&root, scenario), &squire, subcommand);
        assert!(!addresses.is_empty(), "no {subcommand} was traced with {scenario}");
        let is_called = |section: &&Section| addresses.range(section.addresses()).next().is_some();
        let called: Vec<&Section> = sections.iter().filter(is_called).collect();
        let size: u64 = called.iter().map(|section| section.size).sum();
        let before = patterns.len();
        let new = called.into_iter().map(Section::pattern).filter(|pattern| known.insert(pattern.clone()));
        patterns.extend(new);
        println!(
            "{scenario:8} {subcommand:8} {:5} KiB, {:5} lines more",
            size / 1024,
            patterns.len() - before
        );
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
