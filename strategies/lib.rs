//! How each coding agent takes MCP servers.
#![no_std]
#![forbid(unsafe_code)]
extern crate alloc;
