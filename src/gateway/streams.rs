//! The protocol's own streams: what an agent reads and writes.

use std::io;

use crate::mcp::{Service, serve as serve_over};

/// Serves on this process's standard streams until the agent closes them.
#[expect(
    clippy::disallowed_methods,
    reason = "stdout is the protocol's stream here, and nothing else is printed to it"
)]
pub(super) fn serve(service: &Service) -> io::Result<()> {
    serve_over(service, io::stdin().lock(), io::stdout().lock())
}
