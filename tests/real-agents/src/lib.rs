//! squire under the real coding agents, without a network and without an account.
//!
//! A test gives an installed agent a home of its own, points it at [`model::Model`], a fake model on loopback that
//! calls one tool and then stops, and lets `squire launch` equip it with a test server. What the model was offered,
//! what the server received and what the model got back are the proof that a declaration arrived.
//!
//! The agents come from `package.json` (`npm install` in this folder); `SQUIRE_REAL_AGENTS` names the folder that
//! holds their `node_modules`. Where it is unset or an agent is missing, the tests say so and pass.

pub mod agents;
pub mod driver;
pub mod handshake;
pub mod help;
mod home;
pub mod hostile;
mod http;
pub mod model;
mod process;
mod programs;
pub mod repository;
mod server;
mod terminal;
