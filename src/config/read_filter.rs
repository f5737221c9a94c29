//! Reads filters of tools and globs over names. Pure.

use super::schema::{Filter, Located};
use super::table::{Entry, Reader};

/// Reads `{ allow = […], deny = […] }` of globs.
pub(super) fn read_filter<'a>(reader: &mut Reader<'a>, field: Entry<'a>) -> Located<Filter> {
    let mut filter = Filter::default();
    for inner in reader.table(field, "a table, as in { allow = [\"repo.*\"], deny = [\"repo.delete\"] }") {
        match inner.key {
            "allow" => filter.allow = read_globs(reader, inner).map(|globs| globs.value),
            "deny" => filter.deny = read_globs(reader, inner).map(|globs| globs.value).unwrap_or_default(),
            _ => reader.unknown_key(inner, "a filter of tools", &["allow", "deny"]),
        }
    }
    reader.located(filter, field.place)
}

/// Reads an array of globs.
pub(super) fn read_globs<'a>(reader: &mut Reader<'a>, field: Entry<'a>) -> Option<Located<Vec<String>>> {
    let globs = reader.words(field, "an array of names or globs, as in [\"repo.*\"]")?;
    for written in &globs.value {
        if let Err(error) = glob::Pattern::new(written) {
            reader.problem(
                field.place,
                format!("`{}`: {written:?} is no glob: {}", field.key, error.msg),
                None,
            );
        }
    }
    Some(globs)
}

/// Reads `tools.NAME = { … }`: filters by server.
pub(super) fn read_filters<'a>(reader: &mut Reader<'a>, field: Entry<'a>) -> Vec<(Located<String>, Filter)> {
    let entries = reader.table(field, "a table of filters, as in tools.NAME = { deny = [] }");
    entries
        .into_iter()
        .map(|entry| {
            let filter = read_filter(reader, entry).value;
            (reader.located(entry.key.to_owned(), entry.place), filter)
        })
        .collect()
}
