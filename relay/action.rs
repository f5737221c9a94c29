//! What the one who holds the pipes is to do.

use alloc::string::String;
use alloc::vec::Vec;

use crate::Time;
use crate::memory::Learned;

/// One thing to do, in the order in which they are given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// A line for the agent, without a line end.
    ToAgent(Vec<u8>),
    /// A line for the server, without a line end.
    ToServer(Vec<u8>),
    /// Start the server; [`Relay::started`](crate::Relay::started) or [`Relay::ended`](crate::Relay::ended) follows.
    Start,
    /// End the server; [`Relay::ended`](crate::Relay::ended) follows.
    Stop,
    /// Something for the log.
    Note(Note),
    /// A call that is over, for the audit.
    Audit(Call),
    /// The server has come so far for the first time.
    Reached(Step),
    /// The agent is answered from what the server told before; it is started when it is needed.
    Recalled,
    /// The server has told something for the first time, or something else than before.
    Learned(Learned),
}

/// How far a server has come with its agent: each is told once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    /// It has answered the agent's first words.
    Initialized,
    /// It has told its tools.
    Listed,
    /// It has answered a call of a tool.
    Called,
}

/// Something that the user may want to know, and the agent does not hear of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// A line of the server's that is no message.
    Noise(Vec<u8>),
    /// The server asked for a sample of the model, which is refused.
    Sampling,
    /// An answer to nothing that was asked, or a second one.
    Unasked(String),
    /// A message that was not passed on, and why.
    Refused(String),
    /// A definition that is not what was believed: which, and what comes of it.
    Different(String),
}

/// A call of a tool, from its request to its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The tool's name.
    pub tool: String,
    /// What [`Policy::seal`](crate::Policy::seal) made of its arguments.
    pub arguments: Option<Sealed>,
    /// How it ended.
    pub outcome: Outcome,
    /// When the request came.
    pub began: Time,
    /// When the answer went out.
    pub ended: Time,
    /// The request's length in bytes.
    pub asked: usize,
    /// The length of the server's answer in bytes, before any cap.
    pub answered: usize,
}

/// What the audit keeps of a call's arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sealed {
    /// Their digest.
    Digest([u8; 32]),
    /// Themselves, as they stand in the request.
    Text(String),
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// With a result.
    Done,
    /// With a result that says of itself that it is an error.
    Failed,
    /// With a JSON-RPC error of the server's.
    Error,
    /// It was not passed on: policy.
    Refused,
    /// It took too long, and was cancelled.
    TimedOut,
    /// The agent cancelled it.
    Cancelled,
    /// The server, or the way to it, went while it ran.
    Broken,
    /// The server was not there to be asked.
    Unreached,
}

impl Outcome {
    /// The word in the audit.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Error => "error",
            Self::Refused => "refused",
            Self::TimedOut => "timed-out",
            Self::Cancelled => "cancelled",
            Self::Broken => "broken",
            Self::Unreached => "unreached",
        }
    }
}
