//! What definitions of tools cost in the context of a model.

use tiktoken_rs::o200k_base_singleton;

/// The tokenizer that is counted with: that of the models of `OpenAI`. Others, Claude's too, come to other
/// numbers of the same size.
pub(crate) const TOKENIZER: &str = "o200k_base";

/// How many characters of one kind may follow each other. The tokenizer takes a run for one word, and the time that it
/// needs grows with the square of its length: no server may hang who counts.
const LONGEST_RUN: usize = 256;

/// Reads the tokenizer's tables, which takes a moment, before the first count needs them.
pub(crate) fn prepare() {
    o200k_base_singleton();
}

/// How many tokens a text has.
pub(crate) fn count(text: &str) -> usize {
    let tokenizer = o200k_base_singleton();
    pieces(text).map(|piece| tokenizer.encode_ordinary(piece).len()).sum()
}

/// The text, cut only where a run is too long.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (piece, behind) = rest.split_at(end_of_piece(rest));
        rest = behind;
        Some(piece)
    })
}

fn end_of_piece(text: &str) -> usize {
    let (mut run, mut before) = (0, None);
    for (place, character) in text.char_indices() {
        let kind = (character.is_alphanumeric(), character.is_whitespace());
        run = if before == Some(kind) { run + 1 } else { 1 };
        before = Some(kind);
        if run > LONGEST_RUN {
            return place;
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    /// As the examples of the tokenizer's makers come out (`o200k_base`).
    #[test]
    fn tokens_are_those_of_the_reference() {
        assert_eq!(count(""), 0);
        assert_eq!(count("hello world"), 2);
        assert_eq!(count("tiktoken is great!"), 6);
        assert_eq!(count("antidisestablishmentarianism"), 6);
        assert_eq!(count("2 + 2 = 4"), 7);
    }

    #[test]
    fn long_runs_are_cut_and_cost_no_time() {
        assert_eq!(pieces("short words, all of them").count(), 1);
        assert_eq!(pieces(&"x".repeat(1000)).count(), 4);
        let began = Instant::now();
        for run in ["x", "ü", " ", "!", "\n"] {
            assert!(count(&run.repeat(200_000)) > 0);
        }
        assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    }
}
