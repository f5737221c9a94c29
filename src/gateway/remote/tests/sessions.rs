//! Sessions, their loss, and streams that break.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;

#[test]
fn a_session_is_kept_and_ended() {
    let server = Server::new(|request, stream| {
        if !is_usual(request, stream, "s1") {
            json(stream, &answer_to(request, "{}"));
        }
    });
    drive(async {
        let mut driven = Driven::initialized(&server).await;
        server.has_seen(3).await;
        driven.send(r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#);
        driven.line().await;
        driven.way.finish();
        assert_eq!(driven.ended().await, "was closed");
        let seen = server.requests();
        let lines: Vec<&str> = seen.iter().map(|request| request.line.as_str()).collect();
        // 405 is normal: nothing is told, and nothing asked again.
        assert_eq!(lines, ["POST /mcp", "POST /mcp", "GET /mcp", "POST /mcp", "DELETE /mcp"]);
        assert!(
            seen[0].header("mcp-session-id").is_none() && seen[0].header("mcp-protocol-version").is_none()
        );
        for request in &seen[1..] {
            assert_eq!(request.header("mcp-session-id"), Some("s1"));
            assert_eq!(request.header("mcp-protocol-version"), Some("2025-06-18"));
            assert_eq!(request.header("authorization"), Some("Bearer very-secret"));
        }
        assert_eq!(seen[2].header("accept"), Some("text/event-stream"));
    });
}

#[test]
fn a_stop_ends_the_session_too() {
    let server = Server::new(|request, stream| {
        is_usual(request, stream, "s1");
    });
    drive(async {
        let mut driven = Driven::initialized(&server).await;
        server.has_seen(3).await;
        driven.way.stop();
        driven.ended().await;
        assert_eq!(server.requests()[3].line, "DELETE /mcp");
    });
}

#[test]
fn the_stream_of_the_server_is_opened_again_where_it_broke() {
    let opened = AtomicUsize::new(0);
    let server = Server::new(move |request, stream| {
        if !request.line.starts_with("GET") {
            is_usual(request, stream, "s1");
            return;
        }
        match opened.fetch_add(1, Ordering::SeqCst) {
            0 => {
                open_stream(stream);
                write(stream, "retry: 150\nid: e1\ndata: {\"method\":\"a\"}\n\nid: e2\ndata: {\"cut\":");
            }
            1 => reply(stream, "503 Service Unavailable", "", ""),
            2 => {
                open_stream(stream);
                write(stream, "data: {\"method\":\"b\"}\n\n");
            }
            _ => {
                open_stream(stream);
                wait_for_close(stream);
            }
        }
    });
    drive(async {
        let mut driven = Driven::initialized(&server).await;
        assert_eq!(driven.line().await, r#"{"method":"a"}"#);
        let began = Instant::now();
        assert_eq!(driven.line().await, r#"{"method":"b"}"#);
        assert!(began.elapsed() >= Duration::from_millis(250), "{:?}", began.elapsed());
        assert!(began.elapsed() < Duration::from_millis(1900), "{:?}", began.elapsed());
        // Events without an id do not change where the stream goes on.
        let seen = server.has_seen(2 + 4).await;
        let gets: Vec<_> = seen.iter().filter(|request| request.line.starts_with("GET")).collect();
        let events: Vec<_> = gets.iter().map(|request| request.header("last-event-id")).collect();
        assert_eq!(events, [None, Some("e1"), Some("e1"), Some("e1")]);
    });
}

#[test]
fn an_answer_whose_stream_broke_is_fetched() {
    let server = Server::new(|request, stream| {
        if request.is("tools/call") {
            open_stream(stream);
            write(stream, "id: p1\nretry: 100\ndata:\n\n");
        } else if request.header("last-event-id") == Some("p1") {
            open_stream(stream);
            write(stream, "id: p2\ndata: {\"method\":\"progress\"}\n\n");
        } else if request.header("last-event-id") == Some("p2") {
            open_stream(stream);
            write(stream, "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n");
        } else {
            is_usual(request, stream, "s1");
        }
    });
    drive(async {
        let mut driven = Driven::initialized(&server).await;
        server.has_seen(3).await;
        let began = Instant::now();
        driven.send(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}}"#);
        assert_eq!(driven.line().await, r#"{"method":"progress"}"#);
        assert_eq!(driven.line().await, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
        assert!(began.elapsed() >= Duration::from_millis(200));
        driven.is_silent().await;
        let calls = server.requests().iter().filter(|request| request.is("tools/call")).count();
        assert_eq!(calls, 1);
    });
}

#[test]
fn what_can_not_be_fetched_may_have_been_completed() {
    let server = Server::new(|request, stream| {
        if request.is("tools/call") {
            open_stream(stream);
            write(stream, "id: p1\nretry: 10\ndata:\n\n");
        } else if request.header("last-event-id").is_some() {
            reply(stream, "404 Not Found", "", "");
        } else {
            is_usual(request, stream, "s1");
        }
    });
    drive(async {
        let mut driven = Driven::initialized(&server).await;
        driven.send(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}}"#);
        let (message, _, completed) = driven.error().await;
        assert_eq!(
            message,
            "squire: web broke off before it had answered, and does not go on (HTTP 404 Not Found); \
             the call may have been completed"
        );
        assert_eq!(completed, "perhaps");
    });
}

/// A server that forgets its first session after the handshake, and says so by this status and sentence.
fn forgetful(status: &'static str, sentence: &'static str) -> Server {
    let sessions = AtomicUsize::new(0);
    Server::new(move |request, stream| {
        let is_stale = request.header("mcp-session-id") == Some("s1");
        if request.is("initialize") {
            let number = sessions.fetch_add(1, Ordering::SeqCst) + 1;
            thread::sleep(Duration::from_millis(50));
            is_usual(request, stream, &format!("s{number}"));
        } else if is_stale && !request.is("notifications/initialized") && request.line.starts_with("POST") {
            let error = format!(r#"{{"jsonrpc":"2.0","error":{{"code":-32000,"message":"{sentence}"}}}}"#);
            reply(stream, status, "Content-Type: application/json\r\n", &error);
        } else if !is_usual(request, stream, "") {
            json(stream, &answer_to(request, "{}"));
        }
    })
}

#[test]
fn a_lost_session_begins_again_once_for_all() {
    begins_again(&forgetful("404 Not Found", "Session not found"));
    // What the example of the TypeScript SDK answers, and the servers that were made of it.
    begins_again(&forgetful("400 Bad Request", "Bad Request: No valid session ID provided"));
}

fn begins_again(server: &Server) {
    drive(async {
        let mut driven = Driven::initialized(server).await;
        server.has_seen(3).await;
        for id in 1..=3 {
            driven.send(&format!(
                r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"t"}}}}"#
            ));
        }
        let mut answers = [driven.line().await, driven.line().await, driven.line().await];
        answers.sort();
        assert_eq!(driven.came_back, 1);
        for (id, answer) in (1..=3).zip(&answers) {
            assert_eq!(*answer, format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#));
        }
        // The new session has a stream of its own.
        let seen = server.has_seen(3 + 3 + 2 + 3 + 1).await;
        driven.is_silent().await;
        let count = |is: &dyn Fn(&&Request) -> bool| seen.iter().filter(is).count();
        assert_eq!(count(&|request| request.body == INITIALIZE), 2);
        assert_eq!(count(&|request| request.body == INITIALIZED), 2);
        let fresh = |request: &&Request| request.header("mcp-session-id") == Some("s2");
        assert_eq!(count(&|request| fresh(request) && request.is("tools/call")), 3);
        assert_eq!(count(&|request| fresh(request) && request.line == "GET /mcp"), 1);
        let again = seen.iter().filter(|request| request.body == INITIALIZE).nth(1).unwrap();
        assert!(again.header("mcp-session-id").is_none());
    });
}

#[test]
fn a_notification_is_repeated_in_the_new_session_and_an_answer_is_not() {
    let server = forgetful("404 Not Found", "");
    drive(async {
        let mut driven = Driven::initialized(&server).await;
        server.has_seen(3).await;
        driven.send(r#"{"jsonrpc":"2.0","id":5,"result":{}}"#);
        driven.send(r#"{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}"#);
        assert!(matches!(driven.next().await, FromServer::CameBack));
        server.has_seen(3 + 1 + 2 + 1).await;
        driven.is_silent().await;
        let seen = server.requests();
        let of = |text: &str| seen.iter().filter(|request| request.body.contains(text)).count();
        assert_eq!((of(r#""id":5"#), of("roots/list_changed")), (1, 1));
    });
}

#[test]
fn a_session_that_is_lost_twice_is_an_error() {
    let server = Server::new(|request, stream| {
        if request.is("tools/call") {
            reply(stream, "404 Not Found", "", "gone");
        } else {
            is_usual(request, stream, "s1");
        }
    });
    drive(async {
        let mut driven = Driven::initialized(&server).await;
        server.has_seen(3).await;
        driven.send(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}}"#);
        let (message, id, completed) = driven.error().await;
        assert_eq!(message, "squire: web answered with HTTP 404 Not Found: `gone`");
        assert_eq!((id, completed.as_str()), (1.into(), "no"));
        let calls = server.requests().iter().filter(|request| request.is("tools/call")).count();
        assert_eq!(calls, 2);
    });
}

#[test]
fn a_session_that_can_not_begin_again_says_why() {
    let hellos = AtomicUsize::new(0);
    let server = Server::new(move |request, stream| {
        if request.is("initialize") && hellos.fetch_add(1, Ordering::SeqCst) > 0 {
            reply(stream, "503 Service Unavailable", "", "restarting");
        } else if request.is("tools/call") {
            reply(stream, "404 Not Found", "", "");
        } else {
            is_usual(request, stream, "s1");
        }
    });
    drive(async {
        let mut driven = Driven::initialized(&server).await;
        driven.send(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}}"#);
        let (message, _, completed) = driven.error().await;
        assert_eq!(
            message,
            "squire: web has forgotten the session; asked to begin again, it answered with HTTP 503 Service Unavailable: `restarting`"
        );
        assert_eq!(completed, "no");
    });
}
