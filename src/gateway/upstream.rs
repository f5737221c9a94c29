//! What the engine and the way to a server say to each other.

use tokio::sync::mpsc::Sender;

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
}

/// An event with the number of the start that it belongs to: what an earlier server still says counts for nothing.
pub(super) type Event = (u64, FromServer);

/// Where events go. It is bounded: who sends faster than the agent reads waits.
pub(super) type Events = Sender<Event>;

/// A way to a server.
pub(super) trait Upstream {
    /// Starts the server; [`FromServer::Started`] or [`FromServer::Ended`] of this number follows.
    fn start(&mut self, number: u64, events: Events);

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
