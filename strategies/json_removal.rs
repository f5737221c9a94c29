//! Members out of a JSON object with the commas that go with them, by splices. Pure.

use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

use jsonc_parser::ast::Object;
use jsonc_parser::common::Ranged;
use jsonc_parser::tokens::{Token, TokenAndRange};

use crate::splice::Splice;

/// The tokens of a text, comments among them, in their order.
pub(crate) struct Tokens<'a>(Vec<TokenAndRange<'a>>);

impl<'a> Tokens<'a> {
    pub(crate) fn new(tokens: Vec<TokenAndRange<'a>>) -> Self {
        Self(tokens)
    }

    /// How many commas stand behind the last member of an object or an array.
    pub(crate) fn trailing_commas(&self) -> usize {
        let is_comment = |token: &&Token<'_>| matches!(token, Token::CommentLine(_) | Token::CommentBlock(_));
        let tokens = self.0.iter().map(|token| &token.token).filter(|token| !is_comment(token));
        let pairs = tokens.clone().zip(tokens.skip(1));
        pairs.filter(|pair| matches!(pair, (Token::Comma, Token::CloseBrace | Token::CloseBracket))).count()
    }

    /// Takes out the members at these indices, which ascend. No comma trails that did not before.
    pub(crate) fn removals(&self, text: &str, object: &Object<'_>, removed: &[usize]) -> Vec<Splice> {
        let commas = self.commas(object);
        let own = |&index: &usize| [Some(bytes(&object.properties[index])), commas[index].clone()];
        let mut gone: Vec<Range<usize>> = removed.iter().flat_map(own).flatten().collect();
        gone.extend(left_at_the_end(&commas, removed));
        gone.sort_by_key(|range| range.start);
        let runs = joined(text, gone).into_iter();
        runs.map(|run| Splice { range: self.with_blanks(text, run), text: String::new() }).collect()
    }

    /// The comma behind each member.
    fn commas(&self, object: &Object<'_>) -> Vec<Option<Range<usize>>> {
        let members = object.properties.iter();
        let ends = members.clone().skip(1).map(|next| next.range.start).chain([object.range.end]);
        members.zip(ends).map(|(member, end)| self.comma_between(member.range.end, end)).collect()
    }

    fn comma_between(&self, start: usize, end: usize) -> Option<Range<usize>> {
        let first = self.0.partition_point(|token| token.range.start < start);
        let mut between = self.0[first..].iter().take_while(|token| token.range.start < end);
        between.find(|token| token.token == Token::Comma).map(bytes)
    }

    /// A range with the blanks before it. The end of a line stays where its comment would swallow what follows.
    fn with_blanks(&self, text: &str, range: Range<usize>) -> Range<usize> {
        let first = self.0.partition_point(|token| token.range.end <= range.start);
        let Some(before) = self.0[..first].last() else { return range };
        let rest = text.get(range.end..).unwrap_or_default().trim_start_matches([' ', '\t']);
        let swallows = matches!(before.token, Token::CommentLine(_)) && !rest.starts_with(['\n', '\r']);
        if swallows { range } else { before.range.end..range.end }
    }
}

/// The comma behind the last member that stays, where the last of all had none.
fn left_at_the_end(commas: &[Option<Range<usize>>], removed: &[usize]) -> Option<Range<usize>> {
    if commas.last()?.is_some() {
        return None;
    }
    let stays = |index: &usize| removed.binary_search(index).is_err();
    (0..commas.len()).rev().find(stays).and_then(|last| commas[last].clone())
}

/// Ranges with nothing but blanks between them are one.
fn joined(text: &str, ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    let is_blank = |range| text.get(range).is_some_and(|between: &str| between.trim().is_empty());
    let mut runs: Vec<Range<usize>> = Vec::new();
    for range in ranges {
        match runs.last_mut() {
            Some(last) if is_blank(last.end..range.start) => last.end = range.end,
            _ => runs.push(range),
        }
    }
    runs
}

/// Where a node or a token lies.
pub(crate) fn bytes(node: &impl Ranged) -> Range<usize> {
    let range = node.range();
    range.start..range.end
}
