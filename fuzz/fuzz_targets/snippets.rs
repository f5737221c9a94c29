//! What a README shows: whatever the bytes, each string of a declaration made of it can be read, and names are legal.

#![no_main]

use libfuzzer_sys::fuzz_target;
use squire::config::import::{legal, of_entry, of_text};
use squire::config::{LayerKind, edit::Document, read};
use squire_strategies::Name;

fuzz_target!(|text: &str| {
    let Ok(snippets) = of_text(text) else { return };
    let mut taken: Vec<Name> = Vec::new();
    for snippet in snippets {
        let name = legal(snippet.name.as_deref().unwrap_or("server"), &taken);
        assert!(Name::parse(name.as_str()).is_ok() && !taken.iter().any(|other| other.collides(&name)));
        if let Ok(imported) = of_entry(name.as_str(), &snippet.entry, "fuzz") {
            let mut document = Document::parse("").expect("nothing is TOML");
            document.insert(["servers", name.as_str()], &imported.table).expect("a new table fits");
            let problems = read(document.text().as_bytes(), "F".as_ref(), LayerKind::User).1;
            // The reader may refuse a value, such as an address without a host; a string it always can read.
            assert!(!problems.iter().any(|problem| problem.message.contains("${")), "{problems:?}");
        }
        taken.push(name);
    }
});
