//! A small MCP server, over stdio or Streamable HTTP, that misbehaves on request.

use std::process::ExitCode;

fn main() -> ExitCode {
    squire_fakes::server::run()
}
