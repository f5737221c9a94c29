//! What the writer of a README leaves for its reader to fill in: `<YOUR_TOKEN>`, `your-api-key`, `{{token}}`, `xxxx`.

/// Words that begin a placeholder, and words that are one. In lower case, `-` for `_`.
const BEGINNINGS: &[&str] = &["your-", "insert-", "replace-", "enter-", "add-your-", "paste-"];
const WORDS: &[&str] =
    &["changeme", "change-me", "replaceme", "placeholder", "todo", "your", "token-here", "redacted"];
/// What stands before a token's own characters, as in `sk-...` and `ghp_xxxx`.
const KINDS: &[&str] = &["sk-", "ghp_", "github_pat_", "glpat-", "xoxb-", "xoxp-", "pk-", "Bearer "];

/// The length in bytes of the placeholder that a text begins with; 0 where it begins with none. A word counts only where
/// `is_start` says that one begins there.
pub(super) fn length(text: &str, is_start: bool) -> usize {
    if let Some(inner) = text.strip_prefix("{{").and_then(|rest| rest.split_once("}}")) {
        return if is_words(inner.0) { inner.0.len() + 4 } else { 0 };
    }
    if let Some(inner) = text.strip_prefix('<').and_then(|rest| rest.split_once('>')) {
        return if is_words(inner.0) { inner.0.len() + 2 } else { 0 };
    }
    if !is_start {
        return 0;
    }
    let kind = KINDS.iter().find(|kind| text.starts_with(*kind)).map_or(0, |kind| kind.len());
    let rest = text.get(kind..).unwrap_or_default();
    let word = rest.len()
        - rest.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || "-_.*…".contains(c)).len();
    let word = rest.get(..word).unwrap_or_default();
    if is_blank(word) { kind + word.len() } else { 0 }
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
    let is_one_of =
        |characters: &[char]| word.chars().count() >= 3 && word.chars().all(|c| characters.contains(&c));
    is_one_of(&['x']) && word.len() >= 4
        || is_one_of(&['X']) && word.len() >= 4
        || is_one_of(&['*'])
        || is_one_of(&['.'])
        || !word.is_empty() && word.chars().all(|c| c == '…')
        || WORDS.contains(&folded.as_str())
        || BEGINNINGS.iter().any(|beginning| folded.len() > beginning.len() && folded.starts_with(beginning))
}
