//! Strings of a declaration, with their references unresolved.
//!
//! The grammar: `${env:NAME}`, `${env:NAME:-default}`, `${secret:NAME}`; `$${` is a literal `${`; every other `$`
//! is itself. A reference is never resolved here: strategies see which names a string needs, never a value.

use alloc::borrow::{Cow, ToOwned};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

/// A string of a declaration: literal pieces and references.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    pieces: Vec<Piece>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Literal(String),
    Reference(Reference),
}

/// A value that somebody else holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// Who holds it.
    pub source: Source,
    /// What stands in for it where it is unset or empty, as a shell's `:-` does (case B21).
    pub default: Option<String>,
}

/// Who holds the value of a reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// An environment variable of the launch.
    Environment(String),
    /// An entry of the user's secrets.toml.
    Secret(String),
}

impl fmt::Display for Reference {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.source {
            Source::Environment(name) => write!(formatter, "${{env:{name}")?,
            Source::Secret(name) => write!(formatter, "${{secret:{name}")?,
        }
        match &self.default {
            Some(default) => write!(formatter, ":-{default}}}"),
            None => formatter.write_str("}"),
        }
    }
}

/// Why a string could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TextError {
    /// A `${` that nothing closes.
    Unclosed,
    /// `${…}` of a kind that squire does not know; holds what stands between the braces.
    Unknown(String),
    /// A reference inside the default of another.
    Nested,
}

impl fmt::Display for TextError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unclosed => {
                formatter.write_str("`${` is not closed by `}`; write `$${` for the plain text")
            }
            Self::Unknown(inner) => {
                write!(formatter, "`${{{inner}}}` is no reference; write ")?;
                if is_variable(inner) {
                    write!(formatter, "`${{env:{inner}}}` for an environment variable, ")?;
                } else {
                    formatter.write_str("`${env:NAME}`, `${env:NAME:-default}` or `${secret:NAME}`, ")?;
                }
                formatter.write_str("`$${` for the plain text")
            }
            Self::Nested => formatter.write_str("a default can't hold another reference"),
        }
    }
}

impl Text {
    /// Reads a string as written in a declaration.
    pub fn parse(written: &str) -> Result<Self, TextError> {
        let mut pieces = Vec::with_capacity(1);
        let mut literal = String::new();
        let mut rest = written;
        while let Some(at) = rest.find("${") {
            let (before, opened) = rest.split_at(at);
            if let Some(before) = before.strip_suffix('$') {
                literal.push_str(before);
                literal.push_str("${");
                rest = &opened[2..];
                continue;
            }
            literal.push_str(before);
            let (inner, after) = opened[2..].split_once('}').ok_or(TextError::Unclosed)?;
            let reference = parse_reference(inner)?;
            if !literal.is_empty() {
                pieces.push(Piece::Literal(core::mem::take(&mut literal)));
            }
            pieces.push(Piece::Reference(reference));
            rest = after;
        }
        literal.push_str(rest);
        if !literal.is_empty() {
            pieces.push(Piece::Literal(literal));
        }
        Ok(Self { pieces })
    }

    /// A string without references.
    pub fn plain(text: impl Into<String>) -> Self {
        Self { pieces: alloc::vec![Piece::Literal(text.into())] }
    }

    /// The string itself where it holds no reference.
    pub fn literal(&self) -> Option<&str> {
        match self.pieces.as_slice() {
            [] => Some(""),
            [Piece::Literal(text)] => Some(text),
            _ => None,
        }
    }

    /// The string as it would be written in a declaration.
    pub fn written(&self) -> Cow<'_, str> {
        match self.literal() {
            Some(literal) if !literal.contains("${") => literal.into(),
            _ => self.to_string().into(),
        }
    }

    /// The string as it is where nothing that it refers to is set; none where it has no reference, or one without a
    /// default.
    pub fn by_default(&self) -> Option<String> {
        let has_reference = self.references().next().is_some();
        let piece = |piece: &Piece| match piece {
            Piece::Literal(text) => Some(text.clone()),
            Piece::Reference(reference) => reference.default.clone(),
        };
        has_reference.then(|| self.pieces.iter().map(piece).collect()).flatten()
    }

    /// What is written before the first reference.
    pub fn leading_literal(&self) -> &str {
        match self.pieces.first() {
            Some(Piece::Literal(text)) => text,
            Some(Piece::Reference(_)) | None => "",
        }
    }

    /// Replaces what the text begins with, where it is written out; says whether it was.
    pub fn replace_start(&mut self, from: &str, to: &str) -> bool {
        let Some(Piece::Literal(text)) = self.pieces.first_mut() else { return false };
        let Some(rest) = text.strip_prefix(from) else { return false };
        *text = alloc::format!("{to}{rest}");
        true
    }

    /// The references, in order.
    pub fn references(&self) -> impl Iterator<Item = &Reference> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Reference(reference) => Some(reference),
            Piece::Literal(_) => None,
        })
    }

    /// Puts values in the references' places, once: a value that looks like a reference stays as it is (case B22).
    ///
    /// `lookup` gives a source's value; unset and empty are the same, and take the default. The error is the first
    /// reference with neither.
    pub fn expand(&self, lookup: impl FnMut(&Source) -> Option<String>) -> Result<String, &Reference> {
        let mut expanded = String::new();
        self.expand_into(lookup, |piece| expanded.push_str(piece))?;
        Ok(expanded)
    }

    /// As [`Text::expand`], piece by piece: the values may be of a type that lets nobody keep them.
    pub fn expand_into<Value: AsRef<str>>(
        &self,
        mut lookup: impl FnMut(&Source) -> Option<Value>,
        mut push: impl FnMut(&str),
    ) -> Result<(), &Reference> {
        for piece in &self.pieces {
            match piece {
                Piece::Literal(text) => push(text),
                Piece::Reference(reference) => {
                    match lookup(&reference.source).filter(|value| !value.as_ref().is_empty()) {
                        Some(value) => push(value.as_ref()),
                        None => push(reference.default.as_ref().ok_or(reference)?),
                    }
                }
            }
        }
        Ok(())
    }

    /// What is written out in it: its literal pieces, and the defaults of its references.
    pub fn written_out(&self) -> impl Iterator<Item = &str> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Literal(text) => Some(text.as_str()),
            Piece::Reference(reference) => reference.default.as_deref(),
        })
    }

    /// Its parts in their order: what is written out, or a reference.
    pub(crate) fn parts(&self) -> impl Iterator<Item = Result<&str, &Reference>> {
        self.pieces.iter().map(|piece| match piece {
            Piece::Literal(text) => Ok(text.as_str()),
            Piece::Reference(reference) => Err(reference),
        })
    }

    /// The names of the secrets that it refers to, in order.
    pub fn secrets(&self) -> impl Iterator<Item = &str> {
        self.references().filter_map(|reference| match &reference.source {
            Source::Secret(name) => Some(name.as_str()),
            Source::Environment(_) => None,
        })
    }
}

/// The string as it would be written in a declaration.
impl fmt::Display for Text {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for piece in &self.pieces {
            match piece {
                Piece::Literal(text) if text.contains("${") => {
                    formatter.write_str(&text.replace("${", "$${"))?;
                }
                Piece::Literal(text) => formatter.write_str(text)?,
                Piece::Reference(reference) => write!(formatter, "{reference}")?,
            }
        }
        Ok(())
    }
}

fn parse_reference(inner: &str) -> Result<Reference, TextError> {
    if inner.contains("${") {
        return Err(TextError::Nested);
    }
    let unknown = || TextError::Unknown(inner.to_owned());
    let (kind, rest) = inner.split_once(':').ok_or_else(unknown)?;
    let (name, default) = match rest.split_once(":-") {
        Some((name, default)) => (name, Some(default.to_owned())),
        None => (rest, None),
    };
    let source = match kind {
        "env" if is_variable(name) => Source::Environment(name.to_owned()),
        "secret" if is_secret(name) && default.is_none() => Source::Secret(name.to_owned()),
        _ => return Err(unknown()),
    };
    Ok(Reference { source, default })
}

/// Whether this is a name that an environment variable can have in every shell.
pub(crate) fn is_variable(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

fn is_secret(name: &str) -> bool {
    name.split('.').all(|part| {
        !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
    })
}

impl Text {
    /// Whether a word can be the name of an environment variable: a letter or `_`, then letters, digits, `_`.
    pub fn is_variable(name: &str) -> bool {
        is_variable(name)
    }

    /// Whether a word can be the name of a secret: parts of letters, digits, `_` and `-`, with a `.` between two.
    pub fn is_secret(name: &str) -> bool {
        is_secret(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;
    use alloc::string::ToString;
    use proptest::prelude::*;

    fn expand(written: &str) -> Result<String, String> {
        let text = Text::parse(written).map_err(|error| error.to_string())?;
        text.expand(|source| match source {
            Source::Environment(name) => match name.as_str() {
                "SET" => Some("pa$HOME${env:SET}$$x".into()),
                "EMPTY" => Some(String::new()),
                _ => None,
            },
            Source::Secret(name) => Some(format!("<{name}>")),
        })
        .map_err(ToString::to_string)
    }

    #[test]
    fn b21_a_default_stands_in_for_unset_and_empty() {
        assert_eq!(expand("${env:NOPE:-dev}"), Ok("dev".into()));
        assert_eq!(expand("${env:EMPTY:-dev}"), Ok("dev".into()));
        assert_eq!(expand("${env:NOPE:-}"), Ok(String::new()));
        assert_eq!(expand("Bearer ${env:NOPE}"), Err("${env:NOPE}".into()));
        assert_eq!(expand("Bearer ${env:EMPTY}"), Err("${env:EMPTY}".into()));
    }

    #[test]
    fn b22_expansion_is_a_single_pass() {
        assert_eq!(expand("<${env:SET}>"), Ok("<pa$HOME${env:SET}$$x>".into()));
        assert_eq!(expand("a$b"), Ok("a$b".into()));
        assert_eq!(expand("$${env:SET}"), Ok("${env:SET}".into()));
        assert_eq!(expand("${secret:api_keys.github}"), Ok("<api_keys.github>".into()));
    }

    #[test]
    fn what_is_no_reference_is_an_error_with_the_mend() {
        let message = |written: &str| Text::parse(written).unwrap_err().to_string();
        assert_eq!(
            message("${HOME}/x"),
            "`${HOME}` is no reference; write `${env:HOME}` for an environment variable, `$${` for the plain text"
        );
        assert!(message("${input:tok}").contains("`${env:NAME}`")); // B23
        assert!(message("${env:1X}").contains("is no reference"));
        assert!(message("${env:A").contains("not closed"));
        assert!(message("${env:A:-${env:B}}").contains("another reference"));
    }

    proptest! {
        #[test]
        fn text_without_a_dollar_brace_is_itself(written in "[^$]*[$a-z ]*") {
            let text = Text::parse(&written).unwrap();
            prop_assert_eq!(text.literal(), Some(written.as_str()));
        }

        #[test]
        fn display_is_read_back_as_the_same_text(written in "([a$}{:-]|\\$\\$\\{|\\$\\{env:A\\}|\\$\\{env:B:-x\\})*") {
            if let Ok(text) = Text::parse(&written) {
                prop_assert_eq!(Text::parse(&text.to_string()).unwrap(), text);
            }
        }
    }
}
