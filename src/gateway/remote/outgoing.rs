//! A message on its way to a remote server: what kind it is, and the headers that repeat parts of it.

use std::borrow::Cow;

use bytes::Bytes;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::mirrors::{self, Mirrors};
use crate::mcp::web::{self, METHOD, PROTOCOL};

const NAME: HeaderName = HeaderName::from_static("mcp-name");

/// A message on its way to a remote server.
#[derive(Clone)]
pub(super) struct Outgoing {
    pub(super) body: Bytes,
    /// Empty where the message is an answer.
    pub(super) method: String,
    /// The id of a request, as it stands.
    pub(super) id: Option<String>,
    /// The id for comparing.
    pub(super) key: Option<Key>,
    /// The request that this message cancels.
    pub(super) cancels: Option<Key>,
    /// The headers that revision 2026-07-28 wants; none in a request of an earlier one.
    pub(super) headers: HeaderMap,
}

/// An id for comparing: 1 and "1" differ, while a string is the same however it is escaped.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Key {
    Text(String),
    Other(String),
}

impl Key {
    fn of(id: &RawValue) -> Self {
        let text = id.get();
        // Asked to be a string, a number would become an error first, and that a sentence.
        let string = text.starts_with('"').then(|| serde_json::from_str(text).ok()).flatten();
        string.map_or_else(|| Self::Other(text.to_owned()), Self::Text)
    }
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    params: Option<&'a RawValue>,
    #[serde(borrow, default)]
    result: Option<&'a RawValue>,
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
struct Params<'a> {
    #[serde(borrow, default)]
    name: Option<&'a RawValue>,
    #[serde(borrow, default)]
    uri: Option<&'a RawValue>,
    #[serde(borrow, default)]
    arguments: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "requestId")]
    request: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "_meta")]
    meta: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Meta {
    #[serde(rename = "io.modelcontextprotocol/protocolVersion")]
    revision: String,
}

impl Outgoing {
    /// Reads a line of the agent's.
    pub(super) fn read(line: Vec<u8>, mirrors: &Mirrors) -> Self {
        let mut outgoing = Self {
            body: Bytes::new(),
            method: String::new(),
            id: None,
            key: None,
            cancels: None,
            headers: HeaderMap::new(),
        };
        if let Ok(envelope) = serde_json::from_slice::<Envelope<'_>>(&line) {
            let params = envelope.params.and_then(|params| serde_json::from_str(params.get()).ok());
            let params: Params<'_> = params.unwrap_or_default();
            if let Some(method) = envelope.method {
                outgoing.id = envelope.id.map(|id| id.get().to_owned());
                outgoing.key = envelope.id.map(Key::of);
                outgoing.method = method.into_owned();
            }
            outgoing.cancels =
                params.request.filter(|_| outgoing.method == "notifications/cancelled").map(Key::of);
            outgoing.repeat(&params, mirrors);
        }
        outgoing.body = line.into();
        outgoing
    }

    /// Repeats in headers what revision 2026-07-28 wants there (streamable HTTP, request metadata).
    fn repeat(&mut self, params: &Params<'_>, mirrors: &Mirrors) {
        let Some(meta) = params.meta else { return };
        let Ok(Meta { revision }) = serde_json::from_str(meta.get()) else { return };
        let mut insert = |name, value: &str| {
            if let Ok(value) = HeaderValue::from_str(&mirrors::encoded(value)) {
                self.headers.insert(name, value);
            }
        };
        insert(PROTOCOL, &revision);
        insert(METHOD, &self.method);
        let name = match self.method.as_str() {
            "tools/call" | "prompts/get" => params.name,
            "resources/read" => params.uri,
            _ => None,
        };
        let Some(name) = name.and_then(|name| serde_json::from_str::<String>(name.get()).ok()) else {
            return;
        };
        insert(NAME, &name);
        if self.method == "tools/call" {
            for (header, value) in mirrors.of_call(&name, params.arguments) {
                self.headers.insert(header, value);
            }
        }
    }

    /// Whether it is of a revision without sessions.
    pub(super) fn is_modern(&self) -> bool {
        self.headers.contains_key(PROTOCOL)
    }

    /// The result or error that a message holds for this request: its member `result`, or null.
    pub(super) fn answer_in<'a>(&self, message: &'a [u8]) -> Option<&'a str> {
        let key = self.key.as_ref()?;
        responses(message).into_iter().find(|(own, _)| own == key).map(|(_, result)| result)
    }
}

/// The ids that a message, or the members of a batch, answer, with the results; null stands for an error.
pub(super) fn responses(message: &[u8]) -> Vec<(Key, &str)> {
    let Ok(text) = std::str::from_utf8(message) else { return Vec::new() };
    let text = text.trim_start_matches('\u{feff}').trim_start();
    let members: Vec<&str> = if text.starts_with('[') {
        let batch: Vec<&RawValue> = serde_json::from_str(text).unwrap_or_default();
        batch.into_iter().map(RawValue::get).collect()
    } else {
        vec![text]
    };
    members.into_iter().filter_map(response).collect()
}

fn response(text: &str) -> Option<(Key, &str)> {
    let envelope: Envelope<'_> = serde_json::from_str(text).ok()?;
    let is_response = envelope.method.is_none() && (envelope.result.is_some() || envelope.error.is_some());
    let key = envelope.id.filter(|_| is_response).map(Key::of)?;
    Some((key, envelope.result.map_or("null", RawValue::get)))
}

/// A body that is a JSON-RPC error, with the id of the request that it is for and without the secrets that it repeats.
pub(super) fn as_error_of(body: &[u8], id: &str, secrets: &[String]) -> Option<Vec<u8>> {
    #[derive(Deserialize)]
    struct Refusal<'a> {
        #[serde(borrow)]
        error: &'a RawValue,
    }
    #[derive(Deserialize)]
    struct Coded {
        #[serde(rename = "code")]
        _code: serde_json::Number,
    }
    let refusal: Refusal<'_> = serde_json::from_slice(body).ok()?;
    // Many servers have errors of another shape.
    serde_json::from_str::<Coded>(refusal.error.get()).ok()?;
    let error = web::without(refusal.error.get(), secrets).replace(['\n', '\r'], " ");
    Some(format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{error}}}").into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Outgoing {
        Outgoing::read(line.into(), &Mirrors::default())
    }

    #[test]
    fn kinds_are_told_apart() {
        assert!(read(r#"{"id":1,"method":"a"}"#).id.is_some());
        assert!(read(r#"{"method":"a"}"#).id.is_none());
        assert!(read(r#"{"id":1,"result":{}}"#).id.is_none());
        let cancel = read(r#"{"method":"notifications/cancelled","params":{"requestId":"\u0061"}}"#);
        assert_eq!(cancel.cancels, Some(Key::Text("a".into())));
    }

    #[test]
    fn an_answer_is_found_in_a_batch_too_and_by_the_type_of_its_id() {
        let request = read(r#"{"id":1,"method":"a"}"#);
        assert_eq!(request.answer_in(br#"{"id":1,"result":{"x": 1}}"#), Some(r#"{"x": 1}"#));
        assert_eq!(request.answer_in(br#"[{"method":"n"},{"id":1,"error":{}}]"#), Some("null"));
        for other in [r#"{"id":"1","result":{}}"#, r#"{"id":1,"method":"m"}"#, "[]", "x", r#"{"id":1}"#] {
            assert_eq!(request.answer_in(other.as_bytes()), None, "{other}");
        }
    }

    #[test]
    fn what_revision_2026_07_28_repeats_in_headers() {
        let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}"#;
        let header = |outgoing: &Outgoing, name: &str| {
            outgoing.headers.get(name).map(|value| value.to_str().unwrap().to_owned())
        };
        let call = read(&format!(r#"{{"id":1,"method":"tools/call","params":{{"name":"é",{meta}}}}}"#));
        assert_eq!(header(&call, "mcp-protocol-version").unwrap(), "2026-07-28");
        assert_eq!(header(&call, "mcp-method").unwrap(), "tools/call");
        assert_eq!(header(&call, "mcp-name").unwrap(), "=?base64?w6k=?=");
        let read_one =
            read(&format!(r#"{{"id":1,"method":"resources/read","params":{{"uri":"a:b",{meta}}}}}"#));
        assert_eq!(header(&read_one, "mcp-name").unwrap(), "a:b");
        let list = read(&format!(r#"{{"id":1,"method":"tools/list","params":{{"name":"x",{meta}}}}}"#));
        assert!(list.is_modern() && header(&list, "mcp-name").is_none());
        assert!(!read(r#"{"id":1,"method":"tools/call","params":{"name":"x"}}"#).is_modern());
    }

    #[test]
    fn an_error_gets_the_id_of_its_request() {
        let body = b"{\"id\":null,\n\"error\":{\"code\": -1,\n\"message\":\"very-secret m\"}}";
        let line = as_error_of(body, "\"q\"", &["very-secret".into()]).unwrap();
        assert_eq!(line, br#"{"jsonrpc":"2.0","id":"q","error":{"code": -1, "message":"[hidden] m"}}"#);
        assert!(as_error_of(br#"{"error":"invalid_token"}"#, "1", &[]).is_none());
    }
}
