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

/// The scenarios, as directories of traces, and what of squire runs in them.
const SCENARIOS: [(&str, &str); 4] =
    [("warden", "program"), ("gateway", "program"), ("launch", "launch"), ("gateway", "remote")];

/// What valgrind does without and other machines do not: the way to functions that are chosen for the processor,
/// instructions for SHA, the system's own functions, whose names the C library compares, and what runs in a child before
/// its program.
const UNTRACED: [&str; 7] = [
    "*(.iplt)",
    "*(.text.*7x86_sha8compress)",
    "*libc.a:strcmp-*(.text .text.*)",
    "*libc.a:dl-object.o(.text)",
    "*libc.a:sigprocmask.o(.text)",
    "*libc.a:setpgid.o(.text)",
    "*libc.a:execve.o(.text)",
];

pub(super) fn run() {
    assert!(calls::can_be_traced(), "valgrind is missing");
    let place = tempfile::tempdir().unwrap();
    let root = place.path().canonicalize().unwrap();
    let (squire, sections) = linked::program(&root);
    scenarios::play(&root, &squire);
    let ran = SCENARIOS.map(|(subcommand, scenario)| {
        let addresses = calls::of(&traces(&root, scenario), &squire, subcommand);
        assert!(!addresses.is_empty(), "no {subcommand} was traced with {scenario}");
        addresses
    });
    let mut rooms: [Vec<&Section>; ROOMS] = Default::default();
    for section in &sections {
        let called = ran.each_ref().map(|addresses| addresses.range(section.addresses()).next().is_some());
        if let Some(room) = room(called) {
            rooms[room].push(section);
        }
    }
    for (room, sections) in rooms.iter().enumerate() {
        let size: u64 = sections.iter().map(|section| section.size).sum();
        println!("room {room}: {:5} KiB, {:5} functions", size / 1024, sections.len());
    }
    let mut patterns = UNTRACED.map(str::to_owned).to_vec();
    let mut known = BTreeSet::from_iter(patterns.clone());
    let called = rooms.into_iter().flatten().map(Section::pattern);
    patterns.extend(called.filter(|pattern| known.insert(pattern.clone())));
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(".cargo/layout.ld");
    fs::write(&file, script::script(&patterns)).unwrap();
}

const ROOMS: usize = 5;

/// Where a function lies that these scenarios call: so that what each of them calls lies in neighbouring rooms.
fn room([warden, program, launch, remote]: [bool; 4]) -> Option<usize> {
    match (warden, program, launch) {
        (false, true, false) => Some(0),
        (true, _, _) => Some(1),
        (false, true, true) => Some(2),
        (false, false, true) => Some(3),
        (false, false, false) => remote.then_some(4),
    }
}

/// Where the traces of a scenario are.
fn traces(root: &Path, scenario: &str) -> PathBuf {
    let traces = root.join("traces").join(scenario);
    fs::create_dir_all(&traces).unwrap();
    traces
}
