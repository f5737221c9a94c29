//! What every conversation over HTTP needs, the client's and the gateway's.

use std::error::Error as _;

use reqwest::header::{HeaderMap, HeaderName, HeaderValue, WWW_AUTHENTICATE};
use reqwest::{Client, ClientBuilder, Url, redirect};

use super::error::Error;
use crate::printable::{excerpt, printable};

/// The session of the revisions that have one.
pub(crate) const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
/// The protocol's revision.
pub(crate) const PROTOCOL: HeaderName = HeaderName::from_static("mcp-protocol-version");

/// The method of a request (2026-07-28, transports).
pub(crate) const METHOD: HeaderName = HeaderName::from_static("mcp-method");

/// How much of a body that is no message is read, in bytes.
pub(crate) const QUOTED_BYTES: usize = 4096;
/// How much of it is quoted, in characters.
const QUOTED: usize = 200;
/// Shorter values are no secrets, and hiding them would tear other words apart.
const SHORTEST_SECRET: usize = 8;
/// Words of a path that are longer may be keys.
const SHORTEST_PATH_SECRET: usize = 16;

/// The client for `url`: no redirects, and no proxy where the server is this machine.
pub(crate) fn client(url: &Url, shape: impl Fn(ClientBuilder) -> ClientBuilder) -> reqwest::Result<Client> {
    // An error says that a provider is installed already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let builder = || {
        let builder = ClientBuilder::new()
            .redirect(redirect::Policy::none())
            .user_agent(concat!("squire/", env!("CARGO_PKG_VERSION")));
        shape(match (is_loopback(url), url.scheme()) {
            // The system's certificates take their time and memory, and nobody asks for them here.
            (true, "http") => builder.no_proxy().tls_certs_only([]),
            (true, _) => builder.no_proxy(),
            (false, _) => builder,
        })
    };
    match builder().build() {
        // A container without certificates can still talk to its own network.
        Err(_) if url.scheme() == "http" => builder().tls_certs_only([]).build(),
        outcome => outcome,
    }
}

fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']').parse();
    host == "localhost" || address.is_ok_and(|address: std::net::IpAddr| address.is_loopback())
}

/// A declared header. Errors name it, never its value.
pub(crate) fn header(name: &str, value: &str) -> Result<(HeaderName, HeaderValue), Error> {
    let invalid = |what| Error::Transport(format!("header `{}` has an invalid {what}", printable(name)));
    let key = HeaderName::from_bytes(name.as_bytes()).map_err(|_| invalid("name"))?;
    let mut value = HeaderValue::from_str(value).map_err(|_| invalid("value"))?;
    value.set_sensitive(true);
    Ok((key, value))
}

/// What may be a secret in declared headers and in an address, the longest first.
pub(crate) fn secrets(headers: &HeaderMap, url: &Url) -> Vec<String> {
    let mut secrets = Vec::new();
    for value in headers.values().filter_map(|value| value.to_str().ok()) {
        secrets.extend([value.to_owned(), value.rsplit(' ').next().unwrap_or_default().to_owned()]);
    }
    for (_, value) in url.query_pairs() {
        secrets.push(value.into_owned());
    }
    secrets.extend(url.query().map(str::to_owned));
    secrets.extend(url.password().map(str::to_owned));
    secrets.retain(|secret| secret.len() >= SHORTEST_SECRET);
    let words = url.path_segments().into_iter().flatten();
    secrets.extend(words.filter(|word| word.len() >= SHORTEST_PATH_SECRET).map(str::to_owned));
    secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
    secrets
}

/// The beginning of `body`, printable; a secret that the server repeats is taken out.
pub(crate) fn quote(body: &[u8], secrets: &[String]) -> String {
    excerpt(without(&String::from_utf8_lossy(body), secrets).as_bytes(), QUOTED)
}

/// A text without the secrets that it repeats.
pub(crate) fn without(text: &str, secrets: &[String]) -> String {
    secrets.iter().fold(text.to_owned(), |text, secret| text.replace(secret.as_str(), "[hidden]"))
}

/// Why a request has no answer, behind the server's name.
pub(crate) fn unreachable(error: reqwest::Error) -> String {
    let verb = if error.is_connect() { "could not be reached" } else { "broke off" };
    format!("{verb}: {}", causes(error))
}

/// The error and what caused it, without the address, which may hold a secret.
pub(crate) fn causes(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut sentence = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        sentence = format!("{sentence}: {inner}");
        cause = inner.source();
    }
    printable(&sentence)
}

/// The value of a header as text, empty where there is none.
pub(crate) fn text(headers: &HeaderMap, name: &HeaderName) -> String {
    headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned()).unwrap_or_default()
}

/// The kind of a body, in lower case and without its parameters.
pub(crate) fn media_type(headers: &HeaderMap) -> String {
    let content_type = text(headers, &reqwest::header::CONTENT_TYPE);
    content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// The address in `WWW-Authenticate: Bearer resource_metadata="…"` (RFC 9728, section 5.1).
pub(crate) fn resource_metadata(headers: &HeaderMap) -> Option<String> {
    let challenges = headers.get_all(WWW_AUTHENTICATE).iter().filter_map(|value| value.to_str().ok());
    let mut values = challenges.filter_map(|challenge| challenge.split_once("resource_metadata="));
    let value = values.next()?.1;
    let end = |stops: &'static [char]| move |text: &str| text.split(stops).next().map(str::to_owned);
    value.strip_prefix('"').map_or_else(|| end(&[',', ' '])(value), end(&['"']))
}
