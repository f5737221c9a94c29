//! What is to hold whenever a launch ends and whoever else writes: `cargo bench --bench stress -- checkpoints`, with
//! a word behind it for the shapes with that in their name, and likewise `kills COUNT`, `editor ROUNDS`,
//! `flips COUNT`, `repositories COUNT` and, of the gateway, `soak CALLS`. Each prints what it counted, and fails if anything does not hold.
//!
//! The agents are this very program, which ends after a while. It is for Linux on x86-64, as the tracer is.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::panic,
    reason = "a stress program writes its files, prints its counts and fails by a panic"
)]

use std::process::ExitCode;

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[path = "stress/subcommands.rs"]
mod subcommands;

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn main() -> ExitCode {
    subcommands::run()
}

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
fn main() -> ExitCode {
    println!("it is for Linux on x86-64");
    ExitCode::SUCCESS
}
