//! What goes over Streamable HTTP in every revision, and in the one without sessions.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

use super::*;

const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}"#;

fn call(id: u32, method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{{params}{META}}}}}"#)
}

#[test]
fn nothing_overtakes_a_notification_and_requests_run_at_once() {
    let (second_came, second) = mpsc::channel();
    let second = Mutex::new(second);
    let server = Server::new(move |request, stream| {
        if request.is("slow") {
            thread::sleep(Duration::from_millis(150));
            accepted(stream);
        } else if request.is("first") {
            // Answered only once the other is there.
            second.lock().unwrap().recv_timeout(Duration::from_secs(10)).unwrap();
            json(stream, &answer_to(request, "1"));
        } else if request.is("second") {
            second_came.send(()).unwrap();
            json(stream, &answer_to(request, "2"));
        } else {
            accepted(stream);
        }
    });
    drive(async {
        let mut driven = Driven::http(&server).await;
        let began = Instant::now();
        for line in [
            r#"{"jsonrpc":"2.0","method":"slow"}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"first"}"#,
            r#"{"jsonrpc":"2.0","id":2,"method":"second"}"#,
        ] {
            driven.send(line);
        }
        assert!(driven.way.unsent() > 100);
        server.has_seen(2).await;
        assert!(began.elapsed() >= Duration::from_millis(150));
        let mut answers = [driven.line().await, driven.line().await];
        answers.sort();
        assert!(answers[0].contains(r#""id":1,"result":1"#) && answers[1].contains(r#""id":2,"result":2"#));
        assert_eq!(driven.way.unsent(), 0);
        // An answer to the server is waited for as well.
        driven.send(r#"{"jsonrpc":"2.0","id":9,"result":{}}"#);
        driven.send(r#"{"jsonrpc":"2.0","method":"last"}"#);
        let seen = server.has_seen(5).await;
        assert!(seen[0].is("slow") && seen[3].body.contains(r#""id":9"#) && seen[4].is("last"));
        for request in seen {
            assert_eq!(request.line, "POST /mcp");
            assert_eq!(request.header("accept"), Some("application/json, text/event-stream"));
            assert_eq!(request.header("content-type"), Some("application/json"));
            assert_eq!(request.header("authorization"), Some("Bearer very-secret"));
            assert!(request.header("mcp-session-id").is_none() && request.header("mcp-method").is_none());
        }
    });
}

#[test]
fn bodies_of_every_kind_are_split_into_messages() {
    let server = Server::new(|request, stream| {
        let answer = answer_to(request, "{\n}");
        if request.is("json") {
            json(stream, &answer);
        } else if request.is("batch") {
            json(stream, &format!("[{{\"method\":\"n\"}},{answer}]"));
        } else if request.is("events") {
            open_stream(stream);
            write(stream, "id: 1\ndata:\n\ndata: {\"method\":\"n\"}\n\n");
            thread::sleep(Duration::from_millis(20));
            for piece in format!("event: message\r\ndata: {}\r\n\r\n", answer.replace('\n', "")).split('"') {
                write(stream, piece);
                write(stream, if piece.ends_with("\r\n\r\n") { "" } else { "\"" });
            }
        } else {
            // Rows of documents, labelled as something else.
            let body = format!("{{\"method\":\"n\"}}\n{}\n", answer.replace('\n', ""));
            reply(stream, "200 OK", "Content-Type: text/plain\r\n", &body);
        }
    });
    drive(async {
        let mut driven = Driven::http(&server).await;
        let answer = |id: u32, result: &str| format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#);
        driven.send(r#"{"jsonrpc":"2.0","id":1,"method":"json"}"#);
        assert_eq!(driven.line().await, answer(1, "{ }"));
        driven.send(r#"{"jsonrpc":"2.0","id":2,"method":"batch"}"#);
        assert_eq!(driven.line().await, format!("[{{\"method\":\"n\"}},{}]", answer(2, "{ }")));
        for (id, method) in [(3, "events"), (4, "rows")] {
            driven.send(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}"}}"#));
            assert_eq!(driven.line().await, r#"{"method":"n"}"#);
            assert_eq!(driven.line().await, answer(id, "{}"));
        }
        driven.is_silent().await;
    });
}

#[test]
fn without_sessions_headers_repeat_the_message_and_nothing_else_is_asked() {
    let server = Server::new(|request, stream| {
        if request.is("tools/list") {
            let schema = r#"{"properties":{"region":{"type":"string","x-mcp-header":"Region"}}}"#;
            let bad = r#"{"properties":{"region":{"type":"array","x-mcp-header":"Region"}}}"#;
            let tools = format!(
                r#"{{"tools":[{{"name":"t","inputSchema":{schema}}},{{"name":"u","inputSchema":{bad}}}],"ttlMs" : 1}}"#
            );
            json(stream, &answer_to(request, &tools));
        } else {
            json(stream, &answer_to(request, "{}"));
        }
    });
    drive(async {
        let mut driven = Driven::http(&server).await;
        driven.send(&call(1, "tools/list", ""));
        let listed = driven.line().await;
        assert!(listed.contains(r#"{"name":"t""#) && listed.contains(r#""ttlMs" : 1"#), "{listed}");
        assert!(!listed.contains(r#""u""#), "{listed}");
        driven.send(&call(2, "tools/call", r#""name":"t","arguments":{"region":"é"},"#));
        driven.line().await;
        driven.send(&call(3, "resources/read", r#""uri":"file:///a","#));
        driven.line().await;
        driven.way.finish();
        assert_eq!(driven.ended().await, "was closed");
        let seen = server.requests();
        assert_eq!(seen.len(), 3);
        for (request, method) in seen.iter().zip(["tools/list", "tools/call", "resources/read"]) {
            assert_eq!(request.line, "POST /mcp");
            assert_eq!(request.header("mcp-protocol-version"), Some("2026-07-28"));
            assert_eq!(request.header("mcp-method"), Some(method));
            assert!(request.header("mcp-session-id").is_none());
        }
        assert_eq!(seen[0].header("mcp-name"), None);
        assert_eq!(seen[1].header("mcp-name"), Some("t"));
        assert_eq!(seen[1].header("mcp-param-region"), Some("=?base64?w6k=?="));
        assert_eq!(seen[2].header("mcp-name"), Some("file:///a"));
    });
}

#[test]
fn closing_the_stream_is_the_cancellation_where_there_are_no_sessions() {
    let (closed, has_closed) = mpsc::channel();
    let server = Server::new(move |request, stream| {
        if request.is("tools/call") {
            open_stream(stream);
            write(stream, "data: {\"method\":\"notifications/progress\"}\n\n");
            wait_for_close(stream);
            closed.send(()).unwrap();
        } else {
            json(stream, &answer_to(request, "{}"));
        }
    });
    drive(async {
        let mut driven = Driven::http(&server).await;
        driven.send(&call(1, "tools/call", r#""name":"t","#));
        assert_eq!(driven.line().await, r#"{"method":"notifications/progress"}"#);
        driven.send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#);
        driven.send(&call(1, "other", ""));
        assert!(driven.line().await.contains("result"));
        driven.is_silent().await;
        has_closed.recv_timeout(Duration::from_secs(5)).unwrap();
        assert_eq!(server.requests().len(), 2);
    });
}

#[test]
fn with_sessions_a_cancellation_is_sent_and_an_end_without_answer_is_no_error() {
    let (cancelled, is_cancelled) = mpsc::channel();
    let is_cancelled = Mutex::new(is_cancelled);
    let server = Server::new(move |request, stream| {
        if request.is("notifications/cancelled") {
            accepted(stream);
            cancelled.send(()).unwrap();
        } else if !is_usual(request, stream, "s1") {
            open_stream(stream);
            is_cancelled.lock().unwrap().recv_timeout(Duration::from_secs(10)).unwrap();
        }
    });
    drive(async {
        let mut driven = Driven::initialized(&server).await;
        server.has_seen(3).await;
        driven.send(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}}"#);
        server.has_seen(4).await;
        driven.send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#);
        assert!(server.has_seen(5).await[4].is("notifications/cancelled"));
        driven.is_silent().await;
    });
}

#[test]
fn a_request_that_waits_for_its_turn_is_never_sent_once_it_is_cancelled() {
    let (release, is_released) = mpsc::channel::<()>();
    let is_released = Mutex::new(is_released);
    let server = Server::new(move |request, stream| {
        // Closed, it lets everybody go.
        let _ = is_released.lock().unwrap().recv_timeout(Duration::from_secs(10));
        json(stream, &answer_to(request, "{}"));
    });
    drive(async {
        let mut driven = Driven::http(&server).await;
        let ask = |id: u32| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"a"}}"#);
        for id in 0..102 {
            driven.send(&ask(id));
        }
        server.has_seen(100).await;
        assert_eq!(driven.way.unsent(), 2 * ask(100).len());
        driven.send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":100}}"#);
        drop(release);
        let mut answers = Vec::new();
        for _ in 0..101 {
            answers.push(driven.line().await);
        }
        driven.is_silent().await;
        assert!(!answers.iter().any(|answer| answer.contains("\"id\":100,")));
        assert!(answers.iter().any(|answer| answer.contains("\"id\":101,")));
        assert_eq!((server.requests().len(), driven.way.unsent()), (101, 0));
    });
}

#[test]
fn a_subscription_stays_open_until_the_agent_has_said_all() {
    let server = Server::new(|_, stream| {
        open_stream(stream);
        write(stream, "data: {\"method\":\"notifications/subscriptions/acknowledged\"}\n\n");
        thread::sleep(Duration::from_millis(100));
        write(stream, ": awake\n\ndata: {\"method\":\"notifications/tools/list_changed\"}\n\n");
        wait_for_close(stream);
    });
    drive(async {
        let mut driven = Driven::http(&server).await;
        driven.send(&call(1, "subscriptions/listen", ""));
        assert!(driven.line().await.contains("acknowledged"));
        assert!(driven.line().await.contains("list_changed"));
        driven.way.finish();
        assert_eq!(driven.ended().await, "was closed");
    });
}

#[test]
fn a_subscription_that_breaks_off_is_asked_for_again() {
    let count = AtomicUsize::new(0);
    let server = Server::new(move |_, stream| {
        let number = count.fetch_add(1, Ordering::Relaxed);
        // Open, gone, refused, open.
        match number {
            0 | 3 => {
                open_stream(stream);
                write(stream, "data: {\"method\":\"notifications/subscriptions/acknowledged\"}\n\n");
                if number == 3 {
                    wait_for_close(stream);
                }
            }
            1 => {}
            _ => reply(stream, "503 Service Unavailable", "", ""),
        }
    });
    drive(async {
        let mut driven = Driven::http(&server).await;
        driven.send(&call(1, "subscriptions/listen", ""));
        for came_back in [0, 1] {
            assert!(driven.line().await.contains("acknowledged"));
            assert_eq!(driven.came_back, came_back);
        }
        assert_eq!(server.requests().len(), 4);
        assert!(server.requests().iter().all(|request| request.body == server.requests()[0].body));
        driven.way.finish();
        assert_eq!(driven.ended().await, "was closed");
    });
}

#[test]
fn a_subscription_that_is_not_there_is_an_error() {
    let server = Server::new(|_, stream| reply(stream, "404 Not Found", "", ""));
    drive(async {
        let mut driven = Driven::http(&server).await;
        driven.send(&call(1, "subscriptions/listen", ""));
        let (message, id, completed) = driven.error().await;
        assert!(message.contains("404"), "{message}");
        assert_eq!((id, completed.as_str()), (1.into(), "no"));
        assert_eq!(server.requests().len(), 1);
    });
}

#[test]
fn the_agent_gets_its_answers_after_it_has_said_all() {
    let server = Server::new(|request, stream| {
        thread::sleep(Duration::from_millis(100));
        json(stream, &answer_to(request, "{}"));
    });
    drive(async {
        let mut driven = Driven::http(&server).await;
        driven.send(r#"{"jsonrpc":"2.0","id":1,"method":"a"}"#);
        driven.way.finish();
        assert!(driven.line().await.contains("result"));
        assert_eq!(driven.ended().await, "was closed");
    });
}

#[test]
fn a_stop_drops_what_runs_and_is_told_once() {
    let (closed, has_closed) = mpsc::channel();
    let server = Server::new(move |_, stream| {
        wait_for_close(stream);
        closed.send(()).unwrap();
    });
    drive(async {
        let mut driven = Driven::http(&server).await;
        driven.send(r#"{"jsonrpc":"2.0","id":1,"method":"a"}"#);
        server.has_seen(1).await;
        driven.way.stop();
        assert_eq!(driven.ended().await, "was stopped");
        has_closed.recv_timeout(Duration::from_secs(5)).unwrap();
        driven.way.stop();
        driven.is_silent().await;
    });
}
