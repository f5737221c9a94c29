//! The session of the revisions that have one, and the stream of what the server says by itself.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::time::{Duration, Instant};

use reqwest::header::HeaderValue;
use reqwest::{Response, StatusCode};
use serde::Deserialize;
use tokio::sync::{Mutex, watch};
use tokio::time::timeout;

use super::body::Body;
use super::failure::{Failure, Refusal};
use super::link::Link;
use super::outgoing::Outgoing;
use super::{MESSAGE_LIMIT, PATIENCE};
use crate::mcp::web::{self, SESSION};

/// How long a stream is left alone after its end where the server does not say.
const PAUSE: Duration = Duration::from_secs(1);
/// A silent stream that lasted that long is no failure.
pub(super) const SUSTAINED: Duration = Duration::from_secs(5);
/// The longest that a server is obeyed.
const LONGEST_PAUSE: Duration = Duration::from_secs(300);

/// The session of one conversation.
pub(super) struct Session {
    id: RefCell<Option<HeaderValue>>,
    revision: RefCell<Option<HeaderValue>>,
    /// The agent's own first words, for a server that has forgotten them.
    hello: RefCell<Option<Outgoing>>,
    initialized: RefCell<Option<Outgoing>>,
    generation: Cell<u64>,
    reviving: Mutex<()>,
    /// Counts how often a session began.
    begun: watch::Sender<u64>,
}

impl Default for Session {
    fn default() -> Self {
        Self {
            id: RefCell::default(),
            revision: RefCell::default(),
            hello: RefCell::default(),
            initialized: RefCell::default(),
            generation: Cell::default(),
            reviving: Mutex::default(),
            begun: watch::Sender::new(0),
        }
    }
}

impl Session {
    pub(super) fn id(&self) -> Option<HeaderValue> {
        self.id.borrow().clone()
    }

    pub(super) fn revision(&self) -> Option<HeaderValue> {
        self.revision.borrow().clone()
    }

    /// Which session it is; another one after each revival.
    pub(super) fn generation(&self) -> u64 {
        self.generation.get()
    }

    /// Remembers what the session begins with.
    pub(super) fn remember(&self, outgoing: &Outgoing) {
        match outgoing.method.as_str() {
            "initialize" => {
                *self.hello.borrow_mut() = Some(outgoing.clone());
                self.initialized.take();
                self.id.take();
                self.revision.take();
                self.generation.set(self.generation.get() + 1);
            }
            "notifications/initialized" => *self.initialized.borrow_mut() = Some(outgoing.clone()),
            // Notifications are of the same revision, but do not say so.
            _ if outgoing.is_modern() && self.hello.borrow().is_none() => {
                *self.revision.borrow_mut() = outgoing.headers.get(web::PROTOCOL).cloned();
            }
            _ => {}
        }
    }

    /// Takes the session that a reply to `initialize` names.
    pub(super) fn adopt(&self, reply: &Response) {
        if let Some(id) = reply.headers().get(SESSION) {
            *self.id.borrow_mut() = Some(id.clone());
        }
    }

    /// Takes the revision of a result of `initialize`.
    pub(super) fn agree(&self, result: &str) {
        #[derive(Deserialize)]
        struct Agreed {
            #[serde(rename = "protocolVersion")]
            revision: String,
        }
        if let Ok(Agreed { revision }) = serde_json::from_str(result) {
            *self.revision.borrow_mut() = HeaderValue::from_str(&revision).ok();
        }
    }

    /// The server knows that the agent is there: it may speak by itself.
    pub(super) fn begin(&self) {
        self.begun.send_modify(|count| *count += 1);
    }

    /// Whether the server has forgotten the session that a message was sent in.
    pub(super) fn is_lost(&self, refusal: &Refusal, outgoing: &Outgoing) -> bool {
        refusal.is_of_session()
            && !outgoing.is_modern()
            && outgoing.method != "initialize"
            && self.id.borrow().is_some()
    }
}

/// Begins the session again, once for all who have seen that it is lost: the agent's own `initialize` is repeated, and
/// its answer kept from the agent. Nothing that met the loss was done, so that a failure says `no`.
pub(super) async fn revive(link: &Link, seen: u64) -> Result<(), Failure> {
    let _turn = link.session.reviving.lock().await;
    if link.session.generation() != seen {
        return Ok(());
    }
    let outcome = timeout(PATIENCE, begin_again(link)).await;
    let outcome = outcome.unwrap_or_else(|_| Err(Failure::undone("did not answer in time")));
    outcome.map_err(|failure| {
        Failure::undone(format!("has forgotten the session; asked to begin again, it {}", failure.sentence))
    })
}

async fn begin_again(link: &Link) -> Result<(), Failure> {
    let session = &link.session;
    let hello = session.hello.borrow().clone();
    let hello = hello.ok_or_else(|| Failure::undone("can't: the agent has not begun one"))?;
    let reply = link.post(&hello).await?;
    if !reply.status().is_success() {
        return Err(link.refused(&Refusal::read(reply).await));
    }
    let id = reply.headers().get(SESSION).cloned();
    let result = welcome(link, &hello, reply).await?.ok_or_else(|| Failure::undone("refused"))?;
    *session.id.borrow_mut() = id;
    session.agree(&result);
    let initialized = session.initialized.borrow().clone();
    if let Some(initialized) = initialized {
        link.post(&initialized).await?;
        session.begin();
    }
    session.generation.set(session.generation.get() + 1);
    link.came_back().await;
    Ok(())
}

/// The result of a repeated `initialize`.
async fn welcome(link: &Link, hello: &Outgoing, mut reply: Response) -> Result<Option<String>, Failure> {
    let mut body = Body::new(is_stream(&reply), MESSAGE_LIMIT);
    loop {
        let piece = reply.chunk().await.map_err(|error| Failure::of(error, &link.secrets))?;
        let Some(piece) = piece else { return Ok(None) };
        let mut ready = VecDeque::new();
        let outcome = body.push(&piece, &mut ready);
        for message in ready {
            match hello.answer_in(&message) {
                Some("null") => return Ok(None),
                Some(result) => return Ok(Some(result.to_owned())),
                None => link.say(message).await,
            }
        }
        outcome.map_err(|error| Failure::undone(error.to_string()))?;
    }
}

pub(super) fn is_stream(reply: &Response) -> bool {
    web::media_type(reply.headers()) == "text/event-stream"
}

/// Where a stream broke, and when it may go on.
#[derive(Default)]
pub(super) struct Memory {
    pub(super) last_event: Option<HeaderValue>,
    retry: Option<Duration>,
}

impl Memory {
    pub(super) fn keep(&mut self, body: &Body) {
        let last_event = body.last_id().and_then(|id| HeaderValue::from_bytes(id).ok());
        self.last_event = last_event.or(self.last_event.take());
        self.retry = body.retry().or(self.retry);
    }

    /// Waits as long as the server wants, and longer after every failure in a row.
    pub(super) async fn pause(&self, failures: u32) {
        let wanted = self.retry.unwrap_or(PAUSE).min(LONGEST_PAUSE);
        let backoff = if failures > 1 { squire_relay::backoff(failures - 1) } else { 0 };
        tokio::time::sleep(wanted.max(Duration::from_millis(backoff))).await;
    }
}

/// Keeps the stream open on which the server speaks by itself, for as long as there is a session and the server offers
/// one (streamable HTTP, listening for messages from the server).
pub(super) async fn hear(link: &Link) {
    let mut begun = link.session.begun.subscribe();
    while begun.changed().await.is_ok() {
        loop {
            tokio::select! {
                () = follow(link) => break,
                // Another session has another stream.
                changed = begun.changed() => if changed.is_err() { return },
            }
        }
    }
}

async fn follow(link: &Link) {
    let mut memory = Memory::default();
    let mut failures = 0;
    loop {
        failures += 1;
        match link.listen(memory.last_event.as_ref()).await {
            Ok(reply) if reply.status().is_success() && is_stream(&reply) => {
                if pass_on(link, reply, &mut memory).await {
                    failures = 0;
                }
            }
            Ok(reply) => {
                let status = reply.status();
                // Most servers offer none: 405.
                if !status.is_server_error() && status != StatusCode::TOO_MANY_REQUESTS {
                    return;
                }
            }
            Err(_) => {}
        }
        memory.pause(failures).await;
    }
}

/// Passes on what a stream says until it ends; true where it was of use.
async fn pass_on(link: &Link, mut reply: Response, memory: &mut Memory) -> bool {
    let began = Instant::now();
    let mut body = Body::new(true, MESSAGE_LIMIT);
    let mut has_spoken = false;
    while let Ok(Some(piece)) = reply.chunk().await {
        let mut ready = VecDeque::new();
        let outcome = body.push(&piece, &mut ready);
        has_spoken |= !ready.is_empty();
        for message in ready {
            link.say(message).await;
        }
        memory.keep(&body);
        if outcome.is_err() {
            break;
        }
    }
    has_spoken || began.elapsed() >= SUSTAINED
}
