//! The lines of a server's output: the same in any pieces, none lost, none longer than allowed.

#![no_main]

use std::io::{BufReader, Cursor};

use libfuzzer_sys::fuzz_target;
use squire::mcp::lines::{Line, Lines};

fuzz_target!(|data: &[u8]| {
    let [limit, size, bytes @ ..] = data else { return };
    let (limit, size) = (usize::from(*limit), usize::from(*size) + 1);
    let read = |size| -> Vec<Line> {
        Lines::new(BufReader::with_capacity(size, Cursor::new(bytes)), limit)
            .map(|line| line.expect("memory"))
            .collect()
    };
    let mut expected: Vec<Line> = bytes.split(|byte| *byte == b'\n').map(|line| cut(line, limit)).collect();
    if bytes.is_empty() || bytes.ends_with(b"\n") {
        expected.pop();
    }
    assert_eq!(read(size), expected);
    assert_eq!(read(bytes.len() + 1), expected);
});

fn cut(line: &[u8], limit: usize) -> Line {
    if line.len() > limit {
        Line::TooLong
    } else {
        Line::Whole(line.strip_suffix(b"\r").unwrap_or(line).to_vec())
    }
}
