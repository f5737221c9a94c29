//! What a server writes to its output besides messages.

use crate::printable::excerpt;

/// How much of the first line is quoted, in characters.
const QUOTED: usize = 120;

/// Lines that are no messages: the first is kept to be quoted, the others are counted (case B45).
#[derive(Debug, Default)]
pub(crate) struct Noise {
    first: Option<String>,
    more: usize,
}

impl Noise {
    /// Takes note of `line`; blank ones do no harm and are passed over.
    pub(crate) fn add(&mut self, line: &[u8]) {
        if line.trim_ascii().is_empty() {
            return;
        }
        match self.first {
            None => self.first = Some(excerpt(line, QUOTED)),
            Some(_) => self.more += 1,
        }
    }

    /// One printable clause for all of it, none where there was nothing.
    pub(crate) fn summary(&self) -> Option<String> {
        let first = self.first.as_ref()?;
        Some(match self.more {
            0 => format!("its output held a line that is not an MCP message: `{first}`"),
            1 => format!("its output held lines that are not MCP messages: `{first}` and one more"),
            more => format!("its output held lines that are not MCP messages: `{first}` and {more} more"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_is_quoted_and_the_rest_counted() {
        let mut noise = Noise::default();
        noise.add(b" \t");
        assert_eq!(noise.summary(), None);
        noise.add(b"Server \x1b[1mv1\x1b[0m ready");
        assert!(noise.summary().unwrap().ends_with("message: `Server \\u{1b}[1mv1\\u{1b}[0m ready`"));
        noise.add(b"[1,2]");
        assert!(noise.summary().unwrap().ends_with("` and one more"));
        noise.add(&[b'x'; 500]);
        assert!(noise.summary().unwrap().ends_with("` and 2 more"));
    }
}
