//! What a README shows: whatever the bytes, each string of a declaration made of it can be read, and names are legal.

#![no_main]

use libfuzzer_sys::fuzz_target;
use squire::config::import::{legal, of_entry, of_text};
use squire::config::{LayerKind, edit::Document, read};
use squire_strategies::{Name, Text};
use toml_edit::Value;

fuzz_target!(|text: &str| {
    let Ok(snippets) = of_text(text) else { return };
    let mut taken: Vec<Name> = Vec::new();
    for snippet in snippets {
        let name = legal(snippet.name.as_deref().unwrap_or("server"), &taken);
        assert!(Name::parse(name.as_str()).is_ok() && !taken.iter().any(|other| other.collides(&name)));
        if let Ok(imported) = of_entry(name.as_str(), &snippet.entry, "fuzz") {
            assert!(imported.table.iter().filter_map(|(_, item)| item.as_value()).all(can_be_read));
            let mut document = Document::parse("").expect("nothing is TOML");
            document.insert(["servers", name.as_str()], &imported.table).expect("a new table fits");
            // The reader may refuse a value, such as an address without a host.
            read(document.text().as_bytes(), "F".as_ref(), LayerKind::User);
        }
        taken.push(name);
    }
});

/// Whether each string of it is text with references of squire's.
fn can_be_read(value: &Value) -> bool {
    match value {
        Value::String(text) => Text::parse(text.value()).is_ok(),
        Value::Array(values) => values.iter().all(can_be_read),
        Value::InlineTable(fields) => fields.iter().all(|(_, value)| can_be_read(value)),
        _ => true,
    }
}
