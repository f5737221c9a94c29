//! What the engine and the way to a server say to each other.

use std::task::{Context, Poll};

use super::lines::Piece;

/// Something that comes from the server's side.
#[derive(Debug)]
pub(super) enum FromServer {
    /// What is sent from now on reaches the server.
    Started,
    /// A line, a body or the data of an event: one message, or a batch, or a part of one that is too long to be held.
    Said(Piece),
    /// A session that was lost has been begun again, or a subscription: the server remembers nothing of the agent's.
    CameBack,
    /// The server is gone, or could not be started; the reason follows its name in a sentence.
    Ended(String),
    /// It may not be started, for this reason.
    Refused(String),
}

/// A way to a server.
pub(super) trait Upstream {
    /// Does ahead what the first start needs anyway, and what no server notices.
    fn prepare(&mut self) {}

    /// Starts the server, and forgets an earlier one: what that still says counts for nothing. Gives what came of it
    /// where that is known at once; else [`FromServer::Started`] or [`FromServer::Ended`] follows.
    fn start(&mut self) -> Option<FromServer>;

    /// What has come since, in its order, once something has; it may be a part that makes no whole message yet. A server
    /// whose words are not taken waits.
    fn poll_heard(&mut self, context: &mut Context<'_>) -> Poll<Vec<FromServer>>;

    /// Sends a message, without a line end, with the next [`Self::write`]. What can't be sent shows as an end.
    fn send(&mut self, line: Vec<u8>);

    /// Lets go what was given to [`Self::send`].
    fn write(&mut self);

    /// How many bytes were given to [`Self::send`] and are not on their way yet.
    fn unsent(&self) -> usize;

    /// Ends the server at once; [`FromServer::Ended`] follows.
    fn stop(&mut self);

    /// The agent has said all: the server may finish. [`FromServer::Ended`] follows once it has; a server that takes
    /// longer is ended by [`Self::stop`].
    fn finish(&mut self);
}
