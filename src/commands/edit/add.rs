//! `squire add`: what people have at hand becomes a server of the list, off until it is approved.

use std::collections::BTreeSet;

use anyhow::{Context, Result, bail};
use squire_strategies::{Name, Transport};
use toml_edit::{Item, Table, Value as Toml};

use super::begin;
use super::change::change;
use super::definition::{Definition, definitions};
use super::place::{Stand, Target};
use super::trial;
use crate::cli::{self, Layer};
use crate::commands::Surroundings;
use crate::commands::approve::{self, Question};
use crate::commands::secret::ask;
use crate::config::LayerKind;
use crate::config::edit::{Document, Unfit};
use crate::config::import::Wanted;
use crate::environment::Environment;
use crate::exit::Exit;
use crate::output::Output;
use crate::printable::printable;
use crate::resolve::everything;
use crate::secrets::{self, NewSource, Secrets};
use crate::tty::Terminal;

/// What a new definition replaces; filters, limits and the like are the user's, and stay.
const OF_DEFINITION: &[&str] = &[
    "transport",
    "command",
    "args",
    "env",
    "inherit_env",
    "cwd",
    "url",
    "auth",
    "headers",
    "client_cert",
    "client_key",
    "ca",
    "trust",
];

/// Runs the command: 1 where something stands in the way, and nothing is written then.
pub fn run(options: &cli::Add, environment: &Environment) -> Result<Exit> {
    secrets::guard();
    let (stand, output) = begin(options.editing, environment)?;
    let target = stand.target(options.editing.layer.unwrap_or(Layer::User))?;
    let there = target.read()?;
    let taken: Vec<Name> =
        there.keys(&["servers"]).iter().filter_map(|name| Name::parse(name).ok()).collect();
    let definitions = definitions(options, &taken)?;
    refuse_existing(&stand, &target, &there, &definitions, options.replace)?;
    for definition in &definitions {
        definition
            .imported
            .notes
            .iter()
            .for_each(|note| output.notice(&format!("{}: {note}", definition.name)));
    }
    change(&stand, &target, options.editing.dry_run, |document| {
        let mut written = definitions
            .iter()
            .map(|Definition { name, imported }| write(document, name.as_str(), &imported.table, &target));
        written.try_for_each(|written| written).map_err(Into::into)
    })?;
    if options.editing.dry_run {
        return Ok(Exit::DONE);
    }
    let names: Vec<String> = definitions.iter().map(|definition| definition.name.to_string()).collect();
    let what_is = if names.len() == 1 { "is" } else { "are" };
    output.notice(&format!(
        "{} {what_is} in {} now, and off until approved",
        names.join(", "),
        target.path.display()
    ));
    let mut remaining = keep_secrets(&stand, definitions, environment, output)?;
    let unasked = ask_for_approval(&names, environment, output)?;
    remaining.extend(unasked.iter().map(|name| format!("squire approve {name}")));
    if !remaining.is_empty() {
        output.notice(&format!("what remains:\n  {}", remaining.join("\n  ")));
    }
    Ok(Exit::DONE)
}

fn refuse_existing(
    stand: &Stand,
    target: &Target,
    there: &Document,
    definitions: &[Definition],
    replace: bool,
) -> Result<()> {
    for Definition { name, .. } in definitions {
        if there.has(&["servers", name.as_str()]) && !replace {
            bail!(
                "{name} is in {} already; --replace gives it the new definition, and NAME another name",
                target.path.display()
            );
        }
        if let Some(path) = stand.below(target, name.as_str())? {
            bail!(
                "{name} is declared in {}, and the local layer would change it field by field: squire set --layer local {name} KEY VALUE does that, and another NAME makes it another server",
                path.display()
            );
        }
        if let Some(path) = stand.drop_in(name.as_str()) {
            bail!(
                "{name} is declared in {}, which squire only reads; NAME gives this one another name",
                path.display()
            );
        }
    }
    Ok(())
}

/// Writes a definition: as a new table, or over that of the one that is there.
pub(super) fn write(
    document: &mut Document,
    name: &str,
    table: &Table,
    target: &Target,
) -> Result<(), Unfit> {
    let mut table = table.clone();
    if target.layer != LayerKind::Project {
        table.insert("trust", Item::Value("community".into()));
    }
    if !document.has(&["servers", name]) {
        return document.insert(["servers", name], &table);
    }
    for key in OF_DEFINITION.iter().filter(|key| !table.contains_key(key)) {
        document.remove(&["servers", name, key])?;
    }
    table
        .iter()
        .filter_map(|(key, item)| Some((key, item.as_value()?)))
        .try_for_each(|(key, value): (&str, &Toml)| document.set(&["servers", name, key], value))
}

/// Puts what the definitions refer to into the store: on a terminal what its user says. Gives the commands that remain.
fn keep_secrets(
    stand: &Stand,
    definitions: Vec<Definition>,
    environment: &Environment,
    output: Output,
) -> Result<Vec<String>> {
    let known = Secrets::load(&stand.directories.config)?;
    let mut terminal = if approve::can_ask(environment) { Terminal::open().ok() } else { None };
    if let Some(terminal) = &mut terminal {
        let shown = shown(&definitions).context("the definition can't be shown")?;
        terminal.show(&shown).context("the terminal can't be written")?;
    }
    let (mut remaining, mut seen) = (Vec::new(), BTreeSet::new());
    for Definition { name, imported } in definitions {
        let own = imported.wanted;
        for wanted in own.into_iter().chain(bearer(&imported.table)) {
            if known.find(&wanted.secret).is_some() || !seen.insert(wanted.secret.clone()) {
                continue;
            }
            let secret = wanted.secret.clone();
            let is_kept = match &mut terminal {
                Some(terminal) => keep(stand, &name, wanted, terminal, output)?,
                None => false,
            };
            if !is_kept {
                remaining.push(format!("squire secret set {secret}"));
            }
        }
    }
    Ok(remaining)
}

/// What was written, which its user should see before being asked for the secrets in it.
fn shown(definitions: &[Definition]) -> Result<String, Unfit> {
    let mut document = Document::parse("")?;
    for Definition { name, imported } in definitions {
        document.insert(["servers", name.as_str()], &imported.table)?;
    }
    let lines = document.text().lines().map(|line| format!("  {}\n", printable(line)));
    Ok(format!("\n{}\n", lines.collect::<Vec<_>>().concat()))
}

/// The secret of `auth`, which is wanted where nobody has said where its value comes from.
fn bearer(table: &Table) -> Option<Wanted> {
    let secret = table.get("auth")?.as_inline_table()?.get("secret")?.as_str()?.to_owned();
    Some(Wanted { secret, field: "auth".into(), value: None, file: None })
}

/// Asks about one secret. `false` where its user has no value now.
fn keep(stand: &Stand, name: &Name, wanted: Wanted, terminal: &mut Terminal, output: Output) -> Result<bool> {
    let Wanted { secret, field, value, .. } = wanted;
    let value = if let Some(value) = value {
        let question =
            format!("squire: {name}: {field} holds a secret: keep its value as {secret} in secrets.toml?");
        if !terminal.ask(&printable(&question)).context("the terminal can't be read")? {
            return Ok(false);
        }
        value
    } else {
        output.notice(&format!("{name}: {field} needs a secret; an empty line leaves it for later"));
        match ask::value(&secret, output) {
            Ok(value) => value,
            Err(_) => return Ok(false),
        }
    };
    let source = NewSource::Value(value);
    secrets::change(&stand.directories.config, |_, text| {
        secrets::set(text, &secret, &source, &[name.to_string()])
    })?;
    Ok(true)
}

/// Asks once for all of them, as `squire approve` does. Gives the names of those that could not be asked about.
pub(super) fn ask_for_approval(
    names: &[String],
    environment: &Environment,
    output: Output,
) -> Result<Vec<String>> {
    if !approve::can_ask(environment) {
        return Ok(names.to_vec());
    }
    trial::offer(names, environment, output)?;
    let surroundings = Surroundings::find(environment)?;
    let declared = everything(&surroundings.layers, &surroundings.standings, &|transport: &Transport| {
        transport.remote().is_some()
    })?;
    let court = surroundings.court(environment);
    let (mut questions, mut remaining) = (Vec::new(), Vec::new());
    for name in names {
        let entry = declared.entries.iter().find(|entry| entry.server.name.as_str() == name);
        let Some((entry, declaration)) = entry.and_then(|entry| Some((entry, entry.declaration.as_deref()?)))
        else {
            continue;
        };
        match Question::of(entry, declaration, court, environment) {
            Ok(question) => questions.push(question),
            Err(error) => {
                output.notice(&format!("{error:#}"));
                remaining.push(name.clone());
            }
        }
    }
    if !questions.is_empty() {
        let terminal = Terminal::open().context("there is no terminal to ask on")?;
        if approve::ask(terminal, &questions, court)? > 0 {
            output.notice("what was not approved stays in the list, and off");
        }
    }
    Ok(remaining)
}
