//! What every way to a server can do, and the messages that go over it.

use std::time::Instant;

/// How many calls are under way at once where they are pipelined.
pub(super) const WINDOW: usize = 64;
pub(super) const HELLO: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}"#;
pub(super) const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

/// A server that has been greeted. It is left when this is dropped.
pub(super) trait Link {
    /// Calls the tool and waits for the answer.
    fn call(&mut self);

    /// Calls so often, with [`WINDOW`] of the calls under way at once.
    fn call_many(&mut self, calls: usize);

    /// The process that stands between, if one does.
    fn process(&self) -> Option<u32>;
}

/// Microseconds of one call.
pub(super) fn latency(link: &mut dyn Link) -> f64 {
    let start = Instant::now();
    link.call();
    start.elapsed().as_secs_f64() * 1e6
}

/// Calls per second.
pub(super) fn throughput(link: &mut dyn Link, calls: usize) -> f64 {
    let start = Instant::now();
    link.call_many(calls);
    #[expect(clippy::cast_precision_loss, reason = "some thousands")]
    let calls = calls as f64;
    calls / start.elapsed().as_secs_f64()
}

/// The call of that number.
pub(super) fn tool_call(id: usize) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"echo","arguments":{{"text":"hello","message":"hello"}}}}}}"#
    )
}

/// Whether this is the answer to a call, and not something said beside it.
pub(super) fn is_answer(line: &str) -> bool {
    assert!(!line.contains("\"error\""), "{line}");
    line.contains("\"result\"")
}
