//! The `squire` program: parse, run, exit code. Nothing else ends the process.

use std::process::ExitCode;

fn main() -> ExitCode {
    squire::run(std::env::args_os().collect()).finish()
}
