//! Secrets: a value goes from its source into the one server that needs it, and nowhere else.

mod at_the_gateway;
mod at_the_launch;
mod canary;
mod changing;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod executions;
mod file;
mod in_clear;
mod looking;

const FILE: &str = "<T>/home/.config/squire/secrets.toml";
/// The same below the test's directory.
const RELATIVE: &str = "home/.config/squire/secrets.toml";
