//! A damaged line, made readable.

/// `line` with U+FFFD in place of every invalid UTF-8 sequence and of every `\uD800`-like escape that is half a
/// surrogate pair. Servers that cut a text in the middle of an emoji send both; the rest of such a message is still
/// worth having, and a request must not stay unanswered for it (case B74).
pub(crate) fn mend(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line);
    let mut mended = String::with_capacity(text.len());
    let mut rest = &*text;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        mended.push_str(before);
        let length = match code_unit(escape) {
            Some(0xD800..=0xDBFF) if matches!(code_unit(&escape[6..]), Some(0xDC00..=0xDFFF)) => 12,
            Some(0xD800..=0xDFFF) => {
                mended.push_str("\\ufffd");
                rest = &escape[6..];
                continue;
            }
            Some(_) => 6,
            None => 1 + escape[1..].chars().next().map_or(0, char::len_utf8),
        };
        mended.push_str(&escape[..length]);
        rest = &escape[length..];
    }
    mended + rest
}

/// The UTF-16 code unit of the escape `\uXXXX` that `text` begins with.
fn code_unit(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    u16::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replaces_halves_and_keeps_pairs() {
        assert_eq!(mend(br#""\ud83d\ude42""#), r#""\ud83d\ude42""#);
        assert_eq!(mend(br#""\ud83d""#), r#""\ufffd""#);
        assert_eq!(mend(br#""\ude42 \ud83d\u0041""#), r#""\ufffd \ufffd\u0041""#);
        assert_eq!(mend(b"\"\xe8\xaf\""), "\"\u{fffd}\"");
    }

    #[test]
    fn an_escaped_backslash_begins_no_escape() {
        assert_eq!(mend(br#""\\ud83d""#), r#""\\ud83d""#);
        assert_eq!(mend(br"\"), r"\");
        assert_eq!(mend(r"\ü\u12".as_bytes()), r"\ü\u12");
    }
}
