//! The commands that edit the list, and what they share: where an entry lives, and one safe way to change that file.

pub mod add;
mod change;
mod definition;
pub mod import;
pub mod init;
mod place;
pub mod profile;
pub mod remove;
pub mod set;
pub mod switch;
mod telling;
mod trial;

use anyhow::Result;

use super::approve::refuse_in_launch;
use crate::cli;
use crate::environment::Environment;
use crate::output::Output;

use place::Stand;

/// What every edit begins with: inside a launch nothing is widened, and squire's own directories must be the user's.
fn begin(editing: cli::Editing, environment: &Environment) -> Result<(Stand, Output)> {
    if !editing.dry_run {
        refuse_in_launch(environment, "change the list of servers")?;
    }
    Ok((Stand::find(environment)?, Output::default()))
}
