//! What a schema says of one argument: the types of JSON that it takes, or the values.

use std::fmt;

use serde_json::Value;

use crate::printable::printable;

/// How deep references and alternatives are followed: a schema may go round in circles.
const DEEPEST: usize = 16;
/// How many references and alternatives are followed in all.
const MOST: usize = 256;
/// The longest list of values that stands in a usage, in characters.
const LONGEST: usize = 40;

/// One type of JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    String,
    Integer,
    Number,
    Boolean,
    Null,
    Array,
    Object,
}

impl Kind {
    const ALL: [(&'static str, Self); 7] = [
        ("string", Self::String),
        ("integer", Self::Integer),
        ("number", Self::Number),
        ("boolean", Self::Boolean),
        ("null", Self::Null),
        ("array", Self::Array),
        ("object", Self::Object),
    ];

    fn word(self) -> &'static str {
        Self::ALL.iter().find(|(_, kind)| *kind == self).map_or("", |(word, _)| word)
    }

    /// The value that a text stands for, where it is one of this type.
    fn convert(self, text: &str) -> Option<Value> {
        if self == Self::String {
            return Some(text.into());
        }
        let value: Value = serde_json::from_str(text).ok()?;
        let fits = match self {
            Self::String => false,
            Self::Integer => value.is_i64() || value.is_u64(),
            Self::Number => value.is_number(),
            Self::Boolean => value.is_boolean(),
            Self::Null => value.is_null(),
            Self::Array => value.is_array(),
            Self::Object => value.is_object(),
        };
        fits.then_some(value)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::String => "a string",
            Self::Integer => "an integer",
            Self::Number => "a number",
            Self::Boolean => "a boolean",
            Self::Null => "null",
            Self::Array => "an array as JSON",
            Self::Object => "an object as JSON",
        })
    }
}

/// What one argument may be.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Kinds {
    /// The types, in the schema's order; with neither types nor values it may be anything.
    types: Vec<Kind>,
    /// The values, where they are named.
    values: Vec<Value>,
}

/// What the schema of an argument says; references lead into the schema of all of them.
pub(super) fn kinds(property: &Value, schema: &Value) -> Kinds {
    let mut kinds = Kinds::default();
    let mut left = MOST;
    kinds.add(property, schema, 0, &mut left);
    kinds
}

/// A schema, or the one that it refers to.
pub(super) fn resolved<'a>(property: &'a Value, schema: &'a Value) -> &'a Value {
    let mut found = property;
    for _ in 0..DEEPEST {
        let reference = found["$ref"].as_str().and_then(|reference| reference.strip_prefix('#'));
        let Some(next) = reference.and_then(|pointer| schema.pointer(pointer)) else { break };
        found = next;
    }
    found
}

impl Kinds {
    fn add(&mut self, property: &Value, schema: &Value, depth: usize, left: &mut usize) {
        if depth > DEEPEST || *left == 0 {
            return;
        }
        *left -= 1;
        let property = resolved(property, schema);
        let named =
            property.get("const").into_iter().chain(property["enum"].as_array().into_iter().flatten());
        let before = self.values.len();
        self.values.extend(named.cloned());
        if self.values.len() > before {
            return;
        }
        let word = |word: &Value| {
            let word = word.as_str()?;
            Kind::ALL.iter().find(|(known, _)| *known == word).map(|(_, kind)| *kind)
        };
        let types = &property["type"];
        for kind in types.as_array().into_iter().flatten().chain([types]).filter_map(word) {
            if !self.types.contains(&kind) {
                self.types.push(kind);
            }
        }
        for alternatives in ["anyOf", "oneOf"] {
            for alternative in property[alternatives].as_array().into_iter().flatten() {
                self.add(alternative, schema, depth + 1, left);
            }
        }
    }

    /// The value that a text stands for. A string is what nothing else takes; where nothing is said of the type, JSON is
    /// taken for what it is.
    pub(super) fn convert(&self, text: &str) -> Option<Value> {
        let is_named = |value: &&Value| {
            let as_json = value.to_string();
            [value.as_str(), Some(&*as_json)].contains(&Some(text))
        };
        if let Some(value) = self.values.iter().find(is_named) {
            return Some(value.clone());
        }
        if self.types.is_empty() {
            let free = || serde_json::from_str(text).unwrap_or_else(|_| text.into());
            return self.values.is_empty().then(free);
        }
        let strings_last = self.types.iter().filter(|kind| **kind != Kind::String);
        let strings = self.types.iter().filter(|kind| **kind == Kind::String);
        strings_last.chain(strings).find_map(|kind| kind.convert(text))
    }

    /// What stands for it in a usage.
    pub(super) fn placeholder(&self) -> String {
        let words = self.types.iter().map(|kind| kind.word().to_uppercase());
        let values = self
            .values
            .iter()
            .map(|value| printable(&value.as_str().map_or_else(|| value.to_string(), str::to_owned)));
        let all: Vec<String> = values.chain(words).collect();
        let text = all.join("|");
        if text.is_empty() {
            "JSON".into()
        } else if text.chars().count() > LONGEST {
            "VALUE".into()
        } else {
            text
        }
    }
}

impl fmt::Display for Kinds {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let values: Vec<String> = self.values.iter().map(|value| printable(&value.to_string())).collect();
        let values = (!values.is_empty()).then(|| format!("one of {}", values.join(", ")));
        let types = self.types.iter().map(ToString::to_string);
        let all: Vec<String> = values.into_iter().chain(types).collect();
        if all.is_empty() { formatter.write_str("any value") } else { formatter.write_str(&all.join(" or ")) }
    }
}
