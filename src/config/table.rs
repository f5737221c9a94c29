//! Typed access to TOML tables: what does not fit becomes a problem with its place, and reading goes on.

use std::path::Path;
use std::time::Duration;

use squire_strategies::Text;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::problem::{Lines, Place, Problem, nearest};
use super::schema::Located;

/// Agents count milliseconds in 31 bits, and take a longer wait for none.
const LONGEST: Duration = Duration::from_secs(24 * 24 * 60 * 60);

/// One `key = value` of a table.
#[derive(Clone, Copy)]
pub(super) struct Entry<'a> {
    pub(super) key: &'a str,
    pub(super) value: &'a Spanned<DeValue<'a>>,
    pub(super) place: Place,
    offset: usize,
}

/// The problems of one file, and what is needed to place them.
pub(super) struct Reader<'a> {
    lines: Lines<'a>,
    path: &'a Path,
    pub(super) problems: Vec<Problem>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(text: &'a str, path: &'a Path) -> Self {
        Self { lines: Lines::of(text), path, problems: Vec::new() }
    }

    pub(super) fn place(&self, offset: usize) -> Place {
        self.lines.place(offset)
    }

    pub(super) fn problem(&mut self, place: Place, message: impl Into<String>, help: Option<String>) {
        self.problems.push(Problem { path: self.path.to_path_buf(), place, message: message.into(), help });
    }

    /// The entries of a table, in the order of the file.
    pub(super) fn entries(&self, table: &'a DeTable<'a>) -> Vec<Entry<'a>> {
        let mut entries: Vec<Entry<'a>> = table
            .iter()
            .map(|(key, value)| {
                let offset = key.span().start;
                Entry { key: key.get_ref(), value, place: self.place(offset), offset }
            })
            .collect();
        entries.sort_by_key(|entry| entry.offset);
        entries
    }

    /// The table behind a key.
    pub(super) fn table(&mut self, entry: Entry<'a>, what: &str) -> Vec<Entry<'a>> {
        match entry.value.get_ref() {
            DeValue::Table(table) => self.entries(table),
            other => {
                self.unexpected(entry, what, other);
                Vec::new()
            }
        }
    }

    pub(super) fn unknown_key(&mut self, entry: Entry<'_>, within: &str, known: &[&str]) {
        let help = match nearest(entry.key, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("known keys: {}", known.join(", ")),
        };
        self.problem(
            entry.place,
            format!("unknown key `{}` in {within}", entry.key.escape_debug()),
            Some(help),
        );
    }

    fn unexpected(&mut self, entry: Entry<'_>, expected: &str, found: &DeValue<'_>) {
        let place = self.place(entry.value.span().start);
        let found = found.type_str();
        self.problem(
            place,
            format!("`{}` wants {expected}, and this is of type {found}", entry.key.escape_debug()),
            None,
        );
    }

    pub(super) fn string(&mut self, entry: Entry<'a>) -> Option<Located<String>> {
        let found = self.plain(entry, entry.value, "a string")?;
        Some(Located { value: found.to_owned(), place: entry.place })
    }

    pub(super) fn boolean(&mut self, entry: Entry<'_>) -> Option<Located<bool>> {
        match entry.value.get_ref() {
            DeValue::Boolean(value) => Some(Located { value: *value, place: entry.place }),
            other => {
                self.unexpected(entry, "`true` or `false`", other);
                None
            }
        }
    }

    pub(super) fn duration(&mut self, entry: Entry<'a>) -> Option<Located<Duration>> {
        let expected = "a duration such as \"30s\" or \"2m\", of at most 24 days";
        let written = self.plain(entry, entry.value, expected)?;
        match humantime::parse_duration(written) {
            Ok(value) if !value.is_zero() && value <= LONGEST => Some(Located { value, place: entry.place }),
            Ok(_) | Err(_) => {
                let place = self.place(entry.value.span().start);
                self.problem(
                    place,
                    format!("`{}` wants {expected}, and this is {written:?}", entry.key),
                    None,
                );
                None
            }
        }
    }

    /// Plain strings, as names are.
    pub(super) fn strings(&mut self, entry: Entry<'a>, expected: &str) -> Option<Vec<Located<String>>> {
        let values = self.array(entry, expected)?;
        let mut strings = Vec::new();
        for value in values {
            let place = self.place(value.span().start);
            strings.push(Located { value: self.plain(entry, value, expected)?.to_owned(), place });
        }
        Some(strings)
    }

    pub(super) fn text(&mut self, entry: Entry<'a>) -> Option<Located<Text>> {
        let value = self.parse_text(entry, entry.value, "a string")?;
        Some(Located { value, place: entry.place })
    }

    /// Strings that may hold references.
    pub(super) fn texts(&mut self, entry: Entry<'a>, expected: &str) -> Option<Located<Vec<Text>>> {
        let values = self.array(entry, expected)?;
        let texts: Vec<Option<Text>> =
            values.iter().map(|value| self.parse_text(entry, value, expected)).collect();
        Some(Located { value: texts.into_iter().collect::<Option<_>>()?, place: entry.place })
    }

    /// Names with strings that may hold references.
    pub(super) fn text_table(&mut self, entry: Entry<'a>, what: &str) -> Located<Vec<(String, Text)>> {
        let entries = self.table(entry, what);
        let pairs = entries.into_iter().filter_map(|inner| {
            let text = self.parse_text(inner, inner.value, "a string")?;
            Some((inner.key.to_owned(), text))
        });
        Located { value: pairs.collect(), place: entry.place }
    }

    fn array(&mut self, entry: Entry<'a>, expected: &str) -> Option<&'a [Spanned<DeValue<'a>>]> {
        match entry.value.get_ref() {
            DeValue::Array(array) => Some(array),
            other => {
                self.unexpected(entry, expected, other);
                None
            }
        }
    }

    fn parse_text(
        &mut self,
        entry: Entry<'a>,
        value: &'a Spanned<DeValue<'a>>,
        expected: &str,
    ) -> Option<Text> {
        let written = self.plain(entry, value, expected)?;
        match Text::parse(written) {
            Ok(text) => Some(text),
            Err(error) => {
                let place = self.place(value.span().start);
                self.problem(place, format!("`{}`: {error}", entry.key.escape_debug()), None);
                None
            }
        }
    }

    fn plain(
        &mut self,
        entry: Entry<'a>,
        value: &'a Spanned<DeValue<'a>>,
        expected: &str,
    ) -> Option<&'a str> {
        let DeValue::String(found) = value.get_ref() else {
            self.unexpected(Entry { value, ..entry }, expected, value.get_ref());
            return None;
        };
        if found.contains('\0') {
            let place = self.place(value.span().start);
            self.problem(
                place,
                format!("`{}` holds a NUL character, which no program can be given", entry.key),
                None,
            );
            return None;
        }
        Some(found)
    }
}
