//! Learns which functions launches and gateways call: `cargo bench --profile dev --bench layout` writes `.cargo/layout.ld`, by which the
//! linker lays them side by side in a release.
//!
//! A program of some megabytes calls a sixth of its functions in a launch or a gateway, and the linker scatters them. The
//! system maps a program's file in pieces of 64 KiB as they are touched, so that nearly all of it would be mapped, and
//! each piece costs a launch a page fault. What is written has names without the hashes that compilers add, so that it
//! stays good while the code changes; a name that is gone does no harm, and a function that is new lies elsewhere. It is
//! to be run before a release, and needs valgrind.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a program for developers writes its files and fails by a panic"
)]

#[path = "layout/run.rs"]
mod run;

fn main() {
    run::run();
}
