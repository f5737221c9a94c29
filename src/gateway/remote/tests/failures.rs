//! Requests that fail: one error each, without a secret.

use super::*;

const ASK: &str = r#"{"jsonrpc":"2.0","id":"q","method":"tools/call","params":{"name":"t"}}"#;

/// The error of a call that is answered so, and its word about completion.
fn failed(answer: impl Fn(&mut TcpStream) + Send + Sync + 'static) -> (String, String) {
    let server = Server::new(move |_, stream| answer(stream));
    let mut outcome = (String::new(), String::new());
    drive(async {
        let mut driven = Driven::http(&server).await;
        driven.send(ASK);
        let (message, id, completed) = driven.error().await;
        assert_eq!(id, "q");
        driven.is_silent().await;
        assert_eq!(server.requests().len(), 1, "a call is never repeated");
        outcome = (message, completed);
    });
    outcome
}

fn refused(status: &'static str, headers: &'static str, body: &'static str) -> (String, String) {
    failed(move |stream| reply(stream, status, headers, body))
}

#[test]
fn refusals_name_the_servers_own_metadata_and_the_mend() {
    let challenge = "WWW-Authenticate: Bearer realm=\"x\", resource_metadata=\"https://a.example/meta\"\r\n";
    let mend = "with route = \"direct\" an agent that can sign in does so by itself";
    let (message, completed) = refused("401 Unauthorized", challenge, "");
    assert_eq!(
        message,
        format!(
            "squire: web does not accept its credentials (401 Unauthorized); how to get it: https://a.example/meta; {mend}"
        )
    );
    assert_eq!(completed, "no");
    let error = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"scope"}}"#;
    let (message, completed) = refused("403 Forbidden", challenge, error);
    let quoted = format!("`{error}`; how to get it: https://a.example/meta; {mend}");
    assert_eq!(message, format!("squire: web refuses access (403 Forbidden): {quoted}"));
    assert_eq!(completed, "no");
}

#[test]
fn other_statuses_are_quoted_without_the_secret() {
    let (message, completed) = refused("400 Bad Request", "", "no very-secret here\u{1b}[2J");
    assert_eq!(message, "squire: web answered with HTTP 400 Bad Request: `no [hidden] here\\u{1b}[2J`");
    assert_eq!(completed, "no");
    let (message, completed) = refused("502 Bad Gateway", "", "");
    assert_eq!(message, "squire: web answered with HTTP 502 Bad Gateway; the call may have been completed");
    assert_eq!(completed, "perhaps");
}

#[test]
fn an_error_of_the_server_goes_through_with_the_id_of_the_request() {
    let server = Server::new(|_, stream| {
        let error = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32020,"message":"Header mismatch","data":{"x" : 1}}}"#;
        reply(stream, "400 Bad Request", "Content-Type: application/json\r\n", error);
    });
    drive(async {
        let mut driven = Driven::http(&server).await;
        driven.send(ASK);
        assert_eq!(
            driven.line().await,
            r#"{"jsonrpc":"2.0","id":"q","error":{"code":-32020,"message":"Header mismatch","data":{"x" : 1}}}"#
        );
        driven.is_silent().await;
    });
}

#[test]
fn replies_without_an_answer() {
    let perhaps = "; the call may have been completed";
    let nothing = format!("squire: web accepted the request but ended its reply without an answer{perhaps}");
    for answer in [
        |stream: &mut TcpStream| accepted(stream),
        |stream: &mut TcpStream| json(stream, "{\"jsonrpc\":\"2.0\",\"id\":\"other\",\"result\":{}"),
        |stream: &mut TcpStream| open_stream(stream),
    ] {
        assert_eq!(failed(answer), (nothing.clone(), "perhaps".into()));
    }
    let (message, completed) = failed(|stream| {
        write(
            stream,
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{\"a\":",
        );
    });
    assert!(message.starts_with("squire: web broke off: ") && message.ends_with(perhaps), "{message}");
    assert_eq!(completed, "perhaps");
    let (message, _) = failed(|_| {});
    assert!(message.starts_with("squire: web broke off: ") && message.ends_with(perhaps), "{message}");
    assert_eq!(
        refused("200 OK", "Content-Type: text/html\r\n", "<title>very-secret</title>").0,
        format!(
            "squire: web is no MCP endpoint: it answered with text/html: `<title>[hidden]</title>`{perhaps}"
        )
    );
}

#[test]
fn a_message_that_is_too_long_is_an_error() {
    let (message, completed) = failed(|stream| {
        open_stream(stream);
        write(stream, "data: ");
        let piece = "x".repeat(1024 * 1024);
        for _ in 0..=MESSAGE_LIMIT / piece.len() {
            write(stream, &piece);
        }
    });
    assert_eq!(message, "squire: web sent a message of more than 64 MiB; the call may have been completed");
    assert_eq!(completed, "perhaps");
}

#[test]
fn only_redirections_within_the_origin_are_followed() {
    let other = Server::new(|request, stream| json(stream, &answer_to(request, "{}")));
    let place = other.url.clone();
    for status in ["302 Found", "307 Temporary Redirect"] {
        let (status, location) = (status.to_owned(), format!("Location: {place}?very=private-word\r\n"));
        let (message, completed) = failed(move |stream| reply(stream, &status, &location, ""));
        let origin = place.trim_end_matches("/mcp");
        assert_eq!(
            message,
            format!(
                "squire: web redirects to {origin}, which is not followed because headers may hold secrets; \
                 declare that address if it is the right one"
            )
        );
        assert_eq!(completed, "no");
    }
    assert!(other.requests().is_empty());
    let server = Server::new(|request, stream| match request.line.as_str() {
        "POST /mcp" => reply(stream, "307 Temporary Redirect", "Location: /mcp/\r\n", ""),
        "POST /mcp/" if request.is("loop") => {
            reply(stream, "308 Permanent Redirect", "Location: ./\r\n", "");
        }
        _ => json(stream, &answer_to(request, "{}")),
    });
    drive(async {
        let mut driven = Driven::http(&server).await;
        driven.send(ASK);
        assert!(driven.line().await.contains("result"));
        let seen = server.requests();
        assert_eq!(seen.len(), 2);
        assert_eq!((seen[1].line.as_str(), seen[1].body.as_str()), ("POST /mcp/", ASK));
        assert_eq!(seen[1].header("authorization"), Some("Bearer very-secret"));
        driven.send(r#"{"jsonrpc":"2.0","id":1,"method":"loop"}"#);
        let (message, _, _) = driven.error().await;
        assert!(
            message.starts_with("squire: web redirects more than 5 times within http://127."),
            "{message}"
        );
        assert_eq!(server.requests().len(), 2 + 6);
    });
}

#[test]
fn a_refused_initialize_is_no_server_unless_the_server_answers_it() {
    let refused = |status: &'static str, body: &'static str| {
        Server::new(move |_, stream| reply(stream, status, "Content-Type: application/json\r\n", body))
    };
    drive(async {
        let mut driven = Driven::http(&refused("401 Unauthorized", "")).await;
        driven.send(INITIALIZE);
        assert_eq!(
            driven.ended().await,
            "does not accept its credentials (401 Unauthorized); with route = \"direct\" an agent that can sign in does so by itself"
        );
        let error = r#"{"jsonrpc":"2.0","id":"i","error":{"code":-32602,"message":"no such revision"}}"#;
        let mut driven = Driven::http(&refused("400 Bad Request", error)).await;
        driven.send(INITIALIZE);
        assert_eq!(driven.line().await, error);
        driven.is_silent().await;
    });
}

/// An address at which nobody listens.
fn closed() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    format!("http://{}/mcp", listener.local_addr().unwrap())
}

#[test]
fn nobody_there_is_an_error_of_the_request_alone() {
    drive(async {
        let mut driven = Driven::start(target(&closed(), Transport::Http));
        driven.has_started().await;
        for line in [ASK, r#"{"jsonrpc":"2.0","method":"n"}"#, &ASK.replace("\"q\"", "2")] {
            driven.send(line);
        }
        for expected in ["q".into(), Json::from(2)] {
            let (message, id, completed) = driven.error().await;
            assert!(message.starts_with("squire: web could not be reached: "), "{message}");
            assert!(message.contains("refused") && !message.contains("127.0.0.1"), "{message}");
            assert_eq!((id, completed.as_str()), (expected, "no"));
        }
        driven.is_silent().await;
    });
}

#[test]
fn without_initialize_there_is_no_server_until_another_start() {
    drive(async {
        let url = closed();
        let mut driven = Driven::start(target(&url, Transport::Http));
        driven.has_started().await;
        driven.send(INITIALIZE);
        driven.send(ASK);
        assert!(driven.ended().await.starts_with("could not be reached: "));
        let address = url.trim_start_matches("http://").trim_end_matches("/mcp");
        let _server = Server::at(TcpListener::bind(address).unwrap(), |request, stream| {
            is_usual(request, stream, "s1");
        });
        driven.came = driven.way.start();
        driven.has_started().await;
        driven.send(INITIALIZE);
        assert!(driven.line().await.contains("protocolVersion"));
    });
}

#[test]
fn what_can_not_be_asked_is_told_at_the_start() {
    let with = |change: &dyn Fn(&mut Target)| {
        let mut target = target("http://127.0.0.1:1/", Transport::Http);
        change(&mut target);
        let mut reason = String::new();
        drive(async { reason = Driven::start(target).ended().await });
        reason
    };
    let value = |text: &str| Value::exactly(Zeroizing::new(text.as_bytes().to_vec())).unwrap();
    assert_eq!(
        with(&|target| target.headers = vec![("X-Key".into(), value("very-secret\n"))]),
        "can't be asked: header `X-Key` has an invalid value"
    );
    assert!(
        with(&|target| target.url = "very secret".into()).starts_with("has an address that is not valid")
    );
    assert_eq!(with(&|target| target.url = "ftp://a/".into()), "has an address with the unknown scheme ftp");
    assert_eq!(
        with(&|target| target.ca = Some("/nowhere/ca.pem".into())),
        "can't be asked: ca: /nowhere/ca.pem: it does not exist"
    );
    assert_eq!(
        with(&|target| target.identity = Some(("/nowhere/c".into(), "/nowhere/k".into()))),
        "can't be asked: client_key: /nowhere/k: it does not exist"
    );
}
