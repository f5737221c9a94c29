//! The gateway between an agent and a server, from the outside: the real program over pipes.

mod absence;
mod audited;
mod bytes;
mod conversation;
mod crashes;
mod deadlines;
mod fidelity;
mod filters;
mod floods;
mod handshakes;
mod limits;
mod messages;
mod nothing_left;
mod pinned;
mod remembered;
mod sizes;
mod soak;
