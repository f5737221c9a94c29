//! `squire secret`: which secrets there are, and where their values come from. No subcommand shows a value.

pub(super) mod ask;
mod check;
mod list;
mod set;

use anyhow::{Result, ensure};
use squire_strategies::{LAUNCH_VARIABLE, masked_header};

use super::WrongWords;
use crate::cli;
use crate::config::{Directories, Project};
use crate::environment::Environment;
use crate::exit::Exit;
use crate::resolve::{UnknownSelection, unknown_name};
use crate::secrets::{Secret, Secrets, Source};

/// Runs the command.
pub fn run(options: &cli::Secret, environment: &Environment) -> Result<Exit> {
    match &options.action {
        cli::SecretAction::List(options) => list::run(options, environment),
        cli::SecretAction::Set(options) => set::run(options, environment),
        cli::SecretAction::Remove(options) => set::remove(options, environment),
        cli::SecretAction::Check(options) => check::run(options, environment),
    }
}

/// squire's directories and the project around it; those that a repository could fill are refused.
fn stand(environment: &Environment) -> Result<(Directories, Option<Project>)> {
    let directories = Directories::find(environment)?;
    let project = Project::find(environment.directory()?, environment.home().as_deref());
    directories.refuse_foreign(project.as_ref(), environment)?;
    Ok((directories, project))
}

/// An agent that runs a shell must go round this, where it would otherwise just do it: a bump in the road, no more.
fn refuse_in_launch(environment: &Environment) -> Result<()> {
    ensure!(
        environment.get(LAUNCH_VARIABLE).is_none(),
        "this is inside a launch of squire ({LAUNCH_VARIABLE} is set), where no secret is changed; run it in a terminal of your own"
    );
    Ok(())
}

/// Where a value comes from, in words.
pub(super) fn told(source: &Source) -> String {
    match detail(source) {
        Some(detail) => format!("{} {detail}", source.kind()),
        None => source.kind().to_owned(),
    }
}

/// The variable, the file or the command.
fn detail(source: &Source) -> Option<String> {
    match source {
        Source::Environment(name) => Some(name.clone()),
        Source::File(path) => Some(path.clone()),
        Source::Value => None,
        Source::Command { words, .. } => {
            // What looks like a credential is one as little here as in a header.
            Some(words.iter().map(|word| masked_header("", word)).collect::<Vec<_>>().join(" "))
        }
    }
}

fn find<'a>(secrets: &'a Secrets, name: &str) -> Result<&'a Secret> {
    let known = || secrets.all.iter().map(|secret| secret.name.as_str());
    secrets.find(name).ok_or_else(|| UnknownSelection(vec![unknown_name("secret", name, known())]).into())
}
