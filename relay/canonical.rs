//! The hash of a definition that a server gives: of a tool, of a prompt, of its instructions. How it is laid out makes
//! no difference, nor the order of members or of what JSON Schema calls a set; every word of it does.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt::Write as _;

use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};

use crate::edit::{Members, string};

/// The name of the algorithm, which stands before what is hashed: another meaning of it would have another name.
pub const ALGORITHM: &str = "squire-definition-v1";

/// What stands deeper is hashed as it is written.
const DEPTH: usize = 64;

/// What of JSON Schema (2020-12) is a set where its members are plain.
const SETS: [&str; 3] = ["enum", "required", "type"];

/// Values, in which those words mean nothing.
const VALUES: [&str; 4] = ["const", "default", "examples", "example"];

/// The hash of a definition, 64 hexadecimal digits. Its `_meta` is left out: servers write moments and counts there.
pub fn hash(definition: &RawValue) -> String {
    let mut text = String::new();
    match Members::read(definition.get()) {
        Some(Members(members)) => {
            let own = members.into_iter().filter(|(key, _)| key != "_meta").collect();
            object(own, true, 1, &mut text);
        }
        None => value(definition.get(), true, 0, &mut text),
    }
    digest(&text)
}

/// The hash of what a server answers whole, in which order is kept.
pub(crate) fn digest(text: &str) -> String {
    let hash = Sha256::new().chain_update(ALGORITHM).chain_update("\n").chain_update(text).finalize();
    hash.iter().fold(String::with_capacity(64), |mut out, byte| {
        // Writing to a string can't fail.
        let _ = write!(out, "{byte:02x}");
        out
    })
}

/// A value in its canonical form.
pub(crate) fn canonical(raw: &RawValue) -> String {
    let mut text = String::new();
    value(raw.get(), false, 0, &mut text);
    text
}

fn value(raw: &str, has_sets: bool, depth: usize, out: &mut String) {
    if depth > DEPTH {
        out.push_str(raw);
        return;
    }
    match raw.as_bytes().first() {
        Some(b'{') => match Members::read(raw) {
            Some(Members(members)) => object(members, has_sets, depth + 1, out),
            None => out.push_str(raw),
        },
        Some(b'[') => match serde_json::from_str::<Vec<&RawValue>>(raw) {
            Ok(values) => array(&values, false, has_sets, depth + 1, out),
            Err(_) => out.push_str(raw),
        },
        // However it is escaped.
        Some(b'"') => match serde_json::from_str::<String>(raw) {
            Ok(text) => out.push_str(&string(&text)),
            Err(_) => out.push_str(raw),
        },
        _ => out.push_str(&number(raw)),
    }
}

fn object(mut members: Vec<(String, &RawValue)>, has_sets: bool, depth: usize, out: &mut String) {
    // A key that comes twice is there twice, in the order of both.
    members.sort_by(|one, other| one.0.cmp(&other.0));
    out.push('{');
    for (key, member) in members {
        out.push_str(&string(&key));
        out.push(':');
        let is_set = has_sets && SETS.contains(&key.as_str());
        match serde_json::from_str::<Vec<&RawValue>>(member.get()) {
            Ok(values) if is_set => array(&values, true, true, depth + 1, out),
            _ => value(member.get(), has_sets && !VALUES.contains(&key.as_str()), depth, out),
        }
        out.push(',');
    }
    out.push('}');
}

fn array(values: &[&RawValue], is_set: bool, has_sets: bool, depth: usize, out: &mut String) {
    let mut texts: Vec<String> = Vec::with_capacity(values.len());
    for member in values {
        let mut text = String::new();
        value(member.get(), has_sets, depth, &mut text);
        texts.push(text);
    }
    if is_set && values.iter().all(|value| !value.get().starts_with(['{', '['])) {
        texts.sort();
    }
    out.push('[');
    for text in texts {
        out.push_str(&text);
        out.push(',');
    }
    out.push(']');
}

/// A number without what its writer is free in; any other word as it is.
fn number(raw: &str) -> String {
    let (digits, exponent) = raw.split_once(['e', 'E']).unwrap_or((raw, ""));
    let digits = match digits.split_once('.') {
        Some(_) => digits.trim_end_matches('0').trim_end_matches('.'),
        None => digits,
    };
    let exponent = exponent.trim_start_matches('+').trim_start_matches('0');
    match (digits, exponent) {
        ("-0", "") => "0".to_string(),
        (digits, "") => digits.to_string(),
        (digits, exponent) => [digits, "e", exponent].concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Map, Value, json};

    fn of(text: &str) -> String {
        hash(serde_json::from_str(text).unwrap())
    }

    #[test]
    fn layout_order_and_spelling_make_no_difference() {
        let one = of(
            r#"{"name":"a","inputSchema":{"type":["string","null"],"required":["x","y"],"enum":[1,2.0]},"n":-0.50,"e":1e05}"#,
        );
        for other in [
            r#"{ "inputSchema" : { "required":["y","x"], "enum":[2,1], "type":["null","string"]}, "name":"\u0061", "n":-0.5, "e":1E+5 }"#,
            r#"{"_meta":{"now":"12:00"},"name":"a","inputSchema":{"type":["null","string"],"required":["y","x"],"enum":[2,1]},"n":-0.5,"e":1e5}"#,
        ] {
            assert_eq!(of(other), one, "{other}");
        }
    }

    #[test]
    fn every_word_and_every_order_that_means_something_does() {
        for (one, other) in [
            (r#"{"name":"a"}"#, r#"{"name":"A"}"#),
            (r#"{"a":1}"#, r#"{"a":"1"}"#),
            (r#"{"a":1}"#, r#"{"a":10}"#),
            (r#"{"a":10}"#, r#"{"a":1e10}"#),
            (r#"{"a":null}"#, "{}"),
            (r#"{"a":[1,2]}"#, r#"{"a":[2,1]}"#),
            (r#"{"a":[[1],[2]]}"#, r#"{"a":[[1,2]]}"#),
            (r#"{"default":{"enum":[1,2]}}"#, r#"{"default":{"enum":[2,1]}}"#),
            (r#"{"enum":[[1],[2]]}"#, r#"{"enum":[[2],[1]]}"#),
            (r#"{"a":1,"a":2}"#, r#"{"a":2,"a":1}"#),
            (r#"{"a":1,"a":1}"#, r#"{"a":1}"#),
            (r#"{"a":"\ud800"}"#, r#"{"a":"\ud801"}"#),
            (r#"{"inputSchema":{"_meta":1}}"#, r#"{"inputSchema":{}}"#),
            (r#"{"a":1000000000000000000001}"#, r#"{"a":1000000000000000000002}"#),
        ] {
            assert_ne!(of(one), of(other), "{one} {other}");
        }
    }

    /// A definition of a tool with a schema in it.
    fn definitions() -> impl Strategy<Value = Value> {
        let word = "[a-z]{1,6}";
        let scalar = prop_oneof![
            any::<i32>().prop_map(Value::from),
            any::<bool>().prop_map(Value::from),
            word.prop_map(Value::from),
            Just(Value::Null),
        ];
        let value = scalar.prop_recursive(4, 24, 4, move |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 1..4).prop_map(Value::from),
                proptest::collection::btree_map(word, inner.clone(), 1..4)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
                (
                    proptest::collection::btree_set(word, 1..4),
                    proptest::collection::btree_map(word, inner, 1..3)
                )
                    .prop_map(|(required, properties)| json!({
                        "type": "object", "required": required.into_iter().collect::<Vec<_>>(),
                        "properties": properties.into_iter().collect::<Map<_, _>>(),
                    })),
            ]
        });
        (word, word, value, any::<bool>()).prop_map(|(name, description, schema, hint)| {
            json!({"name": name, "description": description, "inputSchema": {"of": schema},
                   "annotations": {"readOnlyHint": hint}})
        })
    }

    /// The same definition with its members, and its sets, in another order.
    fn reordered(value: &Value, is_set: bool) -> Value {
        match value {
            Value::Object(members) => {
                let mut turned: Vec<_> = members.iter().collect();
                turned.reverse();
                let set = |key: &str, value: &Value| {
                    let plain = value
                        .as_array()
                        .is_some_and(|all| all.iter().all(|v| !v.is_object() && !v.is_array()));
                    plain && SETS.contains(&key)
                };
                turned
                    .into_iter()
                    .map(|(key, value)| (key.clone(), reordered(value, set(key, value))))
                    .collect::<Map<_, _>>()
                    .into()
            }
            Value::Array(values) => {
                let mut values: Vec<Value> = values.iter().map(|value| reordered(value, false)).collect();
                if is_set {
                    values.reverse();
                }
                values.into()
            }
            other => other.clone(),
        }
    }

    /// All places of a value in which something can be changed.
    fn places(value: &Value) -> usize {
        1 + match value {
            Value::Object(members) => members.values().map(places).sum(),
            Value::Array(values) => values.iter().map(places).sum(),
            _ => 0,
        }
    }

    /// Changes the place of this number, in one of the ways that there are.
    fn change(value: &mut Value, place: &mut usize, way: u8) {
        if *place == 0 {
            match (value, way % 3) {
                (Value::Object(members), 0) => {
                    members.insert("squire".into(), Value::Null);
                }
                (Value::Object(members), _) if !members.is_empty() => {
                    let key = members.keys().next().unwrap().clone();
                    members.remove(&key);
                }
                (Value::Array(values), _) => values.push(json!("squire")),
                (Value::String(text), 0) => text.push(' '),
                (value, _) => *value = json!({"was": value.clone()}),
            }
            *place = usize::MAX;
            return;
        }
        *place -= 1;
        let inner: Vec<&mut Value> = match value {
            Value::Object(members) => members.values_mut().collect(),
            Value::Array(values) => values.iter_mut().collect(),
            _ => Vec::new(),
        };
        for value in inner {
            if *place == usize::MAX {
                return;
            }
            change(value, place, way);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(500))]

        /// 500 harmless re-orderings: none is taken for a change.
        #[test]
        fn no_reordering_is_a_change(definition in definitions()) {
            let other = reordered(&definition, false);
            prop_assert_eq!(of(&definition.to_string()), of(&std::format!("{other:#}")));
        }

        /// 500 changes, each at any place of a definition: all are noticed.
        #[test]
        fn every_change_is_noticed(definition in definitions(), place: prop::sample::Index, way: u8) {
            let mut other = definition.clone();
            let mut place = place.index(places(&definition));
            change(&mut other, &mut place, way);
            prop_assert_ne!(of(&definition.to_string()), of(&other.to_string()), "{}", other);
        }
    }
}
