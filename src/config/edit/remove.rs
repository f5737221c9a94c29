//! Takes tables and values out.

use std::ops::Range;

use toml_edit::{Item, Value};

use super::layout::{Layout, Statement};
use super::{Unfit, find, members, parse, shown};

/// How many keys lead to a server or a profile: behind them are its fields.
const FIELD: usize = 2;

/// Takes out what is at a path; `None` where nothing is.
pub(super) fn item(text: &str, path: &[&str]) -> Result<Option<String>, Unfit> {
    let parsed = parse(text)?;
    if find(parsed.as_item(), path).is_none() || path.is_empty() {
        return Ok(None);
    }
    let holder =
        (1..path.len()).find(|length| find(parsed.as_item(), &path[..*length]).is_some_and(Item::is_value));
    if let Some(length) = holder {
        return of_inline(text, parsed.as_item(), path, length.max(path.len() - 1)).map(Some);
    }
    let layout = Layout::of(text)?;
    let is_below = |statement: &Statement| {
        statement.path.len() >= path.len() && statement.path.iter().zip(path).all(|(one, other)| one == other)
    };
    let mut ranges: Vec<Range<usize>> = Vec::new();
    for (index, statement) in
        layout.statements.iter().enumerate().filter(|(_, statement)| is_below(statement))
    {
        let range = if statement.is_header {
            block(&layout, index)
        } else {
            layout.start_with_comment(statement)..layout.line_end(statement.span.end)
        };
        match ranges.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => ranges.push(range),
        }
    }
    let mut left = text.to_owned();
    for range in ranges.into_iter().rev() {
        left.replace_range(with_last_line_end(&layout, range), "");
    }
    Ok(Some(left))
}

/// A header with its comment, all that stands under it, and a blank line that set it off.
fn block(layout: &Layout<'_>, index: usize) -> Range<usize> {
    let behind = layout.statements.get(index + 1..).unwrap_or_default();
    let body = behind.iter().take_while(|statement| !statement.is_header).count();
    let (Some(header), Some(last)) = (layout.statements.get(index), layout.statements.get(index + body))
    else {
        return 0..0;
    };
    let (mut start, mut end) = (layout.start_with_comment(header), layout.end_with_comment(last));
    if start > layout.start() {
        let above = layout.line_start(start - 1);
        if layout.line_at(above).is_empty() {
            start = above;
        }
    } else if layout.line_at(end).is_empty() && layout.end_of_content() > end {
        end = layout.line_end(end);
    }
    start..end
}

/// A file that ended without a line end does so again.
fn with_last_line_end(layout: &Layout<'_>, range: Range<usize>) -> Range<usize> {
    let text = layout.text;
    let before = text.get(layout.start()..range.start).unwrap_or_default();
    if range.end < text.len() || text.ends_with('\n') || !before.ends_with('\n') {
        return range;
    }
    let line_end = if before.ends_with("\r\n") { 2 } else { 1 };
    range.start - line_end..range.end
}

/// Takes a key out of the inline table that holds it.
fn of_inline(text: &str, root: &Item, path: &[&str], length: usize) -> Result<String, Unfit> {
    let by_hand = || Unfit::ByHand(shown(path));
    let (holder, key) = path.split_at(length);
    let [key] = key else { return Err(by_hand()) };
    let Some(Item::Value(Value::InlineTable(table))) = find(root, holder) else { return Err(by_hand()) };
    if table.len() == 1 && table.contains_key(key) && holder.len() > FIELD {
        // What was put in with the key goes with it: an empty table of a field says nothing.
        return item(text, holder)?.ok_or_else(by_hand);
    }
    let all = members::of_table(table).ok_or_else(by_hand)?;
    let index = table.iter().position(|(other, _)| other == *key).ok_or_else(by_hand)?;
    members::without(text, &all, index)
}
