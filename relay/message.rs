//! What kind of message a line is. Only the envelope and what policy looks at is read, where it stands.

use alloc::borrow::Cow;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde::Deserialize;
use serde_json::value::RawValue;

/// A line's message, which borrows from the line.
#[derive(Debug)]
pub(crate) enum Message<'a> {
    Request {
        id: &'a RawValue,
        method: Cow<'a, str>,
        params: Option<&'a RawValue>,
    },
    Notification {
        method: Cow<'a, str>,
        params: Option<&'a RawValue>,
    },
    Response {
        id: &'a RawValue,
        /// Its result, or its error.
        outcome: Result<&'a RawValue, &'a RawValue>,
    },
    /// Several messages in one line (revision 2025-03-26).
    Batch(Vec<&'a RawValue>),
    /// JSON that is no message, or one that two readers could take differently: why.
    Flawed {
        id: Option<&'a RawValue>,
        why: String,
    },
    /// No JSON at all.
    Noise,
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    method: Option<Text<'a>>,
    #[serde(borrow, default, deserialize_with = "present")]
    params: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    result: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    error: Option<&'a RawValue>,
}

/// A member that is there, `null` too.
fn present<'de: 'a, 'a, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<&'a RawValue>, D::Error> {
    Deserialize::deserialize(deserializer).map(Some)
}

/// A string, borrowed where it has no escapes.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
pub(crate) struct Text<'a>(#[serde(borrow)] pub(crate) Cow<'a, str>);

/// Reads one line, without its line end.
pub(crate) fn read(line: &[u8]) -> Message<'_> {
    let Ok(text) = core::str::from_utf8(line) else { return Message::Noise };
    // What else a reader may call a blank is none in JSON (RFC 8259, section 2): the other side would not read it.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text).trim_matches([' ', '\t', '\r', '\n']);
    read_text(text)
}

/// Reads one message.
pub(crate) fn read_text(text: &str) -> Message<'_> {
    match text.as_bytes().first() {
        Some(b'{') => {}
        Some(b'[') => {
            return serde_json::from_str(text).map_or(Message::Noise, Message::Batch);
        }
        _ => return Message::Noise,
    }
    match serde_json::from_str::<Envelope<'_>>(text) {
        Ok(Envelope { id: Some(id), method: Some(Text(method)), params, .. }) if is_id(id) => {
            Message::Request { id, method, params }
        }
        Ok(Envelope { id: None, method: Some(Text(method)), params, .. }) => {
            Message::Notification { method, params }
        }
        Ok(Envelope { id: Some(id), method: None, result: Some(result), error: None, .. }) => {
            Message::Response { id, outcome: Ok(result) }
        }
        Ok(Envelope { id: Some(id), method: None, result: None, error: Some(error), .. }) => {
            Message::Response { id, outcome: Err(error) }
        }
        Ok(envelope) => Message::Flawed { id: envelope.id, why: "it is no JSON-RPC message".to_string() },
        Err(error) if error.is_data() => {
            // A key that comes twice, or a method that is no string.
            let id = serde_json::from_str::<Id<'_>>(text).ok().and_then(|id| id.id);
            Message::Flawed { id, why: error.to_string() }
        }
        Err(_) => Message::Noise,
    }
}

#[derive(Deserialize)]
struct Id<'a> {
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
}

/// What a part of a message tells of it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Known {
    /// The id, as it stands.
    pub(crate) id: Option<String>,
    /// Whether it asks or tells, and does not answer.
    pub(crate) has_method: bool,
}

/// What the beginning of a message tells: its members up to the first that is not whole.
pub(crate) fn beginning(part: &[u8]) -> Known {
    let text = String::from_utf8_lossy(part);
    let mut known = Known::default();
    let Some(mut rest) = text.trim_start_matches('\u{feff}').trim_start().strip_prefix('{') else {
        return known;
    };
    loop {
        let mut keys = serde_json::Deserializer::from_str(rest).into_iter::<Text<'_>>();
        let Some(Ok(Text(key))) = keys.next() else { return known };
        known.has_method |= key == "method";
        let Some(value) = rest.get(keys.byte_offset()..).and_then(|rest| rest.trim_start().strip_prefix(':'))
        else {
            return known;
        };
        let mut values = serde_json::Deserializer::from_str(value).into_iter::<&RawValue>();
        let Some(Ok(member)) = values.next() else { return known };
        let Some(next) =
            value.get(values.byte_offset()..).and_then(|rest| rest.trim_start().strip_prefix(','))
        else {
            return known;
        };
        if key == "id" && is_id(member) {
            known.id = Some(member.get().to_string());
        }
        rest = next;
    }
}

/// The id of a message whose last member it is, as the TypeScript SDK writes them. Inside another value, or a string,
/// more than one brace would follow, or a quote.
pub(crate) fn id_at_the_end(part: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(part);
    let members = text.trim_end().strip_suffix('}')?;
    let (_, value) = members.rsplit_once("\"id\"")?;
    let value: &RawValue = serde_json::from_str(value.trim_start().strip_prefix(':')?).ok()?;
    is_id(value).then(|| value.get().to_string())
}

/// JSON-RPC 2.0, section 4: a string or a number; `null` is an id that nobody can be answered by.
fn is_id(id: &RawValue) -> bool {
    matches!(id.get().as_bytes().first(), Some(b'"' | b'-' | b'0'..=b'9'))
}

/// An id for comparing: 1 and "1" differ, while a string is the same however it is escaped, and a number with or
/// without zeros behind its point.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Key {
    Text(String),
    Other(String),
}

impl Key {
    pub(crate) fn of(id: &RawValue) -> Self {
        let raw = id.get();
        let Some(text) = raw.strip_prefix('"').and_then(|raw| raw.strip_suffix('"')) else {
            return Self::Other(number(raw));
        };
        if !text.contains('\\') {
            return Self::Text(text.to_string());
        }
        // One half of a surrogate alone is JSON, and no text.
        serde_json::from_str(raw).map_or_else(|_| Self::Other(raw.to_string()), Self::Text)
    }
}

/// A number without what a reader and writer of numbers may lose: who is asked by 1.0 may answer to 1.
fn number(raw: &str) -> String {
    // 1e2 and 100 are one number; what no writer of numbers has room for stays as it is.
    if raw.contains(['e', 'E'])
        && let Some(value) = raw.parse::<f64>().ok().filter(|value| value.is_finite())
    {
        return alloc::format!("{value}");
    }
    let digits = match raw.split_once('.') {
        Some((_, part)) if !part.contains(['e', 'E']) => raw.trim_end_matches('0').trim_end_matches('.'),
        _ => raw,
    };
    if digits == "-0" { "0".to_string() } else { digits.to_string() }
}

/// What policy reads of a request's parameters.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Params<'a> {
    #[serde(borrow, default)]
    pub(crate) name: Option<Text<'a>>,
    /// Policy does not depend on it: whatever it is, it passes.
    #[serde(borrow, default)]
    pub(crate) uri: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(crate) arguments: Option<&'a RawValue>,
    /// Which page of a list.
    #[serde(borrow, default)]
    pub(crate) cursor: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "_meta")]
    pub(crate) meta: Option<Meta<'a>>,
}

/// The metadata of a request that the relay reads.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Meta<'a> {
    #[serde(borrow, default, rename = "progressToken")]
    pub(crate) progress_token: Option<&'a RawValue>,
    /// Revision 2026-07-28: the capabilities come with every request.
    #[serde(borrow, default, rename = "io.modelcontextprotocol/clientCapabilities")]
    pub(crate) capabilities: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "io.modelcontextprotocol/clientInfo")]
    pub(crate) client: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "io.modelcontextprotocol/protocolVersion")]
    pub(crate) revision: Option<&'a RawValue>,
}

impl<'a> Params<'a> {
    /// Reads them; the error says what two readers could take differently.
    pub(crate) fn read(params: Option<&'a RawValue>) -> Result<Self, String> {
        match params {
            Some(params) if params.get().starts_with('{') => {
                serde_json::from_str(params.get()).map_err(|error| error.to_string())
            }
            _ => Ok(Self::default()),
        }
    }
}

/// The members `requestId` and `progressToken` of a notification's parameters.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct About<'a> {
    #[serde(borrow, default, rename = "requestId")]
    pub(crate) request: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "progressToken")]
    pub(crate) progress_token: Option<&'a RawValue>,
}

impl<'a> About<'a> {
    /// Reads the parameters; what can't be read is about nothing.
    pub(crate) fn read(params: Option<&'a RawValue>) -> Self {
        params.and_then(|params| serde_json::from_str(params.get()).ok()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;

    fn kind(line: &str) -> String {
        match read(line.as_bytes()) {
            Message::Request { id, method, params } => {
                format!("request {} {method} {}", id.get(), params.map_or("-", RawValue::get))
            }
            Message::Notification { method, .. } => format!("notification {method}"),
            Message::Response { id, outcome } => {
                format!("response {} {}", id.get(), outcome.map_or("error", RawValue::get))
            }
            Message::Batch(members) => format!("batch of {}", members.len()),
            Message::Flawed { id, why } => format!("flawed {} {why}", id.map_or("-", RawValue::get)),
            Message::Noise => "noise".into(),
        }
    }

    #[test]
    fn lines_of_every_kind() {
        for (line, expected) in [
            (r#"{"jsonrpc":"2.0","id":1,"method":"a","params":{"x":1.0}}"#, "request 1 a {\"x\":1.0}"),
            (r#" {"id":"\u0031","m":0,"method":"\u0061"} "#, "request \"\\u0031\" a -"),
            (r#"{"method":"n"}"#, "notification n"),
            (r#"{"id":1,"result":null}"#, "response 1 null"),
            (r#"{"id":-1,"error":{"code":1}}"#, "response -1 error"),
            (r#"[{"method":"n"},{}]"#, "batch of 2"),
            (r#"{"id":1,"result":1,"error":2}"#, "flawed 1 it is no JSON-RPC message"),
            (r#"{"id":null,"method":"m"}"#, "flawed null it is no JSON-RPC message"),
            (r#"{"id":[1],"method":"m"}"#, "flawed [1] it is no JSON-RPC message"),
            (r#"{"jsonrpc":"2.0"}"#, "flawed - it is no JSON-RPC message"),
            ("null", "noise"),
            ("", "noise"),
            ("npm warn", "noise"),
            (r#"{"id":1,"#, "noise"),
            ("{\"method\":\"n\"}\u{c}", "noise"),
            ("\u{feff}{\"method\":\"n\"}\r", "notification n"),
        ] {
            assert_eq!(kind(line), expected, "{line}");
        }
    }

    #[test]
    fn a_key_that_comes_twice_is_flawed() {
        for line in [
            r#"{"id":1,"method":"a","method":"b"}"#,
            r#"{"id":1,"method":"a","\u006dethod":"b"}"#,
            r#"{"id":1,"method":"a","params":{},"params":{}}"#,
            r#"{"id":1,"method":5}"#,
        ] {
            assert!(kind(line).starts_with("flawed 1"), "{}", kind(line));
        }
        assert!(kind(r#"{"id":1,"id":2,"method":"a"}"#).starts_with("flawed -"));
        assert!(kind(r#"{"id":1,"result":1,"result":2}"#).starts_with("flawed 1"));
    }

    #[test]
    fn the_beginning_of_a_long_message_tells_what_it_is() {
        for (text, id, has_method) in [
            (r#"{"jsonrpc":"2.0","id":7,"result":{"content":["#, Some("7"), false),
            (r#" { "\u0069d" : "a\"b", "method" : "m", "params": "#, Some(r#""a\"b""#), true),
            (r#"{"method":"m","params":{"id":7,"#, None, true),
            (r#"{"result":{"id":7,"method":"#, None, false),
            (r#"{"result":{"id":7},"id":8"#, None, false),
            (r#"{"id":"#, None, false),
            (r#"{"id":null,"method"#, None, false),
            ("x", None, false),
            ("", None, false),
        ] {
            let expected = Known { id: id.map(ToString::to_string), has_method };
            assert_eq!(beginning(text.as_bytes()), expected, "{text}");
        }
        assert_eq!(beginning(b"{\"id\":1,\"x\":\"\xff").id.as_deref(), Some("1"));
    }

    #[test]
    fn the_end_of_a_long_message_may_have_its_id() {
        let id = |text: &str| id_at_the_end(text.as_bytes());
        assert_eq!(id(r#"aaa"}]},"jsonrpc":"2.0","id":3}"#).as_deref(), Some("3"));
        assert_eq!(id("aaa\"}],\"id\" : \"a-1\" }\r").as_deref(), Some("\"a-1\""));
        for other in [
            r#"{"id":3}}"#,
            r#""text":"\"id\":3"}"#,
            r#""text":"\"id\":3}"}"#,
            r#""id":[3]}"#,
            r#""id":null}"#,
            r#""id":3"#,
            "}",
            "",
        ] {
            assert_eq!(id(other), None, "{other}");
        }
    }

    #[test]
    fn ids_keep_their_type() {
        let key = |text: &str| Key::of(serde_json::from_str(text).unwrap());
        assert_ne!(key("1"), key("\"1\""));
        assert_eq!(key("\"\\u0031\""), key("\"1\""));
        // Half a surrogate pair is no text, and the same only where it is spelled the same.
        assert_eq!(key(r#""\ud800""#), key(r#""\ud800""#));
        assert_ne!(key(r#""\ud800.0""#), key(r#""\ud800""#));
        for (one, other) in [
            ("1", "1.0"),
            ("-0", "0"),
            ("-0.00", "0"),
            ("1.5", "1.50"),
            ("100", "100.0"),
            ("1e2", "100.0"),
            ("15E-1", "1.5"),
        ] {
            assert_eq!(key(one), key(other));
        }
        for (one, other) in [("1", "10"), ("1.0", "10"), ("1.5", "15"), ("1e1", "1"), ("1.0e1", "1")] {
            assert_ne!(key(one), key(other));
        }
    }
}
