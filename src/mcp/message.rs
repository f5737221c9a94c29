//! JSON-RPC messages: building ours, telling apart theirs. Pure.

use serde_json::{Map, Value, json};

/// The line is not JSON.
pub const PARSE_ERROR: i64 = -32700;
/// The JSON is no request: a batch, or an object that is not JSON-RPC 2.0.
pub const INVALID_REQUEST: i64 = -32600;
/// The method is not known, or not offered.
pub const METHOD_NOT_FOUND: i64 = -32601;
/// The parameters do not fit, an unknown tool included (revision 2025-11-25, tools).
pub const INVALID_PARAMS: i64 = -32602;

/// What came in on one line. Ids stay as they were written, because `1`, `1.0` and `"1"` are different ids.
#[derive(Debug, Clone, PartialEq)]
pub enum Incoming {
    /// An answer to one of our requests; the id is null where the other side could not read ours.
    Response {
        /// The id of the request that is answered.
        id: Value,
        /// What it was answered with.
        outcome: Result<Value, ErrorObject>,
    },
    /// A question that wants an answer.
    Request {
        /// To be repeated in the answer: a string or a number.
        id: Value,
        /// The name of the method.
        method: String,
        /// The parameters, null where there are none.
        params: Value,
    },
    /// News that wants no answer.
    Notification {
        /// The name of the method.
        method: String,
        /// The parameters, null where there are none.
        params: Value,
    },
    /// Something that is none of these.
    Garbage(Flaw),
}

/// Why a line is no message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flaw {
    /// Not UTF-8, not JSON, or deeper than 128 levels.
    NotJson,
    /// An array: batches existed in revision 2025-03-26 alone, and no agent sends them.
    Batch,
    /// JSON of another kind, such as a log line.
    NotMessage,
}

/// The `error` member of a response.
#[derive(Debug, Clone, PartialEq)]
pub struct ErrorObject {
    /// The number of the error, 0 where the other side gave none.
    pub code: i64,
    /// The sentence, as it came.
    pub message: String,
    /// What else was said.
    pub data: Option<Value>,
}

/// A request; null `params` are left out.
pub fn request(id: Value, method: &str, params: Value) -> Value {
    let mut message = Map::new();
    message.insert("jsonrpc".into(), "2.0".into());
    message.insert("id".into(), id);
    message.insert("method".into(), method.into());
    insert_params(&mut message, params);
    Value::Object(message)
}

/// A notification; null `params` are left out.
pub fn notification(method: &str, params: Value) -> Value {
    let mut message = Map::new();
    message.insert("jsonrpc".into(), "2.0".into());
    message.insert("method".into(), method.into());
    insert_params(&mut message, params);
    Value::Object(message)
}

fn insert_params(message: &mut Map<String, Value>, params: Value) {
    if !params.is_null() {
        message.insert("params".into(), params);
    }
}

/// The successful answer to the request `id`.
pub fn response(id: Value, result: Value) -> Value {
    let mut message = Map::new();
    message.insert("jsonrpc".into(), "2.0".into());
    message.insert("id".into(), id);
    message.insert("result".into(), result);
    Value::Object(message)
}

/// The refusal of the request `id`, which is null where it could not be read.
pub fn error(id: Value, code: i64, sentence: &str) -> Value {
    let mut message = Map::new();
    message.insert("jsonrpc".into(), "2.0".into());
    message.insert("id".into(), id);
    message.insert("error".into(), json!({ "code": code, "message": sentence }));
    Value::Object(message)
}

/// The line of `message` as it goes over a pipe: JSON without line ends, and one at the end.
pub fn to_line(message: &Value) -> Vec<u8> {
    let mut line = message.to_string().into_bytes();
    line.push(b'\n');
    line
}

/// Tells what `line` is. A byte order mark and white space around the JSON are allowed, `"jsonrpc": "2.0"` is
/// required: without it, log lines such as `{"method": "GET"}` would pass for messages (case B45).
pub fn classify(line: &[u8]) -> Incoming {
    let json = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
    match serde_json::from_slice(json) {
        Ok(Value::Object(message)) => classify_object(message),
        Ok(Value::Array(_)) => Incoming::Garbage(Flaw::Batch),
        Ok(Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => {
            Incoming::Garbage(Flaw::NotMessage)
        }
        Err(_) => Incoming::Garbage(Flaw::NotJson),
    }
}

fn classify_object(mut message: Map<String, Value>) -> Incoming {
    if message.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return Incoming::Garbage(Flaw::NotMessage);
    }
    let id = message.remove("id");
    if let Some(method) = message.remove("method") {
        let params = message.remove("params").unwrap_or(Value::Null);
        return match (id, method) {
            (None, Value::String(method)) => Incoming::Notification { method, params },
            (Some(id @ (Value::String(_) | Value::Number(_))), Value::String(method)) => {
                Incoming::Request { id, method, params }
            }
            _ => Incoming::Garbage(Flaw::NotMessage),
        };
    }
    let error = message.remove("error").filter(|error| !error.is_null());
    match (id, error, message.remove("result")) {
        (Some(id), Some(error), _) => Incoming::Response { id, outcome: Err(error_object(error)) },
        (None, Some(error), _) => Incoming::Response { id: Value::Null, outcome: Err(error_object(error)) },
        (Some(id), None, Some(result)) => Incoming::Response { id, outcome: Ok(result) },
        (_, None, _) => Incoming::Garbage(Flaw::NotMessage),
    }
}

fn error_object(mut error: Value) -> ErrorObject {
    let message = match error.get("message").and_then(Value::as_str) {
        Some(message) => message.to_owned(),
        None => error.to_string(),
    };
    let data = error.get_mut("data").map(Value::take).filter(|data| !data.is_null());
    ErrorObject { code: error.get("code").and_then(Value::as_i64).unwrap_or_default(), message, data }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_built_is_recognised() {
        let built = request(json!("a"), "tools/list", json!({ "cursor": "p2" }));
        let expected = Incoming::Request {
            id: json!("a"),
            method: "tools/list".into(),
            params: json!({ "cursor": "p2" }),
        };
        assert_eq!(classify(&to_line(&built)), expected);

        let built = notification("notifications/initialized", Value::Null);
        assert_eq!(built.to_string(), r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);

        let built = response(json!(1.0), json!({}));
        assert_eq!(classify(&to_line(&built)), Incoming::Response { id: json!(1.0), outcome: Ok(json!({})) });

        let refusal = ErrorObject { code: METHOD_NOT_FOUND, message: "no".into(), data: None };
        let built = error(Value::Null, METHOD_NOT_FOUND, "no");
        assert_eq!(classify(&to_line(&built)), Incoming::Response { id: Value::Null, outcome: Err(refusal) });
    }

    #[test]
    fn garbage_is_named() {
        for (line, flaw) in [
            (&b"Server v1 ready"[..], Flaw::NotJson),
            (b"ready> {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}", Flaw::NotJson),
            (b"\xff\xfe", Flaw::NotJson),
            (b"[1,2]", Flaw::Batch),
            (b"7", Flaw::NotMessage),
            (b"{\"level\":\"info\"}", Flaw::NotMessage),
            (b"{\"id\":1,\"result\":{}}", Flaw::NotMessage),
            (b"{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}", Flaw::NotMessage),
            (b"{\"jsonrpc\":\"2.0\",\"id\":1}", Flaw::NotMessage),
        ] {
            assert_eq!(classify(line), Incoming::Garbage(flaw), "{}", String::from_utf8_lossy(line));
        }
    }

    #[test]
    fn sloppy_messages_are_understood() {
        let expected = Incoming::Response { id: json!(1), outcome: Ok(json!(null)) };
        let line = b"\xef\xbb\xbf {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":null,\"error\":null}\r";
        assert_eq!(classify(line), expected);

        let sentence = ErrorObject { code: 0, message: "\"boom\"".into(), data: None };
        let line = b"{\"jsonrpc\":\"2.0\",\"error\":\"boom\"}";
        assert_eq!(classify(line), Incoming::Response { id: Value::Null, outcome: Err(sentence) });
    }
}
