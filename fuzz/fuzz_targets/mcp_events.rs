//! The events of a remote server's answer: the same in any pieces, and what a server wraps into one comes out.

#![no_main]

use std::collections::VecDeque;

use libfuzzer_sys::fuzz_target;
use squire::mcp::{Event, Events};

fuzz_target!(|data: &[u8]| {
    let [limit, size, body @ ..] = data else { return };
    let (limit, size) = (usize::from(*limit) + 1, usize::from(*size) + 1);
    let whole = read(body, body.len().max(1), limit);
    assert_eq!(read(body, size, limit), whole);
    assert!(whole.0.iter().all(|event| event.len() <= limit && !event.trim_ascii().is_empty()));

    let lines: Vec<&[u8]> = body.split(|byte| b"\r\n".contains(byte)).collect();
    let event = lines.join(&b'\n');
    let wrapped: Vec<u8> =
        lines.iter().flat_map(|line| [b"data: ", *line, b"\r\n"].concat()).chain(*b"\r\n").collect();
    let expected = if event.trim_ascii().is_empty() { Vec::new() } else { vec![event] };
    assert_eq!(without_first_newlines(read(&wrapped, size, usize::MAX).0), without_first_newlines(expected));
});

/// Empty data before the first that is not adds no line end.
fn without_first_newlines(events: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    let text = |event: Vec<u8>| event.iter().copied().skip_while(|byte| *byte == b'\n').collect();
    events.into_iter().map(text).collect()
}

fn read(body: &[u8], size: usize, limit: usize) -> (Vec<Vec<u8>>, bool) {
    let (mut events, mut ready) = (Events::new(limit), VecDeque::new());
    let read = body.chunks(size).try_for_each(|piece| events.push(piece, &mut ready));
    let data = ready.into_iter().filter(|event: &Event| event.is_message()).map(|event| event.data);
    (data.collect(), read.is_err())
}
