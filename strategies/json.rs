//! JSON as agents write and read it: comments and trailing commas on the way in, one line on the way out.

use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

use serde::Serialize;
use serde_json::Value;

/// Reads JSON with comments, trailing commas and a byte order mark (cases B15, B16), as the agents that write it do.
///
/// Comments and surplus commas become blanks, so that line and column of an error are those of the file.
pub fn parse(bytes: &[u8]) -> Result<Value, serde_json::Error> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    serde_json::from_slice(&blanked(bytes))
}

/// The block comments of JSON text, each from its beginning.
pub(crate) fn block_comments(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut index = 0;
    core::iter::from_fn(move || {
        while index < bytes.len() {
            let start = index;
            match (bytes[index], bytes.get(index + 1)) {
                (b'"', _) => index = string_end(bytes, index),
                (b'/', Some(b'/' | b'*')) => index = comment_end(bytes, index),
                _ => index += 1,
            }
            if bytes[start..index].starts_with(b"/*") {
                return Some(&bytes[start..index]);
            }
        }
        None
    })
}

fn blanked(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::from(bytes);
    let mut comma = None;
    let mut index = 0;
    while index < bytes.len() {
        match bytes[index] {
            b'"' => {
                comma = None;
                index = string_end(bytes, index);
                continue;
            }
            b'/' if matches!(bytes.get(index + 1), Some(b'/' | b'*')) => {
                let end = comment_end(bytes, index);
                blank(&mut out[index..end]);
                index = end;
                continue;
            }
            b',' => comma = Some(index),
            b'}' | b']' => {
                if let Some(surplus) = comma.take() {
                    out[surplus] = b' ';
                }
            }
            byte if byte.is_ascii_whitespace() => {}
            _ => comma = None,
        }
        index += 1;
    }
    out
}

fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut index = start + 1;
    while index < bytes.len() {
        match bytes[index] {
            b'\\' => index += 2,
            b'"' => return index + 1,
            _ => index += 1,
        }
    }
    bytes.len()
}

fn comment_end(bytes: &[u8], start: usize) -> usize {
    let rest = &bytes[start + 2..];
    let length = if bytes[start + 1] == b'/' {
        rest.iter().position(|byte| *byte == b'\n')
    } else {
        rest.windows(2).position(|pair| pair == b"*/").map(|position| position + 2)
    };
    length.map_or(bytes.len(), |length| start + 2 + length)
}

fn blank(bytes: &mut [u8]) {
    for byte in bytes.iter_mut().filter(|byte| **byte != b'\n') {
        *byte = b' ';
    }
}

/// Writes a value on one line. The `Display` of one says the same, piece by piece through a formatter, which takes
/// longer.
pub fn compact(value: &(impl Serialize + ?Sized)) -> String {
    // A value can't fail to be written: its keys are strings and its numbers finite.
    serde_json::to_string(value).unwrap_or_default()
}

/// A duration as agents' files have it.
pub(crate) fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn b15_b16_comments_trailing_commas_and_a_byte_order_mark_are_read() {
        let written =
            "\u{feff}{ \"a\": // note\r\n [1, 2,], /* off: \"b\": 1 */ \"u\": \"https://h/a//b,]\", }";
        assert_eq!(parse(written.as_bytes()).unwrap(), json!({"a": [1, 2], "u": "https://h/a//b,]"}));
    }

    #[test]
    fn block_comments_are_found_where_they_are_comments() {
        let text = br#"{ /* a */ "x": "/* b */", // /* c */
            "y": 1 /**/ } /* d"#;
        let found: Vec<&[u8]> = block_comments(text).collect();
        assert_eq!(found, [&b"/* a */"[..], b"/**/", b"/* d"]);
    }

    #[test]
    fn an_error_keeps_its_place() {
        let error = parse(b"{ // note\n  \"a\": /* x\n */ oops }").unwrap_err();
        assert_eq!((error.line(), error.column()), (3, 5));
        assert!(parse(b"{\"a\": [1,,]}").is_err());
        assert!(parse(b"{\"a\": \"x").is_err());
        assert!(parse(b"{} /* open").is_ok());
    }

    proptest! {
        /// The library that edits such files is the oracle.
        #[test]
        fn reads_what_the_comment_keeping_library_reads(
            written in "(\\{|\\}|\\[|\\]|,|:| |\n|//|/\\*|\\*/|\"a\"|\"b/\\*\"|\"\\\\\\\\\"|1|true|null){0,24}"
        ) {
            let oracle: Result<Value, _> =
                jsonc_parser::parse_to_serde_value(&written, &crate::json_edit::dialect());
            let duplicate_free = |value: &Value| value.to_string().matches("\"a\"").count() == written.matches("\"a\"").count();
            if let (Ok(ours), Ok(theirs)) = (parse(written.as_bytes()), oracle)
                && duplicate_free(&ours)
            {
                prop_assert_eq!(ours, theirs);
            }
        }
    }
}
