//! Certificates, and proxies.

use std::path::{Path, PathBuf};
use std::process::Command;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig, ServerConnection};

use super::*;
use crate::files;

type Authority = CertifiedIssuer<'static, KeyPair>;

fn authority() -> Authority {
    let mut params = CertificateParams::new(vec![]).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
}

/// A server on TLS that wants a certificate of the authority, and its address.
fn server(authority: &Authority) -> String {
    let key = KeyPair::generate().unwrap();
    let own = CertificateParams::new(vec!["localhost".into()]).unwrap().signed_by(&key, authority).unwrap();
    let mut roots = RootCertStore::empty();
    roots.add(authority.der().clone()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider));
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_client_cert_verifier(verifier.build().unwrap())
        .with_single_cert(vec![own.der().clone()], key.serialize_der().try_into().unwrap())
        .unwrap();
    let config = Arc::new(config);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        while let Ok((mut socket, _)) = listener.accept() {
            let mut connection = ServerConnection::new(Arc::clone(&config)).unwrap();
            let mut stream = rustls::Stream::new(&mut connection, &mut socket);
            if let Some(request) = read_request(&mut stream) {
                json(&mut stream, &answer_to(&request, "{}"));
                connection.send_close_notify();
                let _ = connection.write_tls(&mut socket);
            }
        }
    });
    format!("https://localhost:{port}/")
}

fn kept(directory: &Path, name: &str, text: &str) -> PathBuf {
    files::write_private(directory, name, ".new", text.as_bytes()).unwrap();
    directory.join(name)
}

#[test]
fn an_own_authority_and_a_client_certificate() {
    let directory = tempfile::tempdir().unwrap();
    let authority = authority();
    let url = server(&authority);
    let key = KeyPair::generate().unwrap();
    let own = CertificateParams::new(vec!["agent".into()]).unwrap().signed_by(&key, &authority).unwrap();
    let ca = kept(directory.path(), "ca.pem", &authority.pem());
    let certificate = kept(directory.path(), "client.pem", &own.pem());
    let secret = kept(directory.path(), "client.key", &key.serialize_pem());
    let both = kept(directory.path(), "both.pem", &(own.pem() + &key.serialize_pem()));
    let ask = |identity: Option<(&PathBuf, &PathBuf)>, ca: Option<&PathBuf>| {
        let mut target = target(&url, Transport::Http);
        target.identity = identity.map(|(certificate, key)| (certificate.clone(), key.clone()));
        target.ca = ca.cloned();
        let mut answer = String::new();
        drive(async {
            let mut driven = Driven::start(target);
            driven.has_started().await;
            driven.send(r#"{"jsonrpc":"2.0","id":1,"method":"a"}"#);
            answer = driven.line().await;
        });
        answer
    };
    let done = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
    assert_eq!(ask(Some((&certificate, &secret)), Some(&ca)), done);
    assert_eq!(ask(Some((&both, &both)), Some(&ca)), done);
    let anonymous = ask(None, Some(&ca));
    assert!(anonymous.contains("-32083") && anonymous.contains("CertificateRequired"), "{anonymous}");
    let unknown = ask(Some((&certificate, &secret)), None);
    assert!(unknown.contains("web could not be reached: ") && unknown.contains("UnknownIssuer"), "{unknown}");
}

#[test]
fn files_that_are_no_certificates_are_named() {
    let directory = tempfile::tempdir().unwrap();
    let text = kept(directory.path(), "text", "very-secret");
    let reason = |change: &dyn Fn(&mut Target)| {
        let mut target = target("https://localhost:1/", Transport::Http);
        change(&mut target);
        let mut reason = String::new();
        drive(async { reason = Driven::start(target).ended().await });
        reason.replace(&text.display().to_string(), "FILE")
    };
    assert_eq!(
        reason(&|target| target.ca = Some(text.clone())),
        "can't be asked: ca: FILE: it holds no certificate in PEM"
    );
    assert_eq!(
        reason(&|target| target.identity = Some((text.clone(), text.clone()))),
        "can't be asked: client_cert: FILE: with its key, it is no certificate in PEM"
    );
}

const CHILD: &str = "gateway::remote::tests::tls::a_request_behind_a_proxy";

#[test]
#[ignore = "run by the_environments_proxy_is_used, with a proxy in its environment"]
fn a_request_behind_a_proxy() {
    drive(async {
        let mut driven = Driven::start(target("http://mcp.invalid/mcp", Transport::Http));
        driven.has_started().await;
        driven.send(r#"{"jsonrpc":"2.0","id":1,"method":"a"}"#);
        assert_eq!(driven.line().await, r#"{"jsonrpc":"2.0","id":1,"result":"proxied"}"#);
    });
}

#[test]
fn the_environments_proxy_is_used() {
    let proxy = Server::new(|request, stream| json(stream, &answer_to(request, "\"proxied\"")));
    let outcome = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", CHILD, "--ignored"])
        .env("HTTP_PROXY", proxy.url.trim_end_matches("/mcp"))
        .env_remove("NO_PROXY")
        .env_remove("no_proxy")
        .output()
        .unwrap();
    assert!(outcome.status.success(), "{}", String::from_utf8_lossy(&outcome.stdout));
    assert_eq!(proxy.requests()[0].line, "POST http://mcp.invalid/mcp");
}
