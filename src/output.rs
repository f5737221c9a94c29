//! The only code that prints: data on stdout, everything said to a person on stderr.

use std::fmt::Write as _;
use std::io::{self, Write};

/// Where output goes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Output {
    /// Says nothing but failures.
    pub quiet: bool,
}

#[expect(clippy::disallowed_methods, reason = "the one place that prints")]
impl Output {
    /// Writes data to stdout. A reader that has gone away (`| head`) is no failure.
    #[expect(clippy::unused_self, reason = "printing takes an Output, so that it shows who prints")]
    pub fn data(&self, text: &str) {
        let _ = io::stdout().lock().write_all(text.as_bytes());
    }

    /// Says something on stderr, each line behind squire's name. Where stderr is gone there is nobody to tell.
    #[expect(clippy::unused_self, reason = "printing takes an Output, so that it shows who prints")]
    pub fn message(&self, text: &str) {
        let _ = writeln!(io::stderr().lock(), "squire: {}", printable(text));
    }

    /// Says something on stderr that `--quiet` leaves away.
    pub fn notice(&self, text: &str) {
        if !self.quiet {
            self.message(text);
        }
    }

    /// Writes a machine's line to stderr, where stdout belongs to the agent.
    #[expect(clippy::unused_self, reason = "printing takes an Output, so that it shows who prints")]
    pub fn machine(&self, text: &str) {
        let _ = writeln!(io::stderr().lock(), "{text}");
    }
}

/// Text that does nothing to a terminal: control characters, and those that change the direction of writing or hide,
/// are escaped. Line ends stay.
pub fn printable(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        let harmless = character == '\n' || !(character.is_control() || turns_or_hides(character));
        if harmless {
            out.push(character);
        } else {
            let _ = write!(out, "{}", character.escape_unicode());
        }
    }
    out
}

/// The explicit directional characters of Unicode's bidirectional algorithm (UAX #9), and invisible ones.
fn turns_or_hides(character: char) -> bool {
    matches!(character, '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_act_on_a_terminal_is_escaped() {
        assert_eq!(printable("plain é🙂\nline"), "plain é🙂\nline");
        assert_eq!(printable("\u{1b}[31mred\u{202e}evil\r"), "\\u{1b}[31mred\\u{202e}evil\\u{d}");
    }
}
