//! What becomes of one message: its POST, and for a request the reply until it is answered.

use std::collections::VecDeque;
use std::rc::Rc;
use std::time::{Duration, Instant};

use reqwest::Response;
use reqwest::header::CONTENT_TYPE;
use tokio::sync::{SemaphorePermit, oneshot};
use tokio::time::timeout;

use super::body::Body;
use super::failure::{Failure, Refusal};
use super::flights::LISTEN;
use super::link::Link;
use super::outgoing::Outgoing;
use super::session::{Memory, SUSTAINED, is_stream, revive};
use super::target::Transport;
use super::way::Load;
use super::{MESSAGE_LIMIT, PATIENCE};
use crate::mcp::web;
use crate::printable::printable;

/// How long the rest of a reply is read behind its answer.
const LINGER: Duration = Duration::from_secs(10);
/// How often in a row a stream is resumed in vain.
const RESUMPTIONS: u32 = 5;

/// Sends a notification or an answer, and waits until the server has it: nothing behind it may overtake it.
pub(super) async fn tell(link: &Link, outgoing: &Outgoing) {
    // There is nobody who could be told of a failure: the next request meets it again.
    let _ = timeout(PATIENCE, deliver(link, outgoing)).await;
}

async fn deliver(link: &Link, outgoing: &Outgoing) -> Result<(), Failure> {
    let begins = outgoing.method == "notifications/initialized";
    let generation = link.session.generation();
    let reply = link.post(outgoing).await?;
    if reply.status().is_success() {
        if begins {
            link.session.begin();
        }
        return Ok(());
    }
    if link.session.is_lost(&Refusal::read(reply).await, outgoing) {
        revive(link, generation).await?;
        // A new session has begun already, and has asked nothing yet.
        if !begins && !outgoing.method.is_empty() {
            link.post(outgoing).await?;
        }
    }
    Ok(())
}

/// Sends a request and passes on what answers it. `opened` is dropped once the reply begins.
pub(super) async fn ask(link: Rc<Link>, outgoing: Outgoing, load: Load, opened: oneshot::Sender<()>) {
    let Some(key) = outgoing.key.clone() else { return };
    let mut place = None;
    if outgoing.method != LISTEN {
        place = link.places.acquire().await.ok();
    }
    drop(load);
    link.flights.sent(&key);
    let outcome = if outgoing.method == LISTEN {
        subscribe(&link, &outgoing, opened).await
    } else {
        converse(&link, &outgoing, Some(opened), &mut place).await
    };
    if let Err(failure) = outcome {
        drop(place);
        let is_cancelled = link.flights.land(&key);
        if !is_cancelled {
            link.fail(&outgoing, failure).await;
        }
    }
}

/// Keeps a subscription (revision 2026-07-28) for as long as the server can be reached: who has it is told of nothing by
/// its end, and so would never hear of a change again.
async fn subscribe(link: &Link, outgoing: &Outgoing, opened: oneshot::Sender<()>) -> Result<(), Failure> {
    let mut began = Instant::now();
    let mut outcome = converse(link, outgoing, Some(opened), &mut None).await;
    let mut failures = 0;
    while let Err(failure) = outcome {
        if began.elapsed() >= SUSTAINED {
            failures = 0;
        }
        // Where it was never open, and where it can't be opened again, the agent has to know.
        if failures == RESUMPTIONS || !failure.perhaps && failures == 0 {
            return Err(failure);
        }
        failures += 1;
        Memory::default().pause(failures).await;
        began = Instant::now();
        outcome = converse(link, outgoing, None, &mut None).await;
    }
    outcome
}

/// Asks once. `opened` is dropped once the reply begins; without it the server was asked before, and has forgotten.
async fn converse(
    link: &Link,
    outgoing: &Outgoing,
    opened: Option<oneshot::Sender<()>>,
    place: &mut Option<SemaphorePermit<'_>>,
) -> Result<(), Failure> {
    let reply = match accepted(link, outgoing).await? {
        Ok(reply) => reply,
        Err(refusal) => {
            let error = outgoing.id.as_ref().and_then(|id| refusal.error(id, &link.secrets));
            let error = error.ok_or_else(|| link.refused(&refusal))?;
            land(link, outgoing, place);
            link.say(error).await;
            return Ok(());
        }
    };
    if outgoing.method == "initialize" {
        link.session.adopt(&reply);
    }
    match opened {
        Some(opened) => drop(opened),
        None => link.came_back().await,
    }
    match link.transport {
        Transport::Http => answered(link, outgoing, reply, place).await,
        // The answer comes on the stream.
        Transport::Sse => Ok(()),
    }
}

/// Posts a request, once more where the session was lost: who does not know the session has not read the request.
async fn accepted(link: &Link, outgoing: &Outgoing) -> Result<Result<Response, Refusal>, Failure> {
    let generation = link.session.generation();
    let mut reply = link.post(outgoing).await?;
    if !reply.status().is_success() {
        let refusal = Refusal::read(reply).await;
        if !link.session.is_lost(&refusal, outgoing) {
            return Ok(Err(refusal));
        }
        revive(link, generation).await?;
        reply = link.post(outgoing).await?;
    }
    if reply.status().is_success() { Ok(Ok(reply)) } else { Ok(Err(Refusal::read(reply).await)) }
}

fn land(link: &Link, outgoing: &Outgoing, place: &mut Option<SemaphorePermit<'_>>) {
    if let Some(key) = &outgoing.key {
        link.flights.land(key);
    }
    place.take();
}

/// Reads a reply until the request is answered, and resumes a stream that breaks before.
async fn answered(
    link: &Link,
    outgoing: &Outgoing,
    mut reply: Response,
    place: &mut Option<SemaphorePermit<'_>>,
) -> Result<(), Failure> {
    let mut memory = Memory::default();
    let mut failures = 0;
    loop {
        let mut body = Body::new(is_stream(&reply), MESSAGE_LIMIT);
        let failure = match read(link, outgoing, &mut reply, &mut body, place).await {
            Outcome::Answered => return Ok(()),
            Outcome::Flawed(failure) => return Err(failure),
            Outcome::Broken(failure) => failure,
            Outcome::Ended => unanswered(link, &reply, &body),
        };
        memory.keep(&body);
        if memory.last_event.is_none() || outgoing.is_modern() {
            return Err(failure);
        }
        failures = if body.last_id().is_some() { 0 } else { failures + 1 };
        reply = resumed(link, &memory, &mut failures).await?;
    }
}

async fn resumed(link: &Link, memory: &Memory, failures: &mut u32) -> Result<Response, Failure> {
    while *failures < RESUMPTIONS {
        memory.pause(*failures).await;
        match link.listen(memory.last_event.as_ref()).await {
            Ok(reply) if reply.status().is_success() => return Ok(reply),
            Ok(reply) if reply.status().is_client_error() => {
                let status = reply.status();
                return Err(Failure::perhaps(format!(
                    "broke off before it had answered, and does not go on (HTTP {status})"
                )));
            }
            _ => *failures += 1,
        }
    }
    Err(Failure::perhaps("broke off before it had answered, and can't be reached again"))
}

enum Outcome {
    Answered,
    Ended,
    Broken(Failure),
    Flawed(Failure),
}

async fn read(
    link: &Link,
    outgoing: &Outgoing,
    reply: &mut Response,
    body: &mut Body,
    place: &mut Option<SemaphorePermit<'_>>,
) -> Outcome {
    let mut is_answered = false;
    loop {
        let piece = if is_answered {
            match timeout(LINGER, reply.chunk()).await {
                Ok(Ok(Some(piece))) => piece,
                _ => return Outcome::Answered,
            }
        } else {
            match reply.chunk().await {
                Ok(Some(piece)) => piece,
                Ok(None) => return Outcome::Ended,
                Err(error) => return Outcome::Broken(Failure::of(error, &link.secrets)),
            }
        };
        let mut ready = VecDeque::new();
        let outcome = body.push(&piece, &mut ready);
        for message in ready {
            let learned = outgoing.answer_in(&message).map(|result| learn(link, outgoing, result));
            let Some(change) = learned else {
                link.say(message).await;
                continue;
            };
            if !std::mem::replace(&mut is_answered, true) {
                land(link, outgoing, place);
            }
            link.say(changed(message, change)).await;
        }
        match outcome {
            Err(_) if is_answered => return Outcome::Answered,
            Err(error) => return Outcome::Flawed(Failure::perhaps(error.to_string())),
            Ok(()) => {}
        }
    }
}

/// Learns what later requests need of an answer; gives a part of it that has to be another one.
fn learn(link: &Link, outgoing: &Outgoing, result: &str) -> Option<(String, String)> {
    match outgoing.method.as_str() {
        "initialize" => link.session.agree(result),
        "tools/list" if outgoing.is_modern() => return link.mirrors.borrow_mut().learn(result),
        _ => {}
    }
    None
}

fn changed(message: Vec<u8>, change: Option<(String, String)>) -> Vec<u8> {
    match (change, std::str::from_utf8(&message)) {
        (Some((old, new)), Ok(text)) => text.replacen(&old, &new, 1).into_bytes(),
        _ => message,
    }
}

fn unanswered(link: &Link, reply: &Response, body: &Body) -> Failure {
    let Some(foreign) = body.foreign() else {
        return Failure::perhaps("accepted the request but ended its reply without an answer");
    };
    let content_type = web::text(reply.headers(), &CONTENT_TYPE);
    let kind = if content_type.is_empty() { "no content type" } else { &content_type };
    let quoted = web::quote(foreign, &link.secrets);
    Failure::perhaps(format!("is no MCP endpoint: it answered with {}: `{quoted}`", printable(kind)))
}
