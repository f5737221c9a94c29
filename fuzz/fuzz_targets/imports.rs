//! Files of agents and other tools: whatever the bytes, what is wrong lies in them, and each string of a declaration made of
//! them can be read.

#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use squire::config::import::{Context, FORMATS, recognise};
use squire::config::{LayerKind, edit::Document, read};

// The first byte chooses the format, and the second the language.
fuzz_target!(|data: &[u8]| {
    let [kind, language, bytes @ ..] = data else { return };
    let format = FORMATS[usize::from(*kind) % FORMATS.len()];
    let path = Path::new(["/a.json", "/a.toml", "/a.yaml", "/a.kedi", "/a"][usize::from(*language) % 5]);
    // It finds a format or says what was expected.
    let _ = recognise(path, bytes);
    let lines = bytes.iter().filter(|byte| **byte == b'\n' || **byte == b'\r').count() + 1;
    let found = match format.read(path, bytes, Some("/p")) {
        Ok(found) => found,
        Err(unread) => {
            assert!((1..=lines + 1).contains(&unread.place.line), "{unread:?}");
            return;
        }
    };
    let context =
        Context { directory: Some("/d"), workspace: Some("/p"), inputs: &found.inputs, ..Context::NONE };
    for foreign in &found.servers {
        assert!((1..=lines + 1).contains(&foreign.place.line), "{:?}", foreign.name);
        let Ok(translated) = foreign.translate("srv", &context) else { continue };
        let mut document = Document::parse("").expect("nothing is TOML");
        document.insert(["servers", "srv"], &translated.table).expect("a new table fits");
        let problems = read(document.text().as_bytes(), "F".as_ref(), LayerKind::User).1;
        // The reader may refuse a value, such as an address without a host; a string it always can read.
        assert!(!problems.iter().any(|problem| problem.message.contains("${")), "{problems:?}");
    }
});
