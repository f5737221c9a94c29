//! A byte stream that comes in pieces, cut into lines.

use memchr::memchr;

/// The longest message that is passed on, in bytes. Results of 20 MiB are seen; some end must be, as a flood without a
/// line end would take all memory.
pub(super) const LINE_LIMIT: usize = 64 * 1024 * 1024;

/// A line, or the news of one that is not held.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Piece {
    /// A line without its end.
    Line(Vec<u8>),
    /// The beginning of a line that is longer than the limit, as soon as that is known: a flood without a line end can't hide.
    Beginning(Vec<u8>),
    /// The end of such a line, without the line end; what lies between is passed over.
    End(Vec<u8>),
}

/// Cuts lines of at most `limit` bytes.
#[derive(Debug)]
pub(super) struct Cutter {
    /// While a line is passed over, its latest bytes.
    line: Vec<u8>,
    limit: usize,
    passing_over: bool,
}

/// How much is kept of either end of a line that is too long, for its id.
const PART: usize = 4096;

impl Cutter {
    pub(super) fn new(limit: usize) -> Self {
        Self { line: Vec::new(), limit, passing_over: false }
    }

    /// Takes bytes; `give` gets each line that they end.
    pub(super) fn push(&mut self, mut bytes: &[u8], mut give: impl FnMut(Piece)) {
        while let Some(end) = memchr(b'\n', bytes) {
            let (line, rest) = bytes.split_at(end);
            self.take(line, &mut give);
            bytes = rest.get(1..).unwrap_or_default();
            give(self.finished_piece());
        }
        self.take(bytes, &mut give);
    }

    /// What is left where the stream ends: its last line need not have an end.
    pub(super) fn end(&mut self) -> Option<Piece> {
        (!self.line.is_empty()).then(|| self.finished_piece())
    }

    fn take(&mut self, bytes: &[u8], give: &mut impl FnMut(Piece)) {
        if !self.passing_over && self.line.len() + bytes.len() > self.limit {
            let mut beginning = std::mem::take(&mut self.line);
            beginning.extend_from_slice(bytes.get(..PART.min(bytes.len())).unwrap_or_default());
            beginning.truncate(PART);
            beginning.shrink_to_fit();
            self.passing_over = true;
            give(Piece::Beginning(beginning));
        }
        if self.passing_over {
            let latest = bytes.get(bytes.len().saturating_sub(PART)..).unwrap_or_default();
            self.line.drain(..(self.line.len() + latest.len()).saturating_sub(PART));
            self.line.extend_from_slice(latest);
        } else if !bytes.is_empty() {
            // The line end that whoever sends it on adds has its room.
            self.line.reserve(bytes.len() + 1);
            self.line.extend_from_slice(bytes);
        }
    }

    fn finished_piece(&mut self) -> Piece {
        let line = self.finished();
        if std::mem::take(&mut self.passing_over) { Piece::End(line) } else { Piece::Line(line) }
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
            [line("abc"), Piece::Beginning(b"abcd".into()), Piece::End(b"cdef".into()), line("x")]
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
