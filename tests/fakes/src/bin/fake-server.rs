//! A small MCP server, over stdio, Streamable HTTP or HTTP with server-sent events, that misbehaves on request.

use std::process::ExitCode;

fn main() -> ExitCode {
    squire_fakes::server::run()
}
