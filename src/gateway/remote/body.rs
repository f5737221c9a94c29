//! The messages in the body of a reply, as it arrives.

use std::collections::VecDeque;
use std::time::Duration;

use crate::mcp::Error;
use crate::mcp::events::{Event, Events};

/// How much of a body that holds no message is kept, to be quoted.
const KEPT: usize = crate::mcp::web::QUOTED_BYTES;

/// Takes a body in pieces and gives its messages, each on one line. Some servers label a row of JSON documents as
/// something else, so that what a body is shows in its first character.
pub(super) struct Body {
    limit: usize,
    is_stream: bool,
    shape: Shape,
}

enum Shape {
    Unknown(Vec<u8>),
    Stream(Events),
    Documents(Documents),
    Foreign(Vec<u8>),
}

impl Body {
    /// A body that says that it is an event stream, or that does not; no message may have more than `limit` bytes.
    pub(super) fn new(is_stream: bool, limit: usize) -> Self {
        Self { limit, is_stream, shape: Shape::Unknown(Vec::new()) }
    }

    /// Appends to `ready` the messages that `bytes` complete.
    pub(super) fn push(&mut self, bytes: &[u8], ready: &mut VecDeque<Vec<u8>>) -> Result<(), Error> {
        if let Shape::Unknown(held) = &mut self.shape {
            held.extend_from_slice(bytes);
            let text = held.strip_prefix(b"\xef\xbb\xbf").unwrap_or(held).trim_ascii_start();
            let is_cut = b"\xef\xbb\xbf".starts_with(held);
            let Some(first) = text.first().filter(|_| !is_cut) else {
                // Blank lines keep some streams awake, and need not be kept.
                if held.len() > KEPT {
                    held.drain(..held.len() - 1);
                }
                return Ok(());
            };
            let shape = match first {
                b'{' | b'[' => Shape::Documents(Documents::new(self.limit)),
                _ if self.is_stream => Shape::Stream(Events::new(self.limit)),
                _ => Shape::Foreign(Vec::new()),
            };
            let Shape::Unknown(held) = std::mem::replace(&mut self.shape, shape) else { return Ok(()) };
            return self.push(&held, ready);
        }
        match &mut self.shape {
            Shape::Unknown(_) => Ok(()),
            Shape::Stream(events) => {
                let mut complete = VecDeque::new();
                let outcome = events.push(bytes, &mut complete);
                let messages = complete.into_iter().filter(Event::is_message);
                ready.extend(messages.map(|event| on_one_line(event.data)));
                outcome
            }
            Shape::Documents(documents) => documents.push(bytes, ready),
            Shape::Foreign(kept) => {
                let room = KEPT.saturating_sub(kept.len());
                kept.extend_from_slice(&bytes[..bytes.len().min(room)]);
                Ok(())
            }
        }
    }

    /// The beginning of a body that holds no messages.
    pub(super) fn foreign(&self) -> Option<&[u8]> {
        if let Shape::Foreign(kept) = &self.shape { Some(kept) } else { None }
    }

    /// The id of the last event.
    pub(super) fn last_id(&self) -> Option<&[u8]> {
        if let Shape::Stream(events) = &self.shape { events.last_id() } else { None }
    }

    /// How long the server wants to be left alone after an end.
    pub(super) fn retry(&self) -> Option<Duration> {
        if let Shape::Stream(events) = &self.shape { events.retry() } else { None }
    }
}

/// JSON in several lines is the same in one: a string can't hold a line end.
pub(super) fn on_one_line(mut message: Vec<u8>) -> Vec<u8> {
    for byte in &mut message {
        if matches!(byte, b'\n' | b'\r') {
            *byte = b' ';
        }
    }
    message
}

/// JSON documents, one behind the other.
struct Documents {
    limit: usize,
    document: Vec<u8>,
    depth: usize,
    in_string: bool,
    after_backslash: bool,
}

impl Documents {
    fn new(limit: usize) -> Self {
        Self { limit, document: Vec::new(), depth: 0, in_string: false, after_backslash: false }
    }

    fn push(&mut self, bytes: &[u8], ready: &mut VecDeque<Vec<u8>>) -> Result<(), Error> {
        let mut rest = bytes;
        while !rest.is_empty() {
            if self.depth == 0 {
                // What stands between documents is no message: line ends, commas, words.
                let Some(begin) = rest.iter().position(|byte| matches!(byte, b'{' | b'[')) else {
                    return Ok(());
                };
                rest = &rest[begin..];
            }
            let end = self.end_in(rest);
            let (piece, behind) = rest.split_at(end.unwrap_or(rest.len()));
            if self.document.len() + piece.len() > self.limit {
                return Err(Error::TooLong { limit: self.limit });
            }
            self.document.extend_from_slice(piece);
            if end.is_some() {
                ready.push_back(on_one_line(std::mem::take(&mut self.document)));
            }
            rest = behind;
        }
        Ok(())
    }

    /// Where the document ends that begins or goes on at the first byte.
    fn end_in(&mut self, bytes: &[u8]) -> Option<usize> {
        for (index, byte) in bytes.iter().enumerate() {
            if self.in_string {
                match byte {
                    _ if self.after_backslash => self.after_backslash = false,
                    b'\\' => self.after_backslash = true,
                    b'"' => self.in_string = false,
                    _ => {}
                }
                continue;
            }
            match byte {
                b'"' => self.in_string = true,
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => {
                    self.depth -= 1;
                    if self.depth == 0 {
                        return Some(index + 1);
                    }
                }
                _ => {}
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn messages(is_stream: bool, pieces: &[&[u8]]) -> Result<Vec<String>, Error> {
        let mut body = Body::new(is_stream, 1000);
        let mut ready = VecDeque::new();
        for piece in pieces {
            body.push(piece, &mut ready)?;
        }
        Ok(ready.into_iter().map(|message| String::from_utf8(message).unwrap()).collect())
    }

    const DOCUMENTS: &str = "\u{feff} {\"a\":\"}\\\"{読\",\n\"b\":[{}]}\r\n[1,{\"c\":\"\\\\\"}],{}{\"d\":1}";
    const STREAM: &str = "\n: hi\nid: 1\ndata: {\"a\":\ndata: 1}\n\nevent: other\ndata: 5\n\ndata: {}\r\r";

    #[test]
    fn documents_are_split_whatever_the_body_calls_itself() {
        let split = ["{\"a\":\"}\\\"{読\", \"b\":[{}]}", "[1,{\"c\":\"\\\\\"}]", "{}", "{\"d\":1}"];
        assert_eq!(messages(false, &[DOCUMENTS.as_bytes()]).unwrap(), split);
        assert_eq!(messages(true, &[DOCUMENTS.as_bytes()]).unwrap(), split);
        assert_eq!(messages(true, &[STREAM.as_bytes()]).unwrap(), ["{\"a\": 1}", "{}"]);
    }

    #[test]
    fn a_page_for_people_is_kept_for_the_error() {
        let mut body = Body::new(false, 10);
        let mut ready = VecDeque::new();
        body.push(b"\n<html>", &mut ready).unwrap();
        body.push(&[b'x'; 2 * KEPT], &mut ready).unwrap();
        let foreign = body.foreign().unwrap();
        assert!(ready.is_empty() && foreign.starts_with(b"\n<html>xx") && foreign.len() == KEPT);
    }

    #[test]
    fn a_message_is_bounded() {
        let long = format!("{{}}{{\"a\":\"{}\"}}", "x".repeat(1000));
        assert!(messages(false, &[long.as_bytes()]).is_err());
        let long = format!("data: {{\"a\":\"{}\"}}\n\n", "x".repeat(1000));
        assert!(messages(true, &[long.as_bytes()]).is_err());
    }

    proptest! {
        #[test]
        fn any_chunking_of_a_body_gives_the_same_messages(
            texts in proptest::collection::vec(".{0,12}", 0..6),
            separator in prop_oneof!["\n", "\r\n", "", " , "],
            is_stream in any::<bool>(),
            cuts in proptest::collection::vec(0_usize..1000, 0..12),
        ) {
            let documents: Vec<String> =
                texts.iter().map(|text| serde_json::json!({ "a": [text], text: "}" }).to_string()).collect();
            let body = if is_stream && !documents.is_empty() {
                format!("id: 1\r\ndata: {}\r\n\r\n", documents.join("\r\n\r\nid: 2\r\ndata: "))
            } else {
                documents.join(&separator)
            };
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(body.len())).collect();
            cuts.extend([0, body.len()]);
            cuts.sort_unstable();
            let pieces: Vec<&[u8]> = cuts.windows(2).map(|cut| &body.as_bytes()[cut[0]..cut[1]]).collect();
            prop_assert_eq!(messages(is_stream, &pieces).unwrap(), documents);
        }

        #[test]
        fn no_bytes_are_too_strange(bytes in any::<Vec<u8>>(), is_stream in any::<bool>(), size in 1_usize..9) {
            let give = |pieces: Vec<&[u8]>| {
                let mut body = Body::new(is_stream, 1000);
                let mut ready = VecDeque::new();
                let outcome = pieces.into_iter().try_for_each(|piece| body.push(piece, &mut ready));
                (outcome.is_ok(), ready)
            };
            prop_assert_eq!(give(vec![&bytes]), give(bytes.chunks(size).collect()));
        }
    }
}
