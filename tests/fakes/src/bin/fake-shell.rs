//! A shell that runs one job on a terminal of its own.

use std::process::ExitCode;

fn main() -> ExitCode {
    squire_fakes::shell::run()
}
