//! A server that is a program: started by a warden, spoken to through pipes.

use std::cell::Cell;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::pin::{Pin, pin};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::rc::Rc;
use std::task::{Context as Waiting, Poll, ready};
use std::time::Duration;

use anyhow::{Context, Result};
use rustix::process::{Pid, PidfdFlags, Signal, getpid, kill_process, pidfd_open, set_child_subreaper};
use signal_hook::consts::signal::{SIGKILL, SIGTERM};
use tokio::io::{AsyncRead, ReadBuf};
use tokio::net::unix::pipe;
use tokio::sync::oneshot;
use tokio::task::{spawn_blocking, spawn_local};
use zeroize::Zeroizing;

use super::input::Input;
use super::lines::{Cutter, LINE_LIMIT, Piece};
use super::ready::Ready;
use super::upstream::{FromServer, Upstream};
use super::{stderr, warden};
use crate::printable::excerpt;
use crate::secrets::Values;

/// How long a server that is no longer heard may take to have ended.
const MOMENT: Duration = Duration::from_millis(50);
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
    /// A warden that waits for its orders.
    prepared: Option<Child>,
    running: Option<Running>,
}

struct Running {
    warden: Pid,
    /// Gone once it is asked to end.
    input: Option<Rc<Input>>,
    /// Gone once the server has closed it.
    output: Option<Output>,
    /// What the warden says instead of the server.
    refusal: Option<String>,
    /// Until the warden was waited for its number is its own.
    is_there: Rc<Cell<bool>>,
    /// How it ended.
    ended: oneshot::Receiver<String>,
}

/// What the server says.
struct Output {
    pipe: pipe::Receiver,
    cutter: Cutter,
    /// Always empty: what is in its room is passed on from there.
    buffer: Vec<u8>,
    /// Whoever waits for its end hears of it by this going away.
    _open: oneshot::Sender<()>,
}

impl<'a> Program<'a> {
    pub(super) fn new(
        squire: PathBuf,
        shown: String,
        values: Rc<Values>,
        command: impl Fn() -> Result<Command> + 'a,
    ) -> Self {
        Self { squire, shown, values, command: Box::new(command), prepared: None, running: None }
    }

    fn input(&self) -> Option<&Rc<Input>> {
        self.running.as_ref()?.input.as_ref()
    }

    /// Starts a warden, which waits for its orders.
    fn warden(&self) -> io::Result<Child> {
        // What a warden that was killed leaves comes here. Without it a server outlives its warden, and nothing else.
        let _ = set_child_subreaper(Some(getpid()));
        let mut command = Command::new(&self.squire);
        command.arg("warden").env_clear().process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()
    }

    fn spawn(&mut self) -> Result<Running> {
        let orders = warden::orders(&(self.command)()?)?;
        let prepared = self.prepared.take().and_then(|mut warden| match warden.try_wait() {
            Ok(None) => Some(warden),
            // Somebody has ended it.
            _ => None,
        });
        let warden = prepared.map_or_else(|| self.warden(), Ok);
        let mut child = warden.context("its warden could not be started")?;
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
        // The orders stand before the server's own input.
        input.queue(orders);
        input.write();
        let tail = spawn_local(stderr::drain(errors, Rc::clone(&self.values)));
        let (open, closed) = oneshot::channel();
        let (tell, ended) = oneshot::channel();
        let (end_of_warden, is_up) = (pidfd_open(warden, PidfdFlags::empty()).ok(), Rc::clone(&is_there));
        spawn_local(async move {
            let mut closed = closed;
            let mut status = pin!(wait(child, end_of_warden, &is_up));
            let (status, has_closed) = tokio::select! {
                status = &mut status => {
                    let _ = tokio::time::timeout(LAST_WORDS, closed).await;
                    (status, false)
                }
                // One that has ended tells how at once; one that closed its output alone has nothing more to say.
                _ = &mut closed => {
                    if let Ok(status) = tokio::time::timeout(MOMENT, &mut status).await {
                        (status, false)
                    } else {
                        end(warden, &is_up);
                        (status.await, true)
                    }
                }
            };
            let words = tokio::time::timeout(LAST_WORDS, tail).await;
            let words = words.ok().and_then(Result::ok).unwrap_or_default();
            let _ = tell.send(obituary(status, has_closed, &words));
        });
        let output = Output::new(output, open);
        Ok(Running { warden, input: Some(input), output: Some(output), refusal: None, is_there, ended })
    }
}

impl Upstream for Program<'_> {
    /// Where it can't be done now, the start tells why.
    fn prepare(&mut self) {
        self.prepared = self.warden().ok();
    }

    fn start(&mut self) -> Option<FromServer> {
        self.stop();
        let running = self.spawn();
        let outcome = match &running {
            Ok(_) => FromServer::Started,
            Err(failure) => FromServer::Ended(format!("{failure:#}")),
        };
        self.running = running.ok();
        Some(outcome)
    }

    fn poll_heard(&mut self, context: &mut Waiting<'_>) -> Poll<Vec<FromServer>> {
        let Some(running) = &mut self.running else { return Poll::Pending };
        if let Some(output) = &mut running.output
            && let Poll::Ready(pieces) = output.poll_read(context)
        {
            let pieces = match pieces {
                Some(pieces) => pieces,
                None => {
                    running.output.take().and_then(|mut output| output.cutter.end()).into_iter().collect()
                }
            };
            return Poll::Ready(running.hear(pieces));
        }
        let ended = ready!(Pin::new(&mut running.ended).poll(context));
        let reason = match running.refusal.take() {
            Some(reason) => format!("{} could not be executed: {reason}", self.shown),
            None => ended.unwrap_or_else(|_| obituary(None, false, "")),
        };
        self.running = None;
        Poll::Ready(vec![FromServer::Ended(reason)])
    }

    fn send(&mut self, mut line: Vec<u8>) {
        line.push(b'\n');
        if let Some(input) = self.input() {
            input.queue(Zeroizing::new(line));
        }
    }

    fn write(&mut self) {
        if let Some(input) = self.input() {
            input.write();
        }
    }

    fn unsent(&self) -> usize {
        self.input().map_or(0, |input| input.unsent.get())
    }

    fn stop(&mut self) {
        if let Some(running) = &mut self.running {
            running.input = None;
            end(running.warden, &running.is_there);
        }
    }

    fn finish(&mut self) {
        if let Some(input) = self.input() {
            input.finish();
        }
    }
}

impl Drop for Program<'_> {
    /// A warden without orders has nothing to put in order.
    fn drop(&mut self) {
        if let Some(mut prepared) = self.prepared.take() {
            // An error says that it has ended.
            let _ = prepared.kill();
            let _ = prepared.wait();
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

impl Running {
    /// What the warden says instead of the server is no line for the agent.
    fn hear(&mut self, pieces: Vec<Piece>) -> Vec<FromServer> {
        let mut heard = Vec::with_capacity(pieces.len());
        for piece in pieces {
            if let Piece::Line(line) = &piece
                && let Some(reason) = line.strip_prefix(&[warden::MARK])
            {
                self.refusal = Some(excerpt(reason, REASON));
            } else {
                heard.push(FromServer::Said(piece));
            }
        }
        heard
    }
}

impl Output {
    fn new(pipe: pipe::Receiver, open: oneshot::Sender<()>) -> Self {
        Self { pipe, cutter: Cutter::new(LINE_LIMIT), buffer: Vec::with_capacity(CHUNK), _open: open }
    }

    /// The lines that the next read ends, if any; nothing once it is closed. A reader that takes less than its buffer
    /// holds does not ask twice.
    fn poll_read(&mut self, context: &mut Waiting<'_>) -> Poll<Option<Vec<Piece>>> {
        let mut buffer = ReadBuf::uninit(self.buffer.spare_capacity_mut());
        let outcome = ready!(Pin::new(&mut self.pipe).poll_read(context, &mut buffer));
        if outcome.is_err() || buffer.filled().is_empty() {
            return Poll::Ready(None);
        }
        let mut pieces = Vec::new();
        self.cutter.push(buffer.filled(), |piece| pieces.push(piece));
        Poll::Ready(Some(pieces))
    }
}

/// Waits for a child's end, which a descriptor of it tells, and for what it left. Where the system has no such thing, or
/// a sandbox does not let it be had, a thread waits.
async fn wait(mut child: Child, end: Option<OwnedFd>, is_there: &Cell<bool>) -> Option<ExitStatus> {
    let end = end.as_ref().and_then(|end| Ready::input(end.as_fd()).ok());
    let is_told = match end {
        Some(end) => end.has_news().await.is_ok(),
        None => false,
    };
    let status = if is_told { child.wait() } else { spawn_blocking(move || child.wait()).await.ok()? };
    is_there.set(false);
    warden::end_strays().await;
    status.ok()
}

/// How a server ended, with its last words. What the warden had to end after its output was closed did not end by itself.
fn obituary(status: Option<ExitStatus>, has_closed: bool, words: &str) -> String {
    let how = match status.map(|status| (status.code(), status.signal())) {
        Some((None, Some(SIGTERM | SIGKILL))) if has_closed => "it closed its output".into(),
        Some((Some(code), _)) => format!("it ended with status {code}"),
        Some((None, Some(signal))) => format!("it was ended by signal {signal}"),
        Some((None, None)) | None => "it ended".into(),
    };
    if words.is_empty() { how } else { format!("{how}: {words}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_childs_end_is_heard_of_in_either_way() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        for has_descriptor in [true, false] {
            let child = Command::new("sh").args(["-c", "read line; exit 7"]).stdin(Stdio::piped()).spawn();
            let mut child = child.unwrap();
            let (stdin, is_there) = (child.stdin.take(), Cell::new(true));
            let end =
                has_descriptor.then(|| pidfd_open(Pid::from_child(&child), PidfdFlags::empty()).unwrap());
            let status = runtime.block_on(async {
                let mut status = pin!(wait(child, end, &is_there));
                let early = tokio::time::timeout(Duration::from_millis(50), &mut status).await;
                assert!(early.is_err() && is_there.get());
                drop(stdin);
                status.await
            });
            assert_eq!((status.unwrap().code(), is_there.get()), (Some(7), false));
        }
    }
}
