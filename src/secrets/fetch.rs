//! Gets values from their sources, for the process that starts the server which needs them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::thread;

use zeroize::Zeroizing;

use super::sources::value_in;
use super::{LARGEST, Secret, Source, Value, command};
use crate::environment::Environment;
use crate::files;

/// Why a value can't be had. Nothing in it is a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What is so; fits behind the secret's name.
    pub reason: String,
    /// What a command said on stderr, for the user who asks: it is not for an agent or its log.
    pub said: Option<String>,
}

impl<Reason: Into<String>> From<Reason> for Failure {
    fn from(reason: Reason) -> Self {
        Self { reason: reason.into(), said: None }
    }
}

/// Values by the names of their secrets.
#[derive(Default)]
pub struct Values(BTreeMap<String, Value>);

impl Values {
    /// The value of a secret, where it was fetched.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    /// What a server says, with the values taken out that it repeats. A value of a few characters is left: it would tear
    /// other words apart, and is no secret.
    pub fn hide(&self, said: &[u8]) -> Vec<u8> {
        const LEAST: usize = 4;
        let values = self.0.values().map(|value| value.expose().as_bytes());
        values.filter(|value| value.len() >= LEAST).fold(said.to_vec(), |said, value| without(&said, value))
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

fn without(said: &[u8], value: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(said.len());
    let mut rest = said;
    while let Some(at) = rest.windows(value.len()).position(|window| window == value) {
        let (before, found) = rest.split_at(at);
        out.extend_from_slice(before);
        out.extend_from_slice(b"[hidden]");
        rest = found.get(value.len()..).unwrap_or_default();
    }
    out.extend_from_slice(rest);
    out
}

/// Fetches the values of these secrets side by side, each once. `file` is the secrets.toml that names them, `project`
/// where no program is looked up. The error names every secret whose value can't be had.
pub fn fetch(
    secrets: &[&Secret],
    file: &Path,
    environment: &Environment,
    project: Option<&Path>,
) -> (Values, Vec<(String, Failure)>) {
    let fetched = thread::scope(|scope| {
        let threads: Vec<_> = secrets
            .iter()
            .map(|secret| (secret.name.as_str(), &secret.source))
            .map(|(name, source)| {
                (name, scope.spawn(move || value(name, source, file, environment, project)))
            })
            .collect();
        let joined = threads.into_iter().map(|(name, thread)| {
            let value = thread.join().unwrap_or_else(|_| Err("it could not be fetched".into()));
            (name.to_owned(), value)
        });
        joined.collect::<Vec<_>>()
    });
    let (mut values, mut failures) = (Values::default(), Vec::new());
    for (name, value) in fetched {
        match value {
            Ok(value) => drop(values.0.insert(name, value)),
            Err(failure) => failures.push((name, failure)),
        }
    }
    (values, failures)
}

fn value(
    name: &str,
    source: &Source,
    file: &Path,
    environment: &Environment,
    project: Option<&Path>,
) -> Result<Value, Failure> {
    match source {
        Source::Environment(variable) => {
            use std::os::unix::ffi::OsStrExt;
            let value = environment.passed_on(variable).ok_or_else(|| unset(variable))?;
            let bytes = Zeroizing::new(value.as_bytes().to_vec());
            Value::exactly(bytes).map_err(|reason| format!("the variable {variable}: {reason}").into())
        }
        Source::File(written) => {
            let path = path(written, environment)?;
            let bytes = files::read_secret(&path, LARGEST as u64)
                .map_err(|error| format!("{}: {error}", path.display()))?
                .ok_or_else(|| no_file(&path))?;
            Value::of_line(bytes).map_err(|reason| format!("{}: {reason}", path.display()).into())
        }
        Source::Value => {
            let bytes = files::read_secret(file, files::LIMIT).ok().flatten();
            let value = bytes.and_then(|bytes| value_in(&bytes, file, name));
            value.ok_or_else(|| format!("{} does not hold it any more", file.display()).into())
        }
        Source::Command { words, inherit_env } => command::run(words, inherit_env, environment, project),
    }
}

/// Why the value of a secret can't be had, as far as that shows without reading or running anything.
pub fn obstacle(secret: &Secret, environment: &Environment) -> Option<String> {
    look(&secret.source, environment).err()
}

/// Why a value can't be had, as far as that shows without reading or running anything.
pub(super) fn look(source: &Source, environment: &Environment) -> Result<(), String> {
    match source {
        Source::Environment(variable) => {
            environment.passed_on(variable).map(drop).ok_or_else(|| unset(variable))
        }
        Source::File(written) => {
            let path = path(written, environment)?;
            match files::look_at_secret(&path) {
                Ok(Some(0)) => Err(format!("{}: it is empty", path.display())),
                Ok(Some(size)) if size > LARGEST as u64 => {
                    Err(format!("{}: it is larger than {} KiB", path.display(), LARGEST / 1024))
                }
                Ok(Some(_)) => Ok(()),
                Ok(None) => Err(no_file(&path)),
                Err(error) => Err(format!("{}: {error}", path.display())),
            }
        }
        Source::Value | Source::Command { .. } => Ok(()),
    }
}

fn unset(variable: &str) -> String {
    format!("the variable {variable} is not set or empty")
}

fn no_file(path: &Path) -> String {
    format!("there is no file {}", path.display())
}

fn path(written: &str, environment: &Environment) -> Result<PathBuf, String> {
    match written.strip_prefix("~/") {
        Some(below) => Ok(environment.home().ok_or("there is no home directory")?.join(below)),
        None => Ok(PathBuf::from(written)),
    }
}
