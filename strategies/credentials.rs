//! What is probably a credential in clear, by its name or its looks; and text in which nothing of it is left to read.
//!
//! One rule for both: what leaves a server out of a carrier that others can read (cases B32, B70, B91) is also what no
//! output shows.

use alloc::string::{String, ToString};

/// Stands for a credential.
const MASK: &str = "***";

/// Whether a header or a parameter of this name probably holds a credential.
pub(crate) fn is_credential(name: &str) -> bool {
    const PARTS: &[&str] =
        &["auth", "cookie", "credential", "key", "password", "secret", "session", "signature", "token"];
    const WORDS: &[&str] = &["pass", "passwd", "pwd", "sig"];
    let name = name.to_ascii_lowercase();
    PARTS.iter().any(|part| name.contains(part)) || WORDS.contains(&name.as_str())
}

/// Whether a text holds a token of a well-known kind, or a word so long and mixed that it is hardly anything else.
pub(crate) fn looks_like_a_token(text: &str) -> bool {
    const KINDS: &[&str] = &[
        "Bearer ",
        "Basic ",
        "ghp_",
        "gho_",
        "github_pat_",
        "glpat-",
        "sk-",
        "xoxb-",
        "xoxp-",
        "AKIA",
        "eyJ",
    ];
    let is_random = |word: &str| {
        let digits = word.bytes().filter(u8::is_ascii_digit).count();
        word.len() >= 24 && digits >= 4 && word.len() - digits >= 4
    };
    text.split(['/', '?', '&', '=', '#', ' ', ',', ';'])
        .any(|word| KINDS.iter().any(|kind| word.starts_with(kind)) || is_random(word))
        || KINDS.iter().any(|kind| text.starts_with(kind))
}

/// Whether a value is one reference and nothing else: what it stands for is nowhere in it.
fn is_reference(value: &str) -> bool {
    let inner = value.strip_prefix("${").and_then(|rest| rest.strip_suffix('}'));
    inner.is_some_and(|inner| !inner.contains(['{', '}']) && !inner.contains(":-"))
}

/// An address for people: without the user in it, the values of parameters that are probably credentials, and words
/// that look like a token. References stay.
pub fn masked_address(address: &str) -> String {
    let (scheme, rest) = address.split_once("://").map_or(("", address), |(scheme, rest)| (scheme, rest));
    let separator = if rest.len() == address.len() { "" } else { "://" };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, words) = rest.split_at(end);
    let mut out = [scheme, separator].concat();
    match authority.rsplit_once('@') {
        Some((_, host)) => out.extend([MASK, "@", host]),
        None => out.push_str(authority),
    }
    for word in words.split_inclusive(['/', '?', '&', '#', ';']) {
        let delimiter = word.len() - usize::from(word.ends_with(['/', '?', '&', '#', ';']));
        let (word, delimiter) = word.split_at(delimiter);
        match word.split_once('=') {
            Some((name, value)) => {
                out.extend([name, "=", &masked(value, is_credential(name))]);
            }
            None => out.push_str(&masked(word, false)),
        }
        out.push_str(delimiter);
    }
    out
}

/// The value of a header for people.
pub fn masked_header(name: &str, value: &str) -> String {
    masked(value, is_credential(name))
}

fn masked(value: &str, is_credential: bool) -> String {
    let hides = !value.is_empty() && !is_reference(value) && (is_credential || looks_like_a_token(value));
    if hides { MASK.to_string() } else { value.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;
    use proptest::prelude::*;

    #[test]
    fn what_is_probably_a_credential_is_not_shown() {
        for (address, shown) in [
            ("https://h.example.com/mcp", "https://h.example.com/mcp"),
            ("https://me:pass@h:1/mcp", "https://***@h:1/mcp"),
            ("https://h/mcp?api_key=abc&page=1", "https://h/mcp?api_key=***&page=1"),
            ("https://h?token=a=b", "https://h?token=***"),
            ("https://h/?ACCESS_TOKEN=x#sig=y", "https://h/?ACCESS_TOKEN=***#sig=***"),
            ("https://h/?password=&design=x", "https://h/?password=&design=x"),
            ("https://h/ghp_abc/mcp?q=sk-abc", "https://h/***/mcp?q=***"),
            ("https://h/?key=${env:KEY}&token=${env:T:-abc}", "https://h/?key=${env:KEY}&token=***"),
            ("no address", "no address"),
        ] {
            assert_eq!(masked_address(address), shown);
        }
        assert_eq!(masked_header("X-Api-Key", "abc"), "***");
        assert_eq!(masked_header("X", "Bearer abc"), "***");
        assert_eq!(masked_header("Authorization", "${env:A}"), "${env:A}");
        assert_eq!(masked_header("X", "abc"), "abc");
    }

    proptest! {
        /// Whatever the name, the value behind it is gone, and what is masked stays as it is.
        #[test]
        fn no_value_of_a_credential_is_left(
            name in "[a-z]{0,3}(key|token|secret|password|auth|signature)", value in "[A-Z0-9%=.-]{3,12}", before in "[a-z/]{0,6}",
        ) {
            let shown = masked_address(&format!("https://h/{before}?x=1&{name}={value}&y=2"));
            prop_assert!(!shown.contains(&value), "{}", shown);
            prop_assert_eq!(masked_address(&shown), shown);
        }
    }
}
