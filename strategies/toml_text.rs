//! TOML values on one line, for `-c KEY=VALUE` (case B73).
//!
//! Codex takes a value that does not parse as TOML for a plain string, without an error; so what is written here is
//! TOML 1.0: no newline in an inline table, no `\e`, and no raw character that acts on a terminal.

use alloc::string::String;
use core::fmt::Write;

use crate::deceptive::is_deceptive;

/// An inline table under construction.
pub(crate) struct InlineTable(String);

impl InlineTable {
    pub(crate) fn new() -> Self {
        Self(String::from("{"))
    }

    /// Adds a key with a value that is TOML already.
    pub(crate) fn set(&mut self, key: &str, value: &str) {
        if self.0.len() > 1 {
            self.0.push(',');
        }
        self.0.push_str(&self::key(key));
        self.0.push('=');
        self.0.push_str(value);
    }

    pub(crate) fn finish(mut self) -> String {
        self.0.push('}');
        self.0
    }
}

/// A key: bare where it can be.
pub fn key(key: &str) -> String {
    let bare =
        !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
    if bare { key.into() } else { string(key) }
}

/// A basic string, in which nothing acts on a terminal.
pub fn string(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    push_string(&mut out, text);
    out
}

fn push_string(out: &mut String, text: &str) {
    out.push('"');
    // Most strings are names and paths, of which nothing has to be spelled.
    let (plain, rest) = text.split_at(text.bytes().take_while(|byte| is_plain(*byte)).count());
    out.push_str(plain);
    for character in rest.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            deceptive if is_deceptive(deceptive) => {
                let code = u32::from(deceptive);
                // Writing to a string can't fail.
                let _ =
                    if code > 0xffff { write!(out, "\\U{code:08X}") } else { write!(out, "\\u{code:04X}") };
            }
            plain => out.push(plain),
        }
    }
    out.push('"');
}

fn is_plain(byte: u8) -> bool {
    matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\\')
}

/// An array of basic strings.
pub(crate) fn strings<'a>(texts: impl IntoIterator<Item = &'a str>) -> String {
    let mut out = String::from("[");
    for (index, text) in texts.into_iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        push_string(&mut out, text);
    }
    out.push(']');
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;
    use alloc::vec::Vec;
    use proptest::prelude::*;
    use toml::de::{DeTable, DeValue};

    proptest! {
        #[test]
        fn b25_b73_every_string_and_key_is_read_back(
            key in "\\PC{0,6}|[\u{0}-\u{7f}]{0,6}",
            texts in proptest::collection::vec("\\PC{0,12}|[\u{0}-\u{9f}]{0,12}", 0..4),
        ) {
            let mut table = InlineTable::new();
            table.set(&key, &strings(texts.iter().map(String::as_str)));
            table.set("second-key\u{1}", &string("x"));
            let line = format!("_x_ = {}", table.finish());
            prop_assert!(!line.contains('\n'));
            let parsed = DeTable::parse(&line).unwrap().into_inner();
            let DeValue::Table(table) = parsed.get("_x_").unwrap().get_ref() else { panic!("no table: {line}") };
            let DeValue::Array(array) = table.get(key.as_str()).unwrap().get_ref() else { panic!("no array: {line}") };
            let read: Vec<&str> = array.iter().filter_map(|value| value.get_ref().as_str()).collect();
            prop_assert_eq!(read, texts.iter().map(String::as_str).collect::<Vec<_>>());
        }
    }
}
