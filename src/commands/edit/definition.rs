//! What `squire add` was given, as declarations: a command line, an address or a JSON snippet.

use std::io::Read as _;

use anyhow::{Context, Result, anyhow, ensure};
use serde_json::{Map, Value as Json, json};
use squire_strategies::{Name, Text};
use toml_edit::{InlineTable, Item};

use crate::cli;
use crate::commands::WrongWords;
use crate::config::import::{Imported, Snippet, legal, named_after_address, of_entry, of_text, of_words};
use crate::config::is_address;
use crate::files;

/// A server that is to be added.
pub(super) struct Definition {
    pub(super) name: Name,
    pub(super) imported: Imported,
}

/// The servers that the command line describes. `taken` has the names that are there.
pub(super) fn definitions(options: &cli::Add, taken: &[Name]) -> Result<Vec<Definition>> {
    let (given, snippets, origin) = found(options)?;
    if let Some(name) = &given {
        Name::parse(name).map_err(|error| WrongWords(format!("the server name {name:?} {error}")))?;
        if snippets.len() > 1 {
            let message = format!("there are {} servers in it, and NAME is for one", snippets.len());
            return Err(WrongWords(message).into());
        }
    }
    let names = names(given.as_deref(), &snippets, taken);
    let mut definitions = Vec::new();
    for (snippet, name) in snippets.into_iter().zip(names) {
        let Snippet { name: foreign, mut entry } = snippet;
        amend(&mut entry, options)?;
        let of = foreign.clone().map_or_else(String::new, |foreign| format!("{foreign:?}: "));
        let mut imported =
            of_entry(name.as_str(), &entry, origin).map_err(|error| anyhow!("{origin}: {of}{error}"))?;
        if let Some(secret) = &options.bearer {
            bear(&mut imported, secret)?;
        }
        if let Some(foreign) = foreign.filter(|foreign| foreign != name.as_str() && given.is_none()) {
            imported.notes.push(format!("{foreign:?} is called {name} here: a name that every agent takes"));
        }
        definitions.push(Definition { name, imported });
    }
    Ok(definitions)
}

/// Legal ones first, so that each keeps its plain form; the others around them (case B07).
fn names(given: Option<&str>, snippets: &[Snippet], taken: &[Name]) -> Vec<Name> {
    if let Some(name) = given.and_then(|given| Name::parse(given).ok()) {
        return vec![name];
    }
    let foreign: Vec<&str> =
        snippets.iter().map(|snippet| snippet.name.as_deref().unwrap_or("server")).collect();
    let mut names: Vec<Option<Name>> = foreign.iter().map(|foreign| Name::parse(foreign).ok()).collect();
    for (index, foreign) in foreign.iter().enumerate() {
        if names.get(index).is_some_and(Option::is_none) {
            let known: Vec<Name> = names.iter().flatten().chain(taken).cloned().collect();
            names[index] = Some(legal(foreign, &known));
        }
    }
    names.into_iter().flatten().collect()
}

type Found = (Option<String>, Vec<Snippet>, &'static str);

/// The name that was given, and the entries.
fn found(options: &cli::Add) -> Result<Found> {
    let cli::Add { name, source, json, command, .. } = options;
    if let Some(json) = json {
        let text = if json == "-" { stdin()? } else { json.clone() };
        let snippets = of_text(&text).map_err(|error| WrongWords(format!("--json: {error}")))?;
        return Ok((name.clone(), snippets, "--json"));
    }
    if !command.is_empty() {
        return Ok((name.clone(), vec![of_command(command)?], "the command line"));
    }
    let (name, source) = match (name, source) {
        (name, Some(source)) => (name.clone(), source),
        (Some(source), None) => (None, source),
        (None, None) => {
            let message = "what is to be added? `squire add NAME -- COMMAND`, `squire add NAME URL` or `squire add --json JSON`";
            return Err(WrongWords(message.into()).into());
        }
    };
    if source.trim_start().starts_with('{') {
        let snippets = of_text(source).map_err(WrongWords)?;
        return Ok((name, snippets, "the snippet"));
    }
    if is_address(source) {
        let mut entry = Map::new();
        entry.insert("url".into(), json!(source));
        return Ok((name, vec![Snippet { name: Some(named_after_address(source)), entry }], "the address"));
    }
    // A line that goes on behind its end, and the prompt that a README shows.
    let line = source.replace("\\\n", " ");
    let line = line.trim_start().strip_prefix("$ ").unwrap_or(&line);
    let words = shlex::split(line).filter(|words| words.len() > 1 || name.is_some());
    let words = words.ok_or_else(|| {
        WrongWords(format!(
            "{source:?} is neither an address nor a command line; `squire add {source} -- COMMAND` or `squire add {source} URL` adds a server of that name"
        ))
    })?;
    Ok((name, vec![of_command(&words)?], "the command line"))
}

/// What a shell understands, and a program would get as an argument.
const OF_SHELLS: &[&str] = &["|", "||", "&", "&&", ";", ">", ">>", "<", "2>&1", "2>"];

fn of_command(words: &[String]) -> Result<Snippet> {
    if let Some(word) = words.iter().find(|word| OF_SHELLS.contains(&word.as_str())) {
        let message = format!(
            "`{word}` is for a shell, and the server is started without one: give the command of the server alone, or a shell as in `-- sh -c '…'`"
        );
        return Err(WrongWords(message).into());
    }
    let is_adding = match words {
        [_, mcp, add, ..] if mcp == "mcp" && add.starts_with("add") => true,
        [_, option, ..] => option == "--add-mcp",
        _ => false,
    };
    if is_adding {
        let message = format!(
            "`{}` adds a server to a list of its own, which squire does not run: give what is behind its `--`, as in `squire add NAME -- COMMAND`, or its address",
            words[0]
        );
        return Err(WrongWords(message).into());
    }
    let (entry, name) =
        of_words(words).ok_or_else(|| WrongWords("the command line has no program".into()))?;
    Ok(Snippet { name: Some(name), entry })
}

fn stdin() -> Result<String> {
    let mut text = String::new();
    std::io::stdin().take(files::LIMIT + 1).read_to_string(&mut text).context("stdin can't be read")?;
    ensure!(text.len() as u64 <= files::LIMIT, "stdin holds more than {} KiB", files::LIMIT / 1024);
    Ok(text)
}

/// What the options say of the entry.
fn amend(entry: &mut Map<String, Json>, options: &cli::Add) -> Result<(), WrongWords> {
    let is_remote = ["url", "serverUrl", "httpUrl"].iter().any(|key| entry.contains_key(*key));
    for (option, key, pairs) in [("--env", "env", &options.env), ("--header", "headers", &options.headers)] {
        for pair in pairs {
            let pair = pair.split_once('=').or_else(|| pair.split_once(": ").filter(|_| key == "headers"));
            let (name, value) = pair.ok_or_else(|| WrongWords(format!("{option} wants NAME=VALUE")))?;
            let table = entry.entry(key).or_insert_with(|| json!({}));
            if let Some(table) = table.as_object_mut() {
                table.insert(name.to_owned(), json!(value));
            }
        }
    }
    if let Some(transport) = &options.transport {
        if is_remote == (transport == "stdio") {
            return Err(WrongWords(format!("--transport {transport} does not go with what the server is")));
        }
        entry.insert("type".into(), json!(transport));
    }
    for (key, value) in [("cwd", &options.cwd), ("description", &options.description)] {
        if let Some(value) = value {
            entry.insert(key.into(), json!(value));
        }
    }
    Ok(())
}

fn bear(imported: &mut Imported, secret: &str) -> Result<(), WrongWords> {
    if !Text::is_secret(secret) {
        // It may be a value in the wrong place: it is not shown.
        let message = "--bearer wants the name of a secret, as in `github`; its value is asked for by `squire secret set`";
        return Err(WrongWords(message.into()));
    }
    let mut auth = InlineTable::new();
    auth.insert("type", "bearer".into());
    auth.insert("secret", secret.into());
    imported.table.insert("auth", Item::Value(auth.into()));
    Ok(())
}
