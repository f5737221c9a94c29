//! Text that squire did not write itself, made safe to show on a terminal.

use std::fmt::Write as _;

use squire_strategies::is_deceptive;

/// `text` on one line in which nothing acts on the terminal or hides: control characters, line ends included,
/// characters that change the direction of text, and invisible ones that can smuggle words are written as escapes
/// such as `\n` or `\u{202e}`. Text of several lines is split by the caller first.
pub(crate) fn printable(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' => safe.push_str("\\n"),
            '\r' => safe.push_str("\\r"),
            '\t' => safe.push_str("\\t"),
            deceptive if is_deceptive(deceptive) => {
                // Writing into a String cannot fail.
                let _ = write!(safe, "{}", deceptive.escape_unicode());
            }
            plain => safe.push(plain),
        }
    }
    safe
}

/// The beginning of `bytes` as [`printable`] text, at most `limit` characters of it before escaping; `…` says that
/// there is more.
pub(crate) fn excerpt(bytes: &[u8], limit: usize) -> String {
    // A character has at most four bytes: what lies behind them need not be looked at.
    let window = &bytes[..bytes.len().min(limit.saturating_mul(4))];
    let text = String::from_utf8_lossy(window);
    let trimmed = text.trim();
    match trimmed.char_indices().nth(limit) {
        Some((end, _)) => printable(&trimmed[..end]) + "…",
        None if window.len() < bytes.len() => printable(trimmed) + "…",
        None => printable(trimmed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_what_acts_and_keeps_what_speaks() {
        assert_eq!(printable("読—🙂é"), "読—🙂é");
        assert_eq!(printable("a\x1b[2Jb\r\n\t\0"), "a\\u{1b}[2Jb\\r\\n\\t\\u{0}");
        assert_eq!(printable("\u{202e}gpj.exe\u{9b}31m"), "\\u{202e}gpj.exe\\u{9b}31m");
        assert_eq!(printable("\u{e0041}\u{3164}\u{ad}"), "\\u{e0041}\\u{3164}\\u{ad}");
        assert_eq!(printable("⚠\u{fe0f}"), "⚠\u{fe0f}");
    }

    #[test]
    fn an_excerpt_is_bounded_and_says_so() {
        assert_eq!(excerpt(b"  short \n", 10), "short");
        assert_eq!(excerpt("🙂🙂🙂".as_bytes(), 2), "🙂🙂…");
        assert_eq!(excerpt(b"\xff\xfe garbage", 20), "\u{fffd}\u{fffd} garbage");
        assert!(excerpt(&vec![b'x'; 1 << 20], 100).chars().count() == 101);
    }
}
