//! Codex's config.toml: a server of ours whose name is there is left out, one that can't be known is told, and every
//! argument is TOML.

#![no_main]

use libfuzzer_sys::fuzz_target;
use squire_fuzz::{OURS, pieces, plan, strategy};
use squire_strategies::{Code, Read};

fuzz_target!(|data: &[u8]| {
    let files: Vec<(Read, &[u8])> = strategy("codex").reads().iter().copied().zip(pieces(data)).collect();
    let planned = plan("codex", &files, data.len() % 2 == 0);
    let parsed: Vec<Option<toml::Table>> = files.iter().map(|(_, bytes)| parsed(bytes)).collect();
    let Ok(artifacts) = planned else {
        assert!(
            data.len() % 2 == 0 && parsed.contains(&None),
            "only --strict is refused, for what can't be read"
        );
        return;
    };
    let unreadable = artifacts.notes.iter().any(|note| note.code == Code::Unreadable);
    assert_eq!(unreadable, parsed.contains(&None), "{:?}", artifacts.notes);
    let words: Vec<&str> =
        artifacts.leading.iter().chain(&artifacts.arguments).map(|word| word.text.as_str()).collect();
    for pair in words.chunks(2) {
        assert_eq!(pair[0], "-c");
        pair[1].parse::<toml::Table>().unwrap_or_else(|error| panic!("{}: {error}", pair[1]));
    }
    for name in OURS {
        let is_taken = parsed.iter().flatten().any(|table| {
            table
                .get("mcp_servers")
                .and_then(toml::Value::as_table)
                .is_some_and(|servers| servers.contains_key(name))
        });
        let is_given = words.iter().any(|word| word.starts_with(&format!("mcp_servers.{name}.required=")));
        assert_eq!(is_given, !is_taken, "{name}: {words:?}");
    }
});

fn parsed(bytes: &[u8]) -> Option<toml::Table> {
    let text = std::str::from_utf8(bytes).ok()?;
    text.strip_prefix('\u{feff}').unwrap_or(text).parse().ok()
}
