//! The events of a `text/event-stream` body.

use std::collections::VecDeque;

use super::error::Error;

/// Takes a body in pieces and gives the data of its events. Comments, other fields and events of another type than
/// `message` are passed over, and so is an event without data, with which servers of revision 2025-11-25 begin.
#[derive(Debug)]
pub struct Events {
    limit: usize,
    line: Vec<u8>,
    after_return: bool,
    first_line: bool,
    data: Vec<u8>,
    foreign: bool,
}

impl Events {
    /// A parser of a new body; no event may have more than `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            line: Vec::new(),
            after_return: false,
            first_line: true,
            data: Vec::new(),
            foreign: false,
        }
    }

    /// Appends to `ready` the data of the events that `bytes` complete.
    pub fn push(&mut self, bytes: &[u8], ready: &mut VecDeque<Vec<u8>>) -> Result<(), Error> {
        for &byte in bytes {
            // `\r\n` is one line end, also when it lies in two pieces.
            let second_half = self.after_return && byte == b'\n';
            self.after_return = byte == b'\r';
            match byte {
                b'\n' if second_half => {}
                b'\n' | b'\r' => self.end_line(ready),
                _ if self.line.len() + self.data.len() >= self.limit => {
                    return Err(Error::TooLong { limit: self.limit });
                }
                _ => self.line.push(byte),
            }
        }
        Ok(())
    }

    fn end_line(&mut self, ready: &mut VecDeque<Vec<u8>>) {
        let line = std::mem::take(&mut self.line);
        let mut line = line.as_slice();
        if std::mem::take(&mut self.first_line) {
            line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        }
        if line.is_empty() {
            let data = std::mem::take(&mut self.data);
            let foreign = std::mem::take(&mut self.foreign);
            if !foreign && !data.trim_ascii().is_empty() {
                ready.push_back(data);
            }
            return;
        }
        let colon = line.iter().position(|&byte| byte == b':');
        let (field, value) = line.split_at(colon.unwrap_or(line.len()));
        let value = value.strip_prefix(b":").unwrap_or(value);
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"data" => {
                if !self.data.is_empty() {
                    self.data.push(b'\n');
                }
                self.data.extend_from_slice(value);
            }
            b"event" => self.foreign = value != b"message",
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const BODY: &str = "\u{feff}: hello\r\nid: 1\r\ndata:\r\n\r\nevent: message\ndata: {\"a\":\ndata: \"読\"}\n\n\
                        event: endpoint\rdata: /x\r\rretry: 5\ndata:two\n\ndata: cut off";

    #[test]
    fn only_whole_messages_come_out() {
        let mut ready = VecDeque::new();
        Events::new(100).push(BODY.as_bytes(), &mut ready).unwrap();
        assert_eq!(ready, ["{\"a\":\n\"読\"}".as_bytes(), b"two"]);
    }

    #[test]
    fn an_event_is_bounded() {
        let mut ready = VecDeque::new();
        let mut events = Events::new(10);
        assert!(events.push(b"data: 123\n\ndata: 123\n\n", &mut ready).is_ok());
        assert!(events.push(b"data: 12345678", &mut ready).is_err());
        let mut events = Events::new(10);
        assert!(events.push(b"data: 12\ndata: 34\ndata: 56\ndata: 78\n", &mut ready).is_err());
    }

    proptest! {
        #[test]
        fn any_chunking_gives_the_same_events(size in 1_usize..40) {
            let (mut whole, mut pieces) = (VecDeque::new(), VecDeque::new());
            Events::new(100).push(BODY.as_bytes(), &mut whole)?;
            let mut events = Events::new(100);
            for piece in BODY.as_bytes().chunks(size) {
                events.push(piece, &mut pieces)?;
            }
            prop_assert_eq!(whole, pieces);
        }
    }
}
