//! Where the lines of a TOML text lie: its headers, its keys, and the comments that belong to each.

use std::ops::Range;

use toml_edit::{Item, Table};

use super::{Unfit, parse};

/// A header, or a key with its value that stands on lines of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Statement {
    /// The keys that lead to it from the top of the file.
    pub(super) path: Vec<String>,
    pub(super) is_header: bool,
    /// From its last key, or its bracket, to its end.
    pub(super) span: Range<usize>,
}

/// The statements of a text, in its order.
pub(super) struct Layout<'a> {
    pub(super) text: &'a str,
    pub(super) statements: Vec<Statement>,
}

impl<'a> Layout<'a> {
    pub(super) fn of(text: &'a str) -> Result<Self, Unfit> {
        let mut statements = Vec::new();
        collect(parse(text)?.as_table(), &mut Vec::new(), &mut statements);
        statements.sort_by_key(|statement| statement.span.start);
        Ok(Self { text, statements })
    }

    /// The path of the header that a statement stands under; the empty one above the first.
    pub(super) fn header_of(&self, index: usize) -> &[String] {
        let before = self.statements.get(..=index).unwrap_or_default();
        before.iter().rfind(|statement| statement.is_header).map_or(&[], |header| header.path.as_slice())
    }

    /// Where the text itself begins: behind a byte order mark.
    pub(super) fn start(&self) -> usize {
        if self.text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 }
    }

    /// Where the line of an offset begins.
    pub(super) fn line_start(&self, offset: usize) -> usize {
        let before = self.text.get(..offset).unwrap_or_default();
        before.rfind('\n').map_or_else(|| self.start(), |newline| newline + 1)
    }

    /// Where the line of an offset ends, its line end included.
    pub(super) fn line_end(&self, offset: usize) -> usize {
        let behind = self.text.get(offset..).unwrap_or_default();
        behind.find('\n').map_or(self.text.len(), |newline| offset + newline + 1)
    }

    pub(super) fn line_at(&self, start: usize) -> &'a str {
        self.text.get(start..self.line_end(start)).unwrap_or_default().trim()
    }

    /// What begins the lines of a statement.
    pub(super) fn indentation(&self, statement: &Statement) -> &'a str {
        let line = self.text.get(self.line_start(statement.span.start)..).unwrap_or_default();
        line.get(..line.len() - line.trim_start_matches([' ', '\t']).len()).unwrap_or_default()
    }

    /// Where a statement begins with the comment right above it. A directive to an editor (`#:schema`) is of the file.
    pub(super) fn start_with_comment(&self, statement: &Statement) -> usize {
        let mut start = self.line_start(statement.span.start);
        while start > self.start() {
            let above = self.line_start(start - 1);
            let line = self.line_at(above);
            if !line.starts_with('#') || line.starts_with("#:") {
                break;
            }
            start = above;
        }
        start
    }

    /// Where a statement ends with the comment right below it, unless that is right above the next.
    pub(super) fn end_with_comment(&self, statement: &Statement) -> usize {
        let end = self.line_end(statement.span.end);
        let mut below = end;
        while below < self.text.len() && self.line_at(below).starts_with('#') {
            below = self.line_end(below);
        }
        let is_of_next = below < self.text.len() && !self.line_at(below).is_empty();
        if is_of_next { end } else { below }
    }

    /// Where the last line ends that is not blank.
    pub(super) fn end_of_content(&self) -> usize {
        let written = self.text.get(self.start()..).unwrap_or_default().trim_end();
        if written.is_empty() { self.start() } else { self.line_end(self.start() + written.len()) }
    }

    /// The line end of the text.
    pub(super) fn newline(&self) -> &'static str {
        let first = self.text.find('\n').and_then(|newline| self.text.get(..newline));
        if first.is_some_and(|line| line.ends_with('\r')) { "\r\n" } else { "\n" }
    }
}

fn collect(table: &Table, path: &mut Vec<String>, into: &mut Vec<Statement>) {
    for (key, item) in table {
        path.push(key.to_owned());
        match item {
            Item::Value(value) => {
                let key = table.key(key).and_then(toml_edit::Key::span);
                if let (Some(key), Some(value)) = (key, value.span()) {
                    let span = key.start..value.end;
                    into.push(Statement { path: path.clone(), is_header: false, span });
                }
            }
            Item::Table(below) => collect_table(below, path, into),
            Item::ArrayOfTables(tables) => tables.iter().for_each(|below| collect_table(below, path, into)),
            Item::None => {}
        }
        path.pop();
    }
}

fn collect_table(table: &Table, path: &mut Vec<String>, into: &mut Vec<Statement>) {
    if let Some(span) = table.span().filter(|_| !table.is_implicit() && !table.is_dotted()) {
        into.push(Statement { path: path.clone(), is_header: true, span });
    }
    collect(table, path, into);
}
