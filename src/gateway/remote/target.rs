//! Where a remote server is, and the client that reaches it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use reqwest::header::HeaderMap;
use reqwest::{Certificate, Client, Identity, Url};
use squire_strategies::Text;

use super::super::start::{Held, below_home, expand};
use crate::config::{Declaration, Located};
use crate::environment::Environment;
use crate::files;
use crate::mcp::web;
use crate::resolve::Resolved;
use crate::secrets::Value;

/// The longest file of certificates or of a key.
const PEM_LIMIT: u64 = 1024 * 1024;

/// How long a connection is kept for the next request. Node's servers close theirs after 5 s, and a call that meets the
/// end of its connection can't be repeated: nobody knows whether it arrived.
const IDLE: Duration = Duration::from_secs(4);

/// Where a remote server is. It holds resolved secrets, so it can't be printed.
pub(in crate::gateway) struct Target {
    /// The server's name, for sentences.
    pub(in crate::gateway) name: String,
    /// The address.
    pub(in crate::gateway) url: String,
    /// The headers of every request.
    pub(in crate::gateway) headers: Vec<(String, Value)>,
    /// How it speaks.
    pub(in crate::gateway) transport: Transport,
    /// The files of the client's certificate and of its key, which may be one.
    pub(in crate::gateway) identity: Option<(PathBuf, PathBuf)>,
    /// A file of certificates that are trusted besides the system's.
    pub(in crate::gateway) ca: Option<PathBuf>,
}

/// How a remote server speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::gateway) enum Transport {
    /// Streamable HTTP, since revision 2025-03-26.
    Http,
    /// HTTP with SSE, as in revision 2024-11-05.
    Sse,
}

/// What a conversation needs of its target.
pub(super) struct Access {
    pub(super) client: Client,
    pub(super) url: Url,
    pub(super) headers: HeaderMap,
    pub(super) secrets: Vec<String>,
}

/// Where the server of a declaration is, with its references resolved. The error names the field.
pub(in crate::gateway) fn target(
    remote: &squire_strategies::Remote,
    is_sse: bool,
    entry: &Resolved,
    environment: &Environment,
    held: Held<'_>,
) -> Result<Target> {
    let expanded =
        |field: &str, text: &Text| expand(text, environment, held).with_context(|| field.to_owned());
    let mut headers = Vec::new();
    for (name, text) in &remote.headers {
        headers.push((name.clone(), expanded(&format!("headers.{name}"), text)?));
    }
    let declaration = entry.declaration.as_deref();
    if let Some(auth) = declaration.and_then(|declaration| declaration.auth.as_ref()) {
        let auth = &auth.value;
        let scheme = if auth.bearer { "Bearer " } else { "" };
        let text = Text::parse(&format!("{scheme}${{secret:{}}}", auth.secret));
        let text = text.map_err(|_| anyhow!("auth: {:?} is no name of a secret", auth.secret))?;
        headers.push((auth.header.clone(), expanded("auth", &text)?));
    }
    let file = |field: &str, text: Option<&Located<Text>>| -> Result<Option<PathBuf>> {
        let Some(text) = text else { return Ok(None) };
        let written = expanded(field, &text.value)?;
        below_home(written.expose(), environment).with_context(|| field.to_owned()).map(Some)
    };
    let of = |field: fn(&Declaration) -> Option<&Located<Text>>| declaration.and_then(field);
    let certificate = file("client_cert", of(|declaration| declaration.client_cert.as_ref()))?;
    let key = file("client_key", of(|declaration| declaration.client_key.as_ref()))?;
    Ok(Target {
        name: entry.server.name.to_string(),
        url: expanded("url", &remote.url)?.expose().to_owned(),
        headers,
        transport: if is_sse { Transport::Sse } else { Transport::Http },
        identity: certificate.map(|certificate| (certificate.clone(), key.unwrap_or(certificate))),
        ca: file("ca", of(|declaration| declaration.ca.as_ref()))?,
    })
}

impl Target {
    /// Reads the files and makes the client. The error follows the server's name and says what is wrong, never a value.
    pub(super) fn access(&self) -> Result<Access, String> {
        let url =
            Url::parse(&self.url).map_err(|error| format!("has an address that is not valid ({error})"))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(format!("has an address with the unknown scheme {}", url.scheme()));
        }
        let mut headers = HeaderMap::new();
        for (name, value) in &self.headers {
            let (name, value) =
                web::header(name, value.expose()).map_err(|error| format!("can't be asked: {error}"))?;
            headers.append(name, value);
        }
        let certificates = self.ca.as_deref().map(certificates).transpose()?.unwrap_or_default();
        let identity =
            self.identity.as_ref().map(|(certificate, key)| identity(certificate, key)).transpose()?;
        let client = web::client(&url, |mut builder| {
            // A request may take as long as it wants; a connection that nobody accepts may not.
            builder = builder.connect_timeout(super::PATIENCE).pool_idle_timeout(IDLE);
            if !certificates.is_empty() {
                builder = builder.tls_certs_merge(certificates.clone());
            }
            match &identity {
                Some(identity) => builder.identity(identity.clone()),
                None => builder,
            }
        });
        let client = client.map_err(|error| format!("could not be reached: {}", web::causes(error)))?;
        let secrets = web::secrets(&headers, &url);
        Ok(Access { client, url, headers, secrets })
    }
}

fn certificates(path: &Path) -> Result<Vec<Certificate>, String> {
    let because = |why: String| format!("can't be asked: ca: {}: {why}", path.display());
    let pem = files::read_of_user(path).map_err(|error| because(error.to_string()))?;
    let pem = pem.ok_or_else(|| because("it does not exist".into()))?;
    match Certificate::from_pem_bundle(&pem) {
        Ok(certificates) if !certificates.is_empty() => Ok(certificates),
        _ => Err(because("it holds no certificate in PEM".into())),
    }
}

fn identity(certificate: &Path, key: &Path) -> Result<Identity, String> {
    let because =
        |field, path: &Path, why: &str| format!("can't be asked: {field}: {}: {why}", path.display());
    let missing = "it does not exist";
    let read = files::read_secret(key, PEM_LIMIT);
    let secret = read.map_err(|error| because("client_key", key, &error.to_string()))?;
    let mut pem = secret.ok_or_else(|| because("client_key", key, missing))?;
    if certificate != key {
        let read = files::read_of_user(certificate);
        let public = read.map_err(|error| because("client_cert", certificate, &error.to_string()))?;
        pem.push(b'\n');
        pem.extend(public.ok_or_else(|| because("client_cert", certificate, missing))?);
    }
    Identity::from_pem(&pem)
        .map_err(|_| because("client_cert", certificate, "with its key, it is no certificate in PEM"))
}
