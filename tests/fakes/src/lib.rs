//! The programs that stand in for agents and MCP servers in squire's tests.
#![expect(clippy::print_stderr, reason = "a test program prints")]

pub mod agent;
mod files;
mod process;
pub mod server;
pub mod shell;
mod signals;
