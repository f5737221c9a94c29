//! Why a request has no answer, in sentences that follow the server's name.

use reqwest::header::HeaderMap;
use reqwest::{Response, StatusCode, Url};
use tokio::time::timeout;

use super::PATIENCE;
use super::outgoing::as_error_of;
use crate::mcp::web;
use crate::printable::printable;

/// How much of a reply that is no success is read.
const REFUSAL_LIMIT: usize = 64 * 1024;

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
}

/// A reply that is no success.
pub(super) struct Refusal {
    pub(super) status: StatusCode,
    headers: HeaderMap,
    body: Vec<u8>,
}

impl Refusal {
    /// Reads what of it comes in time.
    pub(super) async fn read(mut reply: Response) -> Self {
        let mut body = Vec::new();
        let _ = timeout(PATIENCE, async {
            while body.len() < REFUSAL_LIMIT
                && let Ok(Some(piece)) = reply.chunk().await
            {
                body.extend_from_slice(&piece);
            }
        })
        .await;
        Self { status: reply.status(), headers: reply.headers().clone(), body }
    }

    /// Whether the server does not know the session: 404, or what a widely copied example answers, 400 with a word
    /// about it. Either way it has not read the message.
    pub(super) fn is_of_session(&self) -> bool {
        let speaks_of_it = || String::from_utf8_lossy(&self.body).to_ascii_lowercase().contains("session");
        self.status == StatusCode::NOT_FOUND || self.status == StatusCode::BAD_REQUEST && speaks_of_it()
    }

    /// The JSON-RPC error that it is for a request of this id. What it says of access is for people.
    pub(super) fn error(&self, id: &str, secrets: &[String]) -> Option<Vec<u8>> {
        if self.is_about_access() { None } else { as_error_of(&self.body, id, secrets) }
    }

    fn is_about_access(&self) -> bool {
        matches!(self.status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN)
    }

    /// What it means for people.
    pub(super) fn failure(&self, has_credentials: bool, secrets: &[String]) -> Failure {
        let status = self.status;
        let mut sentence = match status {
            StatusCode::UNAUTHORIZED if has_credentials => {
                format!("does not accept its credentials ({status})")
            }
            StatusCode::UNAUTHORIZED => format!("needs authorisation ({status})"),
            StatusCode::FORBIDDEN => format!("refuses access ({status})"),
            _ => format!("answered with HTTP {status}"),
        };
        let quoted = web::quote(&self.body, secrets);
        if !quoted.is_empty() {
            sentence = format!("{sentence}: `{quoted}`");
        }
        if self.is_about_access() {
            if let Some(metadata) = web::resource_metadata(&self.headers) {
                sentence = format!("{sentence}; how to get it: {}", printable(&metadata));
            }
            sentence.push_str("; with route = \"direct\" an agent that can sign in does so by itself");
        }
        // A proxy in between answers with 5xx for a server that may have begun.
        Failure { sentence, perhaps: status.is_server_error() }
    }
}
