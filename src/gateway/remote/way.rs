//! What the engine asks of a remote server, one start after the other.

use std::cell::Cell;
use std::future::pending;
use std::rc::Rc;

use tokio::sync::mpsc::{Receiver, UnboundedReceiver, UnboundedSender, channel, unbounded_channel};
use tokio::sync::{Notify, oneshot};
use tokio::task::{JoinHandle, JoinSet, spawn_local};

use super::exchange::{ask, tell};
use super::link::Link;
use super::outgoing::Outgoing;
use super::session;
use super::sse::Stream;
use super::target::{Target, Transport};
use super::{AHEAD, FORGOTTEN};
use crate::gateway::upstream::FromServer;

/// The way to a remote server. All of it happens in tasks of a [`tokio::task::LocalSet`].
pub(super) struct Way {
    target: Target,
    unsent: Rc<Unsent>,
    running: Option<Running>,
    /// What comes from the latest start.
    coming: Option<Receiver<FromServer>>,
}

struct Running {
    link: Rc<Link>,
    /// None once the agent has said all.
    lines: Option<UnboundedSender<(Vec<u8>, Load)>>,
    task: JoinHandle<()>,
}

/// What is not on its way yet.
#[derive(Default)]
pub(super) struct Unsent {
    bytes: Cell<usize>,
    bell: Notify,
}

impl Unsent {
    /// Waits until something of it has gone on its way.
    pub(super) async fn happens(&self) {
        self.bell.notified().await;
    }
}

/// A message's part of it.
pub(super) struct Load {
    unsent: Rc<Unsent>,
    bytes: usize,
}

impl Load {
    fn new(unsent: &Rc<Unsent>, bytes: usize) -> Self {
        unsent.bytes.set(unsent.bytes.get() + bytes);
        Self { unsent: Rc::clone(unsent), bytes }
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        self.unsent.bytes.set(self.unsent.bytes.get().saturating_sub(self.bytes));
        self.unsent.bell.notify_one();
    }
}

impl Way {
    /// The way to a server that nobody has asked for anything yet.
    pub(super) fn new(target: Target) -> Self {
        Self { target, unsent: Rc::default(), running: None, coming: None }
    }

    /// As [`super::Upstream::start`].
    pub(super) fn start(&mut self) -> Option<FromServer> {
        if let Some(before) = self.running.take() {
            before.task.abort();
        }
        let (events, coming) = channel(AHEAD);
        self.coming = Some(coming);
        match Link::new(&self.target, events) {
            Ok(link) => {
                let link = Rc::new(link);
                let (lines, taken) = unbounded_channel();
                let task = spawn_local(live(Rc::clone(&link), taken));
                self.running = Some(Running { link, lines: Some(lines), task });
                None
            }
            Err(reason) => Some(FromServer::Ended(reason)),
        }
    }

    /// Waits for what comes next from the server. Nothing is lost where it is dropped before.
    pub(super) async fn hear(&mut self) -> FromServer {
        if let Some(coming) = &mut self.coming {
            if let Some(event) = coming.recv().await {
                return event;
            }
            // Nothing follows the end.
            self.coming = None;
        }
        pending().await
    }

    pub(super) fn send(&self, line: Vec<u8>) {
        if let Some(Running { lines: Some(lines), .. }) = &self.running {
            let load = Load::new(&self.unsent, line.len());
            // Who has ended has said so.
            let _ = lines.send((line, load));
        }
    }

    pub(super) fn unsent(&self) -> usize {
        self.unsent.bytes.get()
    }

    /// What tells that some of that has gone on its way.
    pub(super) fn sent(&self) -> Rc<Unsent> {
        Rc::clone(&self.unsent)
    }

    pub(super) fn stop(&mut self) {
        let Some(Running { link, task, .. }) = self.running.take() else { return };
        task.abort();
        spawn_local(async move {
            // Nothing follows the end.
            let _ = task.await;
            link.farewell().await;
            link.end("was stopped".into()).await;
        });
    }

    pub(super) fn finish(&mut self) {
        if let Some(running) = &mut self.running {
            running.lines.take();
        }
    }
}

/// One conversation, from its start to its end.
async fn live(link: Rc<Link>, lines: UnboundedReceiver<(Vec<u8>, Load)>) {
    let conversation = async {
        match link.transport {
            Transport::Http => {
                // Nothing connects before the first message.
                link.started().await;
                tokio::select! {
                    reason = serve(&link, lines) => reason,
                    () = session::hear(&link) => String::new(),
                }
            }
            Transport::Sse => {
                let mut stream = match Stream::open(&link).await {
                    Ok(stream) => stream,
                    Err(reason) => return reason,
                };
                link.started().await;
                tokio::select! {
                    reason = serve(&link, lines) => reason,
                    reason = stream.follow(&link) => reason,
                }
            }
        }
    };
    let reason = tokio::select! {
        reason = conversation => reason,
        reason = link.failed() => reason,
    };
    link.farewell().await;
    link.end(reason).await;
}

/// Takes the agent's messages in their order until it has said all and every request is answered.
async fn serve(link: &Rc<Link>, mut lines: UnboundedReceiver<(Vec<u8>, Load)>) -> String {
    let mut requests = JoinSet::new();
    loop {
        tokio::select! {
            message = lines.recv() => match message {
                Some((message, load)) => take(link, message, load, &mut requests).await,
                None => break,
            },
            Some(_) = requests.join_next() => {}
        }
    }
    link.flights.end_idle();
    link.flights.emptied().await;
    "was closed".into()
}

async fn take(link: &Rc<Link>, message: Vec<u8>, load: Load, tasks: &mut JoinSet<()>) {
    let outgoing = Outgoing::read(message, &link.mirrors.borrow());
    link.session.remember(&outgoing);
    if let Some(key) = &outgoing.cancels {
        if !link.flights.cancel(key) {
            return;
        }
        let (link, key) = (Rc::clone(link), key.clone());
        tasks.spawn_local(async move {
            tokio::time::sleep(FORGOTTEN).await;
            link.flights.forget(&key);
        });
    }
    let Some(key) = outgoing.key.clone() else { return tell(link, &outgoing).await };
    let is_first = outgoing.method == "initialize";
    let (opened, open) = oneshot::channel();
    // In a box, as it is large and a task is moved until it begins.
    let task = tasks.spawn_local(Box::pin(ask(Rc::clone(link), outgoing.clone(), load, opened)));
    link.flights.begin(key, &outgoing, task);
    if is_first {
        // What follows belongs to the session that the reply names.
        let _ = open.await;
    }
}
