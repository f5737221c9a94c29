//! Stands in for a coding agent: logs how it was started, then follows a script.

use std::process::ExitCode;

fn main() -> ExitCode {
    squire_fakes::agent::run()
}
