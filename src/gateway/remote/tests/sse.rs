//! HTTP with SSE, as in revision 2024-11-05.

use std::sync::mpsc;

use super::*;

/// A server that says on its stream what it is told to, from the endpoint on.
fn server(endpoint: String) -> (Server, mpsc::Sender<String>) {
    let (sender, receiver) = mpsc::channel::<String>();
    let receiver = Mutex::new(receiver);
    let says = sender.clone();
    let server = Server::new(move |request, stream| {
        if request.line.starts_with("GET") {
            open_stream(stream);
            write(stream, &format!(": hi\n\nevent: endpoint\ndata: {endpoint}\n\n"));
            for text in receiver.lock().unwrap().iter() {
                if text.is_empty() {
                    return;
                }
                write(stream, &text);
            }
        } else if request.is("refused") {
            reply(stream, "400 Bad Request", "", "no");
        } else {
            reply(stream, "202 Accepted", "", "Accepted");
            if request.body.contains("\"id\"") {
                says.send(format!("event: message\ndata: {}\n\n", answer_to(request, "{}"))).unwrap();
            }
        }
    });
    (server, sender)
}

#[test]
fn answers_come_on_the_stream() {
    let (server, says) = server("/messages?session=1".into());
    drive(async {
        let mut driven = Driven::start(target(&server.url, Transport::Sse));
        driven.has_started().await;
        driven.send(INITIALIZE);
        assert_eq!(driven.line().await, r#"{"jsonrpc":"2.0","id":"i","result":{}}"#);
        driven.send(INITIALIZED);
        driven.send(r#"{"jsonrpc":"2.0","id":1,"method":"refused"}"#);
        let (message, id, completed) = driven.error().await;
        assert_eq!(message, "squire: web answered with HTTP 400 Bad Request: `no`");
        assert_eq!((id, completed.as_str()), (1.into(), "no"));
        says.send("data: {\"method\":\ndata: \"n\"}\n\n".into()).unwrap();
        assert_eq!(driven.line().await, r#"{"method": "n"}"#);
        driven.send(r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#);
        driven.way.finish();
        assert_eq!(driven.line().await, r#"{"jsonrpc":"2.0","id":2,"result":{}}"#);
        assert_eq!(driven.ended().await, "was closed");
        let seen = server.requests();
        assert_eq!(
            (seen[0].line.as_str(), seen[0].header("accept")),
            ("GET /mcp", Some("text/event-stream"))
        );
        assert_eq!(seen.len(), 5);
        for request in &seen[1..] {
            assert_eq!(request.line, "POST /messages?session=1");
            assert_eq!(request.header("authorization"), Some("Bearer very-secret"));
        }
    });
}

#[test]
fn the_stream_is_the_server() {
    let (server, says) = server("messages".into());
    drive(async {
        let mut driven = Driven::start(target(&server.url, Transport::Sse));
        driven.has_started().await;
        says.send("data: {\"method\":\"n\"}\n\n".into()).unwrap();
        assert_eq!(driven.line().await, r#"{"method":"n"}"#);
        says.send(String::new()).unwrap();
        assert_eq!(driven.ended().await, "closed its stream");
        // Whoever stops it meanwhile hears of no second end.
        driven.way.stop();
        driven.is_silent().await;
    });
}

#[test]
fn without_initialize_there_is_no_server() {
    let (server, _says) = server("messages".into());
    drive(async {
        let mut driven = Driven::start(target(&server.url, Transport::Sse));
        driven.has_started().await;
        driven.send(r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"method":"refused"}}"#);
        assert_eq!(driven.ended().await, "answered with HTTP 400 Bad Request: `no`");
    });
}

#[test]
fn messages_go_to_no_other_origin() {
    let other = Server::new(|_, stream| accepted(stream));
    let (server, _says) = server(other.url.clone());
    drive(async {
        let mut driven = Driven::start(target(&server.url, Transport::Sse));
        let origin = other.url.trim_end_matches("/mcp");
        assert_eq!(
            driven.ended().await,
            format!("wants its messages at another origin, {origin}, which gets no secrets")
        );
        assert!(other.requests().is_empty());
    });
}

#[test]
fn a_start_that_fails_says_why() {
    let reason = |answer: fn(&mut TcpStream)| {
        let server = Server::new(move |_, stream| answer(stream));
        let mut reason = String::new();
        drive(async { reason = Driven::start(target(&server.url, Transport::Sse)).ended().await });
        reason
    };
    assert_eq!(
        reason(|stream| reply(stream, "503 Service Unavailable", "", "very-secret")),
        "answered with HTTP 503 Service Unavailable: `[hidden]`"
    );
    assert_eq!(
        reason(|stream| json(stream, "{}")),
        "is no MCP endpoint with SSE: its answer is no event stream"
    );
    assert_eq!(reason(open_stream), "closed its stream");
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    drop(listener);
    drive(async move {
        let reason = Driven::start(target(&url, Transport::Sse)).ended().await;
        assert!(reason.starts_with("could not be reached: "), "{reason}");
    });
}
