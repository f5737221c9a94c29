//! The members of arrays and of inline tables, on one line or on many.

use std::ops::Range;

use toml_edit::{Array, InlineTable, Item, Key, Value};

use super::insert::{self, spliced};
use super::layout::Layout;
use super::{Unfit, find, parse, shown, write};

/// Where the members of a bracket are written.
pub(super) struct Members {
    bracket: Range<usize>,
    each: Vec<Range<usize>>,
}

/// Those of an inline table; `None` where a key in it has dots, so that it is no member of its own.
pub(super) fn of_table(table: &InlineTable) -> Option<Members> {
    let each = table.iter().map(|(key, value)| {
        let is_dotted = value.as_inline_table().is_some_and(InlineTable::is_dotted);
        let key = table.key(key).and_then(Key::span).filter(|_| !is_dotted)?;
        Some(key.start..value.span()?.end)
    });
    Some(Members { bracket: table.span()?, each: each.collect::<Option<_>>()? })
}

fn of_array(array: &Array) -> Option<Members> {
    Some(Members { bracket: array.span()?, each: array.iter().map(Value::span).collect::<Option<_>>()? })
}

/// Adds a string to an array; `None` where it is there.
pub(super) fn push(text: &str, path: &[&str], string: &str) -> Result<Option<String>, Unfit> {
    let parsed = parse(text)?;
    let Some(item) = find(parsed.as_item(), path) else {
        let array: Array = std::iter::once(string).collect();
        return insert::value(text, path, &array.into()).map(Some);
    };
    let array = item.as_array().ok_or_else(|| Unfit::NoArray(shown(path)))?;
    if array.iter().any(|value| value.as_str() == Some(string)) {
        return Ok(None);
    }
    let all = of_array(array).ok_or_else(|| Unfit::ByHand(shown(path)))?;
    self::insert(text, &all, &write::value(&string.into())).map(Some)
}

/// Takes a string out of an array; `None` where it is not there.
pub(super) fn pull(text: &str, path: &[&str], string: &str) -> Result<Option<String>, Unfit> {
    let parsed = parse(text)?;
    let Some(array) = find(parsed.as_item(), path).and_then(Item::as_array) else { return Ok(None) };
    let Some(index) = array.iter().position(|value| value.as_str() == Some(string)) else { return Ok(None) };
    without(text, &of_array(array).ok_or_else(|| Unfit::ByHand(shown(path)))?, index).map(Some)
}

/// Adds a member behind the others, set off as they are.
pub(super) fn insert(text: &str, members: &Members, new: &str) -> Result<String, Unfit> {
    let layout = Layout::of(text)?;
    let inside = members.bracket.start + 1..members.bracket.end.saturating_sub(1);
    let Some(last) = members.each.last() else {
        let blank = text.get(inside.clone()).unwrap_or_default();
        let is_blank = !blank.is_empty() && blank.chars().all(|c| c == ' ');
        let piece = if is_blank { format!("{new}{blank}") } else { new.to_owned() };
        let at = if is_blank { inside.end } else { inside.start };
        return Ok(spliced(text, at, at, &piece));
    };
    let before = match members.each.len() {
        1 => inside.start..last.start,
        count => members.each[count - 2].end..last.start,
    };
    let before = text.get(before).unwrap_or_default();
    let behind = text.get(last.end..layout.line_end(last.end)).unwrap_or_default();
    let is_alone =
        before.contains('\n') && before.rsplit('\n').next().is_some_and(|line| line.trim().is_empty());
    if is_alone && behind.trim_start().starts_with(',') && is_rest_of_line(behind) {
        let indentation = before.rsplit('\n').next().unwrap_or_default();
        let at = layout.line_end(last.end);
        return Ok(spliced(text, at, at, &format!("{indentation}{new},{}", layout.newline())));
    }
    let is_plain =
        before.chars().all(|c| c == ',' || c.is_whitespace()) && (before.contains(',') || is_alone);
    let between = if is_plain { format!(",{}", before.trim_start_matches(',')) } else { ", ".into() };
    Ok(spliced(text, last.end, last.end, &format!("{between}{new}")))
}

/// Whether only a comma and a comment stand there.
fn is_rest_of_line(text: &str) -> bool {
    let rest = text.trim();
    let rest = rest.strip_prefix(',').unwrap_or(rest).trim_start();
    rest.is_empty() || rest.starts_with('#')
}

/// Takes a member out.
pub(super) fn without(text: &str, members: &Members, index: usize) -> Result<String, Unfit> {
    let layout = Layout::of(text)?;
    let by_hand = || Unfit::ByHand(text.get(members.bracket.clone()).unwrap_or_default().to_owned());
    let member = members.each.get(index).ok_or_else(by_hand)?;
    let previous = index.checked_sub(1).and_then(|previous| members.each.get(previous));
    let next = members.each.get(index + 1);
    let between = |range: Range<usize>| text.get(range).unwrap_or_default();
    let line = layout.line_start(member.start)..layout.line_end(member.end);
    let is_alone = line.start > members.bracket.start
        && line.end < members.bracket.end
        && between(line.start..member.start).trim().is_empty()
        && is_rest_of_line(between(member.end..line.end));
    let range = match (previous, next) {
        (Some(previous), None) if !between(previous.end..member.start).contains('#') => {
            previous.end..member.end
        }
        _ if is_alone => line,
        (_, Some(next)) => member.start..next.start,
        (Some(previous), None) => previous.end..member.end,
        (None, None) => {
            let behind = between(member.end..members.bracket.end);
            let comma = behind.len() - behind.trim_start().strip_prefix(',').map_or(behind.len(), str::len);
            let end = member.end + comma;
            let is_set_off = between(members.bracket.start + 1..member.start).ends_with(' ')
                && between(end..members.bracket.end).starts_with(' ');
            member.start..end + usize::from(is_set_off)
        }
    };
    Ok(spliced(text, range.start, range.end, ""))
}
