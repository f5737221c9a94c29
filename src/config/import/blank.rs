//! What the writer of a README leaves for its reader to fill in: `<YOUR_TOKEN>`, `your-api-key`, `{{token}}`, `xxxx`.

/// What a placeholder begins with; a verb counts only before one of the nouns. In lower case, `-` for `_`.
const BEGINNINGS: &[&str] =
    &["your-", "add-your-", "insert-your-", "enter-your-", "paste-your-", "replace-with-"];
const VERBS: &[&str] = &["insert-", "replace-", "enter-", "paste-"];
const NOUNS: &[&str] = &["key", "token", "secret", "password", "here"];
/// Words that are one.
const WORDS: &[&str] =
    &["changeme", "change-me", "replaceme", "replace-me", "placeholder", "redacted", "token-here"];
/// What stands before a token's own characters, as in `sk-...` and `ghp_xxxx`.
const KINDS: &[&str] = &["sk-", "ghp_", "github_pat_", "glpat-", "xoxb-", "xoxp-", "pk-"];

/// The length in bytes of the placeholder that a text begins with; 0 where it begins with none. What stands before it
/// says whether a word begins here.
pub(super) fn length(text: &str, before: &str) -> usize {
    if let Some(inner) = text.strip_prefix("{{").and_then(|rest| rest.split_once("}}")) {
        return if is_words(inner.0) { inner.0.len() + 4 } else { 0 };
    }
    if let Some(inner) = text.strip_prefix('<').and_then(|rest| rest.split_once('>')) {
        return if is_words(inner.0) { inner.0.len() + 2 } else { 0 };
    }
    if before.ends_with(|c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')) {
        return 0;
    }
    let kind = KINDS.iter().find(|kind| text.starts_with(*kind)).map_or(0, |kind| kind.len());
    let rest = text.get(kind..).unwrap_or_default();
    let behind = rest.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || "-_.*…".contains(c));
    let word = rest.get(..rest.len() - behind.len()).unwrap_or_default();
    // Dots and stars alone mean much else, as in `./...`.
    let is_apart = kind > 0 || behind.is_empty() && (before.is_empty() || before.ends_with(' '));
    if is_blank(word) || is_apart && is_hidden(word) { kind + word.len() } else { 0 }
}

/// Whether a pair of brackets holds words, and no code.
fn is_words(text: &str) -> bool {
    let text = text.trim();
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.len() <= 64
        && text.chars().all(|c| c.is_ascii_alphanumeric() || " -_./'".contains(c))
}

fn is_blank(word: &str) -> bool {
    let folded = word.to_ascii_lowercase().replace('_', "-");
    let is_crossed_out =
        word.len() >= 4 && (word.chars().all(|c| c == 'x') || word.chars().all(|c| c == 'X'));
    let begins_with =
        |words: &[&str]| words.iter().any(|word| folded.len() > word.len() && folded.starts_with(word));
    is_crossed_out
        || WORDS.contains(&folded.as_str())
        || begins_with(BEGINNINGS)
        || begins_with(VERBS) && NOUNS.iter().any(|noun| folded.contains(noun))
}

/// Whether nothing of a value is shown, as in `...` and `***`.
fn is_hidden(word: &str) -> bool {
    let is_all = |hidden: char| word.chars().all(|c| c == hidden);
    word == "…" || word.len() >= 3 && (is_all('.') || is_all('*'))
}
