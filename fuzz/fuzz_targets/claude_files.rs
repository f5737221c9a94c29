//! Claude's files: whatever servers a repository's `.mcp.json` has, none stays on that the user did not enable, and no
//! file of a repository stops a launch.

#![no_main]

use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use squire_fuzz::{OURS, pieces, plan, strategy};
use squire_strategies::{Artifacts, File, Read};

const SERVERS: Read = Read::Upward(".mcp.json");

fuzz_target!(|data: &[u8]| {
    let pieces = pieces(data);
    // Everything that it reads, whatever stands in it.
    let all: Vec<(Read, &[u8])> =
        strategy("claude").reads().iter().copied().zip(pieces.iter().copied()).collect();
    for strict in [false, true] {
        equips(&plan("claude", &all, strict).expect("no file refuses a launch"));
    }
    // The repository's alone: it has no word of the user's.
    let settings = Read::Upward(".claude/settings.json");
    let mut found = vec![(SERVERS, pieces[0])];
    found.extend(pieces.get(1).map(|bytes| (settings, *bytes)));
    let artifacts = plan("claude", &found, false).expect("no file refuses a launch");
    let leading: Vec<&str> = artifacts.leading.iter().map(|argument| argument.text.as_str()).collect();
    if leading.contains(&"--strict-mcp-config") {
        return;
    }
    let text = String::from_utf8_lossy(pieces[0].strip_prefix(b"\xef\xbb\xbf").unwrap_or(pieces[0]));
    let file: Value = serde_json::from_str(&text).expect("what can't be read is off as a whole");
    let off = leading.iter().find_map(|word| word.strip_prefix("--mcp-config="));
    let off: Value = off.map(|text| serde_json::from_str(text).expect("JSON")).unwrap_or_default();
    for (name, entry) in file.get("mcpServers").and_then(Value::as_object).into_iter().flatten() {
        let replaced = off["mcpServers"].get(name).is_some_and(|entry| entry["command"] == "/usr/bin/squire");
        assert!(replaced || OURS.contains(&name.as_str()) || !entry.is_object(), "{name:?} stays on");
    }
});

/// Both servers arrive, whatever else there is.
fn equips(artifacts: &Artifacts) {
    let [File::Private { text, .. }] = artifacts.files.as_slice() else { panic!("{artifacts:?}") };
    let file: Value = serde_json::from_str(text).expect("JSON");
    let names: Vec<&String> = file["mcpServers"].as_object().expect("an object").keys().collect();
    assert_eq!(names, OURS);
}
