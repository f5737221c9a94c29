//! JSON with comments and trailing commas, as the agents that write it read it (cases B15, B16).

use jsonc_parser::ast::Value;
use jsonc_parser::common::Ranged as _;
use jsonc_parser::{CollectOptions, parse_to_ast};
use squire_strategies::json_edit::dialect;

use super::{DEEPEST, Member, Node, Tree, Unread, text_of};
use crate::config::Lines;

/// Reads a whole file; one without a value holds nothing.
pub(in super::super) fn read(bytes: &[u8]) -> Result<Tree, Unread> {
    let text = text_of(bytes)?;
    let lines = Lines::of(text);
    let parsed = parse_to_ast(text, &CollectOptions::default(), &dialect()).map_err(|error| {
        let reason = error.kind().to_string().to_lowercase();
        Unread::at(lines.place(error.range().start), format!("this is no JSON: {reason}"))
    })?;
    match parsed.value {
        Some(value) => tree(&value, &lines, 0),
        None => Err(Unread::at(lines.place(0), "this is no JSON: it is empty")),
    }
}

fn tree(value: &Value<'_>, lines: &Lines<'_>, depth: usize) -> Result<Tree, Unread> {
    let place = lines.place(value.start());
    if depth > DEEPEST {
        return Err(Unread::at(place, format!("this nests deeper than {DEEPEST}")));
    }
    let node = match value {
        Value::NullKeyword(_) => Node::Null,
        Value::BooleanLit(flag) => Node::Flag(flag.value),
        Value::NumberLit(number) => Node::Number(number.value.to_owned()),
        Value::StringLit(text) => Node::Text(text.value.clone().into_owned()),
        Value::Array(array) => {
            let items = array.elements.iter().map(|item| tree(item, lines, depth + 1));
            Node::List(items.collect::<Result<_, _>>()?)
        }
        Value::Object(object) => {
            let members = object.properties.iter().map(|property| {
                let place = lines.place(property.start());
                let key = property.name.clone().into_string();
                Ok(Member { key, place, value: tree(&property.value, lines, depth + 1)? })
            });
            Node::Table(members.collect::<Result<_, _>>()?)
        }
    };
    Ok(Tree { node, place })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b15_b16_places_are_those_of_the_file() {
        let read = read("\u{feff}{ // note\r\n  \"a\": [1, \"x\",],\r\n  \"a\": null }".as_bytes()).unwrap();
        let places: Vec<_> =
            read.members().iter().map(|member| (member.place.line, member.place.column)).collect();
        assert_eq!(places, [(2, 3), (3, 3)]);
        let told = read.refuse_twice().unwrap_err();
        assert_eq!(
            (told.place.line, told.reason.as_str()),
            (3, "\"a\" is in line 2 already: take one of the two out")
        );
    }

    #[test]
    fn what_is_no_json_says_where() {
        for (text, line, column, reason) in [
            ("", 1, 1, "this is no JSON: it is empty"),
            ("{\n \"a\": }", 2, 7, "this is no JSON: unexpected close brace"),
            ("\u{feff}{} {}", 1, 4, "this is no JSON: text cannot contain more than one json value"),
        ] {
            let told = super::read(text.as_bytes()).unwrap_err();
            assert_eq!(
                (told.place.line, told.place.column, told.reason.as_str()),
                (line, column, reason),
                "{text}"
            );
        }
        let deep = "[".repeat(200) + &"]".repeat(200);
        assert_eq!(super::read(deep.as_bytes()).unwrap_err().reason, "this nests deeper than 128");
        let utf16 = super::read(b"\xff\xfe{\0").unwrap_err();
        assert_eq!(utf16.reason, "this is UTF-16; squire reads UTF-8");
    }
}
