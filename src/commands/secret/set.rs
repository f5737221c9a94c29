//! `squire secret set` and `squire secret remove`.

use anyhow::{Result, bail};
use squire_strategies::{Name, Text};

use super::{WrongWords, ask, find, refuse_in_launch, stand, told};
use crate::cli;
use crate::environment::{Environment, utf8};
use crate::exit::Exit;
use crate::output::Output;
use crate::secrets::{self, NewSource, Secrets, change};

/// Runs `squire secret set`.
pub(super) fn run(options: &cli::SecretSet, environment: &Environment) -> Result<Exit> {
    let output = Output::default();
    check_words(options)?;
    refuse_in_launch(environment)?;
    let (directories, _) = stand(environment)?;
    let name = &options.name;
    let file = Secrets::file(&directories.config);
    // Before anything is asked for; what is there then is looked at again under the lock.
    refuse_existing(&Secrets::load(&directories.config)?, options)?;
    secrets::guard();
    let source = source(options, environment, output)?;
    change(&directories.config, |secrets, text| {
        refuse_existing(secrets, options)?;
        secrets::set(text, name, &source, &options.servers)
    })?;
    let secrets = Secrets::load(&directories.config)?;
    let written = find(&secrets, name)?;
    output.notice(&format!(
        "{name} is in {} now ({}); ${{secret:{name}}} stands for it in your servers",
        file.display(),
        told(&written.source)
    ));
    if let Some(reason) = secrets::obstacle(written, environment) {
        output.notice(&format!("{name}: {reason}"));
    }
    Ok(Exit::DONE)
}

fn refuse_existing(secrets: &Secrets, options: &cli::SecretSet) -> Result<()> {
    match secrets.find(&options.name) {
        Some(there) if !options.replace => {
            bail!(
                "{} is there already ({}, {}); --replace gives it a new source",
                there.name,
                told(&there.source),
                there.origin
            )
        }
        Some(_) | None => Ok(()),
    }
}

fn check_words(options: &cli::SecretSet) -> Result<(), WrongWords> {
    if !options.stray.is_empty() {
        // It may be a value: it is not shown.
        let message = "a value is never taken from the command line, which every user of this machine can read and a shell remembers: leave it away, and type it when asked, or give it on stdin";
        return Err(WrongWords(message.into()));
    }
    if !Text::is_secret(&options.name) {
        // It may be a value in the wrong place: it is not shown.
        let message =
            "this can't be the name of a secret: letters, digits, `-` and `_`, and a `.` between two parts";
        return Err(WrongWords(message.into()));
    }
    let mut variables = options.inherit_env.iter().chain(&options.env);
    if variables.any(|name| !Text::is_variable(name)) {
        let message =
            "--env and --inherit-env want the name of an environment variable: letters, digits and `_`";
        return Err(WrongWords(message.into()));
    }
    match options.servers.iter().find(|server| Name::parse(server).is_err()) {
        Some(server) => Err(WrongWords(format!("{server:?} can't be the name of a server"))),
        None => Ok(()),
    }
}

fn source(options: &cli::SecretSet, environment: &Environment, output: Output) -> Result<NewSource> {
    if let Some(variable) = &options.env {
        return Ok(NewSource::Environment(variable.clone()));
    }
    if let Some(file) = &options.file {
        let path = utf8(file)?;
        let is_below_home = path.starts_with("~/");
        let whole = if is_below_home { path } else { utf8(&environment.directory()?.join(file))? };
        return Ok(NewSource::File(whole));
    }
    if options.command {
        return Ok(NewSource::Command {
            words: options.words.clone(),
            inherit_env: options.inherit_env.clone(),
        });
    }
    ask::value(&options.name, output).map(NewSource::Value)
}

/// Runs `squire secret remove`.
pub(super) fn remove(options: &cli::SecretRemove, environment: &Environment) -> Result<Exit> {
    refuse_in_launch(environment)?;
    let (directories, _) = stand(environment)?;
    let name = &options.name;
    find(&Secrets::load(&directories.config)?, name)?;
    secrets::guard();
    change(&directories.config, |secrets, text| {
        find(secrets, name)?;
        secrets::remove(text, name)
    })?;
    let file = Secrets::file(&directories.config);
    Output::default().notice(&format!("{name} is out of {}", file.display()));
    Ok(Exit::DONE)
}
