//! A server that is a program: started by a warden, spoken to through pipes.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::os::fd::OwnedFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::pin::Pin;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::rc::Rc;
use std::time::Duration;
use std::{io, thread};

use anyhow::{Context, Result};
use rustix::process::{Pid, Signal, getpid, kill_process, set_child_subreaper};
use tokio::io::{AsyncRead, ReadBuf};
use tokio::net::unix::pipe;
use tokio::sync::oneshot;
use tokio::task::spawn_local;
use zeroize::Zeroizing;

use super::input::Input;
use super::lines::{Cutter, LINE_LIMIT, Piece};
use super::upstream::{Events, FromServer, Upstream};
use super::{stderr, warden};
use crate::printable::excerpt;
use crate::secrets::Values;

/// How long the last words of a server are waited for after its end.
const LAST_WORDS: Duration = Duration::from_millis(500);
/// How much is told of why a program could not be executed.
const REASON: usize = 200;
/// What one read takes.
const CHUNK: usize = 64 * 1024;

/// A server that is a program.
pub(super) struct Program<'a> {
    /// squire's own program, which is the warden too.
    squire: PathBuf,
    /// The server's program as it is declared: what a reference comes out as may be a secret.
    shown: String,
    /// What it may not say where others read it.
    values: Rc<Values>,
    /// What is to run, made anew for each start.
    command: Box<dyn Fn() -> Result<Command> + 'a>,
    running: Option<Running>,
}

struct Running {
    warden: Pid,
    input: Rc<Input>,
    /// Until the warden was waited for its number is its own.
    is_there: Rc<Cell<bool>>,
}

impl<'a> Program<'a> {
    pub(super) fn new(
        squire: PathBuf,
        shown: String,
        values: Rc<Values>,
        command: impl Fn() -> Result<Command> + 'a,
    ) -> Self {
        Self { squire, shown, values, command: Box::new(command), running: None }
    }

    fn spawn(&self, number: u64, events: Events) -> Result<Running> {
        let orders = warden::orders(&(self.command)()?)?;
        let mut command = Command::new(&self.squire);
        command.arg("warden").env_clear().process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().context("its warden could not be started")?;
        let warden = Pid::from_child(&child);
        let (Some(stdin), Some(stdout), Some(err)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            anyhow::bail!("its pipes are not there");
        };
        let input = pipe::Sender::from_owned_fd(OwnedFd::from(stdin)).context("its input")?;
        let output = pipe::Receiver::from_owned_fd(OwnedFd::from(stdout)).context("its output")?;
        let errors = pipe::Receiver::from_owned_fd(OwnedFd::from(err)).context("its stderr")?;
        let (input, is_there) = (Input::new(input), Rc::new(Cell::new(true)));
        let running = Running { warden, input: Rc::clone(&input), is_there: Rc::clone(&is_there) };
        // The orders stand before the server's own input.
        input.queue(orders);
        input.write();
        let refusal = Rc::new(RefCell::new(None));
        let reader = spawn_local(read(output, number, events.clone(), Rc::clone(&refusal)));
        let tail = spawn_local(stderr::drain(errors, Rc::clone(&self.values)));
        let (ended, shown) = (wait(child)?, self.shown.clone());
        spawn_local(async move {
            let (mut reader, mut ended) = (reader, ended);
            let status = tokio::select! {
                status = &mut ended => {
                    is_there.set(false);
                    let _ = tokio::time::timeout(LAST_WORDS, reader).await;
                    status.ok()
                }
                // A server that closed its output has nothing more to say.
                _ = &mut reader => {
                    end(warden, &is_there);
                    ended.await.ok()
                }
            };
            is_there.set(false);
            let words = tokio::time::timeout(LAST_WORDS, tail).await;
            let words = words.ok().and_then(Result::ok).unwrap_or_default();
            let refused = refusal.borrow_mut().take();
            let reason = match refused {
                Some(reason) => format!("{shown} could not be executed: {reason}"),
                None => obituary(status, &words),
            };
            let _ = events.send((number, FromServer::Ended(reason))).await;
        });
        Ok(running)
    }
}

impl Upstream for Program<'_> {
    fn start(&mut self, number: u64, events: Events) {
        self.stop();
        // What a warden that was killed leaves comes here. Without it a server outlives its warden, and nothing else.
        let _ = set_child_subreaper(Some(getpid()));
        let outcome = match self.spawn(number, events.clone()) {
            Ok(running) => {
                self.running = Some(running);
                FromServer::Started
            }
            Err(failure) => FromServer::Ended(format!("{failure:#}")),
        };
        spawn_local(async move { events.send((number, outcome)).await });
    }

    fn send(&mut self, mut line: Vec<u8>) {
        line.push(b'\n');
        if let Some(running) = &self.running {
            running.input.queue(Zeroizing::new(line));
        }
    }

    fn write(&mut self) {
        if let Some(running) = &self.running {
            running.input.write();
        }
    }

    fn unsent(&self) -> usize {
        self.running.as_ref().map_or(0, |running| running.input.unsent.get())
    }

    fn stop(&mut self) {
        if let Some(running) = self.running.take() {
            end(running.warden, &running.is_there);
        }
    }

    fn finish(&mut self) {
        if let Some(running) = &self.running {
            running.input.finish();
        }
    }
}

/// Asks the warden to end everything.
fn end(warden: Pid, is_there: &Cell<bool>) {
    if is_there.get() {
        // An error says that it has ended.
        let _ = kill_process(warden, Signal::TERM);
    }
}

/// Reads lines until the output ends. What the warden says instead of the server is no line for the agent.
async fn read(mut output: pipe::Receiver, number: u64, events: Events, refusal: Rc<RefCell<Option<String>>>) {
    let mut cutter = Cutter::new(LINE_LIMIT);
    let mut buffer = vec![0; CHUNK];
    let mut pieces = Vec::new();
    while let Ok(count @ 1..) = next(&mut output, &mut buffer).await {
        cutter.push(buffer.get(..count).unwrap_or_default(), |piece| pieces.push(piece));
        for piece in pieces.drain(..) {
            if let Piece::Line(line) = &piece
                && let Some(reason) = line.strip_prefix(&[warden::MARK])
            {
                *refusal.borrow_mut() = Some(excerpt(reason, REASON));
                continue;
            }
            if events.send((number, FromServer::Said(piece))).await.is_err() {
                return;
            }
        }
    }
    if let Some(piece) = cutter.end() {
        let _ = events.send((number, FromServer::Said(piece))).await;
    }
}

/// What the next read gives. A reader that takes less than its buffer holds does not ask twice.
async fn next(output: &mut pipe::Receiver, buffer: &mut [u8]) -> io::Result<usize> {
    let mut buffer = ReadBuf::new(buffer);
    poll_fn(|context| Pin::new(&mut *output).poll_read(context, &mut buffer)).await?;
    Ok(buffer.filled().len())
}

/// Waits for a child on a thread of its own: the one call that tells of its end by itself.
fn wait(mut child: Child) -> Result<oneshot::Receiver<ExitStatus>> {
    let (tell, told) = oneshot::channel();
    let wait = move || {
        if let Ok(status) = child.wait() {
            warden::end_strays();
            let _ = tell.send(status);
        }
    };
    thread::Builder::new().name("server".into()).spawn(wait).context("its end can't be watched")?;
    Ok(told)
}

/// How a server ended, with its last words.
fn obituary(status: Option<ExitStatus>, words: &str) -> String {
    let how = match status.map(|status| (status.code(), status.signal())) {
        Some((Some(code), _)) => format!("it ended with status {code}"),
        Some((None, Some(signal))) => format!("it was ended by signal {signal}"),
        Some((None, None)) | None => "it ended".into(),
    };
    if words.is_empty() { how } else { format!("{how}: {words}") }
}
