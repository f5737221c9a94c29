//! The canary in every value of a secret that tests use, and the search for it in all that a run says and leaves.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use serde_json::Value;

/// A part of every value: wherever it is found, a value is.
pub(crate) const CANARY: &str = "S3CR3T";

/// Whether bytes hold a value as anybody could have written it: as it is, percent-encoded, escaped as JSON does, in
/// hexadecimal digits, or in base64, wherever in a longer text it stands there.
pub(crate) fn holds_canary(bytes: &[u8]) -> bool {
    static FORMS: OnceLock<Vec<Vec<u8>>> = OnceLock::new();
    let forms = FORMS.get_or_init(forms);
    // A test may leave megabytes, and is not optimised.
    let is_first = |byte: &u8| forms.iter().any(|form| form[0] == *byte);
    let starts: [bool; 256] = std::array::from_fn(|byte| is_first(&u8::try_from(byte).unwrap()));
    let candidates = bytes.iter().enumerate().filter(|(_, byte)| starts[usize::from(**byte)]);
    candidates.map(|(at, _)| &bytes[at..]).any(|rest| forms.iter().any(|form| rest.starts_with(form)))
}

fn forms() -> Vec<Vec<u8>> {
    let each = |form: fn(u8) -> String| CANARY.bytes().map(form).collect::<String>();
    let mut forms = vec![
        CANARY.to_owned(),
        each(|byte| format!("%{byte:02X}")),
        each(|byte| format!("\\u{byte:04x}")),
        each(|byte| format!("{byte:02x}")),
    ];
    forms.extend((0..3).map(|before| base64(before, CANARY.as_bytes())));
    forms.into_iter().map(String::into_bytes).collect()
}

/// The digits that are the same whatever stands before and behind, behind so many other bytes.
fn base64(before: usize, bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let bits: Vec<u8> = std::iter::repeat_n(0, before)
        .chain(bytes.iter().copied())
        .flat_map(|byte| (0..8).rev().map(move |bit| byte >> bit & 1))
        .collect();
    let digit = |six: &[u8]| char::from(DIGITS[six.iter().fold(0, |sum, bit| sum << 1 | usize::from(*bit))]);
    bits.chunks_exact(6).skip((before * 8).div_ceil(6)).map(digit).collect()
}

/// Every regular file below a directory that holds a value.
pub(super) fn holders(root: &Path) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    let mut open = vec![root.to_path_buf()];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
            let (path, kind) = (entry.path(), entry.file_type());
            match kind {
                Ok(kind) if kind.is_dir() => open.push(path),
                Ok(kind) if kind.is_file() && fs::read(&path).is_ok_and(|bytes| holds_canary(&bytes)) => {
                    found.insert(path);
                }
                Ok(_) | Err(_) => {}
            }
        }
    }
    found
}

/// Whether an agent was given a value, beyond the variables that its user has set for all that is started.
pub(super) fn agent_holds_canary(log: &Path, is_users: impl Fn(&str, &str) -> bool) -> bool {
    let Ok(bytes) = fs::read(log) else { return false };
    let Ok(mut given) = serde_json::from_slice::<Value>(&bytes) else { return holds_canary(&bytes) };
    if let Some(variables) = given["env"].as_object_mut() {
        variables.retain(|name, value| !value.as_str().is_some_and(|value| is_users(name, value)));
    }
    holds_canary(given.to_string().as_bytes())
}

/// Each value that a `secrets.toml` holds itself must have the canary, or no test would notice its leak.
#[track_caller]
pub(super) fn assert_values_are_marked(text: &str) {
    fn check(name: &str, item: &toml_edit::Item) {
        if let Some(table) = item.as_table_like() {
            let is_source = ["env", "file", "command"].iter().any(|key| table.contains_key(key));
            table
                .iter()
                .filter(|(key, _)| !is_source || *key == "value")
                .for_each(|(key, item)| check(key, item));
        } else if let Some(value) = item.as_str().filter(|value| !value.is_empty()) {
            assert!(value.contains(CANARY), "the value of {name} has no canary: {value}");
        }
    }
    let Ok(document) = text.parse::<toml_edit::DocumentMut>() else { return };
    document.get("secrets").into_iter().for_each(|secrets| check("secrets", secrets));
}

#[test]
fn every_form_is_found() {
    use std::fmt::Write as _;
    let percent = CANARY.bytes().fold(String::new(), |mut text, byte| {
        write!(text, "%{byte:02X}").unwrap();
        text
    });
    // From another implementation: `printf xS3CR3Tyy | base64`, with one letter more in front each time.
    for text in [
        "a S3CR3T",
        &percent,
        "\\u0053\\u0033\\u0043\\u0052\\u0033\\u0054",
        "533343523354",
        "UzNDUjNUeXk=",
        "eFMzQ1IzVHl5",
        "eHhTM0NSM1R5eQ==",
    ] {
        assert!(holds_canary(text.as_bytes()), "{text}");
    }
    assert!(!holds_canary(b"S3CR3 T, and nothing else"));
}
