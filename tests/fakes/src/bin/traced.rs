//! Becomes the program of its arguments, which its parent traces from the first instruction on.
#![expect(clippy::print_stderr, reason = "a test program prints")]

use std::process::ExitCode;

#[cfg(target_os = "linux")]
fn main() -> ExitCode {
    use std::os::unix::process::CommandExt;

    let mut words = std::env::args_os().skip(1);
    if let Err(error) = nix::sys::ptrace::traceme() {
        eprintln!("traced: {error}");
    } else {
        let program = words.next().unwrap_or_default();
        eprintln!("traced: {}", std::process::Command::new(program).args(words).exec());
    }
    ExitCode::from(127)
}

#[cfg(not(target_os = "linux"))]
fn main() -> ExitCode {
    eprintln!("traced: Linux alone has it");
    ExitCode::from(127)
}
