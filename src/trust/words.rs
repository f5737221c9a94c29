//! How two texts differ, word by word. Pure.

/// The longer text in words for which a difference is looked for; longer ones are shown whole, one behind the other.
const LIMIT: usize = 400;

/// Both texts in one: `[-what went-]` and `{+what came+}`, as `git diff --word-diff` writes it.
pub(super) fn difference(before: &str, now: &str) -> String {
    let (before, now) = (words(before), words(now));
    if before.len() > LIMIT || now.len() > LIMIT {
        return format!("[-{}-]{{+{}+}}", before.concat(), now.concat());
    }
    let common = longest_common(&before, &now);
    let mut out = String::new();
    let (mut left, mut right) = (0, 0);
    for (at_left, at_right) in common.into_iter().chain([(before.len(), now.len())]) {
        push(&mut out, '[', '-', &before[left..at_left], ']');
        push(&mut out, '{', '+', &now[right..at_right], '}');
        out.push_str(before.get(at_left).copied().unwrap_or_default());
        (left, right) = (at_left + 1, at_right + 1);
    }
    out
}

fn push(out: &mut String, open: char, sign: char, words: &[&str], close: char) {
    if !words.is_empty() {
        out.extend([open, sign]);
        out.extend(words.iter().copied());
        out.extend([sign, close]);
    }
}

/// Words and what stands between them.
fn words(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_same = |c: char| c.is_alphanumeric() == first.is_alphanumeric() && c.is_alphanumeric();
        let end = rest.find(|c| !is_same(c)).unwrap_or(rest.len()).max(first.len_utf8());
        let (word, after) = rest.split_at(end);
        words.push(word);
        rest = after;
    }
    words
}

/// The places of a longest common subsequence, by the usual table.
fn longest_common(one: &[&str], other: &[&str]) -> Vec<(usize, usize)> {
    let mut lengths = vec![vec![0_usize; other.len() + 1]; one.len() + 1];
    for (row, word) in one.iter().enumerate().rev() {
        for (column, candidate) in other.iter().enumerate().rev() {
            lengths[row][column] = if word == candidate {
                lengths[row + 1][column + 1] + 1
            } else {
                lengths[row + 1][column].max(lengths[row][column + 1])
            };
        }
    }
    let (mut row, mut column) = (0, 0);
    let mut places = Vec::new();
    while row < one.len() && column < other.len() {
        if one[row] == other[column] {
            places.push((row, column));
            (row, column) = (row + 1, column + 1);
        } else if lengths[row + 1][column] >= lengths[row][column + 1] {
            row += 1;
        } else {
            column += 1;
        }
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn words_that_went_and_came_are_marked() {
        assert_eq!(difference("npx -y docs", "npx -y evil"), "npx -y [-docs-]{+evil+}");
        assert_eq!(difference("a b", "a b c"), "a b{+ c+}");
        assert_eq!(difference("a", ""), "[-a-]");
        assert_eq!(difference("same", "same"), "same");
    }

    proptest! {
        /// What is marked as gone and what is not make the old text, and what came and what is not the new one.
        #[test]
        fn both_texts_are_in_it(before in "[ab /]{0,12}", now in "[ab /]{0,12}") {
            let shown = difference(&before, &now);
            let without = |open: &str, close: &str| {
                let mut text = shown.clone();
                while let Some(at) = text.find(open) {
                    let end = text[at..].find(close).unwrap() + at + close.len();
                    text.replace_range(at..end, "");
                }
                text
            };
            let plain = |text: String| ["[-", "-]", "{+", "+}"].iter().fold(text, |text, mark| text.replace(mark, ""));
            prop_assert_eq!(plain(without("{+", "+}")), before);
            prop_assert_eq!(plain(without("[-", "-]")), now);
        }
    }
}
