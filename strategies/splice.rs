//! Splices of a text by byte ranges. Pure.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

/// A part of a text and what stands there instead.
#[derive(Clone, Debug)]
pub(crate) struct Splice {
    pub(crate) range: Range<usize>,
    pub(crate) text: String,
}

/// Applies splices that do not overlap.
pub(crate) fn splice(text: &str, mut splices: Vec<Splice>) -> String {
    splices.sort_by_key(|splice| splice.range.start);
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for Splice { range, text: new } in &splices {
        out.push_str(text.get(at..range.start).unwrap_or_default());
        out.push_str(new);
        at = range.end;
    }
    out.push_str(text.get(at..).unwrap_or_default());
    out
}

/// Applies the edit that made `edited` of `ours` to the original, where it does not touch what makes `ours` of it.
pub(crate) fn rebase(original: &str, ours: &str, edited: &str) -> Option<String> {
    let (before, after) = common_ends(original, ours);
    let (kept_before, kept_after) = common_ends(ours, edited);
    if kept_before + after >= ours.len() {
        // The edit lies behind ours.
        let behind = ours.len() - kept_before;
        let head = original.get(..original.len().checked_sub(behind)?)?;
        Some(format!("{head}{}", edited.get(kept_before..)?))
    } else if kept_after + before >= ours.len() {
        // The edit lies before ours, where the original and ours are the same.
        let head = edited.get(..edited.len() - kept_after)?;
        Some(format!("{head}{}", original.get(ours.len() - kept_after..)?))
    } else {
        None
    }
}

/// How many bytes two texts share at the beginning and, of the rest, at the end; never within a character.
fn common_ends(one: &str, other: &str) -> (usize, usize) {
    let same = |(one, other): &(char, char)| one == other;
    let before: usize = one.chars().zip(other.chars()).take_while(same).map(|(c, _)| c.len_utf8()).sum();
    let (one, other) = (&one[before..], &other[before..]);
    let after = one.chars().rev().zip(other.chars().rev()).take_while(same).map(|(c, _)| c.len_utf8()).sum();
    (before, after)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// One insertion of ours and one edit of the user's elsewhere: the edit alone is left.
        #[test]
        fn an_edit_elsewhere_comes_out_alone(
            one in "[a-zé]{0,6}", two in "[a-z]{1,6}", three in "[a-zé]{0,6}", edit in "[A-Z]{0,3}", before in any::<bool>(),
        ) {
            // The marks keep what is the user's and what is ours apart.
            let original = format!("{one}|{two}|{three}");
            let ours = format!("{one}|{two}#ours#|{three}");
            let (edited, expected) = if before {
                (format!("{one}{edit}|{two}#ours#|{three}"), format!("{one}{edit}|{two}|{three}"))
            } else {
                (format!("{one}|{two}#ours#|{edit}{three}"), format!("{one}|{two}|{edit}{three}"))
            };
            prop_assert_eq!(rebase(&original, &ours, &edited), Some(expected));
        }
    }

    #[test]
    fn an_edit_of_ours_is_no_edit_elsewhere() {
        assert_eq!(rebase("a|b", "a#ours#|b", "a#mine#|b"), None);
        assert_eq!(rebase("a|b", "a#ours#|b", "x"), None);
    }

    #[test]
    fn splices_replace_their_ranges() {
        let at = |range, text: &str| Splice { range, text: text.into() };
        assert_eq!(splice("abcd", alloc::vec![at(3..4, "D"), at(0..0, ">"), at(1..2, "")]), ">acD");
    }
}
