//! The environment of a server: the base set and what is declared, nothing else (cases B44, B91). Pure.

use std::ffi::{OsStr, OsString};

use anyhow::{Context, Result};
use squire_strategies::{BASE_ENVIRONMENT, PROXY_VARIABLES, Stdio, Text};

use crate::environment::Environment;

/// A variable as the launch had it. An agent may pass an unset one on as an empty string, or as the text of its own
/// reference.
pub(super) fn value<'a>(environment: &'a Environment, name: &str) -> Option<&'a OsStr> {
    let is_reference = |value: &OsStr| {
        let forms = [format!("${{{name}}}"), format!("${{{name}:-}}"), format!("${{env:{name}}}")];
        forms.iter().any(|form| value == OsStr::new(form))
    };
    environment.get(name).filter(|value| !is_reference(value))
}

/// Builds a server's environment. The error names the variable whose reference can't be resolved.
pub(super) fn build(
    stdio: &Stdio,
    environment: &Environment,
    expand: &dyn Fn(&Text) -> Result<String>,
) -> Result<Vec<(OsString, OsString)>> {
    let mut variables: Vec<(OsString, OsString)> = Vec::new();
    let mut set = |name: &str, value: OsString| {
        variables.retain(|(other, _)| other != name);
        variables.push((name.into(), value));
    };
    for name in BASE_ENVIRONMENT {
        if let Some(value) = value(environment, name).filter(|value| !holds_credentials(name, value)) {
            set(name, value.to_owned());
        }
    }
    for name in &stdio.inherit_env {
        if let Some(value) = value(environment, name) {
            set(name, value.to_owned());
        }
    }
    for (name, text) in &stdio.env {
        let value = expand(text).with_context(|| format!("env.{name}"))?;
        set(name, value.into());
    }
    Ok(variables)
}

/// A proxy's address with a user in it is a secret that no server asked for.
fn holds_credentials(name: &str, value: &OsStr) -> bool {
    PROXY_VARIABLES.contains(&name) && value.to_string_lossy().contains('@')
}
