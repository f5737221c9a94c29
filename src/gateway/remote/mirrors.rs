//! Arguments of tools that are repeated in headers (revision 2026-07-28, custom headers from tool parameters).

use std::collections::{HashMap, HashSet};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reqwest::header::{HeaderName, HeaderValue};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

const ANNOTATION: &str = "x-mcp-header";

/// What the lists of tools said about headers.
#[derive(Default)]
pub(super) struct Mirrors(HashMap<String, Vec<Mirror>>);

struct Mirror {
    header: HeaderName,
    path: Vec<String>,
}

#[derive(Deserialize)]
struct List<'a> {
    #[serde(borrow)]
    tools: &'a RawValue,
}

#[derive(Deserialize)]
struct Tool {
    name: String,
    #[serde(default, rename = "inputSchema")]
    schema: Value,
}

impl Mirrors {
    /// Learns from the result of `tools/list`. Tools whose annotations break the rules have to be left out: the text
    /// of the list without them is given then, with every other byte as it was.
    pub(super) fn learn(&mut self, result: &str) -> Option<(String, String)> {
        let list: List<'_> = serde_json::from_str(result).ok()?;
        let tools: Vec<&RawValue> = serde_json::from_str(list.tools.get()).ok()?;
        let is_sound = |tool: &&&RawValue| {
            let Ok(Tool { name, schema }) = serde_json::from_str(tool.get()) else { return true };
            let mut found = Vec::new();
            if !collect(&schema, &mut Vec::new(), &mut found) || !are_distinct(&found) {
                return false;
            }
            self.0.insert(name, found);
            true
        };
        let sound: Vec<&str> = tools.iter().filter(is_sound).map(|tool| tool.get()).collect();
        let is_whole = sound.len() == tools.len();
        (!is_whole).then(|| (list.tools.get().to_owned(), format!("[{}]", sound.join(","))))
    }

    /// The headers of a call. What is not there, or null, has none.
    pub(super) fn of_call(&self, tool: &str, arguments: Option<&RawValue>) -> Vec<(HeaderName, HeaderValue)> {
        let mirrors = self.0.get(tool).filter(|mirrors| !mirrors.is_empty());
        let (Some(mirrors), Some(arguments)) = (mirrors, arguments) else { return Vec::new() };
        let Ok(arguments) = serde_json::from_str::<Value>(arguments.get()) else { return Vec::new() };
        let header = |mirror: &Mirror| {
            let value = mirror.path.iter().try_fold(&arguments, |value, key| value.get(key))?;
            Some((mirror.header.clone(), HeaderValue::from_str(&encoded(&shown(value)?)).ok()?))
        };
        mirrors.iter().filter_map(header).collect()
    }
}

/// Collects the annotations of a schema; false where one stands or says what it must not.
fn collect(schema: &Value, path: &mut Vec<String>, found: &mut Vec<Mirror>) -> bool {
    let Value::Object(members) = schema else { return true };
    members.iter().all(|(key, value)| match (key.as_str(), value) {
        ("properties", Value::Object(properties)) => properties.iter().all(|(name, property)| {
            path.push(name.clone());
            let is_sound = annotated(property, path, found) && collect(property, path, found);
            path.pop();
            is_sound
        }),
        // What a property was checked for already.
        (ANNOTATION, _) => !path.is_empty(),
        // What these hold is data, not a schema.
        ("default" | "const" | "enum" | "examples", _) => true,
        (_, other) => !is_annotated_anywhere(other),
    })
}

fn annotated(property: &Value, path: &[String], found: &mut Vec<Mirror>) -> bool {
    let Some(annotation) = property.get(ANNOTATION) else { return true };
    // The rules exclude `number`.
    let is_primitive = matches!(property["type"].as_str(), Some("string" | "integer" | "boolean"));
    let name = annotation.as_str().filter(|name| !name.is_empty());
    let header = name.and_then(|name| HeaderName::from_bytes(format!("mcp-param-{name}").as_bytes()).ok());
    match header {
        Some(header) if is_primitive => {
            found.push(Mirror { header, path: path.to_vec() });
            true
        }
        _ => false,
    }
}

fn is_annotated_anywhere(value: &Value) -> bool {
    match value {
        Value::Object(members) => {
            members.iter().any(|(key, value)| key == ANNOTATION || is_annotated_anywhere(value))
        }
        Value::Array(items) => items.iter().any(is_annotated_anywhere),
        _ => false,
    }
}

fn are_distinct(found: &[Mirror]) -> bool {
    let mut seen = HashSet::new();
    found.iter().all(|mirror| seen.insert(&mirror.header))
}

fn shown(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Bool(truth) => Some(truth.to_string()),
        Value::Number(number) => {
            let text = number.to_string();
            Some(text.strip_suffix(".0").map(str::to_owned).unwrap_or(text))
        }
        _ => None,
    }
}

/// A value as a header can carry it: what is no plain ASCII in Base64.
pub(super) fn encoded(value: &str) -> String {
    let is_plain = value.bytes().all(|byte| matches!(byte, b'\t' | b' '..=b'~'))
        && value.trim_matches([' ', '\t']) == value
        && !(value.starts_with("=?base64?") && value.ends_with("?="));
    if is_plain { value.to_owned() } else { format!("=?base64?{}?=", STANDARD.encode(value)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_encoded_as_the_specification_shows() {
        for (value, header) in [
            ("us-west1", "us-west1"),
            ("Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="),
            (" padded ", "=?base64?IHBhZGRlZCA=?="),
            ("line1\nline2", "=?base64?bGluZTEKbGluZTI=?="),
            ("=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="),
            ("", ""),
        ] {
            assert_eq!(encoded(value), header);
        }
    }

    fn headers(mirrors: &Mirrors, arguments: &str) -> Vec<String> {
        let arguments = serde_json::from_str(arguments).unwrap();
        let headers = mirrors.of_call("t", Some(arguments));
        headers.iter().map(|(name, value)| format!("{name}: {}", value.to_str().unwrap())).collect()
    }

    #[test]
    fn annotated_arguments_become_headers() {
        let mut mirrors = Mirrors::default();
        let result = r#"{"tools":[{"name":"t","inputSchema":{"type":"object","properties":{
            "region":{"type":"string","x-mcp-header":"Region"},
            "deep":{"type":"object","properties":{"on":{"type":"boolean","x-mcp-header":"On"}}},
            "count":{"type":"integer","x-mcp-header":"Count"},
            "x-mcp-header":{"type":"string"}}}}]}"#;
        assert!(mirrors.learn(result).is_none());
        assert_eq!(
            headers(&mirrors, r#"{"region":"é","deep":{"on":true},"count":-7.0}"#),
            ["mcp-param-region: =?base64?w6k=?=", "mcp-param-on: true", "mcp-param-count: -7"]
        );
        assert_eq!(headers(&mirrors, r#"{"region":null,"deep":1}"#), [""; 0]);
        assert!(mirrors.of_call("other", None).is_empty());
    }

    #[test]
    fn tools_with_annotations_that_break_the_rules_are_left_out() {
        let annotated = |name: &str| format!(r#"{{"type":"string","x-mcp-header":{name}}}"#);
        let good = annotated("\"A\"");
        for properties in [
            format!(r#"{{"a":{}}}"#, annotated("\"\"")),
            format!(r#"{{"a":{}}}"#, annotated("\"a b\"")),
            format!(r#"{{"a":{}}}"#, annotated("5")),
            format!(r#"{{"a":{good},"b":{}}}"#, annotated("\"a\"")),
            r#"{"a":{"type":"array","x-mcp-header":"A"}}"#.to_owned(),
            r#"{"a":{"type":"number","x-mcp-header":"A"}}"#.to_owned(),
            format!(r#"{{"a":{{"type":"array","items":{good}}}}}"#),
            format!(r#"{{"a":{{"oneOf":[{good}]}}}}"#),
        ] {
            let bad = format!(r#"{{"name":"bad","inputSchema":{{"properties":{properties}}}}}"#);
            let result = format!(r#"{{"tools":[{bad}, {{"name" : "fine"}}]}}"#);
            let (_, fewer) = Mirrors::default().learn(&result).unwrap();
            assert_eq!(fewer, r#"[{"name" : "fine"}]"#, "{properties}");
        }
    }
}
