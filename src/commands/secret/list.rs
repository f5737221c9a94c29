//! `squire secret list`.

use std::fmt::Write as _;

use anyhow::Result;
use serde_json::{Value, json};
use squire_strategies::Transport;

use super::{detail, stand, told};
use crate::cli;
use crate::commands::Surroundings;
use crate::environment::Environment;
use crate::exit::Exit;
use crate::output::Output;
use crate::printable::printable;
use crate::resolve::{Resolved, everything};
use crate::secrets::{Secret, Secrets, of_declaration};

/// Runs the command.
pub(super) fn run(options: &cli::SecretList, environment: &Environment) -> Result<Exit> {
    let (directories, _) = stand(environment)?;
    let secrets = Secrets::load(&directories.config)?;
    let surroundings = Surroundings::find(environment)?;
    let declared = everything(&surroundings.layers, &surroundings.standings, &|transport: &Transport| {
        transport.remote().is_some()
    })?;
    let text = if options.json {
        format!("{:#}\n", as_json(&secrets, &declared.entries))
    } else {
        as_text(&secrets, &declared.entries)
    };
    Output::default().data(&text)?;
    Ok(Exit::DONE)
}

/// The user's servers that refer to a secret; what a project's asks for it does not get by asking.
fn used_by<'a>(secret: &Secret, entries: &'a [Resolved]) -> Vec<&'a str> {
    let uses = |entry: &&Resolved| {
        let names = of_declaration(&entry.server.transport, entry.declaration.as_deref());
        !entry.is_project() && names.contains(&secret.name.as_str())
    };
    entries.iter().filter(uses).map(|entry| entry.server.name.as_str()).collect()
}

fn bound_to(secret: &Secret) -> Option<Vec<&str>> {
    let servers = secret.servers.as_ref()?;
    Some(servers.iter().map(|server| server.value.as_str()).collect())
}

fn as_text(secrets: &Secrets, entries: &[Resolved]) -> String {
    if secrets.all.is_empty() {
        return format!("no secret is declared in {}\n", printable(&secrets.path.display().to_string()));
    }
    let listed = |names: Vec<&str>, none: &str| if names.is_empty() { none.into() } else { names.join(", ") };
    let mut rows = vec![["NAME", "SOURCE", "BOUND TO", "USED BY"].map(String::from)];
    for secret in &secrets.all {
        rows.push([
            secret.name.clone(),
            printable(&told(&secret.source)),
            bound_to(secret).map_or_else(|| "-".into(), |names| printable(&listed(names, "no server"))),
            listed(used_by(secret, entries), "-"),
        ]);
    }
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default();
    let widths = [width(0), width(1), width(2)];
    rows.iter().fold(String::new(), |mut text, [name, source, bound, used]| {
        let [names, sources, bounds] = widths;
        // Writing to a string can't fail.
        let _ = writeln!(text, "{name:names$}  {source:sources$}  {bound:bounds$}  {used}");
        text
    })
}

fn as_json(secrets: &Secrets, entries: &[Resolved]) -> Value {
    let secret = |secret: &Secret| {
        json!({
            "name": secret.name,
            "source": secret.source.kind(),
            "detail": detail(&secret.source),
            "variables": secret.source.variables(),
            "servers": bound_to(secret),
            "used_by": used_by(secret, entries),
            "origin": secret.origin.to_string(),
        })
    };
    json!({ "secrets": secrets.all.iter().map(secret).collect::<Vec<_>>() })
}
