//! `squire schema`: what an editor reads to complete and check a `squire.toml`.

use anyhow::Result;

use crate::config::json_schema;
use crate::exit::Exit;
use crate::output::Output;

/// Runs the command.
pub fn run() -> Result<Exit> {
    Output::default().data(&format!("{:#}\n", json_schema()))?;
    Ok(Exit::DONE)
}
