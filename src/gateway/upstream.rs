//! What the engine and the way to a server say to each other.

use std::os::fd::BorrowedFd;
use std::os::unix::net::UnixStream;
use std::time::Instant;

use anyhow::Result;

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

/// What a gateway waits for.
pub(super) struct Wait<'a> {
    /// The agent's words, where they can be taken.
    pub(super) input: Option<BorrowedFd<'static>>,
    /// Whether the latest read of them took all that was there.
    pub(super) is_drained: bool,
    /// Where the agent reads, if something of that is waited for.
    pub(super) output: Option<(BorrowedFd<'static>, OfOutput)>,
    /// Signals that end the gateway.
    pub(super) interruptions: &'a UnixStream,
    /// Whether what the server says can be taken; else it waits.
    pub(super) hears_server: bool,
    /// When the waiting ends at the latest.
    pub(super) until: Option<Instant>,
}

/// What is waited for of the agent's reading.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum OfOutput {
    /// Room for what was not written yet.
    Room,
    /// That nobody reads any more.
    End,
}

/// What came of it. Nothing at all may have come.
#[derive(Default)]
pub(super) struct News {
    /// One read of the agent's words does not wait.
    pub(super) agent_speaks: bool,
    /// That nobody reads any more, where it was asked for.
    pub(super) agent_is_gone: bool,
    pub(super) is_interrupted: bool,
    /// In its order. It may be a part that makes no whole message yet.
    pub(super) from_server: Vec<FromServer>,
}

/// A way to a server. It is what waits, as only it knows what its own side waits for: descriptors, or futures.
pub(super) trait Upstream {
    /// Does ahead what the first start needs anyway, and what no server notices.
    fn prepare(&mut self) {}

    /// Starts the server, and forgets an earlier one: what that still says counts for nothing. Gives what came of it
    /// where that is known at once; else [`FromServer::Started`] or [`FromServer::Ended`] follows.
    fn start(&mut self) -> Option<FromServer>;

    /// Waits for something of all this, and meanwhile does what it has to do by itself. An error says that it can't be
    /// waited for.
    fn wait(&mut self, wait: &Wait<'_>) -> Result<News>;

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
