//! Journals: what is read is written again as the same, any journal with any file gives the user's text or the reason why
//! it can't be told, and the entries of launches come out of the file that they were put into, to the byte.

#![no_main]

use libfuzzer_sys::fuzz_target;
use serde_json::{Value, json};
use squire::files::Held;
use squire::runner::Journal;

fuzz_target!(|data: &[u8]| {
    // A journal, a NUL, the file as it stands.
    let at = data.iter().position(|byte| *byte == 0).unwrap_or(data.len());
    let (text, file) = (&data[..at], data.get(at + 1..).unwrap_or_default());
    let Ok(journal) = Journal::read(text) else { return };
    let bytes = journal.bytes().expect("it is written");
    assert_eq!(Journal::read(&bytes).as_ref(), Ok(&journal));
    let held = Held { bytes: file.to_vec(), mode: 0o600 };
    if let Ok(Some(users)) = journal.users(Some(&held)) {
        assert_eq!(users.mode, held.mode);
        let _ = journal.with_entries(Some(&users));
    }

    let (Ok(mut fresh), Ok(file)) = (serde_json::from_slice::<Value>(text), std::str::from_utf8(file)) else {
        return;
    };
    fresh["original"] = json!({ "text": file, "mode": 0o600 });
    for empty in ["ended", "step"] {
        fresh[empty] = json!([]);
    }
    let journal = Journal::read(fresh.to_string().as_bytes()).expect("it has the shape");
    let Ok(Some(with)) = journal.with_entries(Some(&held)) else { return };
    let out = |bytes: &[u8]| {
        let held = Held { bytes: bytes.to_vec(), mode: 0o600 };
        journal.users(Some(&held)).expect("it can be told").map(|users| users.bytes)
    };
    assert_eq!(out(&with.bytes).as_deref(), Some(file.as_bytes()));
    let [edited, expected] = [&with.bytes[..], file.as_bytes()].map(|text| [text, b"\n"].concat());
    assert_eq!(out(&edited), Some(expected), "an edit behind ours");
});
