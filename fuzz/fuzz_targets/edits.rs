//! Edits of a `squire.toml`: whatever the text, what is added is there, and taking it out gives the old bytes.

#![no_main]

use libfuzzer_sys::fuzz_target;
use squire::config::edit::Document;
use toml_edit::{Item, Table};

fuzz_target!(|text: &str| {
    let Ok(before) = Document::parse(text) else { return };
    let mut fields = Table::new();
    fields.insert("url", Item::Value("https://fuzz".into()));
    let path = ["servers", "fuzz-new"];
    if before.has(&path) {
        return;
    }
    let mut edited = before.clone();
    if edited.insert(path, &fields).is_err() {
        return;
    }
    // A key may stand where the new table could not be: then the reader refuses the text, and nothing is written.
    if Document::parse(edited.text()).is_err() {
        return;
    }
    assert!(edited.has(&["servers", "fuzz-new", "url"]), "{}", edited.text());
    assert!(edited.remove(&path).expect("it is there"));
    assert_eq!(edited.text(), before.text());
});
