//! The protocol's own streams: what an agent reads and writes.

use std::io;

use crate::mcp::{Service, refuse as refuse_over, serve as serve_over};

/// Serves on this process's standard streams until the agent closes them.
#[expect(
    clippy::disallowed_methods,
    reason = "stdout is the protocol's stream here, and nothing else is printed to it"
)]
pub(super) fn serve(service: &Service) -> io::Result<()> {
    serve_over(service, io::stdin().lock(), io::stdout().lock())
}

/// Answers every request on this process's standard streams with this sentence, until they are closed.
#[expect(clippy::disallowed_methods, reason = "as above")]
pub(super) fn refuse(sentence: &str) -> io::Result<()> {
    refuse_over(sentence, io::stdin().lock(), io::stdout().lock())
}
