//! A byte stream, cut into lines.

use std::io::{self, BufRead, ErrorKind};

/// What [`Lines`] yields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    /// The bytes of a line without its `\n` or `\r\n`, whatever they are: characters that arrive in several reads
    /// stay whole (case B14) and invalid ones end nothing (case B74).
    Whole(Vec<u8>),
    /// A line that is longer than the limit; the rest of it is skipped.
    TooLong,
}

/// The lines of `input`, of at most `limit` bytes each. The last one need not end in `\n`. A line that is too long
/// is reported as soon as that is known, so a flood without line ends can neither fill the memory nor hide.
#[derive(Debug)]
pub struct Lines<R> {
    input: R,
    limit: usize,
    skipping: bool,
}

impl<R: BufRead> Lines<R> {
    /// Cuts `input`; `limit` is in bytes, without the line end.
    pub fn new(input: R, limit: usize) -> Self {
        Self { input, limit, skipping: false }
    }

    /// The input, without what was read of it.
    pub fn into_inner(self) -> R {
        self.input
    }
}

impl<R: BufRead> Iterator for Lines<R> {
    type Item = io::Result<Line>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut line = Vec::new();
        loop {
            let available = match self.input.fill_buf() {
                Ok(available) => available,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Some(Err(error)),
            };
            if available.is_empty() {
                return (!line.is_empty()).then(|| Ok(Line::Whole(without_return(line))));
            }
            let end = available.iter().position(|&byte| byte == b'\n');
            let piece = &available[..end.unwrap_or(available.len())];
            let used = piece.len() + usize::from(end.is_some());
            let fits = line.len() + piece.len() <= self.limit;
            let skipped = self.skipping;
            if fits && !skipped {
                line.extend_from_slice(piece);
            }
            self.input.consume(used);
            self.skipping = (skipped || !fits) && end.is_none();
            if skipped {
                continue;
            }
            if !fits {
                return Some(Ok(Line::TooLong));
            }
            if end.is_some() {
                return Some(Ok(Line::Whole(without_return(line))));
            }
        }
    }
}

fn without_return(mut line: Vec<u8>) -> Vec<u8> {
    if line.last() == Some(&b'\r') {
        line.pop();
    }
    line
}

#[cfg(test)]
mod tests {
    use std::io::{BufReader, Read};

    use proptest::prelude::*;

    use super::*;

    /// Gives its bytes in pieces of the given sizes.
    struct Pieces<'a> {
        bytes: &'a [u8],
        sizes: std::iter::Cycle<std::slice::Iter<'a, usize>>,
    }

    impl Read for Pieces<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let size = self.sizes.next().copied().unwrap_or(1).min(buffer.len()).min(self.bytes.len());
            let (piece, rest) = self.bytes.split_at(size);
            buffer[..size].copy_from_slice(piece);
            self.bytes = rest;
            Ok(size)
        }
    }

    fn cut(input: impl BufRead, limit: usize) -> Vec<Line> {
        Lines::new(input, limit).map(Result::unwrap).collect()
    }

    fn whole(line: &str) -> Line {
        Line::Whole(line.into())
    }

    #[test]
    fn line_ends_of_all_kinds() {
        assert_eq!(cut(&b""[..], 9), []);
        assert_eq!(cut(&b"a\r\n\nb\rc\n"[..], 9), [whole("a"), whole(""), whole("b\rc")]);
        assert_eq!(cut(&b"a\nlast"[..], 9), [whole("a"), whole("last")]);
    }

    #[test]
    fn a_line_of_the_limit_fits_and_a_longer_one_is_skipped() {
        assert_eq!(cut(&b"abc\nabcd\nab\n"[..], 3), [whole("abc"), Line::TooLong, whole("ab")]);
        assert_eq!(cut(&b"abcdefgh"[..], 3), [Line::TooLong]);
    }

    proptest! {
        #[test]
        fn any_chunking_gives_the_same_lines(
            bytes in proptest::collection::vec(prop_oneof![Just(b'\n'), Just(b'\r'), any::<u8>()], 0..200),
            sizes in proptest::collection::vec(1_usize..20, 1..10),
            limit in 0_usize..30,
        ) {
            let pieces = Pieces { bytes: &bytes, sizes: sizes.iter().cycle() };
            prop_assert_eq!(cut(BufReader::with_capacity(16, pieces), limit), cut(&bytes[..], limit));
        }

        #[test]
        fn without_a_limit_nothing_is_lost(text in "[a-z\u{8aad}🙂\n]{0,60}") {
            let lines = cut(text.as_bytes(), usize::MAX);
            let expected: Vec<_> = text.lines().map(whole).collect();
            prop_assert_eq!(lines, expected);
        }
    }
}
