//! One conversation with a remote server: what its requests share.

use std::cell::{Cell, RefCell};
use std::time::Duration;

use bytes::Bytes;
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, LOCATION};
use reqwest::{Client, Method, Response, StatusCode, Url};
use tokio::sync::mpsc::Sender;
use tokio::sync::{Notify, Semaphore};
use tokio::time::timeout;

use super::failure::{Failure, Refusal};
use super::flights::Flights;
use super::mirrors::Mirrors;
use super::outgoing::Outgoing;
use super::session::Session;
use super::target::{Access, Target, Transport};
use crate::gateway::lines::Piece;
use crate::gateway::upstream::FromServer;
use crate::mcp::web::{self, PROTOCOL, SESSION};

const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");
const BOTH: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");
const JSON: HeaderValue = HeaderValue::from_static("application/json");
const STREAM: HeaderValue = HeaderValue::from_static("text/event-stream");

/// How often a redirection is followed.
const REDIRECTIONS: usize = 5;
/// How many requests are open at once; more of them wait for their turn.
const PLACES: usize = 100;
/// The longest that the end of a session is waited for.
const FAREWELL: Duration = Duration::from_secs(1);

/// One conversation, from a start to its end.
pub(super) struct Link {
    name: String,
    pub(super) transport: Transport,
    client: Client,
    /// Where messages are posted.
    pub(super) url: RefCell<Url>,
    headers: HeaderMap,
    pub(super) secrets: Vec<String>,
    events: Sender<FromServer>,
    pub(super) session: Session,
    pub(super) mirrors: RefCell<Mirrors>,
    pub(super) flights: Flights,
    pub(super) places: Semaphore,
    failed: RefCell<Option<String>>,
    bell: Notify,
    has_ended: Cell<bool>,
}

impl Link {
    pub(super) fn new(target: &Target, events: Sender<FromServer>) -> Result<Self, String> {
        let Access { client, url, headers, secrets } = target.access()?;
        Ok(Self {
            name: target.name.clone(),
            transport: target.transport,
            client,
            url: RefCell::new(url),
            headers,
            secrets,
            events,
            session: Session::default(),
            mirrors: RefCell::default(),
            flights: Flights::default(),
            places: Semaphore::new(PLACES),
            failed: RefCell::default(),
            bell: Notify::new(),
            has_ended: Cell::new(false),
        })
    }

    // ---- Towards the agent ----

    async fn tell(&self, event: FromServer) {
        // Nobody listens any more once the gateway ends.
        let _ = self.events.send(event).await;
    }

    pub(super) async fn started(&self) {
        self.tell(FromServer::Started).await;
    }

    /// The server knows nothing any more of what the agent has set up.
    pub(super) async fn came_back(&self) {
        self.tell(FromServer::CameBack).await;
    }

    /// Passes a message on.
    pub(super) async fn say(&self, line: Vec<u8>) {
        self.tell(FromServer::Said(Piece::Line(line))).await;
    }

    /// Tells of the end, once.
    pub(super) async fn end(&self, reason: String) {
        if !self.has_ended.replace(true) {
            self.tell(FromServer::Ended(reason)).await;
        }
    }

    /// Answers a request that has failed. Without `initialize` there is no server: the relay stands in for it.
    pub(super) async fn fail(&self, outgoing: &Outgoing, failure: Failure) {
        let Some(id) = &outgoing.id else { return };
        let Failure { mut sentence, perhaps } = failure;
        if outgoing.method == "initialize" {
            *self.failed.borrow_mut() = Some(sentence);
            return self.bell.notify_one();
        }
        if perhaps && outgoing.method == "tools/call" {
            sentence.push_str("; the call may have been completed");
        }
        let sentence = format!("{} {sentence}", self.name);
        self.say(squire_relay::transport_error(id, &sentence, perhaps)).await;
    }

    /// Waits until the conversation has failed, and gives the reason.
    pub(super) async fn failed(&self) -> String {
        loop {
            self.bell.notified().await;
            if let Some(reason) = self.failed.borrow_mut().take() {
                return reason;
            }
        }
    }

    // ---- Towards the server ----

    /// Posts a message and gives the head of the reply.
    pub(super) async fn post(&self, outgoing: &Outgoing) -> Result<Response, Failure> {
        let mut headers = self.headers.clone();
        headers.insert(ACCEPT, BOTH);
        headers.insert(CONTENT_TYPE, JSON);
        if outgoing.is_modern() {
            for (name, value) in &outgoing.headers {
                headers.insert(name, value.clone());
            }
        } else if outgoing.method != "initialize" {
            self.add_session(&mut headers);
        }
        self.send(Method::POST, headers, Some(&outgoing.body)).await
    }

    /// Opens a stream of what the server says, after the event that came last.
    pub(super) async fn listen(&self, last_event: Option<&HeaderValue>) -> Result<Response, Failure> {
        let mut headers = self.headers.clone();
        headers.insert(ACCEPT, STREAM);
        self.add_session(&mut headers);
        if let Some(last_event) = last_event {
            headers.insert(LAST_EVENT, last_event.clone());
        }
        self.send(Method::GET, headers, None).await
    }

    fn add_session(&self, headers: &mut HeaderMap) {
        for (name, value) in [(SESSION, self.session.id()), (PROTOCOL, self.session.revision())] {
            if let Some(value) = value {
                headers.insert(name, value);
            }
        }
    }

    /// Follows redirections that keep the method, to the same origin alone: the headers may hold secrets.
    async fn send(
        &self,
        method: Method,
        headers: HeaderMap,
        body: Option<&Bytes>,
    ) -> Result<Response, Failure> {
        let mut url = self.url.borrow().clone();
        for _ in 0..=REDIRECTIONS {
            let mut request = self.client.request(method.clone(), url.clone()).headers(headers.clone());
            if let Some(body) = body {
                request = request.body(body.clone());
            }
            let reply = request.send().await.map_err(|error| Failure::of(error, &self.secrets))?;
            if !reply.status().is_redirection() || reply.status() == StatusCode::NOT_MODIFIED {
                return Ok(reply);
            }
            let target = url.join(&web::text(reply.headers(), &LOCATION)).ok();
            let keeps_method =
                matches!(reply.status(), StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT);
            match target {
                Some(target) if keeps_method && target.origin() == url.origin() => url = target,
                target => return Err(Failure::redirected(target.as_ref())),
            }
        }
        let origin = url.origin().ascii_serialization();
        Err(Failure::undone(format!("redirects more than {REDIRECTIONS} times within {origin}")))
    }

    /// What a reply that is no success means.
    pub(super) fn refused(&self, refusal: &Refusal) -> Failure {
        refusal.failure(self.headers.contains_key(AUTHORIZATION), &self.secrets)
    }

    /// Ends the session: best effort, as servers may refuse it and forget sessions by themselves.
    pub(super) async fn farewell(&self) {
        if self.session.id().is_some() {
            let mut headers = self.headers.clone();
            self.add_session(&mut headers);
            let _ = timeout(FAREWELL, self.send(Method::DELETE, headers, None)).await;
        }
    }
}
