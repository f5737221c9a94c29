//! `squire completions`: what a shell reads to complete command lines.

use anyhow::Result;
use clap::{Arg, Command};
use clap_complete::generate;

use crate::cli::{Completions, whole_without_help};
use crate::exit::Exit;
use crate::output::Output;

/// Runs the command. It looks at nothing but the command line's own definition.
pub fn run(options: &Completions) -> Result<Exit> {
    let mut script = Vec::new();
    generate(options.shell, &mut visible(), "squire", &mut script);
    Output::default().data(&String::from_utf8_lossy(&script))?;
    Ok(Exit::DONE)
}

/// The command line without its hidden subcommands, which the generator would offer, and without what it builds itself.
fn visible() -> Command {
    let squire = whole_without_help();
    let is_own = |argument: &&Arg| !matches!(argument.get_id().as_str(), "help" | "version");
    Command::new("squire")
        .version(env!("CARGO_PKG_VERSION"))
        .disable_help_subcommand(true)
        .args(squire.get_arguments().filter(is_own).cloned())
        .subcommands(squire.get_subcommands().filter(|subcommand| !subcommand.is_hide_set()).cloned())
}
