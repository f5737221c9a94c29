//! What ran, as valgrind wrote it down.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Whether valgrind is installed.
pub(super) fn can_be_traced() -> bool {
    Command::new("valgrind").arg("--version").output().is_ok_and(|output| output.status.success())
}

/// A command of this squire that writes into `traces` which instructions run, of itself and of whatever it starts.
pub(super) fn traced(squire: &Path, command: &Command, traces: &Path) -> Command {
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--quiet", "--tool=callgrind", "--trace-children=yes", "--dump-instr=yes"]);
    valgrind.args(["--compress-pos=no", "--compress-strings=no"]);
    valgrind.arg(format!("--callgrind-out-file={}/%p", traces.display()));
    valgrind.arg(squire).args(command.get_args()).env_clear();
    valgrind.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    if let Some(directory) = command.get_current_dir() {
        valgrind.current_dir(directory);
    }
    valgrind
}

/// The addresses that ran in a subcommand of squire.
pub(super) fn of(traces: &Path, squire: &Path, subcommand: &str) -> BTreeSet<u64> {
    let mut addresses = BTreeSet::new();
    for entry in fs::read_dir(traces).unwrap() {
        let trace = fs::read_to_string(entry.unwrap().path()).unwrap();
        let command = trace.lines().find_map(|line| line.strip_prefix("cmd:")).unwrap_or_default();
        if !command.trim().starts_with(&format!("{} {subcommand}", squire.display())) {
            continue;
        }
        let fields = trace.lines().filter_map(|line| line.strip_prefix("0x")?.split_whitespace().next());
        addresses.extend(fields.filter_map(|address| u64::from_str_radix(address, 16).ok()));
    }
    addresses
}
