//! What the client needs of a transport.

use std::time::{Duration, Instant};

use serde_json::Value;

use super::error::{Error, Evidence};

/// A way to a server on which messages go and come. Whoever drops one without closing it leaves nothing behind.
pub(crate) trait Connection {
    /// Sends one message. An error of the other side may show only in the next [`receive`](Self::receive).
    fn send(&mut self, message: &Value, wait: Wait) -> Result<(), Error>;

    /// The next line, body or event from the server, whatever it holds.
    fn receive(&mut self, wait: Wait) -> Result<Vec<u8>, Error>;

    /// Tells which protocol revision the server answered with.
    fn negotiated(&mut self, revision: &str);

    /// Ends the conversation, giving the server at most `grace` for each step of it. Gives the end of what it said on
    /// stderr.
    fn close(self: Box<Self>, grace: Duration) -> Vec<u8>;
}

/// What is waited for, and until when.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wait {
    step: &'static str,
    limit: Duration,
    until: Instant,
}

impl Wait {
    /// Begins now and lasts `limit`, at most a day.
    pub(crate) fn new(limit: Duration) -> Self {
        let limit = limit.min(Duration::from_secs(24 * 60 * 60));
        Self { step: "connect", limit, until: Instant::now() + limit }
    }

    /// The same end, for the answer to the method `step`.
    pub(crate) fn during(self, step: &'static str) -> Self {
        Self { step, ..self }
    }

    /// The same, and no longer than `limit`.
    pub(crate) fn at_most(self, limit: Duration) -> Self {
        Self { until: self.until.min(Instant::now() + limit), ..self }
    }

    /// The method whose answer is waited for.
    pub(crate) fn step(&self) -> &'static str {
        self.step
    }

    /// What is left, zero once it is over.
    pub(crate) fn remaining(&self) -> Duration {
        self.until.saturating_duration_since(Instant::now())
    }

    /// The error that says it is over.
    pub(crate) fn timed_out(&self, evidence: Evidence) -> Error {
        Error::TimedOut { step: self.step, after: self.limit, evidence }
    }
}
