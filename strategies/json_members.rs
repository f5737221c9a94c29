//! The members of an object in a JSON file with comments, each with its place. Pure.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use jsonc_parser::ast::{Object, Value as Node};
use jsonc_parser::common::Ranged;
use serde_json::{Map, Value};

use crate::json;
use crate::json_edit;

/// A line and the character in it, both from 1.
type Position = (usize, usize);

/// One member of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Its name; any text.
    pub name: String,
    /// Where its name stands.
    pub position: (usize, usize),
    /// Its value; of a name that comes twice the last one's, as every reader has it.
    pub value: Value,
    /// Whether it, or a member of it, comes more than once: then what is read is not what is seen.
    pub is_repeated: bool,
    /// Where the names of its own members stand.
    pub inner: BTreeMap<String, (usize, usize)>,
}

/// The members of the object `at` of the top level, in the order of the file; none where the file has no such object.
/// The error is the place and what is wrong there.
pub fn members(bytes: &[u8], at: &str) -> Result<Vec<Member>, ((usize, usize), String)> {
    // It refuses what is nested too deeply for the parser that knows places, which has more to say of what ends too soon.
    let whole = match json::parse(bytes) {
        Err(error) if !error.is_eof() => {
            return Err(((error.line().max(1), error.column().max(1)), "it is no JSON".to_string()));
        }
        parsed => parsed.unwrap_or_default(),
    };
    let text = json_edit::text(bytes).map_err(|error| (error.position, error.reason))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let root = json_edit::parse(text).map_err(|error| (error.position, error.reason))?;
    let lines = Lines::of(text);
    let no_object =
        |node: &Node<'_>, what: &str| (lines.position(node.start()), format!("{what} is no object"));
    let Some(root) = root else { return Ok(Vec::new()) };
    let root = root.as_object().ok_or_else(|| no_object(&root, "its top level"))?;
    let mut holders = root.properties.iter().filter(|property| property.name.as_str() == at);
    let Some(holder) = holders.next() else { return Ok(Vec::new()) };
    if let Some(second) = holders.next() {
        return Err((lines.position(second.start()), format!("it has `{at}` more than once")));
    }
    let object = holder.value.as_object().ok_or_else(|| no_object(&holder.value, &format!("its `{at}`")))?;
    let values = whole.get(at).and_then(Value::as_object).cloned().unwrap_or_default();
    Ok(of_object(object, &values, &lines))
}

fn of_object(object: &Object<'_>, values: &Map<String, Value>, lines: &Lines<'_>) -> Vec<Member> {
    let mut found: Vec<Member> = Vec::new();
    for property in &object.properties {
        let name = property.name.as_str();
        if let Some(earlier) = found.iter_mut().find(|member| member.name == name) {
            earlier.is_repeated = true;
            continue;
        }
        let mut inner = BTreeMap::new();
        let own = property.value.as_object();
        for property in own.into_iter().flat_map(|object| &object.properties) {
            inner.insert(property.name.as_str().to_string(), lines.position(property.start()));
        }
        found.push(Member {
            name: name.to_string(),
            position: lines.position(property.start()),
            value: values.get(name).cloned().unwrap_or_default(),
            is_repeated: is_repeated(&property.value),
            inner,
        });
    }
    found
}

/// Whether an object, at any depth, has two members of one name.
fn is_repeated(node: &Node<'_>) -> bool {
    if let Some(array) = node.as_array() {
        return array.elements.iter().any(is_repeated);
    }
    let properties = node.as_object().map(|object| object.properties.as_slice()).unwrap_or_default();
    let mut names: Vec<&str> = properties.iter().map(|property| property.name.as_str()).collect();
    names.sort_unstable();
    names.windows(2).any(|pair| pair[0] == pair[1])
        || properties.iter().any(|property| is_repeated(&property.value))
}

/// Where the lines of a text begin.
struct Lines<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    fn of(text: &'a str) -> Self {
        let behind = text.match_indices('\n').map(|(newline, _)| newline + 1);
        Self { text, starts: core::iter::once(0).chain(behind).collect() }
    }

    fn position(&self, offset: usize) -> Position {
        let line = self.starts.partition_point(|start| *start <= offset);
        let start = self.starts.get(line - 1).copied().unwrap_or_default();
        (line, self.text.get(start..offset).map_or(0, |before| before.chars().count()) + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn each_member_has_its_place() {
        let text = "\u{feff}{ // note\n  \"s\": {\n    \"é\": { \"command\": \"x\",\n      \"args\": [1], },\n    \"b\": 5\n} }";
        let found = members(text.as_bytes(), "s").unwrap();
        assert_eq!(
            found.iter().map(|member| (member.name.as_str(), member.position)).collect::<Vec<_>>(),
            [("é", (3, 5)), ("b", (5, 5))]
        );
        assert_eq!(found[0].value, json!({ "command": "x", "args": [1] }));
        assert_eq!(found[0].inner["args"], (4, 7));
        for text in ["{}", "", "// nothing yet"] {
            assert_eq!(members(text.as_bytes(), "s"), Ok(Vec::new()));
        }
    }

    #[test]
    fn what_comes_twice_is_told() {
        let repeated = |text: &str| members(text.as_bytes(), "s").unwrap()[0].is_repeated;
        assert!(repeated(r#"{"s": {"a": {}, "a": {"x": 1}}}"#));
        assert!(repeated(r#"{"s": {"a": {"x": 1, "x": 2}}}"#));
        assert!(repeated(r#"{"s": {"a": {"e": [{"x": 1, "x": 2}]}}}"#));
        assert!(!repeated(r#"{"s": {"a": {"e": {"x": 1}, "x": 2}}}"#));
        assert_eq!(members(br#"{"s": {}, "s": {}}"#, "s").unwrap_err().1, "it has `s` more than once");
    }

    #[test]
    fn what_is_no_object_is_told() {
        for (text, told) in [
            ("[]", ((1, 1), "its top level is no object")),
            ("{\n\"s\": []}", ((2, 6), "its `s` is no object")),
            ("{ half", ((1, 3), "it is no JSON")),
            ("{", ((1, 1), "it is no JSON: unterminated object")),
        ] {
            let (position, reason) = members(text.as_bytes(), "s").unwrap_err();
            assert_eq!((position, reason.as_str()), told, "{text}");
        }
        let deep = alloc::format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        assert!(members(deep.as_bytes(), "s").is_err());
    }

    proptest! {
        /// Whatever the bytes are: no panic, and what is found is what a reader finds.
        #[test]
        fn finds_what_a_reader_finds(
            text in "(\\{|\\}|\\[|\\]|,|:| |\n|//|/\\*|\\*/|\"s\"|\"a\"|\"b\"|1|true|null|é){0,24}"
        ) {
            if let (Ok(found), Ok(value)) = (members(text.as_bytes(), "s"), json::parse(text.as_bytes())) {
                let names = value.get("s").and_then(Value::as_object).map_or(0, Map::len);
                prop_assert_eq!(found.len(), names);
            }
        }
    }
}
