//! Entries into and out of a JSON file with comments, leaving every other byte as it is. Pure.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue, CstObject, CstRootNode};
use serde_json::{Map, Value};

/// Adds entries to the object `at` of the top level, in place of those of the same name.
///
/// The error says why the text can't be edited.
pub(super) fn add(text: &str, at: &str, entries: &Map<String, Value>) -> Result<String, String> {
    let (mark, body) = split_mark(text);
    let root = parse(body)?;
    let object = match root.value() {
        None => root.object_value_or_set(),
        Some(_) => root.object_value().ok_or("its top level is no object")?,
    };
    let servers = match object.get(at) {
        None => object.object_value_or_set(at),
        Some(_) => object.object_value(at).ok_or_else(|| format!("its `{at}` is no object"))?,
    };
    for (name, entry) in entries {
        match servers.get(name) {
            Some(existing) => existing.set_value(input(entry)),
            None => {
                servers.append(name, input(entry));
            }
        }
    }
    Ok(format!("{mark}{root}"))
}

/// Takes our entries out of a text that somebody edited: an entry that is no longer as we wrote it is left. Where
/// the original text had one of the same name, that one comes back.
pub(super) fn take_out(
    text: &str,
    at: &str,
    entries: &Map<String, Value>,
    original: Option<&str>,
) -> Result<String, String> {
    let (mark, body) = split_mark(text);
    let root = parse(body)?;
    let original = original.map(|text| parse(split_mark(text).1)).transpose()?;
    let original_servers = original.as_ref().and_then(|root| root.object_value()?.object_value(at));
    let Some(servers) = root.object_value().and_then(|object| object.object_value(at)) else {
        return Ok(text.to_owned());
    };
    for (name, entry) in entries {
        let Some(property) = servers.get(name) else { continue };
        if property.value().and_then(|value| value.to_serde_value()).as_ref() != Some(entry) {
            continue;
        }
        match original_value(original_servers.as_ref(), name) {
            Some(value) => property.set_value(input(&value)),
            None => property.remove(),
        }
    }
    let had_servers = original.and_then(|root| root.object_value()?.get(at)).is_some();
    if !had_servers
        && servers.properties().is_empty()
        && let Some(property) = root.object_value().and_then(|object| object.get(at))
    {
        property.remove();
    }
    Ok(format!("{mark}{root}"))
}

fn original_value(servers: Option<&CstObject>, name: &str) -> Option<Value> {
    servers?.get(name)?.value()?.to_serde_value()
}

fn split_mark(text: &str) -> (&str, &str) {
    text.strip_prefix('\u{feff}').map_or(("", text), |body| ("\u{feff}", body))
}

fn parse(text: &str) -> Result<CstRootNode, String> {
    let options = ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_extended_string_escapes: false,
        allow_non_finite_numbers: false,
    };
    CstRootNode::parse(text, &options).map_err(|error| format!("it is no JSON: {error}"))
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(flag) => CstInputValue::Bool(*flag),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(values) => CstInputValue::Array(values.iter().map(input).collect()),
        Value::Object(entries) => {
            CstInputValue::Object(entries.iter().map(|(key, value)| (key.clone(), input(value))).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn entries() -> Map<String, Value> {
        json!({"db": {"command": "squire", "args": ["gateway"]}}).as_object().cloned().unwrap()
    }

    #[test]
    fn b26_everything_else_keeps_its_bytes() {
        let text = "\u{feff}{\r\n\t// ours\r\n\t\"x-team\": {\"z\": 1, \"a\": 12345678901234567890, \"b\": 1.0, \"c\": \"\\u00e9\"},\r\n\t\"mcpServers\": {\r\n\t\t\"own\": {\"command\": \"x\",}, // keep\r\n\t},\r\n}\r\n";
        let added = add(text, "mcpServers", &entries()).unwrap();
        assert!(added.starts_with("\u{feff}{\r\n\t// ours\r\n\t\"x-team\": {\"z\": 1, \"a\": 12345678901234567890, \"b\": 1.0, \"c\": \"\\u00e9\"},\r\n"));
        assert!(added.contains("\"own\": {\"command\": \"x\",}, // keep"));
        assert!(!added.replace("\r\n", "").contains('\n'));
        let parsed = parse(split_mark(&added).1).unwrap().to_serde_value().unwrap();
        assert_eq!(parsed["mcpServers"]["db"], json!({"command": "squire", "args": ["gateway"]}));
        assert_eq!(parsed["mcpServers"]["own"], json!({"command": "x"}));
    }

    #[test]
    fn an_empty_file_and_a_file_without_servers_take_entries() {
        for text in ["", "  \n", "{}", "{ \"other\": [] }"] {
            let added = add(text, "mcpServers", &entries()).unwrap();
            let parsed = parse(&added).unwrap().to_serde_value().unwrap();
            assert_eq!(parsed["mcpServers"]["db"]["command"], "squire", "{text:?}");
        }
        for text in ["[]", "{\"mcpServers\": []}", "{", "{a: 1}", "{\"mcpServers\": null}"] {
            assert!(add(text, "mcpServers", &entries()).is_err(), "{text:?}");
        }
    }

    #[test]
    fn what_somebody_edited_keeps_the_edit_and_loses_ours_alone() {
        let original = "{\"mcpServers\": {\"db\": {\"command\": \"own\"}, \"x\": {}}}";
        let ours = add(original, "mcpServers", &entries()).unwrap();
        let edited = ours.replace("\"x\": {}", "\"x\": {}, \"new\": {\"command\": \"n\"}");
        let back = take_out(&edited, "mcpServers", &entries(), Some(original)).unwrap();
        let parsed = parse(&back).unwrap().to_serde_value().unwrap();
        assert_eq!(
            parsed,
            json!({"mcpServers": {"db": {"command": "own"}, "x": {}, "new": {"command": "n"}}})
        );
        let changed = ours.replace("\"squire\"", "\"mine\"");
        assert_eq!(take_out(&changed, "mcpServers", &entries(), Some(original)).unwrap(), changed);
    }

    proptest! {
        #[test]
        fn what_is_added_to_an_untouched_text_comes_out_again(
            keys in proptest::collection::vec("[a-z]{1,3}", 0..4), comment in "[a-z ]{0,6}", servers in any::<bool>(),
        ) {
            let mut text = String::from("{\n");
            text.extend(keys.iter().map(|key| format!("  \"{key}-k\": 1, // {comment}\n")));
            text.push_str(if servers { "  \"mcpServers\": {}\n}" } else { "  \"last\": 0\n}" });
            let added = add(&text, "mcpServers", &entries()).unwrap();
            let back = take_out(&added, "mcpServers", &entries(), Some(&text)).unwrap();
            prop_assert_eq!(parse(&back).unwrap().to_serde_value(), parse(&text).unwrap().to_serde_value());
        }
    }
}
