//! Typed access to TOML tables: what does not fit becomes a problem with its place, and reading goes on.

use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use squire_strategies::Text;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::problem::{Lines, Place, Problem, nearest};
use super::schema::{LayerKind, Located, Origin};

/// Agents count milliseconds in 31 bits, and take a longer wait for none.
const LONGEST: Duration = Duration::from_secs(24 * 24 * 60 * 60);

/// One `key = value` of a table.
#[derive(Clone, Copy)]
pub(crate) struct Entry<'a> {
    pub(crate) key: &'a str,
    pub(crate) value: &'a Spanned<DeValue<'a>>,
    pub(crate) place: Place,
    pub(crate) offset: usize,
}

/// The problems of one file, and what is needed to place them.
pub(crate) struct Reader<'a> {
    lines: Lines<'a>,
    path: Rc<Path>,
    pub(super) layer: LayerKind,
    pub(crate) problems: Vec<Problem>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(text: &'a str, path: &Path, layer: LayerKind) -> Self {
        Self { lines: Lines::of(text), path: path.into(), layer, problems: Vec::new() }
    }

    pub(crate) fn place(&self, offset: usize) -> Place {
        self.lines.place(offset)
    }

    pub(crate) fn origin(&self, place: Place) -> Origin {
        Origin { layer: self.layer, path: Rc::clone(&self.path), place }
    }

    pub(crate) fn located<T>(&self, value: T, place: Place) -> Located<T> {
        Located { value, origin: self.origin(place) }
    }

    pub(crate) fn problem(&mut self, place: Place, message: impl Into<String>, help: Option<String>) {
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
    pub(crate) fn table(&mut self, entry: Entry<'a>, what: &str) -> Vec<Entry<'a>> {
        match entry.value.get_ref() {
            DeValue::Table(table) => self.entries(table),
            other => {
                self.unexpected(entry, what, other);
                Vec::new()
            }
        }
    }

    pub(crate) fn unknown_key(&mut self, entry: Entry<'_>, within: &str, known: &[&str]) {
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

    /// A value of the right type that is none of those expected.
    pub(super) fn unfit<T>(&mut self, entry: Entry<'_>, expected: &str, found: &str) -> Option<T> {
        let place = self.place(entry.value.span().start);
        let key = entry.key.escape_debug();
        self.problem(place, format!("`{key}` wants {expected}, and this is {found:?}"), None);
        None
    }

    /// Names that stand on a command line: letters, digits, `-` and `_`.
    pub(super) fn check_word(&mut self, entry: Entry<'_>, what: &str) {
        let legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        if entry.key.is_empty() || entry.key.starts_with('-') || !entry.key.chars().all(legal) {
            let message = format!("the {what} name {:?} wants letters, digits, `-` and `_`", entry.key);
            self.problem(entry.place, message, None);
        }
    }

    pub(crate) fn string(&mut self, entry: Entry<'a>) -> Option<Located<String>> {
        let found = self.plain(entry, entry.value, "a string")?.to_owned();
        Some(self.located(found, entry.place))
    }

    /// A string that is one of some words.
    pub(super) fn word(&mut self, entry: Entry<'a>, words: &[&str]) -> Option<Located<String>> {
        let found = self.string(entry)?;
        if words.contains(&found.value.as_str()) {
            return Some(found);
        }
        let quoted: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
        self.unfit(entry, &format!("one of {}", quoted.join(", ")), &found.value)
    }

    pub(super) fn boolean(&mut self, entry: Entry<'_>) -> Option<Located<bool>> {
        match entry.value.get_ref() {
            DeValue::Boolean(value) => Some(self.located(*value, entry.place)),
            other => {
                self.unexpected(entry, "`true` or `false`", other);
                None
            }
        }
    }

    pub(super) fn number<T: TryFrom<u64>>(&mut self, entry: Entry<'_>) -> Option<Located<T>> {
        let expected = "a whole number from 0";
        match entry.value.get_ref() {
            DeValue::Integer(written) => {
                let number = u64::from_str_radix(&written.as_str().replace('_', ""), written.radix());
                match number.ok().and_then(|number| T::try_from(number).ok()) {
                    Some(value) => Some(self.located(value, entry.place)),
                    None => self.unfit(entry, expected, written.as_str()),
                }
            }
            other => {
                self.unexpected(entry, expected, other);
                None
            }
        }
    }

    /// A number of bytes: `65536`, `"64KiB"`, `"1MiB"`, `"500kB"`.
    pub(super) fn size(&mut self, entry: Entry<'a>) -> Option<Located<u64>> {
        if let DeValue::Integer(_) = entry.value.get_ref() {
            return self.number(entry);
        }
        let expected = "a size such as \"64KiB\" or \"1MiB\"";
        let written = self.plain(entry, entry.value, expected)?;
        match parse_size(written) {
            Some(value) => Some(self.located(value, entry.place)),
            None => self.unfit(entry, expected, written),
        }
    }

    pub(super) fn duration(&mut self, entry: Entry<'a>) -> Option<Located<Duration>> {
        let expected = "a duration such as \"30s\" or \"2m\", of at most 24 days";
        let written = self.plain(entry, entry.value, expected)?;
        match humantime::parse_duration(written) {
            Ok(value) if !value.is_zero() && value <= LONGEST => Some(self.located(value, entry.place)),
            Ok(_) | Err(_) => self.unfit(entry, expected, written),
        }
    }

    /// Plain strings, as names are.
    pub(crate) fn strings(&mut self, entry: Entry<'a>, expected: &str) -> Option<Vec<Located<String>>> {
        let values = self.array(entry, expected)?;
        let mut strings = Vec::new();
        for value in values {
            let place = self.place(value.span().start);
            let found = self.plain(entry, value, expected)?.to_owned();
            strings.push(self.located(found, place));
        }
        Some(strings)
    }

    /// Plain strings whose own places don't matter.
    pub(crate) fn words(&mut self, entry: Entry<'a>, expected: &str) -> Option<Located<Vec<String>>> {
        let strings = self.strings(entry, expected)?;
        Some(self.located(strings.into_iter().map(|located| located.value).collect(), entry.place))
    }

    pub(super) fn text(&mut self, entry: Entry<'a>) -> Option<Located<Text>> {
        let value = self.parse_text(entry, entry.value, "a string")?;
        Some(self.located(value, entry.place))
    }

    /// Strings that may hold references.
    pub(super) fn texts(&mut self, entry: Entry<'a>, expected: &str) -> Option<Located<Vec<Text>>> {
        let values = self.array(entry, expected)?;
        let texts: Vec<Option<Text>> =
            values.iter().map(|value| self.parse_text(entry, value, expected)).collect();
        let texts = texts.into_iter().collect::<Option<_>>()?;
        Some(self.located(texts, entry.place))
    }

    /// Names with strings that may hold references.
    pub(super) fn text_table(&mut self, entry: Entry<'a>, what: &str) -> Located<Vec<(String, Text)>> {
        let entries = self.table(entry, what);
        let pairs = entries.into_iter().filter_map(|inner| {
            let text = self.parse_text(inner, inner.value, "a string")?;
            Some((inner.key.to_owned(), text))
        });
        let pairs = pairs.collect();
        self.located(pairs, entry.place)
    }

    pub(crate) fn array(&mut self, entry: Entry<'a>, expected: &str) -> Option<&'a [Spanned<DeValue<'a>>]> {
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
            let key = entry.key.escape_debug();
            self.problem(
                place,
                format!("`{key}` holds a NUL character, which no program can be given"),
                None,
            );
            return None;
        }
        Some(found)
    }
}

/// Bytes of a written size: a whole number and one of B, kB, KB, MB, GB (thousands) or KiB, MiB, GiB (1024s).
fn parse_size(written: &str) -> Option<u64> {
    let digits = written.len() - written.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, unit) = written.split_at(digits);
    let factor: u64 = match unit.trim_start() {
        "" | "B" => 1,
        "kB" | "KB" => 1000,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(factor)
}

#[cfg(test)]
mod tests {
    use super::parse_size;

    #[test]
    fn sizes_have_units() {
        for (written, bytes) in [
            ("64KiB", Some(65536)),
            ("1 MB", Some(1_000_000)),
            ("7", Some(7)),
            ("KiB", None),
            ("1.5MiB", None),
            ("99999999999GiB", None),
            ("-1", None),
        ] {
            assert_eq!(parse_size(written), bytes, "{written}");
        }
    }
}
