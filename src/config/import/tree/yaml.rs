//! YAML 1.2: one document, the types of the core schema, aliases of what has an anchor.

use std::collections::HashMap;

use saphyr_parser::{Event, Marker, Parser, ScalarStyle};

use super::{DEEPEST, Member, Node, Tree, Unread, text_of};
use crate::config::Place;

/// So many values are more than any file of settings: aliases of aliases can name billions.
const LARGEST: usize = 100_000;

/// Reads the one document of a file.
pub(in super::super) fn read(bytes: &[u8]) -> Result<Tree, Unread> {
    let text = text_of(bytes)?;
    let mut reader = Reader { parser: Parser::new_from_str(text), anchors: HashMap::new(), count: 0 };
    let mut document = None;
    loop {
        let (event, place) = reader.next()?;
        match event {
            Event::StreamEnd => break,
            Event::DocumentStart(_) | Event::DocumentEnd | Event::StreamStart | Event::Nothing => {}
            _ if document.is_some() => {
                return Err(Unread::at(place, "this is a second document, and squire takes one a file"));
            }
            event => document = Some(reader.tree(event, place, 0)?),
        }
    }
    let top = Place { line: 1, column: 1 };
    Ok(document.unwrap_or(Tree { node: Node::Null, place: top }))
}

struct Reader<'a> {
    parser: Parser<'a, saphyr_parser::StrInput<'a>>,
    anchors: HashMap<usize, Tree>,
    count: usize,
}

impl<'a> Reader<'a> {
    fn next(&mut self) -> Result<(Event<'a>, Place), Unread> {
        match self.parser.next_event() {
            Some(Ok((event, span))) => Ok((event, place(&span.start))),
            Some(Err(error)) => {
                Err(Unread::at(place(error.marker()), format!("this is no YAML: {}", error.info())))
            }
            None => Ok((Event::StreamEnd, Place { line: 1, column: 1 })),
        }
    }

    fn tree(&mut self, event: Event<'a>, place: Place, depth: usize) -> Result<Tree, Unread> {
        self.count += 1;
        if depth > DEEPEST || self.count > LARGEST {
            return Err(Unread::at(place, "this is larger or nests deeper than any file of settings"));
        }
        let (node, anchor) = match event {
            Event::Scalar(text, style, anchor, tag) => {
                let is_string = tag.is_some_and(|tag| tag.suffix == "str") || style != ScalarStyle::Plain;
                (if is_string { Node::Text(text.into_owned()) } else { plain(&text) }, anchor)
            }
            Event::SequenceStart(anchor, _) => (Node::List(self.items(depth)?), anchor),
            Event::MappingStart(anchor, _) => (Node::Table(self.members(depth)?), anchor),
            Event::Alias(anchor) => {
                let known = self.anchors.get(&anchor).cloned();
                let known = known.ok_or_else(|| Unread::at(place, "this alias has no anchor before it"))?;
                self.count += size(&known);
                return Ok(Tree { place, ..known });
            }
            Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(_)
            | Event::DocumentEnd
            | Event::SequenceEnd
            | Event::MappingEnd => return Err(Unread::at(place, "this is no YAML: a value was expected")),
        };
        let tree = Tree { node, place };
        if anchor > 0 {
            self.anchors.insert(anchor, tree.clone());
        }
        Ok(tree)
    }

    fn items(&mut self, depth: usize) -> Result<Vec<Tree>, Unread> {
        let mut items = Vec::new();
        loop {
            match self.next()? {
                (Event::SequenceEnd, _) => return Ok(items),
                (event, place) => items.push(self.tree(event, place, depth + 1)?),
            }
        }
    }

    fn members(&mut self, depth: usize) -> Result<Vec<Member>, Unread> {
        let (mut members, mut merged) = (Vec::<Member>::new(), Vec::new());
        loop {
            let (key, place) = match self.next()? {
                (Event::MappingEnd, _) => break,
                (Event::Scalar(text, ..), place) => (text.into_owned(), place),
                (_, place) => return Err(Unread::at(place, "this key is no string")),
            };
            let (event, begins) = self.next()?;
            let value = self.tree(event, begins, depth + 1)?;
            if key == "<<" {
                merged.push(value);
            } else {
                members.push(Member { key, place, value });
            }
        }
        // What is merged in yields to what is written here.
        for value in merged {
            let tables = if value.is_table() { vec![value] } else { value.items().to_vec() };
            for member in tables.iter().flat_map(Tree::members) {
                if !members.iter().any(|known| known.key == member.key) {
                    members.push(member.clone());
                }
            }
        }
        Ok(members)
    }
}

fn place(marker: &Marker) -> Place {
    Place { line: marker.line(), column: marker.col() + 1 }
}

fn size(tree: &Tree) -> usize {
    1 + tree.items().iter().map(size).sum::<usize>()
        + tree.members().iter().map(|member| size(&member.value)).sum::<usize>()
}

/// What a word without quotes means in the core schema.
fn plain(text: &str) -> Node {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Node::Null,
        "true" | "True" | "TRUE" => return Node::Flag(true),
        "false" | "False" | "FALSE" => return Node::Flag(false),
        _ => {}
    }
    let is_number = text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '.'))
        && text.parse::<f64>().is_ok_and(f64::is_finite);
    // `007` and `1e3` stay as they are written where a string is wanted.
    if is_number { Node::Number(text.to_owned()) } else { Node::Text(text.to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_anchors_and_places() {
        let text = "base: &base\r\n  a: 1\r\n  b: 'x'\r\nother:\r\n  <<: *base\r\n  b: [true, ~, 1.5, \"2\", 1.2.3]\r\n";
        let read = read(text.as_bytes()).unwrap();
        assert_eq!(
            read.json().to_string(),
            r#"{"base":{"a":1,"b":"x"},"other":{"b":[true,null,1.5,"2","1.2.3"],"a":1}}"#
        );
        assert_eq!(read.members()[1].place, Place { line: 4, column: 1 });
    }

    #[test]
    fn what_can_not_be_taken_says_where() {
        for (text, line) in [("a: [\n", 2), ("a: 1\n---\nb: 2\n", 3), ("? [a]\n: 1\n", 1), ("a: *x\n", 1)] {
            assert_eq!(super::read(text.as_bytes()).unwrap_err().place.line, line, "{text:?}");
        }
        let twice = super::read(b"a: 1\nb:\n  c: 1\n  c: 2\n").unwrap().refuse_twice().unwrap_err();
        assert_eq!(twice.place, Place { line: 4, column: 3 });
    }

    #[test]
    fn aliases_of_aliases_end() {
        let level = |level: usize| {
            let before = format!("*a{}", level - 1);
            format!("a{level}: &a{level} [{}]\n", vec![before; 9].join(", "))
        };
        let text = "a0: &a0 [x, x, x]\n".to_owned() + &(1..20).map(level).collect::<String>();
        assert!(super::read(text.as_bytes()).is_err());
    }
}
