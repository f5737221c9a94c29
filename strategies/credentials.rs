//! What is probably a credential in clear, by its name or its looks; and text in which nothing of it is left to read.
//!
//! One rule for both: what leaves a server out of a carrier that others can read (cases B32, B70, B91) is also what no
//! output shows. What a user is blamed for ([`Field::holds_credential`]) is judged by the same names and kinds, and is
//! surer: a version, a digest or a UUID is shown as `***` at little cost, and is no reason to refuse a file.

use alloc::borrow::Cow;
use alloc::string::{String, ToString};

use crate::server::Field;
use crate::text::Text;

/// Stands for a credential.
const MASK: &str = "***";

/// What tokens of well-known kinds begin with, and the schemes of the header `Authorization`.
const KINDS: &[&str] = &["ghp_", "gho_", "github_pat_", "glpat-", "sk-", "xoxb-", "xoxp-", "AKIA", "eyJ"];
const SCHEMES: &[&str] = &["Bearer ", "Basic "];

/// The words of an address or an argument.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(stands_between_words)
}

fn stands_between_words(character: char) -> bool {
    matches!(character, '/' | '?' | '&' | '=' | '#' | ' ' | ',' | ';')
}

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
    let is_random = |word: &str| {
        let digits = word.bytes().filter(u8::is_ascii_digit).count();
        word.len() >= 24 && digits >= 4 && word.len() - digits >= 4
    };
    words(text).any(|word| KINDS.iter().any(|kind| word.starts_with(kind)) || is_random(word))
        || SCHEMES.iter().any(|scheme| text.starts_with(scheme))
}

/// Whether a text is or holds a token beyond much doubt: of a well-known kind, or so long and mixed without a break that
/// no name, version, digest or UUID comes to mind.
fn is_a_token(text: &str) -> bool {
    let is_random = |word: &str| {
        let plain = word.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
        let mut runs = word.split(['-', '_']);
        plain && word.len() >= 24 && runs.any(|run| run.len() >= 16 && is_mixed(run))
    };
    let is_of_a_kind = |word: &str| {
        let rest = KINDS.iter().find_map(|kind| word.strip_prefix(kind));
        rest.is_some_and(|rest| rest.len() >= 8 && rest.bytes().any(|byte| byte.is_ascii_digit()))
    };
    let behind_a_scheme = SCHEMES.iter().find_map(|scheme| text.strip_prefix(scheme));
    behind_a_scheme.is_some_and(|rest| !rest.trim().is_empty())
        || words(text).any(|word| is_of_a_kind(word) || is_random(word))
}

fn is_mixed(run: &str) -> bool {
    let digits = run.bytes().filter(u8::is_ascii_digit).count();
    digits >= 4 && run.len() - digits >= 4
}

impl Field<'_> {
    /// Whether a string that is written in this field holds a credential in clear, beyond much doubt.
    pub fn holds_credential(&self, text: &Text) -> bool {
        let by_place = match (self.key(), self.name(), text.literal()) {
            ("headers", Some(name), Some(value)) => !value.is_empty() && is_credential(name),
            ("url", _, Some(address)) => is_credential_in(address),
            _ => false,
        };
        by_place || text.written_out().any(is_a_token)
    }
}

/// Whether an address names a user, or has a parameter whose name says credential.
fn is_credential_in(address: &str) -> bool {
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    let (authority, words) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    let by_name = |word: &str| {
        word.split_once('=').is_some_and(|(name, value)| is_credential(name) && !value.is_empty())
    };
    authority.contains('@') || words.split(['/', '?', '&', '#', ';']).any(by_name)
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

/// A string of a declaration for people, as it is written: one that surely holds a credential in clear is not shown.
pub fn masked_text(text: &Text) -> Cow<'_, str> {
    if is_masked(text) { MASK.into() } else { text.written() }
}

/// Whether [`masked_text`] shows nothing of a string.
pub fn is_masked(text: &Text) -> bool {
    text.written_out().any(is_a_token)
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

    #[test]
    fn only_what_is_surely_a_credential_is_blamed() {
        let blamed = |key: &'static str, name: Option<&str>, written: &str| {
            Field::of(key, name).holds_credential(&Text::parse(written).unwrap())
        };
        for written in [
            "ghp_16C7e42F292c6912E7",
            "--token=ghp_16C7e42F292c6912E7",
            "${env:T:-ghp_16C7e42F292c6912E7}",
            "Bearer abc",
            "sk-ant-api03-abc123def456",
            "a1b2c3d4e5f6a7b8c9d0e1f2a3b4",
            "AKIAIOSFODNN7EXAMPLE1",
        ] {
            assert!(blamed("args", None, written), "{written}");
            assert!(blamed("env", Some("X"), written), "{written}");
        }
        for written in [
            "Bearer ${secret:x}",
            "sk-learn",
            "@playwright/mcp@0.0.41-alpha-2025-10-01",
            "ghcr.io/x/y@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
            "git+https://github.com/x/y@0123456789abcdef0123456789abcdef01234567",
            "123e4567-e89b-12d3-a456-426614174000",
            "/home/me/projects-2024/some-rather-long-name/2025-06-18",
            "TOKENIZERS_PARALLELISM",
        ] {
            assert!(!blamed("args", None, written), "{written}");
        }
        assert!(!blamed("env", Some("AUTH_MODE"), "none"));
        assert!(blamed("headers", Some("X-Api-Key"), "v"));
        assert!(!blamed("headers", Some("X-Api-Key"), "${env:K}"));
        assert!(!blamed("headers", Some("X-Flag"), "v"));
        assert!(blamed("url", None, "https://u:p@h/mcp"));
        assert!(blamed("url", None, "https://h/mcp?api_key=v"));
        assert!(!blamed("url", None, "https://h/mcp?api_key=${env:K}&page=2025-06-18"));
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
