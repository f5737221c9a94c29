//! HTTP with SSE (revision 2024-11-05): one stream for all that the server says, and an address for what it is told.

use std::collections::VecDeque;

use reqwest::Response;

use super::MESSAGE_LIMIT;
use super::body::on_one_line;
use super::failure::{Failure, Refusal};
use super::link::Link;
use super::outgoing::responses;
use super::session::is_stream;
use crate::mcp::events::{Event, Events};

/// The stream of one conversation. With it the conversation ends: the server knows the agent by nothing else.
pub(super) struct Stream {
    reply: Response,
    events: Events,
    ready: VecDeque<Event>,
}

impl Stream {
    /// Opens the stream and waits until the server has said where it takes messages. The error follows its name.
    pub(super) async fn open(link: &Link) -> Result<Self, String> {
        let reply = link.listen(None).await.map_err(|failure| failure.sentence)?;
        if !reply.status().is_success() {
            return Err(link.refused(&Refusal::read(reply).await).sentence);
        }
        if !is_stream(&reply) {
            return Err("is no MCP endpoint with SSE: its answer is no event stream".into());
        }
        let mut stream = Self { reply, events: Events::new(MESSAGE_LIMIT), ready: VecDeque::new() };
        let endpoint = loop {
            match stream.next(link).await? {
                Event { name, data } if name == b"endpoint" => break data,
                _ => {}
            }
        };
        let origin = link.url.borrow().origin();
        let address = String::from_utf8_lossy(&endpoint);
        let target = link.url.borrow().join(address.trim()).ok();
        match target {
            Some(target) if target.origin() == origin => *link.url.borrow_mut() = target,
            Some(target) => {
                let elsewhere = target.origin().ascii_serialization();
                return Err(format!(
                    "wants its messages at another origin, {elsewhere}, which gets no secrets"
                ));
            }
            None => return Err("names no address for its messages".into()),
        }
        Ok(stream)
    }

    /// Passes on what the server says until the stream ends, and gives the reason.
    pub(super) async fn follow(&mut self, link: &Link) -> String {
        loop {
            let event = match self.next(link).await {
                Ok(event) => event,
                Err(reason) => return reason,
            };
            if event.is_message() {
                for (key, _) in responses(&event.data) {
                    link.flights.land(&key);
                }
                link.say(on_one_line(event.data)).await;
            }
        }
    }

    async fn next(&mut self, link: &Link) -> Result<Event, String> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Ok(event);
            }
            let piece = self.reply.chunk().await;
            let piece = piece.map_err(|error| Failure::of(error, &link.secrets).sentence)?;
            let piece = piece.ok_or("closed its stream")?;
            self.events.push(&piece, &mut self.ready).map_err(|error| error.to_string())?;
        }
    }
}
