//! Which server each entry becomes, and which of them were asked for.

use anyhow::Result;
use squire_strategies::Name;

use super::plan::Entry;
use crate::config::edit::Document;
use crate::config::import::legal;
use crate::resolve::{UnknownSelection, unknown_name};

/// The name of each entry here: legal ones first, so that each keeps its plain form (cases B06, B07). Entries of one name
/// in several files are one server.
pub(super) fn names(entries: &[Entry], there: &Document) -> Vec<Name> {
    let mut names: Vec<Option<Name>> =
        entries.iter().map(|entry| Name::parse(&entry.foreign.name).ok()).collect();
    let there: Vec<Name> =
        there.keys(&["servers"]).iter().filter_map(|name| Name::parse(name).ok()).collect();
    // Two legal ones may still be one to some agents.
    for index in 0..names.len() {
        let Some(name) = names[index].clone() else { continue };
        let meets = |other: &Name| other.collides(&name) && *other != name;
        if names[..index].iter().flatten().chain(&there).any(meets) {
            names[index] = None;
        }
    }
    for (index, entry) in entries.iter().enumerate() {
        if names[index].is_some() {
            continue;
        }
        let foreign = &entry.foreign.name;
        let earlier = entries[..index].iter().position(|other| other.foreign.name == *foreign);
        if let Some(name) = earlier.and_then(|earlier| names[earlier].clone()) {
            names[index] = Some(name);
            continue;
        }
        let mut taken: Vec<Name> = names.iter().flatten().cloned().collect();
        // The same name again is what an earlier import made of it.
        let plain = legal(foreign, &taken);
        taken.extend(there.iter().filter(|other| other.collides(&plain) && **other != plain).cloned());
        names[index] = Some(legal(foreign, &taken));
    }
    names.into_iter().flatten().collect()
}

/// The entries of these names, there or here; all of them where none is named.
pub(super) fn select(entries: Vec<Entry>, names: Vec<Name>, wanted: &[String]) -> Result<Vec<(Entry, Name)>> {
    let all: Vec<(Entry, Name)> = entries.into_iter().zip(names).collect();
    let is_named =
        |(entry, name): &(Entry, Name), word: &str| entry.foreign.name == word || name.as_str() == word;
    let unknown = wanted.iter().filter(|word| !all.iter().any(|one| is_named(one, word)));
    let sentences: Vec<String> = unknown
        .map(|word| unknown_name("server", word, all.iter().map(|(entry, _)| entry.foreign.name.as_str())))
        .collect();
    if !sentences.is_empty() {
        return Err(UnknownSelection(sentences).into());
    }
    Ok(all
        .into_iter()
        .filter(|one| wanted.is_empty() || wanted.iter().any(|word| is_named(one, word)))
        .collect())
}
