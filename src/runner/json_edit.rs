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
    refuse_twice(&object, at)?;
    let servers = match object.get(at) {
        None => object.object_value_or_set(at),
        Some(_) => object.object_value(at).ok_or_else(|| format!("its `{at}` is no object"))?,
    };
    for (name, entry) in entries {
        refuse_twice(&servers, name)?;
        match servers.get(name) {
            Some(existing) => existing.set_value(input(entry)),
            None => {
                servers.append(name, input(entry));
            }
        }
    }
    Ok(format!("{mark}{root}"))
}

/// Of two members of one name a reader takes the last, so that an entry put into the first would be lost.
fn refuse_twice(object: &CstObject, name: &str) -> Result<(), String> {
    let found = object
        .properties()
        .iter()
        .filter(|property| property.decoded_name().as_deref() == Some(name))
        .count();
    if found > 1 { Err(format!("it has `{name}` {found} times")) } else { Ok(()) }
}

/// Takes our entries out of a text that somebody edited after we made `ours` of `original`. `None` where nothing of
/// the user's is left in a file that we made.
///
/// An edit beside our entries is applied to the original, to the byte. Otherwise our entries are taken out one by
/// one: one that is no longer as we wrote it is left, and where the original had one of the same name, that comes back.
pub(super) fn take_out(
    text: &str,
    at: &str,
    entries: &Map<String, Value>,
    original: Option<&str>,
    ours: &str,
) -> Result<Option<String>, String> {
    let (mark, body) = split_mark(text);
    let root = parse(body)?;
    if let Some(rebased) = original.and_then(|original| rebase(original, ours, text)) {
        return Ok(Some(rebased));
    }
    let original_root = original.map(|text| parse(split_mark(text).1)).transpose()?;
    let original_servers = original_root.as_ref().and_then(|root| root.object_value()?.object_value(at));
    let Some(servers) = root.object_value().and_then(|object| object.object_value(at)) else {
        return Ok(Some(text.to_owned()));
    };
    let mut comes_back = Vec::new();
    for (name, entry) in entries {
        let Some(property) = servers.get(name) else { continue };
        if property.value().and_then(|value| value.to_serde_value()).as_ref() != Some(entry) {
            continue;
        }
        match original_servers.as_ref().and_then(|servers| servers.get(name)?.value()) {
            None => property.remove(),
            Some(value) => {
                // The editor would spell numbers and strings anew, so a word stands in until the text is written.
                let word = placeholder(text, comes_back.len());
                property.set_value(CstInputValue::String(word.clone()));
                comes_back.push((word, value.to_string()));
            }
        }
    }
    let had_servers = original_root.as_ref().and_then(|root| root.object_value()?.get(at)).is_some();
    if !had_servers
        && servers.properties().is_empty()
        && let Some(property) = root.object_value().and_then(|object| object.get(at))
    {
        property.remove();
    }
    let mut out = format!("{mark}{root}");
    for (word, value) in comes_back {
        out = out.replace(&format!("\"{word}\""), &value);
    }
    let nothing_left = original.is_none() && out.chars().filter(|c| !c.is_whitespace()).eq("{}".chars());
    Ok((!nothing_left).then_some(out))
}

/// A word that the text does not hold.
fn placeholder(text: &str, number: usize) -> String {
    let mut word = format!("squire-original-{number}");
    while text.contains(&word) {
        word.push('-');
    }
    word
}

/// Applies the edit that made `edited` of `ours` to the original, where it does not touch what makes `ours` of it.
fn rebase(original: &str, ours: &str, edited: &str) -> Option<String> {
    let (before, after) = common_ends(original, ours);
    let (kept_before, kept_after) = common_ends(ours, edited);
    if kept_before + after >= ours.len() {
        // The edit lies behind ours.
        let behind = ours.len() - kept_before;
        let head = original.get(..original.len().checked_sub(behind)?)?;
        Some(format!("{head}{}", edited.get(kept_before..)?))
    } else if kept_after + before >= ours.len() {
        // The edit lies before ours, where the original and ours are the same.
        let head = edited.get(..edited.len() - kept_after)?;
        Some(format!("{head}{}", original.get(ours.len() - kept_after..)?))
    } else {
        None
    }
}

/// How many bytes two texts share at the beginning and, of the rest, at the end; never within a character.
fn common_ends(one: &str, other: &str) -> (usize, usize) {
    let same = |(one, other): &(char, char)| one == other;
    let before: usize = one.chars().zip(other.chars()).take_while(same).map(|(c, _)| c.len_utf8()).sum();
    let (one, other) = (&one[before..], &other[before..]);
    let after = one.chars().rev().zip(other.chars().rev()).take_while(same).map(|(c, _)| c.len_utf8()).sum();
    (before, after)
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

    fn back(edited: &str, original: Option<&str>, ours: &str) -> Option<String> {
        take_out(edited, "mcpServers", &entries(), original, ours).unwrap()
    }

    #[test]
    fn an_edit_beside_ours_is_applied_to_the_original() {
        let original = "{\"x\": 1, \"mcpServers\": {\"own\": {}}, \"y\": 2}";
        let ours = add(original, "mcpServers", &entries()).unwrap();
        for (from, to) in
            [("\"x\": 1", "\"x\": 11"), ("\"y\": 2", "\"z\": []"), ("\"y\": 2", "\"y\": 2, \"z\": 1.0")]
        {
            let edited = ours.replace(from, to);
            assert_eq!(back(&edited, Some(original), &ours), Some(original.replace(from, to)));
        }
    }

    #[test]
    fn what_somebody_edited_keeps_the_edit_and_loses_ours_alone() {
        let original = "{\"mcpServers\": {\"db\": {\"big\": 1.0, /* own */ \"e\": \"\\u00e9\"}, \"x\": {}}}";
        let ours = add(original, "mcpServers", &entries()).unwrap();
        let edited = format!(
            "{}\n",
            ours.replace("\"x\": {}", "\"x\": {}, \"new\": {\"command\": \"n\"}").replacen('{', "{ ", 1)
        );
        let taken = back(&edited, Some(original), &ours).unwrap();
        assert!(taken.contains("\"db\": {\"big\": 1.0, /* own */ \"e\": \"\\u00e9\"}"), "{taken}");
        assert!(taken.contains("\"new\": {\"command\": \"n\"}"), "{taken}");
        let changed = ours.replace("\"squire\"", "\"mine\"");
        assert_eq!(back(&changed, Some(original), &ours), Some(changed.clone()));
    }

    #[test]
    fn a_file_of_ours_that_was_only_reformatted_holds_nothing_of_the_users() {
        let ours = add("", "mcpServers", &entries()).unwrap();
        assert_eq!(back(&ours.replace('\n', "\n\n"), None, &ours), None);
        let kept = back(&ours.replacen('{', "{ \"x\": 1,", 1), None, &ours).unwrap();
        assert_eq!(parse(&kept).unwrap().to_serde_value(), Some(json!({"x": 1})));
    }

    #[test]
    fn b86_a_name_that_comes_twice_is_refused() {
        for text in
            ["{\"mcpServers\": {\"db\": {}, \"\\u0064b\": {}}}", "{\"mcpServers\": {}, \"mcpServers\": {}}"]
        {
            assert!(add(text, "mcpServers", &entries()).is_err(), "{text}");
        }
    }

    proptest! {
        /// An untouched text comes back to the byte, an edit anywhere outside our entries stays.
        #[test]
        fn what_is_added_comes_out_again(
            keys in proptest::collection::vec("[a-z]{1,3}", 0..4), comment in "[a-zé ]{0,6}", servers in any::<bool>(),
        ) {
            let mut text = String::from("{\n");
            text.extend(keys.iter().enumerate().map(|(index, key)| format!("  \"{key}-{index}\": 1, // {comment}\n")));
            text.push_str(if servers { "  \"mcpServers\": {}\n}" } else { "  \"last\": 0\n}" });
            let ours = add(&text, "mcpServers", &entries()).unwrap();
            prop_assert_eq!(back(&ours, Some(&text), &ours), Some(text.clone()));
            let edit = |text: &str| text.replacen('{', "{ \"first\": [],", 1);
            prop_assert_eq!(back(&edit(&ours), Some(&text), &ours), Some(edit(&text)));
        }
    }
}
