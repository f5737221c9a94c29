//! squire's gateway under the protocol's own conformance suite and the official SDKs, without a network.
//!
//! The suite asks a server over HTTP: [`front::Front`] puts it before servers that speak stdio, and what holds of one
//! directly must hold of the same one behind a [`gateway`]. [`fixture`] is a server that has all that the suite asks
//! for, [`client`] what a client does that the suite watches, and [`wire`] the client's side of a conversation line by
//! line.
//!
//! The suite and the SDKs come from `package.json` and `python/` (see `.ci/run`); `SQUIRE_CONFORMANCE` names the
//! folder where they are installed. Where it is unset, the tests say so and pass.

pub mod client;
pub mod fixture;
pub mod front;
pub mod gateway;
pub mod installed;
pub mod suite;
pub mod wire;

use std::io::{self, Write};

/// Says what a test found, for whoever asks for it with `--nocapture`.
pub fn tell(sentence: &str) -> io::Result<()> {
    io::stderr().write_all(format!("{sentence}\n").as_bytes())
}
