//! Cursor's mcp.json: entries go in and come out again to the byte, everything beside them keeps its bytes while they are
//! in, and a plan refuses what can't be edited.

#![no_main]

use libfuzzer_sys::fuzz_target;
use serde_json::{Map, Value};
use squire_fuzz::{pieces, plan};
use squire_strategies::json_edit::{add, take_out, text};
use squire_strategies::{Code, Entries, File, Read, parse_jsonc};

const AT: &str = "mcpServers";

fuzz_target!(|data: &[u8]| {
    let pieces = pieces(data);
    let bytes = pieces[0];
    let planned = plan("cursor", &[(Read::Merged(".cursor/mcp.json"), bytes)], false);
    let entries = entries(pieces.get(1).copied().unwrap_or_default());
    let written = Value::from(entries.clone()).to_string();
    let written: Entries = serde_json::from_str(&written).expect("an object");
    let added = text(bytes).and_then(|text| add(text, AT, &written));
    let Ok(added) = added else {
        assert!(planned.is_err_and(|refusal| refusal.code == Code::Unmergeable));
        assert!(!is_plainly_editable(bytes), "it could have been edited");
        return;
    };
    assert!(matches!(planned.expect("it can be merged").files.as_slice(), [File::Merge { .. }]));
    let original = std::str::from_utf8(bytes).expect("it was edited");
    let after = match parse_jsonc(added.as_bytes()) {
        Ok(after) => after,
        // A control character in a string stops a reader that is no editor, with our entries and without.
        Err(_) if parse_jsonc(bytes).is_err_and(|error| !error.is_eof()) => return,
        Err(error) => panic!("no JSON any more: {error}\n{added}"),
    };
    for (name, entry) in &entries {
        assert_eq!(after[AT].get(name), Some(entry), "{added}");
    }
    let before = parse_jsonc(bytes).unwrap_or_default();
    for (key, value) in before.as_object().into_iter().flatten() {
        if key == AT {
            let own =
                value.as_object().into_iter().flatten().filter(|(name, _)| !entries.contains_key(*name));
            for (name, entry) in own {
                assert_eq!(after[AT].get(name), Some(entry), "{added}");
            }
        } else {
            assert_eq!(after.get(key), Some(value), "{added}");
        }
    }

    let is_ours = |name: &str, written: &str| {
        let written = parse_jsonc(written.as_bytes()).ok();
        written.is_some() && entries.get(name) == written.as_ref()
    };
    let out = take_out(&added, AT, &is_ours, Some(original), Some(&added));
    assert_eq!(out, Ok(Some(original.to_owned())), "to the byte");
    // As after an edit that touches ours: entry by entry.
    let out = take_out(&added, AT, &is_ours, Some(original), None).expect("it is JSON").expect("a file");
    let value = |text: &str| without_empty(parse_jsonc(text.as_bytes()).unwrap_or_default());
    assert_eq!(value(&out), value(original), "{added}\nbecame\n{out}");
});

/// What the second piece says, or one entry.
fn entries(bytes: &[u8]) -> Map<String, Value> {
    let read: Option<Map<String, Value>> = serde_json::from_slice(bytes).ok();
    read.filter(|entries| !entries.is_empty()).unwrap_or_else(|| {
        let entry = serde_json::json!({ "command": "/usr/bin/squire", "args": ["gateway", "ours"] });
        Map::from_iter([("ours".to_owned(), entry)])
    })
}

/// A file that we made has no more in it when our entries are out.
fn without_empty(mut value: Value) -> Value {
    if let Some(root) = value.as_object_mut()
        && root.get(AT).and_then(Value::as_object).is_some_and(Map::is_empty)
    {
        root.shift_remove(AT);
    }
    if value.as_object().is_some_and(Map::is_empty) { Value::Null } else { value }
}

/// JSON without comments, whose object has a place for entries, and no name twice.
fn is_plainly_editable(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    let Ok(Value::Object(root)) = serde_json::from_str::<Value>(text) else { return false };
    root.get(AT).is_none_or(Value::is_object) && text.matches(AT).count() <= 1 && !text.contains(['\\']) && {
        let names = root.get(AT).and_then(Value::as_object).into_iter().flatten().map(|(name, _)| name);
        names.into_iter().all(|name| text.matches(&format!("\"{name}\"")).count() == 1)
    }
}
