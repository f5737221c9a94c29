//! TOML.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::{DEEPEST, Member, Node, Tree, Unread, text_of};
use crate::config::Lines;

/// Reads a whole file.
pub(in super::super) fn read(bytes: &[u8]) -> Result<Tree, Unread> {
    let text = text_of(bytes)?;
    let lines = Lines::of(text);
    let table = DeTable::parse(text).map_err(|error| {
        let place = lines.place(error.span().map_or(0, |span| span.start));
        Unread::at(place, format!("this is no TOML: {}", error.message()))
    })?;
    Ok(Tree { node: Node::Table(members(table.get_ref(), &lines, 0)?), place: lines.place(0) })
}

fn members(table: &DeTable<'_>, lines: &Lines<'_>, depth: usize) -> Result<Vec<Member>, Unread> {
    let mut found = Vec::new();
    for (key, value) in table {
        let offset = key.span().start;
        found.push((
            offset,
            Member {
                key: key.get_ref().to_string(),
                place: lines.place(offset),
                value: tree(value, lines, depth + 1)?,
            },
        ));
    }
    found.sort_by_key(|(offset, _)| *offset);
    Ok(found.into_iter().map(|(_, member)| member).collect())
}

fn tree(value: &Spanned<DeValue<'_>>, lines: &Lines<'_>, depth: usize) -> Result<Tree, Unread> {
    let place = lines.place(value.span().start);
    if depth > DEEPEST {
        return Err(Unread::at(place, format!("this nests deeper than {DEEPEST}")));
    }
    let node = match value.get_ref() {
        DeValue::String(text) => Node::Text(text.to_string()),
        DeValue::Integer(number) => {
            let digits = number.as_str().replace('_', "");
            let parsed = i128::from_str_radix(&digits, number.radix());
            Node::Number(parsed.map_or(digits, |parsed| parsed.to_string()))
        }
        DeValue::Float(number) => Node::Number(number.as_str().replace('_', "")),
        DeValue::Boolean(flag) => Node::Flag(*flag),
        DeValue::Datetime(time) => Node::Text(time.to_string()),
        DeValue::Array(items) => {
            let items = items.iter().map(|item| tree(item, lines, depth + 1));
            Node::List(items.collect::<Result<_, _>>()?)
        }
        DeValue::Table(table) => Node::Table(members(table, lines, depth)?),
    };
    Ok(Tree { node, place })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b16_tables_come_in_the_order_of_the_file() {
        let read = read("\u{feff}[b]\r\nx = 1_0\r\n[a]\r\ny = [\"s\", 1.5, true]\r\n".as_bytes()).unwrap();
        let keys: Vec<_> =
            read.members().iter().map(|member| (member.key.as_str(), member.place.line)).collect();
        assert_eq!(keys, [("b", 1), ("a", 3)]);
        assert_eq!(read.json().to_string(), r#"{"b":{"x":10},"a":{"y":["s",1.5,true]}}"#);
    }

    #[test]
    fn what_is_no_toml_says_where() {
        let told = super::read(b"[a]\nx = 1\nx = 2\n").unwrap_err();
        assert_eq!((told.place.line, told.reason.as_str()), (3, "this is no TOML: duplicate key"));
    }
}
