//! A byte stream that comes in pieces, cut into lines.

/// A line of a server's, or the news of one that is not held.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Piece {
    /// A line without its end.
    Line(Vec<u8>),
    /// The beginning of a line that is longer than the limit; the rest of it is passed over.
    TooLong(Vec<u8>),
}

/// Cuts lines of at most `limit` bytes.
#[derive(Debug)]
pub(super) struct Cutter {
    line: Vec<u8>,
    limit: usize,
    passing_over: bool,
}

/// How much is kept of a line that is too long, for its id.
const BEGINNING: usize = 4096;

impl Cutter {
    pub(super) fn new(limit: usize) -> Self {
        Self { line: Vec::new(), limit, passing_over: false }
    }

    /// Takes bytes; `give` gets each line that they end.
    pub(super) fn push(&mut self, mut bytes: &[u8], mut give: impl FnMut(Piece)) {
        while let Some(end) = bytes.iter().position(|byte| *byte == b'\n') {
            let (line, rest) = bytes.split_at(end);
            self.take(line, &mut give);
            bytes = rest.get(1..).unwrap_or_default();
            if !std::mem::take(&mut self.passing_over) {
                give(Piece::Line(self.finished()));
            }
        }
        self.take(bytes, &mut give);
    }

    /// What is left where the stream ends: its last line need not have an end.
    pub(super) fn end(&mut self) -> Option<Piece> {
        (!self.line.is_empty()).then(|| Piece::Line(self.finished()))
    }

    fn take(&mut self, bytes: &[u8], give: &mut impl FnMut(Piece)) {
        if self.passing_over {
            return;
        }
        if self.line.len() + bytes.len() > self.limit {
            let mut beginning = std::mem::take(&mut self.line);
            beginning.extend_from_slice(bytes.get(..BEGINNING.min(bytes.len())).unwrap_or_default());
            beginning.truncate(BEGINNING);
            self.passing_over = true;
            give(Piece::TooLong(beginning));
            return;
        }
        self.line.extend_from_slice(bytes);
    }

    fn finished(&mut self) -> Vec<u8> {
        let mut line = std::mem::take(&mut self.line);
        if line.last() == Some(&b'\r') {
            line.pop();
        }
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn cut(pieces: &[&[u8]], limit: usize) -> Vec<Piece> {
        let (mut cutter, mut out) = (Cutter::new(limit), Vec::new());
        for piece in pieces {
            cutter.push(piece, |piece| out.push(piece));
        }
        out.extend(cutter.end());
        out
    }

    #[test]
    fn lines_of_every_kind() {
        let line = |text: &str| Piece::Line(text.into());
        assert_eq!(cut(&[b"a\r\n\nb", b"c\nlast"], 9), [line("a"), line(""), line("bc"), line("last")]);
        assert_eq!(
            cut(&[b"abc\nab", b"cd", b"ef\nx\n"], 3),
            [line("abc"), Piece::TooLong(b"abcd".into()), line("x")]
        );
    }

    proptest! {
        #[test]
        fn any_chunking_gives_the_same_lines(
            bytes in proptest::collection::vec(prop_oneof![Just(b'\n'), Just(b'\r'), any::<u8>()], 0..200),
            size in 1_usize..20,
            limit in 0_usize..30,
        ) {
            let lines = |pieces: Vec<Piece>| -> Vec<Option<Vec<u8>>> {
                pieces.into_iter().map(|piece| if let Piece::Line(line) = piece { Some(line) } else { None }).collect()
            };
            let chunks: Vec<&[u8]> = bytes.chunks(size).collect();
            prop_assert_eq!(lines(cut(&chunks, limit)), lines(cut(&[&bytes], limit)));
        }
    }
}
