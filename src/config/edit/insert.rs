//! Puts new tables and values in.

use std::fmt::Write as _;

use toml_edit::{InlineTable, Item, Table, Value};

use super::layout::Layout;
use super::{Unfit, find, members, parse, remove, shown, write};

/// Adds `[FIRST.SECOND]`.
pub(super) fn table(text: &str, path: [&str; 2], fields: &Table) -> Result<String, Unfit> {
    let layout = Layout::of(text)?;
    let [first, _] = path;
    if find(parse(text)?.as_item(), &[first]).is_some_and(Item::is_value) {
        let mut inline = InlineTable::new();
        inline.extend(write::pairs(fields));
        return value(text, &path, &inline.into());
    }
    let newline = layout.newline();
    let mut block = format!("[{}]", shown(&path));
    for (key, value) in write::pairs(fields) {
        // Writing to a string can't fail.
        let _ = write!(block, "{newline}{} = {}", write::key(key), write::value(&value));
    }
    let at = end_of_kind(&layout, first);
    let before = text.get(..at).unwrap_or_default();
    let piece = if at == layout.start() {
        block + newline
    } else if before.ends_with('\n') {
        format!("{newline}{block}{newline}")
    } else {
        // A file that ends without a line end goes on so.
        format!("{newline}{newline}{block}")
    };
    Ok(spliced(text, at, at, &piece))
}

/// Behind the last table of a kind, or behind all that is written.
fn end_of_kind(layout: &Layout<'_>, first: &str) -> usize {
    let of_kind = |path: &[String]| path.first().is_some_and(|key| key == first);
    let last = (0..layout.statements.len()).rfind(|index| of_kind(layout.header_of(*index)));
    match last.and_then(|last| Some((layout.statements.get(last)?, layout.statements.get(last + 1)?))) {
        Some((last, _)) => layout.end_with_comment(last),
        None => layout.end_of_content(),
    }
}

/// Writes a value at a path.
pub(super) fn value(text: &str, path: &[&str], value: &Value) -> Result<String, Unfit> {
    let parsed = parse(text)?;
    match find(parsed.as_item(), path) {
        Some(Item::Value(old)) => {
            let span = old.span().ok_or_else(|| Unfit::ByHand(shown(path)))?;
            return Ok(spliced(text, span.start, span.end, &write::value(value)));
        }
        Some(_) => {
            let without = remove::item(text, path)?.unwrap_or_default();
            return self::value(&without, path, value);
        }
        None => {}
    }
    let (ancestor, rest) = deepest(parsed.as_item(), path);
    match find(parsed.as_item(), ancestor) {
        Some(Item::Value(Value::InlineTable(table))) => {
            let Some((first, below)) = rest.split_first() else { return Err(Unfit::ByHand(shown(path))) };
            let pair = format!("{} = {}", write::key(first), nested(below, value));
            members::insert(
                text,
                &members::of_table(table).ok_or_else(|| Unfit::ByHand(shown(ancestor)))?,
                &pair,
            )
        }
        Some(Item::Table(_)) => line(text, path, ancestor, value),
        _ => Err(Unfit::NoTable(shown(ancestor))),
    }
}

/// The part of a path that is there, and the rest of it.
fn deepest<'p, 'k>(item: &Item, path: &'p [&'k str]) -> (&'p [&'k str], &'p [&'k str]) {
    let length = (0..=path.len()).rfind(|length| find(item, &path[..*length]).is_some()).unwrap_or_default();
    path.split_at(length)
}

/// A value below further keys, as an inline table.
fn nested(keys: &[&str], value: &Value) -> String {
    keys.iter().rev().fold(write::value(value), |inner, key| format!("{{ {} = {inner} }}", write::key(key)))
}

/// A line of its own: behind the last one of the same table, else right below its header.
fn line(text: &str, path: &[&str], ancestor: &[&str], value: &Value) -> Result<String, Unfit> {
    let layout = Layout::of(text)?;
    let of_ancestor = |keys: &[String]| {
        keys.len() >= ancestor.len() && keys.iter().zip(ancestor).all(|(one, other)| one == other)
    };
    let is_header = |index: usize| layout.statements.get(index).is_some_and(|statement| statement.is_header);
    let place = (0..layout.statements.len()).rfind(|index| {
        let header = layout.header_of(*index);
        let statement = &layout.statements[*index];
        header.len() <= ancestor.len()
            && of_ancestor(&statement.path)
            && (!is_header(*index) || statement.path.len() == ancestor.len())
    });
    let Some(statement) = place.and_then(|place| layout.statements.get(place)) else {
        let [first, second, below @ ..] = path else { return Err(Unfit::ByHand(shown(path))) };
        let Some((field, keys)) = below.split_first() else { return Err(Unfit::NoTable(shown(path))) };
        let mut fields = Table::new();
        let value = keys.iter().rev().fold(value.clone(), |inner, key| {
            let mut table = InlineTable::new();
            table.insert(*key, inner);
            table.into()
        });
        fields.insert(field, Item::Value(value));
        return table(text, [first, second], &fields);
    };
    let header = layout.header_of(place.unwrap_or_default()).len();
    let indentation = layout.indentation(statement);
    let written = format!("{indentation}{} = {}", shown(&path[header..]), write::value(value));
    let at = layout.line_end(statement.span.end);
    let newline = layout.newline();
    let piece = if text.get(..at).unwrap_or_default().ends_with('\n') {
        written + newline
    } else {
        newline.to_owned() + &written
    };
    Ok(spliced(text, at, at, &piece))
}

/// The text with a range of it replaced.
pub(super) fn spliced(text: &str, start: usize, end: usize, piece: &str) -> String {
    [text.get(..start).unwrap_or_default(), piece, text.get(end..).unwrap_or_default()].concat()
}
