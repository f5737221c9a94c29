//! The value of a secret, in a type with which a leak is hard to write.

use squire_strategies::{Reference, Source, Text};
use zeroize::Zeroizing;

/// A value, or a string that one went into. It has neither `Debug`, `Display` nor serialisation, can't be cloned, has no
/// `==`, and is wiped from memory at its end. Only [`Value::expose`] shows it.
#[must_use]
#[derive(Default)]
pub struct Value(Zeroizing<String>);

impl Value {
    /// Takes what a file or a program holds, without the line end behind it. The error says why that is no value.
    pub fn of_line(mut bytes: Zeroizing<Vec<u8>>) -> Result<Self, &'static str> {
        if bytes.ends_with(b"\n") {
            let line_end = if bytes.ends_with(b"\r\n") { 2 } else { 1 };
            let length = bytes.len() - line_end;
            bytes.truncate(length);
        }
        Self::exactly(bytes)
    }

    /// Takes a value as it is. The error says why it is none.
    pub fn exactly(mut bytes: Zeroizing<Vec<u8>>) -> Result<Self, &'static str> {
        if bytes.is_empty() {
            return Err("it is empty");
        }
        if bytes.contains(&0) {
            return Err("it holds a NUL character, which no program can be given");
        }
        match String::from_utf8(std::mem::take(&mut *bytes)) {
            Ok(text) => Ok(Self(Zeroizing::new(text))),
            Err(error) => {
                drop(Zeroizing::new(error.into_bytes()));
                Err("it is not UTF-8")
            }
        }
    }

    /// Puts values in the references' places, once (case B22). The error is the first reference without one.
    pub fn expanded<Held: AsRef<str>>(
        text: &Text,
        lookup: impl FnMut(&Source) -> Option<Held>,
    ) -> Result<Self, &Reference> {
        let mut value = Self::default();
        text.expand_into(lookup, |piece| value.push(piece))?;
        Ok(value)
    }

    /// Makes room in a new place: growing where it is would leave copies behind.
    fn push(&mut self, piece: &str) {
        let needed = self.0.len() + piece.len();
        if needed > self.0.capacity() {
            let mut larger = Zeroizing::new(String::with_capacity(needed * 2));
            larger.push_str(&self.0);
            self.0 = larger;
        }
        self.0.push_str(piece);
    }

    /// Whether both are one value. There is no `==`: this is for an import that meets what it wrote before.
    pub fn is_same(&self, other: &Self) -> bool {
        *self.0 == *other.0
    }

    /// The value itself, for the program that is to have it and for nothing else.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compiles only where the type has none of the traits: else there are two ways to `nothing`.
    macro_rules! has_none_of {
        ($type:ty: $($trait:path),+) => {$({
            trait Either<Way> { fn nothing() {} }
            impl<Type: ?Sized> Either<()> for Type {}
            struct ByTrait;
            impl<Type: ?Sized + $trait> Either<ByTrait> for Type {}
            <$type as Either<_>>::nothing();
        })+};
    }

    #[test]
    fn a_value_can_not_be_printed_compared_copied_or_written_down() {
        has_none_of!(Value: std::fmt::Debug, std::fmt::Display, serde::Serialize, Clone, PartialEq, AsRef<str>);
        has_none_of!(crate::secrets::Values: std::fmt::Debug, std::fmt::Display, serde::Serialize, Clone);
    }

    fn of(bytes: &[u8]) -> Result<String, &'static str> {
        Value::of_line(Zeroizing::new(bytes.to_vec())).map(|value| value.expose().to_owned())
    }

    #[test]
    fn b95_one_line_end_is_trimmed_and_nothing_is_no_value() {
        assert_eq!(of(b"tok\n").as_deref(), Ok("tok"));
        assert_eq!(of(b"tok\r\n").as_deref(), Ok("tok"));
        assert_eq!(of(b"tok\n\n").as_deref(), Ok("tok\n"));
        assert_eq!(of(b" tok ").as_deref(), Ok(" tok "));
        assert_eq!(of(b"\n"), Err("it is empty"));
        assert_eq!(of(b""), Err("it is empty"));
        assert_eq!(of(b"\xff"), Err("it is not UTF-8"));
        assert_eq!(of(b"a\0b"), Err("it holds a NUL character, which no program can be given"));
    }

    #[test]
    fn b22_a_value_is_not_expanded_again() {
        let text = Text::parse("<${secret:a}|${secret:a}>").unwrap();
        let value =
            Value::expanded(&text, |_| Some("$HOME${secret:a}")).map(|value| value.expose().to_owned());
        assert_eq!(value.as_deref(), Ok("<$HOME${secret:a}|$HOME${secret:a}>"));
    }
}
