//! Answers of the relay's own.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::action::Outcome;
use crate::edit::string;

/// The codes of the relay's own errors. They lie in the range that JSON-RPC leaves to implementations, apart from
/// those that MCP has taken (-32002, -32020 to -32022, -32042).
pub mod code {
    /// A line that is not JSON (JSON-RPC 2.0, section 5.1).
    pub const NOT_JSON: i32 = -32700;
    /// JSON that is no message, or one that two readers could take differently.
    pub const NOT_MESSAGE: i32 = -32600;
    /// The server ended, could not be started, or has failed for this launch.
    pub const SERVER: i32 = -32081;
    /// The server did not answer in time; the call was cancelled.
    pub const TIMEOUT: i32 = -32082;
    /// The way to a remote server failed.
    pub const TRANSPORT: i32 = -32083;
    /// The relay itself can't pass it on: too long, or more than it holds.
    pub const RELAY: i32 = -32084;
    /// Policy refuses it.
    pub const POLICY: i32 = -32085;
}

/// Whether the server may have done what it was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Completed {
    /// It was not asked.
    No,
    /// It was asked, and nobody knows.
    Perhaps,
}

/// An error for a request of this id. The data tells programs what the sentence tells people.
pub(crate) fn error(id: Option<&str>, code: i32, sentence: &str, completed: Completed) -> Vec<u8> {
    let (id, sentence) = (id.unwrap_or("null"), string(sentence));
    let completed = match completed {
        Completed::No => "no",
        Completed::Perhaps => "perhaps",
    };
    format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{{\"code\":{code},\"message\":{sentence},\"data\":{{\"by\":\"squire\",\"completed\":\"{completed}\"}}}}}}"
    )
    .into_bytes()
}

/// An error for a request whose way to a remote server failed; the id as it stands in the request. The sentence begins
/// with the server's name; `perhaps` says that the server may have done what it was asked.
pub fn transport_error(id: &str, sentence: &str, perhaps: bool) -> Vec<u8> {
    let completed = if perhaps { Completed::Perhaps } else { Completed::No };
    error(Some(id), code::TRANSPORT, &format!("squire: {sentence}"), completed)
}

/// How a call ended that was answered by an error: a way that failed says so by its code.
pub(crate) fn outcome(error: &RawValue) -> Outcome {
    #[derive(Deserialize)]
    struct Coded {
        code: i64,
    }
    match serde_json::from_str::<Coded>(error.get()) {
        Ok(Coded { code }) if code == i64::from(code::TRANSPORT) => Outcome::Broken,
        _ => Outcome::Error,
    }
}

/// An error for a request to a server that could not be started, and was not asked; the id as it stands in the request.
/// The sentence begins with the server's name.
pub fn server_error(id: &str, sentence: &str) -> Vec<u8> {
    error(Some(id), code::SERVER, &format!("squire: {sentence}"), Completed::No)
}

/// A result for a request of this id, from JSON text.
pub(crate) fn result(id: &str, result: &str) -> Vec<u8> {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}").into_bytes()
}

/// The word to a server that a request is no longer waited for.
pub(crate) fn cancelled(id: &str, reason: &str) -> Vec<u8> {
    format!(
        "{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{{\"requestId\":{id},\"reason\":{}}}}}",
        string(reason)
    )
    .into_bytes()
}

/// A notification without parameters.
pub(crate) fn notification(method: &str) -> Vec<u8> {
    format!("{{\"jsonrpc\":\"2.0\",\"method\":{}}}", string(method)).into_bytes()
}

/// An id as it stands in the message that is answered.
pub(crate) fn raw(id: &RawValue) -> String {
    id.get().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_way_is_told_from_everything_else() {
        assert_eq!(
            transport_error("\"q\"", "web \"broke\" off", true),
            br#"{"jsonrpc":"2.0","id":"q","error":{"code":-32083,"message":"squire: web \"broke\" off","data":{"by":"squire","completed":"perhaps"}}}"#
        );
        assert!(transport_error("1", "", false).ends_with(br#""completed":"no"}}}"#));
    }
}
