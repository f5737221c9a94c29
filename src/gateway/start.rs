//! What starts a server: its program, arguments, environment and directory. Errors show strings as they are declared,
//! never a value (case B91).

use std::borrow::Cow;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, anyhow, bail};
use squire_strategies::{Source, Stdio, Text};

use super::environment::{self, Variables};
use crate::environment::Environment;
use crate::runner::{Boundaries, look_up};
use crate::secrets::{Value, Values};

/// The secrets that are at hand.
#[derive(Clone, Copy)]
pub(crate) enum Held<'a> {
    /// Those that the server needs.
    Values(&'a Values),
    /// None: who only looks whether the server could start has no business with them.
    Placeholders,
}

/// A server that is to be started, or looked at before.
#[derive(Clone, Copy)]
pub(crate) struct Starter<'a> {
    pub(crate) stdio: &'a Stdio,
    /// The project's real path: no program is looked up in it.
    pub(crate) project: Option<&'a Path>,
    pub(crate) environment: &'a Environment,
    pub(crate) held: Held<'a>,
}

impl<'a> Starter<'a> {
    /// The server's command.
    pub(super) fn command(&self) -> Result<Command> {
        let variables = self.variables()?;
        let mut command = Command::new(self.program(&variables)?);
        for argument in &self.stdio.args {
            command.arg(self.expand(argument).context("args")?.expose());
        }
        if let Some(directory) = self.working_directory()? {
            command.current_dir(directory);
        }
        command.env_clear().envs(variables.iter().map(|(name, content)| (name, content)));
        Ok(command)
    }

    /// The server's environment.
    pub(crate) fn variables(&self) -> Result<Variables<'a>> {
        environment::build(self.stdio, self.environment, &|text| self.expand(text))
    }

    /// The server's program: a path as it is written, or what its name means on the PATH of the server's environment.
    pub(crate) fn program(&self, variables: &Variables<'_>) -> Result<PathBuf> {
        let Self { stdio, project, environment, .. } = *self;
        let expanded = self.expand(&stdio.command).context("command")?;
        let program = expanded.expose();
        if let Some(below_home) = program.strip_prefix("~/") {
            return Ok(environment.home().context("command: there is no home directory")?.join(below_home));
        }
        if program.contains('/') {
            return Ok(PathBuf::from(program));
        }
        let path = variables.iter().find(|(name, _)| *name == "PATH").map(|(_, content)| content.as_ref());
        let found = look_up(program.as_ref(), path, Boundaries { project, squire: None });
        match stdio.command.literal() {
            Some(name) if name.contains(' ') => found.with_context(|| {
                format!(
                    "one string is one program; write command = {:?}",
                    name.split(' ').collect::<Vec<_>>()
                )
            }),
            Some(_) => Ok(found?),
            None => {
                found.map_err(|_| anyhow!("{} can't be found on PATH, or can't be executed", stdio.command))
            }
        }
    }

    /// Where the server runs, where that is written.
    pub(crate) fn working_directory(&self) -> Result<Option<PathBuf>> {
        let Some(cwd) = &self.stdio.cwd else { return Ok(None) };
        let directory =
            below_home(self.expand(cwd).context("cwd")?.expose(), self.environment).context("cwd")?;
        if !directory.is_dir() {
            let shown = cwd.literal().map_or_else(|| cwd.to_string(), |_| directory.display().to_string());
            bail!("cwd: {shown} is no directory");
        }
        Ok(Some(directory))
    }

    fn expand(&self, text: &Text) -> Result<Value> {
        expand(text, self.environment, self.held)
    }
}

/// What a string of a declaration comes out as.
pub(super) fn expand(text: &Text, environment: &Environment, held: Held<'_>) -> Result<Value> {
    let mut not_text = None;
    let expanded = Value::expanded(text, |source| match (source, held) {
        (Source::Environment(name), _) => {
            let value: OsString = environment.passed_on(name)?.to_owned();
            value.into_string().map_err(|_| not_text = Some(name.clone())).ok().map(Cow::Owned)
        }
        (Source::Secret(name), Held::Values(values)) => {
            values.get(name).map(|value| Cow::Borrowed(value.expose()))
        }
        (Source::Secret(_), Held::Placeholders) => Some(Cow::Borrowed("secret")),
    });
    match (expanded, not_text) {
        (_, Some(name)) => bail!("the variable {name} is not UTF-8"),
        (Ok(expanded), None) => Ok(expanded),
        (Err(missing), None) => bail!("{missing} is not set"),
    }
}

/// A relative directory of the user's layer is below the home directory.
pub(super) fn below_home(written: &str, environment: &Environment) -> Result<PathBuf> {
    let below_home = match written.strip_prefix('~') {
        Some("") => "",
        Some(rest) => rest.strip_prefix('/').unwrap_or(written),
        None if Path::new(written).is_absolute() => return Ok(PathBuf::from(written)),
        None => written,
    };
    Ok(environment.home().context("there is no home directory")?.join(below_home))
}
