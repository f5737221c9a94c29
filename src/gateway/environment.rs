//! The environment of a server: the base set and what is declared, nothing else (cases B44, B91). Pure.

use std::ffi::OsStr;

use anyhow::{Context, Result};
use squire_strategies::{Stdio, Text};

use crate::environment::Environment;
use crate::secrets::Value;

/// What a variable of a server holds.
pub(crate) enum Content<'a> {
    /// What it holds in the launch's environment.
    Inherited(&'a OsStr),
    /// What its declaration comes out as: a secret may be in it.
    Declared(Value),
}

impl AsRef<OsStr> for Content<'_> {
    fn as_ref(&self) -> &OsStr {
        match self {
            Self::Inherited(value) => value,
            Self::Declared(value) => value.expose().as_ref(),
        }
    }
}

/// The variables of a server, each once.
pub(crate) type Variables<'a> = Vec<(&'a str, Content<'a>)>;

/// Builds a server's environment. The error names the variable whose reference can't be resolved.
pub(super) fn build<'a>(
    stdio: &'a Stdio,
    environment: &'a Environment,
    expand: &dyn Fn(&Text) -> Result<Value>,
) -> Result<Variables<'a>> {
    let inherited = environment.inherited(&stdio.inherit_env);
    let mut variables: Variables<'a> =
        inherited.into_iter().map(|(name, value)| (name, Content::Inherited(value))).collect();
    for (name, text) in &stdio.env {
        let value = expand(text).with_context(|| format!("env.{name}"))?;
        variables.retain(|(other, _)| other != name);
        variables.push((name, Content::Declared(value)));
    }
    Ok(variables)
}
