//! The state directory: whatever stands in a journal or a launch record, what is removed or changed for it lies in the
//! state directory or is the one file that entries are in.

#![no_main]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use libfuzzer_sys::fuzz_target;
use squire::output::Output;
use squire::runner::{forget, read_record, running, settle, survey};

const ID: &str = "0123456789abcdef0123456789abcdef";

fuzz_target!(|data: &[u8]| {
    let Some((kind, text)) = data.split_first() else { return };
    let place = tempfile::tempdir().expect("a place");
    let root = place.path();
    for (path, bytes) in [
        ("keys/key", "k"),
        ("project/other", "o"),
        ("project/.cursor/mcp.json", "{}"),
        ("state/private/x/claude.json", "{}"),
    ] {
        write(&root.join(path), bytes.as_bytes());
    }
    for directory in ["keys", "project", "state", "state/private", "state/private/x"] {
        fs::set_permissions(root.join(directory), fs::Permissions::from_mode(0o700)).expect("ours");
    }
    // `<T>` is the place: the engine can't know it.
    let shown = root.display().to_string();
    let Ok(text) = std::str::from_utf8(text).map(|text| text.replace("<T>", &shown)) else { return };
    // Whatever fails here costs nobody a file: no other absolute path is tried.
    if text.contains("\\") || text.replace(&format!("\"{shown}"), "").contains("\"/") {
        return;
    }
    let name = format!("state/{}/{ID}.json", if kind % 2 == 0 { "merges" } else { "launches" });
    let file = root.join(name);
    write(&file, text.as_bytes());
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).expect("ours");

    let state = root.join("state");
    let _ = (read_record(&state, ID), running(&state), survey(&state));
    settle(&state, Output { quiet: true });
    let _ = forget(&state);
    for path in ["keys/key", "project/other"] {
        assert!(fs::read(root.join(path)).is_ok_and(|bytes| bytes.len() == 1), "{path} was touched");
    }
    assert_eq!(fs::read_dir(root.join("keys")).expect("it is there").count(), 1);
    assert_eq!(fs::read_dir(root.join("project")).expect("it is there").count(), 2);
    assert!(
        root.join("state/private/x/claude.json").exists(),
        "a private file of another launch was removed"
    );
});

fn write(path: &Path, bytes: &[u8]) {
    fs::create_dir_all(path.parent().map(PathBuf::from).unwrap_or_default()).expect("a directory");
    fs::write(path, bytes).expect("a file");
}
