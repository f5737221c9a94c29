//! What a person writes on a command line becomes the arguments of a tool, as the tool's JSON Schema says. Pure.
//!
//! The schema is a server's: it may be anything, and nothing in it is believed beyond the form of an argument. The
//! server judges the arguments itself.

mod kinds;

use serde_json::{Map, Value};

use crate::config::nearest;
use crate::printable::{excerpt, printable};
use kinds::kinds;

/// How much of a description is told in an error, in characters.
const TOLD: usize = 200;

/// The arguments that words such as `count=3` stand for. Each word takes its type from the property of its name. The
/// errors are sentences, one for each word that does not fit and for each property that is required and not there.
pub fn from_words(words: &[String], schema: &Value) -> Result<Value, Vec<String>> {
    let mut arguments = Map::new();
    let mut wrong = Vec::new();
    for word in words {
        match read(word, schema) {
            Ok((key, _)) if arguments.contains_key(key) => {
                wrong.push(format!(
                    "`{}` comes twice; give several values as JSON, as in '{}=[1, 2]'",
                    printable(key),
                    printable(key)
                ));
            }
            Ok((key, value)) => {
                arguments.insert(key.to_owned(), value);
            }
            Err(sentence) => wrong.push(sentence),
        }
    }
    let named = |key: &str| words.iter().any(|word| word.split_once('=').is_some_and(|(own, _)| own == key));
    for key in required(schema).filter(|key| !named(key)) {
        let property = property(schema, key).unwrap_or(&Value::Null);
        wrong.push(format!(
            "`{}` is required: {}{}",
            printable(key),
            kinds(property, schema),
            described(property, schema)
        ));
    }
    if wrong.is_empty() { Ok(Value::Object(arguments)) } else { Err(wrong) }
}

/// How a tool is called, as words: `text=STRING [count=INTEGER]`. It is printable.
pub fn usage(schema: &Value) -> String {
    let properties = schema["properties"].as_object().into_iter().flatten();
    let words = properties.map(|(key, property)| {
        let word = format!("{}={}", printable(key), kinds(property, schema).placeholder());
        if required(schema).any(|required| required == key) { word } else { format!("[{word}]") }
    });
    words.collect::<Vec<_>>().join(" ")
}

fn read<'a>(word: &'a str, schema: &Value) -> Result<(&'a str, Value), String> {
    let Some((key, text)) = word.split_once('=').filter(|(key, _)| !key.is_empty()) else {
        return Err(format!("`{}` is no argument: write KEY=VALUE", printable(word)));
    };
    let Some(property) = property(schema, key) else { return Err(unknown(key, schema)) };
    let kinds = kinds(property, schema);
    match kinds.convert(text) {
        Some(value) => Ok((key, value)),
        None => Err(format!(
            "`{}` takes {kinds}, and this is `{}`{}",
            printable(key),
            excerpt(text.as_bytes(), TOLD),
            described(property, schema)
        )),
    }
}

/// What the schema says of a key; nothing where it does not know it. Where others than the named ones are welcome, they
/// are of any type, or of the one that is said.
fn property<'a>(schema: &'a Value, key: &str) -> Option<&'a Value> {
    let properties = schema["properties"].as_object();
    if let Some(property) = properties.and_then(|properties| properties.get(key)) {
        return Some(property);
    }
    let is_open = properties.is_none_or(Map::is_empty) || schema["patternProperties"].is_object();
    match &schema["additionalProperties"] {
        Value::Bool(true) => Some(&Value::Null),
        other @ Value::Object(_) => Some(other),
        Value::Null if is_open => Some(&Value::Null),
        _ => None,
    }
}

fn required(schema: &Value) -> impl Iterator<Item = &str> {
    schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str)
}

fn unknown(key: &str, schema: &Value) -> String {
    let known: Vec<&str> =
        schema["properties"].as_object().into_iter().flatten().map(|(key, _)| key.as_str()).collect();
    let help = match (nearest(key, known.iter().copied()), known.as_slice()) {
        (Some(near), _) => format!("did you mean `{}`?", printable(near)),
        (None, []) => "the tool takes none".to_owned(),
        (None, known) => format!("there are: {}", printable(&known.join(", "))),
    };
    format!("there is no argument `{}`; {help}", printable(key))
}

/// What a server says of a property, behind a sentence.
fn described(property: &Value, schema: &Value) -> String {
    let property = kinds::resolved(property, schema);
    let description = property["description"].as_str().map(str::trim).filter(|text| !text.is_empty());
    description.map_or(String::new(), |text| format!(" ({})", excerpt(text.as_bytes(), TOLD)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(ToString::to_string).collect()
    }

    fn schema() -> Value {
        json!({
            "type": "object",
            "properties": {
                "text": { "type": "string", "description": "What to say." },
                "count": { "type": "integer" },
                "ratio": { "type": "number" },
                "loud": { "type": "boolean" },
                "tags": { "type": "array", "items": { "type": "string" } },
                "more": { "$ref": "#/$defs/more" },
                "maybe": { "anyOf": [{ "type": "integer" }, { "type": "null" }] },
                "mode": { "enum": ["fast", "slow", 3] },
                "any": {},
            },
            "required": ["text"],
            "$defs": { "more": { "type": "object", "description": "More.\u{1b}[2J" } },
        })
    }

    #[test]
    fn words_take_their_types_from_the_schema() {
        let given = [
            "text=5",
            "count=-3",
            "ratio=1.50",
            "loud=true",
            "tags=[\"a\"]",
            "more={\"a\": 1.0}",
            "maybe=null",
            "mode=3",
            "any=x=y",
        ];
        let arguments = from_words(&words(&given), &schema()).unwrap();
        let expected = json!({
            "text": "5", "count": -3, "ratio": 1.5, "loud": true, "tags": ["a"], "more": { "a": 1.0 },
            "maybe": null, "mode": 3, "any": "x=y",
        });
        assert_eq!(arguments, expected);
        assert_eq!(from_words(&words(&["text="]), &schema()).unwrap(), json!({ "text": "" }));
        assert_eq!(from_words(&words(&["any=[1]", "text=a"]), &schema()).unwrap()["any"], json!([1]));
    }

    #[test]
    fn what_does_not_fit_is_told_all_at_once() {
        let given =
            ["count=1.5", "loud=yes", "tags={}", "more=1", "mode=medium", "cuont=1", "stray", "count=2"];
        let wrong = from_words(&words(&given), &schema()).unwrap_err();
        assert_eq!(
            wrong,
            [
                "`count` takes an integer, and this is `1.5`",
                "`loud` takes a boolean, and this is `yes`",
                "`tags` takes an array as JSON, and this is `{}`",
                "`more` takes an object as JSON, and this is `1` (More.\\u{1b}[2J)",
                "`mode` takes one of \"fast\", \"slow\", 3, and this is `medium`",
                "there is no argument `cuont`; did you mean `count`?",
                "`stray` is no argument: write KEY=VALUE",
                "`text` is required: a string (What to say.)",
            ]
        );
        let twice = from_words(&words(&["text=a", "text=b"]), &schema()).unwrap_err();
        assert!(twice[0].starts_with("`text` comes twice"), "{twice:?}");
        let none = json!({ "type": "object", "properties": {}, "additionalProperties": false });
        assert_eq!(
            from_words(&words(&["a=1"]), &none).unwrap_err(),
            ["there is no argument `a`; the tool takes none"]
        );
    }

    #[test]
    fn others_are_welcome_where_the_schema_says_so() {
        for open in
            [json!({}), json!(null), json!({ "properties": { "b": {} }, "additionalProperties": true })]
        {
            assert_eq!(from_words(&words(&["a=1"]), &open).unwrap(), json!({ "a": 1 }));
        }
        let typed = json!({ "properties": { "b": {} }, "additionalProperties": { "type": "string" } });
        assert_eq!(from_words(&words(&["a=1"]), &typed).unwrap(), json!({ "a": "1" }));
    }

    #[test]
    fn a_usage_tells_what_is_required() {
        assert_eq!(
            usage(&schema()),
            "text=STRING [count=INTEGER] [ratio=NUMBER] [loud=BOOLEAN] [tags=ARRAY] [more=OBJECT] \
             [maybe=INTEGER|NULL] [mode=fast|slow|3] [any=JSON]"
        );
        assert_eq!(usage(&Value::Null), "");
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            prop_oneof![Just("string"), Just("integer"), Just("#/properties/a"), Just("#"), Just("a")]
                .prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 32, 4, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                proptest::collection::vec((key(), inner), 0..4)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    const KEYS: [&str; 9] =
        ["type", "$ref", "anyOf", "enum", "properties", "required", "additionalProperties", "a", "const"];

    fn key() -> impl Strategy<Value = String> {
        proptest::sample::select(&KEYS[..]).prop_map(str::to_owned)
    }

    proptest! {
        /// Whatever a server sends for a schema, a word becomes an argument of its name or an error.
        #[test]
        fn no_schema_breaks_it(schema in any_json(), text in ".{0,12}") {
            match from_words(&[format!("a={text}")], &schema) {
                Ok(arguments) => prop_assert!(arguments.get("a").is_some()),
                Err(wrong) => prop_assert!(!wrong.is_empty()),
            }
            let _ = usage(&schema);
        }

        /// JSON of a type is taken for that type, as it is.
        #[test]
        fn json_goes_through(value in any_json()) {
            let kind = match &value {
                Value::Null => "null",
                Value::Bool(_) => "boolean",
                Value::Number(_) => "integer",
                Value::String(_) => "string",
                Value::Array(_) => "array",
                Value::Object(_) => "object",
            };
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let schema = json!({ "properties": { "a": { "type": kind } } });
            prop_assert_eq!(&from_words(&[format!("a={text}")], &schema).unwrap()["a"], &value);
        }
    }
}
