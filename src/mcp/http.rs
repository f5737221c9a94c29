//! A server at a remote address: Streamable HTTP (revisions 2025-03-26 to 2025-11-25, transports).

use std::collections::VecDeque;
use std::time::Duration;

use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue, LOCATION};
use reqwest::{Client, Method, RequestBuilder, Response, StatusCode, Url};
use serde_json::Value;
use tokio::runtime::{Builder, Runtime};

use super::connection::{Connection, Wait};
use super::error::{Error, Evidence};
use super::events::{Event, Events};
use super::message::{self, Incoming};
use super::web::{self, METHOD, PROTOCOL, QUOTED_BYTES, SESSION, causes, client, resource_metadata, text};
use super::{LINE_LIMIT, MODERN_REVISION};

/// The longest that the end of a session is waited for.
const FAREWELL: Duration = Duration::from_secs(1);

/// A conversation with a remote server. Its requests run on the thread that asks for them.
pub(crate) struct Remote {
    runtime: Runtime,
    client: Client,
    url: Url,
    headers: HeaderMap,
    session: Option<HeaderValue>,
    protocol: Option<HeaderValue>,
    ready: VecDeque<Vec<u8>>,
    stream: Option<(Response, Events)>,
}

impl Remote {
    /// Prepares to talk to `url`; nothing is sent yet.
    pub(crate) fn new(url: &str, headers: &[(String, String)]) -> Result<Self, Error> {
        let broken =
            |error: &dyn std::fmt::Display| Error::Transport(format!("could not be reached: {error}"));
        let url = Url::parse(url).map_err(|error| broken(&format!("its address is not valid ({error})")))?;
        Ok(Self {
            runtime: Builder::new_current_thread().enable_all().build().map_err(|error| broken(&error))?,
            client: client(&url, |builder| builder).map_err(|error| broken(&causes(error)))?,
            url,
            headers: header_map(headers)?,
            session: None,
            protocol: None,
            ready: VecDeque::new(),
            stream: None,
        })
    }

    fn request(&self, method: Method) -> RequestBuilder {
        let mut request = self.client.request(method, self.url.clone()).headers(self.headers.clone());
        for (name, value) in [(SESSION, &self.session), (PROTOCOL, &self.protocol)] {
            if let Some(value) = value {
                request = request.header(name, value);
            }
        }
        request
    }

    /// Runs `work`, or drops it where it stands when the time is over.
    fn within<T>(&self, wait: Wait, work: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
        let limited = async { tokio::time::timeout(wait.remaining(), work).await };
        self.runtime.block_on(limited).unwrap_or_else(|_| Err(wait.timed_out(Evidence::default())))
    }

    /// Takes the reply to a request: its message, or the stream in which it will come.
    fn take(&mut self, mut reply: Response, wait: Wait) -> Result<(), Error> {
        if let Some(session) = reply.headers().get(SESSION) {
            self.session = Some(session.clone());
        }
        let content_type = text(reply.headers(), &CONTENT_TYPE);
        match web::media_type(reply.headers()).as_str() {
            "text/event-stream" => self.stream = Some((reply, Events::new(LINE_LIMIT))),
            "application/json" => {
                let body = self.within(wait, body(&mut reply, LINE_LIMIT))?;
                if body.len() > LINE_LIMIT {
                    return Err(Error::TooLong { limit: LINE_LIMIT });
                }
                self.ready.push_back(body);
            }
            _ => {
                let body = self.within(wait, body(&mut reply, QUOTED_BYTES))?;
                if !body.trim_ascii().is_empty() {
                    return Err(Error::NotMcp { content_type, excerpt: self.quote(&body) });
                }
            }
        }
        Ok(())
    }

    /// Takes a reply that is no success. One whose body is a JSON-RPC error says more than its status (case B48).
    fn refused(&mut self, mut reply: Response, wait: Wait) -> Result<(), Error> {
        let status = reply.status();
        if status == StatusCode::UNAUTHORIZED {
            return Err(Error::Unauthorised { metadata: resource_metadata(reply.headers()) });
        }
        if status.is_redirection() {
            return Err(Error::Redirected { location: text(reply.headers(), &LOCATION) });
        }
        let body = self.within(wait, body(&mut reply, QUOTED_BYTES))?;
        if let Incoming::Response { outcome: Err(error), .. } = message::classify(&body) {
            return Err(Error::answered(wait.step(), error));
        }
        Err(Error::Status { status: status.to_string(), excerpt: self.quote(&body) })
    }

    /// The beginning of `body`, printable; a secret that the server repeats is taken out.
    fn quote(&self, body: &[u8]) -> String {
        web::quote(body, &web::secrets(&self.headers, &self.url))
    }
}

impl Connection for Remote {
    fn send(&mut self, message: &Value, wait: Wait) -> Result<(), Error> {
        let mut request = self
            .request(Method::POST)
            .header(ACCEPT, "application/json, text/event-stream")
            .header(CONTENT_TYPE, "application/json")
            .body(message.to_string());
        if self.protocol.as_ref().is_some_and(|protocol| protocol == MODERN_REVISION)
            && let Some(method) = message["method"].as_str()
        {
            request = request.header(METHOD, method);
        }
        let reply = self.within(wait, async { request.send().await.map_err(unreachable) })?;
        if !reply.status().is_success() {
            return self.refused(reply, wait);
        }
        // Only a request is answered; whatever is in the reply to anything else is of no use.
        let is_request = message.get("id").is_some() && message.get("method").is_some();
        if is_request { self.take(reply, wait) } else { Ok(()) }
    }

    fn receive(&mut self, wait: Wait) -> Result<Vec<u8>, Error> {
        loop {
            if wait.remaining().is_zero() {
                return Err(wait.timed_out(Evidence::default()));
            }
            if let Some(message) = self.ready.pop_front() {
                return Ok(message);
            }
            let Some((mut reply, mut events)) = self.stream.take() else {
                return Err(Error::Unanswered { step: wait.step() });
            };
            let piece = self.within(wait, async { reply.chunk().await.map_err(unreachable) })?;
            if let Some(piece) = piece {
                let mut ready = VecDeque::new();
                events.push(&piece, &mut ready)?;
                self.ready.extend(ready.into_iter().filter(Event::is_message).map(|event| event.data));
                self.stream = Some((reply, events));
            }
        }
    }

    fn negotiated(&mut self, revision: &str) {
        self.protocol = HeaderValue::from_str(revision).ok();
    }

    fn close(self: Box<Self>, grace: Duration) -> Vec<u8> {
        if self.session.is_some() {
            let wait = Wait::new(grace.min(FAREWELL));
            let request = self.request(Method::DELETE);
            // Best effort: servers may refuse it, and forget sessions by themselves.
            let _ = self.within(wait, async { request.send().await.map_err(unreachable) });
        }
        // A name that is still being looked up would otherwise be waited for.
        self.runtime.shutdown_background();
        Vec::new()
    }
}

/// The headers of every request. Errors name the header, never its value.
fn header_map(headers: &[(String, String)]) -> Result<HeaderMap, Error> {
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        let (name, value) = web::header(name, value)?;
        map.append(name, value);
    }
    Ok(map)
}

/// The body of `reply`: all of it, or a little more than `limit` bytes.
async fn body(reply: &mut Response, limit: usize) -> Result<Vec<u8>, Error> {
    let mut body = Vec::new();
    while body.len() <= limit
        && let Some(piece) = reply.chunk().await.map_err(unreachable)?
    {
        body.extend_from_slice(&piece);
    }
    Ok(body)
}

fn unreachable(error: reqwest::Error) -> Error {
    Error::Transport(web::unreachable(error))
}

#[cfg(test)]
mod tests {
    use crate::mcp::Groups;
    use std::io::{BufRead, BufReader, Read, Write};
    use std::net::TcpListener;
    use std::thread::{self, JoinHandle};
    use std::time::Instant;

    use super::super::{Endpoint, Listing, inspect};
    use super::*;

    const HELLO: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"web","version":"1"}}}"#;
    const TOOLS: &str = r#"{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"a"}]}}"#;

    /// A server that gives the n-th request the n-th reply, one connection each, and returns the requests.
    fn server(replies: Vec<String>) -> (String, JoinHandle<Vec<String>>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let requests = thread::spawn(move || {
            let mut requests = Vec::new();
            for reply in replies {
                let (mut stream, _) = listener.accept().unwrap();
                let mut reader = BufReader::new(stream.try_clone().unwrap());
                let mut request = String::new();
                while !request.ends_with("\r\n\r\n") {
                    reader.read_line(&mut request).unwrap();
                }
                let lower = request.to_ascii_lowercase();
                let length = lower
                    .split("content-length: ")
                    .nth(1)
                    .map_or(0, |rest| rest.split("\r\n").next().unwrap().parse().unwrap());
                let mut body = vec![0; length];
                reader.read_exact(&mut body).unwrap();
                requests.push(request + &String::from_utf8(body).unwrap());
                stream.write_all(reply.as_bytes()).unwrap();
            }
            requests
        });
        (url, requests)
    }

    fn reply(status: &str, headers: &str, body: &str) -> String {
        let length = body.len();
        format!("HTTP/1.1 {status}\r\n{headers}Connection: close\r\nContent-Length: {length}\r\n\r\n{body}")
    }

    fn json(body: &str) -> String {
        reply("200 OK", "Content-Type: application/json\r\nMcp-Session-Id: s1\r\n", body)
    }

    fn ask(url: String) -> Result<Listing, Error> {
        let headers = vec![("Authorization".into(), "Bearer very-secret".into())];
        inspect(&Endpoint::Http { url, headers }, Duration::from_secs(10), &Groups::default())
    }

    fn ask_once(answer: String) -> String {
        let (url, requests) = server(vec![answer]);
        let text = ask(url).unwrap_err().to_string();
        requests.join().unwrap();
        assert!(!text.contains("very-secret"), "{text}");
        text
    }

    #[test]
    fn lists_over_json_and_over_a_stream() {
        let events = format!(
            "id: 0\ndata:\n\ndata: {{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"ping\"}}\n\ndata: {TOOLS}\n\n"
        );
        let (url, requests) = server(vec![
            json(HELLO),
            reply("202 Accepted", "", ""),
            reply("200 OK", "Content-Type: text/event-stream; charset=utf-8\r\n", &events),
            reply("202 Accepted", "", ""),
            reply("405 Method Not Allowed", "", ""),
        ]);
        let listing = ask(url).unwrap();
        assert_eq!((listing.hello.server.name.as_str(), listing.tools.shown.len()), ("web", 1));
        let requests = requests.join().unwrap();
        let has = |index: usize, text: &str| requests[index].contains(text);
        assert!(has(0, "accept: application/json, text/event-stream") && has(0, "Bearer very-secret"));
        assert!(!has(0, "mcp-session-id") && !has(0, "mcp-protocol-version"));
        for index in 1..5 {
            assert!(has(index, "mcp-session-id: s1") && has(index, "mcp-protocol-version: 2025-06-18"));
        }
        assert!(has(3, r#"{"jsonrpc":"2.0","id":9,"result":{}}"#) && has(4, "DELETE /mcp"));
    }

    #[test]
    fn refusals_are_told_apart() {
        let challenge =
            "WWW-Authenticate: Bearer realm=\"x\", resource_metadata=\"https://a.example/meta\"\r\n";
        assert_eq!(
            ask_once(reply("401 Unauthorized", challenge, "no")),
            "needs authorisation (401); how to get it: https://a.example/meta"
        );
        assert_eq!(ask_once(reply("401 Unauthorized", "", "")), "needs authorisation (401)");
        assert_eq!(
            ask_once(reply("403 Forbidden", "", "token very-secret expired\x1b[2J")),
            "answered with HTTP 403 Forbidden: `token [hidden] expired\\u{1b}[2J`"
        );
        let elsewhere = ask_once(reply("302 Found", "Location: https://b.example/\r\n", ""));
        assert!(
            elsewhere.starts_with("redirects to https://b.example/, which is not followed"),
            "{elsewhere}"
        );
        assert_eq!(
            ask_once(reply("200 OK", "Content-Type: text/html\r\n", "<!doctype html>\n<title>Log in")),
            "not an MCP endpoint: it answered with text/html: `<!doctype html>\\n<title>Log in`"
        );
        assert_eq!(
            ask_once(reply("202 Accepted", "", "")),
            "accepted initialize but ended the reply without an answer"
        );
        let bad = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"no session"}}"#;
        assert_eq!(
            ask_once(reply("400 Bad Request", "", bad)),
            "answered initialize with an error: no session (-32000)"
        );
    }

    #[test]
    fn a_lower_revision_is_tried_after_a_400() {
        let refusal = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Unsupported","data":{"supported":["2025-03-26"]}}}"#;
        let (url, requests) = server(vec![reply("400 Bad Request", "", refusal), reply("503 Down", "", "")]);
        assert_eq!(ask(url).unwrap_err().to_string(), "answered with HTTP 503 Service Unavailable");
        assert!(requests.join().unwrap()[1].contains(r#""protocolVersion":"2025-03-26""#));
    }

    #[test]
    fn silence_and_closed_doors() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let started = Instant::now();
        let outcome = inspect(
            &Endpoint::Http { url: url.clone(), headers: vec![] },
            Duration::from_millis(200),
            &Groups::default(),
        );
        assert_eq!(outcome.unwrap_err().to_string(), "timed out after 200ms in initialize");
        assert!(started.elapsed() < Duration::from_secs(2), "{:?}", started.elapsed());
        drop(listener);
        let refused = ask(url).unwrap_err().to_string();
        assert!(refused.starts_with("could not be reached: "), "{refused}");
        assert!(ask("not an address".into()).unwrap_err().to_string().contains("address is not valid"));
    }

    #[test]
    fn a_header_that_cannot_be_sent_is_named_without_its_value() {
        let headers = [("X-Key".into(), "very-secret\n".into())];
        let error = Remote::new("http://localhost/", &headers).map(|_| ()).unwrap_err();
        assert_eq!(error.to_string(), "header `X-Key` has an invalid value");
        let sse = Endpoint::Sse { url: String::new(), headers: vec![] };
        assert!(matches!(inspect(&sse, FAREWELL, &Groups::default()), Err(Error::LegacySse)));
    }
}
