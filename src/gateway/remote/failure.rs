//! Why a request has no answer, in sentences that follow the server's name.

use reqwest::header::HeaderMap;
use reqwest::{StatusCode, Url};

use crate::mcp::web;
use crate::printable::printable;

/// Why a request has no answer.
#[derive(Debug)]
pub(super) struct Failure {
    /// Behind the server's name.
    pub(super) sentence: String,
    /// Whether the server may have done what it was asked.
    pub(super) perhaps: bool,
}

impl Failure {
    /// The server was not asked, or has refused.
    pub(super) fn undone(sentence: impl Into<String>) -> Self {
        Self { sentence: sentence.into(), perhaps: false }
    }

    /// Nobody knows what the server did.
    pub(super) fn perhaps(sentence: impl Into<String>) -> Self {
        Self { sentence: sentence.into(), perhaps: true }
    }

    /// What kept a request from its reply, or broke it.
    pub(super) fn of(error: reqwest::Error, secrets: &[String]) -> Self {
        let perhaps = !error.is_connect() && !error.is_builder();
        Self { sentence: web::without(&web::unreachable(error), secrets), perhaps }
    }

    /// Only the origin is named: the rest of an address may hold a secret.
    pub(super) fn redirected(target: Option<&Url>) -> Self {
        let place = target.map_or_else(
            || "a place that is no address".to_owned(),
            |target| target.origin().ascii_serialization(),
        );
        Self::undone(format!(
            "redirects to {}, which is not followed because headers may hold secrets; declare that address if it is the right one",
            printable(&place)
        ))
    }

    /// A reply that is no success.
    pub(super) fn refused(
        status: StatusCode,
        headers: &HeaderMap,
        quoted: &str,
        has_credentials: bool,
    ) -> Self {
        let mut sentence = match status {
            StatusCode::UNAUTHORIZED if has_credentials => {
                format!("does not accept its credentials ({status})")
            }
            StatusCode::UNAUTHORIZED => format!("needs authorisation ({status})"),
            StatusCode::FORBIDDEN => format!("refuses access ({status})"),
            _ => format!("answered with HTTP {status}"),
        };
        if !quoted.is_empty() {
            sentence = format!("{sentence}: `{quoted}`");
        }
        if matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
            if let Some(metadata) = web::resource_metadata(headers) {
                sentence = format!("{sentence}; how to get it: {}", printable(&metadata));
            }
            sentence.push_str("; with route = \"direct\" an agent that can sign in does so by itself");
        }
        // A gateway in between answers with 5xx for a server that may have begun.
        Self { sentence, perhaps: status.is_server_error() }
    }
}
