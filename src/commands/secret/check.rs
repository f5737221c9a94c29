//! `squire secret check`: whether each value can be had. It says so, and nothing of the value.

use std::fmt::Write as _;

use anyhow::Result;
use serde_json::{Value, json};

use super::{find, stand, told};
use crate::cli;
use crate::commands::waiting::while_waiting;
use crate::environment::Environment;
use crate::exit::Exit;
use crate::output::Output;
use crate::printable::printable;
use crate::secrets::{self, Failure, Secret, Secrets};

/// Runs the command: 1 where a value can't be had.
pub(super) fn run(options: &cli::SecretCheck, environment: &Environment) -> Result<Exit> {
    let output = Output::default();
    let (directories, project) = stand(environment)?;
    let known = Secrets::load(&directories.config)?;
    let mut wanted: Vec<&Secret> = Vec::new();
    if options.names.is_empty() {
        wanted.extend(&known.all);
    }
    for name in &options.names {
        let secret = find(&known, name)?;
        if !wanted.contains(&secret) {
            wanted.push(secret);
        }
    }
    secrets::guard();
    let root = project.as_ref().map(|project| project.root.as_path());
    let failures = while_waiting("fetching the values of secrets", environment, output, || {
        secrets::fetch(&wanted, &known.path, environment, root).1
    });
    let text = if options.json {
        format!("{:#}\n", as_json(&wanted, &failures))
    } else {
        as_text(&known, &wanted, &failures)
    };
    output.data(&text)?;
    Ok(if failures.is_empty() { Exit::DONE } else { Exit::FINDINGS })
}

type Failures = [(String, Failure)];

fn failure<'a>(secret: &Secret, failures: &'a Failures) -> Option<&'a Failure> {
    failures.iter().find(|(name, _)| *name == secret.name).map(|(_, failure)| failure)
}

fn as_text(known: &Secrets, wanted: &[&Secret], failures: &Failures) -> String {
    if wanted.is_empty() {
        return format!("no secret is declared in {}\n", printable(&known.path.display().to_string()));
    }
    let mut text = String::new();
    for secret in wanted {
        let source = printable(&told(&secret.source));
        // Writing to a string can't fail.
        let _ = match failure(secret, failures) {
            None => writeln!(text, "{}: ok ({source})", secret.name),
            Some(Failure { reason, said }) => {
                let _ = writeln!(text, "{}: error: {} ({source})", secret.name, printable(reason));
                // It is printable already.
                said.as_ref().map_or(Ok(()), |said| writeln!(text, "  it said: {said}"))
            }
        };
    }
    text
}

fn as_json(wanted: &[&Secret], failures: &Failures) -> Value {
    let secret = |secret: &&Secret| {
        let failure = failure(secret, failures);
        json!({
            "name": secret.name,
            "source": secret.source.kind(),
            "ok": failure.is_none(),
            "reason": failure.map(|failure| failure.reason.as_str()),
            "said": failure.and_then(|failure| failure.said.as_deref()),
        })
    };
    json!({ "secrets": wanted.iter().map(secret).collect::<Vec<_>>(), "failures": failures.len() })
}
