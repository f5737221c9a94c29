//! `squire schema`: what an editor reads to complete and check a `squire.toml`, or a `secrets.toml`.

use anyhow::Result;

use crate::cli::{self, SchemaFile};
use crate::exit::Exit;
use crate::output::Output;
use crate::{config, secrets};

/// Runs the command.
pub fn run(options: &cli::Schema) -> Result<Exit> {
    let schema = match options.file {
        SchemaFile::Squire => config::json_schema(),
        SchemaFile::Secrets => secrets::json_schema(),
    };
    Output::default().data(&format!("{schema:#}\n"))?;
    Ok(Exit::DONE)
}
