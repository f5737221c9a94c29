//! The events of a `text/event-stream` body (HTML standard, section 9.2.6).

use std::collections::VecDeque;
use std::time::Duration;

use super::error::Error;

/// One event that has data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Its type, empty where none was given.
    pub name: Vec<u8>,
    /// Its lines of data.
    pub data: Vec<u8>,
}

impl Event {
    /// Whether its data is a message of the protocol.
    pub fn is_message(&self) -> bool {
        matches!(self.name.as_slice(), b"" | b"message")
    }
}

/// Takes a body in pieces and gives its events. Comments and unknown fields are passed over, and so is an event without
/// data, with which servers of revision 2025-11-25 begin.
#[derive(Debug)]
pub struct Events {
    limit: usize,
    line: Vec<u8>,
    after_return: bool,
    is_first_line: bool,
    name: Vec<u8>,
    data: Vec<u8>,
    id: Option<Vec<u8>>,
    last_id: Option<Vec<u8>>,
    retry: Option<Duration>,
}

impl Events {
    /// A parser of a new body; no event may have more than `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            line: Vec::new(),
            after_return: false,
            is_first_line: true,
            name: Vec::new(),
            data: Vec::new(),
            id: None,
            last_id: None,
            retry: None,
        }
    }

    /// The id of the last whole event, for a stream that goes on where this one broke.
    pub(crate) fn last_id(&self) -> Option<&[u8]> {
        self.last_id.as_deref().filter(|id| !id.is_empty())
    }

    /// How long the server wants to be left alone after an end.
    pub(crate) fn retry(&self) -> Option<Duration> {
        self.retry
    }

    /// Appends to `ready` the events that `bytes` complete.
    pub fn push(&mut self, bytes: &[u8], ready: &mut VecDeque<Event>) -> Result<(), Error> {
        let mut rest = bytes;
        if rest.is_empty() {
            return Ok(());
        }
        // `\r\n` is one line end, also when it lies in two pieces.
        if std::mem::take(&mut self.after_return) {
            rest = rest.strip_prefix(b"\n").unwrap_or(rest);
        }
        while let Some(end) = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            self.extend(&rest[..end])?;
            self.end_line(ready);
            let is_return = rest[end] == b'\r';
            rest = &rest[end + 1..];
            if is_return {
                self.after_return = rest.is_empty();
                rest = rest.strip_prefix(b"\n").unwrap_or(rest);
            }
        }
        self.extend(rest)
    }

    fn extend(&mut self, piece: &[u8]) -> Result<(), Error> {
        if self.line.len() + self.data.len() + piece.len() > self.limit {
            return Err(Error::TooLong { limit: self.limit });
        }
        self.line.extend_from_slice(piece);
        Ok(())
    }

    fn end_line(&mut self, ready: &mut VecDeque<Event>) {
        let line = std::mem::take(&mut self.line);
        let mut line = line.as_slice();
        if std::mem::take(&mut self.is_first_line) {
            line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        }
        if line.is_empty() {
            self.last_id = self.id.clone();
            let name = std::mem::take(&mut self.name);
            let data = std::mem::take(&mut self.data);
            if !data.trim_ascii().is_empty() {
                ready.push_back(Event { name, data });
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
            b"event" => self.name = value.to_vec(),
            b"id" if !value.contains(&0) => self.id = Some(value.to_vec()),
            b"retry" if value.iter().all(u8::is_ascii_digit) => {
                let milliseconds = std::str::from_utf8(value).ok().and_then(|digits| digits.parse().ok());
                self.retry = milliseconds.map(Duration::from_millis).or(self.retry);
            }
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
    fn only_whole_events_come_out() {
        let mut ready = VecDeque::new();
        let mut events = Events::new(100);
        events.push(BODY.as_bytes(), &mut ready).unwrap();
        let messages: Vec<_> = ready.iter().filter(|event| event.is_message()).collect();
        assert_eq!(
            messages.iter().map(|event| &event.data[..]).collect::<Vec<_>>(),
            ["{\"a\":\n\"読\"}".as_bytes(), b"two"]
        );
        assert_eq!((ready[1].name.as_slice(), ready[1].data.as_slice()), (&b"endpoint"[..], &b"/x"[..]));
        assert_eq!((events.last_id(), events.retry()), (Some(&b"1"[..]), Some(Duration::from_millis(5))));
    }

    #[test]
    fn an_id_counts_once_its_event_is_whole() {
        let mut events = Events::new(100);
        events.push(b"id: 1\n\nid: 2\ndata: x\n", &mut VecDeque::new()).unwrap();
        assert_eq!(events.last_id(), Some(&b"1"[..]));
        events.push(b"\nid:\n\n", &mut VecDeque::new()).unwrap();
        assert_eq!(events.last_id(), None);
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
