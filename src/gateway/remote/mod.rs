//! A server at a remote address: Streamable HTTP of every revision, and the HTTP with SSE that came before it.
//!
//! [`Remote`] is the engine's way to it, and runs its tasks while it waits; [`Way`] is what there is to it. Each start is
//! a [`link::Link`] of its own with one task, which takes the agent's messages in their order; every request has a task more
//! until it is answered. A failed request is answered by an error and nothing else; only without `initialize`, or without
//! the one stream of SSE, there is no server.

mod body;
mod exchange;
mod failure;
mod flights;
mod link;
mod mirrors;
mod outgoing;
mod session;
mod sse;
mod target;
mod watch;
mod way;

#[cfg(test)]
mod tests;

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use tokio::runtime::{Builder, Runtime};
use tokio::task::LocalSet;
use tokio::time::sleep_until;

pub(super) use self::target::{Target, target};
use self::watch::Watch;
use self::way::Way;
use super::upstream::{FromServer, News, OfOutput, Upstream, Wait};

/// The longest message from a server, in bytes.
const MESSAGE_LIMIT: usize = 64 * 1024 * 1024;
/// How many events of the server's are taken ahead: one that sends faster than the agent reads waits.
const AHEAD: usize = 64;
/// How long a connection, and the receipt of a notification, is waited for.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long the answer to a cancelled request is still taken.
const FORGOTTEN: Duration = Duration::from_secs(60);

/// A remote server, and what drives the way to it.
pub(super) struct Remote {
    way: Way,
    /// What goes to the tasks with the next waiting: to wake them before would cost two system calls.
    lines: Vec<Vec<u8>>,
    /// The agent's side, from the first waiting on.
    watch: Option<Watch>,
    tasks: LocalSet,
    /// Gone at the very end.
    runtime: Option<Runtime>,
}

impl Remote {
    /// The way to a server that nobody has asked for anything yet.
    pub(super) fn new(target: Target) -> Result<Self> {
        let runtime =
            Builder::new_current_thread().enable_all().build().context("nothing can be waited for")?;
        Ok(Self {
            way: Way::new(target),
            lines: Vec::new(),
            watch: None,
            tasks: LocalSet::new(),
            runtime: Some(runtime),
        })
    }

    /// Does what may begin tasks, which run while something is waited for.
    fn with_tasks<T>(&mut self, act: impl FnOnce(&mut Way) -> T) -> T {
        let _runtime = self.runtime.as_ref().map(Runtime::enter);
        let _tasks = self.tasks.enter();
        hand_over(&mut self.lines, &self.way);
        act(&mut self.way)
    }
}

impl Upstream for Remote {
    fn start(&mut self) -> Option<FromServer> {
        self.with_tasks(Way::start)
    }

    fn wait(&mut self, wait: &Wait<'_>) -> Result<News> {
        let Self { way, lines, watch, tasks, runtime } = self;
        let runtime = runtime.as_ref().context("all is over")?;
        let waiting = async {
            let watch = match watch {
                Some(watch) => watch,
                None => {
                    watch.insert(Watch::new(wait.interruptions).context("the agent can't be waited for")?)
                }
            };
            hand_over(lines, way);
            if wait.is_drained {
                watch.input.settle().await;
            }
            let (sent, of_output) = (way.sent(), wait.output.map(|(_, of_output)| of_output));
            let mut news = News::default();
            tokio::select! {
                () = watch.input.is_ready(), if wait.input.is_some() => news.agent_speaks = true,
                () = watch.output.is_ready(), if of_output == Some(OfOutput::Room) => {}
                () = watch.output.has_ended(), if of_output == Some(OfOutput::End) => news.agent_is_gone = true,
                // More may be heard of the agent again.
                () = sent.happens(), if wait.input.is_none() => {}
                () = watch.interruptions.is_ready() => news.is_interrupted = true,
                event = way.hear(), if wait.hears_server => news.from_server.push(event),
                () = at(wait.until), if wait.until.is_some() => {}
            }
            Ok(news)
        };
        tasks.block_on(runtime, waiting)
    }

    fn send(&mut self, line: Vec<u8>) {
        self.lines.push(line);
    }

    /// They go with the next waiting.
    fn write(&mut self) {}

    fn unsent(&self) -> usize {
        self.lines.iter().map(Vec::len).sum::<usize>() + self.way.unsent()
    }

    fn stop(&mut self) {
        self.with_tasks(Way::stop);
    }

    fn finish(&mut self) {
        self.with_tasks(Way::finish);
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        // Nothing of it is worth waiting for.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// What was sent goes on its way before anything else is done.
fn hand_over(lines: &mut Vec<Vec<u8>>, way: &Way) {
    for line in lines.drain(..) {
        way.send(line);
    }
}

async fn at(moment: Option<Instant>) {
    if let Some(moment) = moment {
        sleep_until(moment.into()).await;
    }
}
