//! Characters that act on a terminal or hide, and how the agents' formats spell them.

use alloc::string::String;
use core::fmt::Write;

/// Whether a character acts on a terminal, changes the direction of text, or is invisible and can smuggle words.
pub fn is_deceptive(character: char) -> bool {
    // Nearly all text is ASCII, and of that the control characters alone act.
    if character.is_ascii() {
        return character.is_ascii_control();
    }
    character.is_control()
        || matches!(
            character,
            // Arabic letter mark, direction marks, embeddings, overrides and isolates (Unicode, UAX #9).
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
            // Line and paragraph separator, zero-width space, word joiner, byte order mark, tags.
            | '\u{2028}' | '\u{2029}' | '\u{200b}' | '\u{2060}'..='\u{2064}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}'
            // What is shown as nothing or as a blank: soft hyphen, joiner of graphemes, fillers, an empty pattern of
            // Braille, vowels of Khmer and selectors of Mongolian that nobody sees, annotations, deprecated format
            // characters, and variation selectors but the one of emoji.
            | '\u{ad}' | '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{206a}'..='\u{206f}' | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0e}' | '\u{ffa0}'
            | '\u{fff9}'..='\u{fffb}' | '\u{e0100}'..='\u{e01ef}'
        )
}

/// JSON text in which such characters are escapes. They stand in strings alone, where the escape is the same; a line
/// end between tokens stays.
pub fn spelled_in_json(json: String) -> String {
    // Nearly always nothing has to be spelled. Without a way out before the end, many bytes are looked at in one step.
    let is_plain = |byte| matches!(byte, b' '..=b'~' | b'\n');
    if json.bytes().fold(true, |plain, byte| plain & is_plain(byte)) {
        return json;
    }
    let mut out = String::with_capacity(json.len());
    for character in json.chars() {
        if character != '\n' && is_deceptive(character) {
            let mut units = [0; 2];
            for unit in character.encode_utf16(&mut units) {
                // Writing to a string can't fail.
                let _ = write!(out, "\\u{unit:04x}");
            }
        } else {
            out.push(character);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    proptest! {
        #[test]
        fn json_is_the_same_value_and_shows_nothing_deceptive(text in "(\\PC|[\u{0}-\u{ff}]|\u{202e}|\u{e0041}|\u{feff}){0,8}") {
            let value = json!({ "a": [text] });
            let spelled = spelled_in_json(value.to_string());
            prop_assert!(!spelled.chars().any(is_deceptive));
            prop_assert_eq!(serde_json::from_str::<Value>(&spelled).unwrap(), value);
        }
    }
}
