//! A server that is a program: started by a warden, spoken to through pipes.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::rc::Rc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use rustix::buffer::spare_capacity;
use rustix::io::{Errno, read};
use rustix::process::{getpid, set_child_subreaper};
use signal_hook::consts::signal::{SIGKILL, SIGTERM};
use zeroize::Zeroizing;

use super::child::WatchedChild;
use super::input::Input;
use super::lines::{Cutter, LINE_LIMIT, Piece};
use super::ready::{NOTHING, READ, WRITE, ready};
use super::stderr::Errors;
use super::upstream::{FromServer, News, OfOutput, Upstream, Wait};
use super::warden;
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
    /// Gone once it has ended.
    warden: Option<WatchedChild>,
    /// Gone once it is asked to end.
    input: Option<Input>,
    /// Gone once the server has closed it.
    output: Option<Output>,
    /// The same of its stderr.
    errors: Option<Errors>,
    last_words: String,
    /// What the warden says instead of the server.
    refusal: Option<String>,
    course: Course,
}

/// How far its end has come.
#[derive(Clone, Copy)]
enum Course {
    Runs,
    /// It has closed its output, or its input before something was written there. One that has ended tells how by then; with
    /// one that only closed it there is nothing more to do.
    Silent(Closed, Instant),
    /// It was asked to end for that.
    Stopped(Closed),
    /// The warden has ended, and left what has to end still.
    Strays(End, Instant),
    /// All has ended; its last words are waited for until then.
    Over(End, Instant),
}

#[derive(Clone, Copy)]
enum Closed {
    Input,
    Output,
}

#[derive(Clone, Copy)]
struct End {
    status: Option<ExitStatus>,
    /// What it had closed, where it was ended for that.
    closed: Option<Closed>,
}

/// What the server says.
struct Output {
    pipe: OwnedFd,
    cutter: Cutter,
    buffer: Vec<u8>,
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

    fn input(&mut self) -> Option<&mut Input> {
        self.running.as_mut()?.input.as_mut()
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
        let (Some(stdin), Some(stdout), Some(stderr)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            anyhow::bail!("its pipes are not there");
        };
        let warden = WatchedChild::new(child).context("its warden's end can't be watched")?;
        let mut input = Input::new(stdin.into()).context("its input")?;
        // The orders stand before the server's own input.
        input.queue(orders);
        input.write();
        Ok(Running {
            warden: Some(warden),
            input: Some(input),
            output: Some(Output::new(stdout.into())),
            errors: Some(Errors::new(stderr.into(), Rc::clone(&self.values))),
            last_words: String::new(),
            refusal: None,
            course: Course::Runs,
        })
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

    fn wait(&mut self, wait: &Wait<'_>) -> Result<News> {
        let running = self.running.as_ref();
        // The end is told behind all that was said.
        let heard = running.filter(|_| wait.hears_server);
        let until = wait.until.into_iter().chain(heard.and_then(Running::until)).min();
        let [agent_speaks, is_interrupted, agent_takes, takes, speaks, complains, ends] = ready(
            [
                wait.input.map(|input| (input, READ)),
                Some((wait.interruptions.as_fd(), READ)),
                wait.output.map(|(output, of)| (output, if of == OfOutput::Room { WRITE } else { NOTHING })),
                running.and_then(|running| running.input.as_ref()?.unwritten()).map(|input| (input, WRITE)),
                heard.and_then(|running| running.output.as_ref()).map(|output| (output.pipe.as_fd(), READ)),
                running.and_then(|running| running.errors.as_ref()).map(|errors| (errors.pipe(), READ)),
                running.and_then(|running| running.warden.as_ref()).map(|warden| (warden.end(), READ)),
            ],
            until,
        );
        let agent_is_gone = agent_takes && wait.output.is_some_and(|(_, of)| of == OfOutput::End);
        let mut news = News { agent_speaks, agent_is_gone, is_interrupted, from_server: Vec::new() };
        let Some(running) = &mut self.running else { return Ok(news) };
        if takes {
            running.write();
        }
        if complains {
            running.hear_errors();
        }
        if speaks {
            running.hear(&mut news.from_server);
        }
        if ends {
            running.end();
        }
        if wait.hears_server && running.is_over() {
            let reason = self.running.take().map(|running| running.obituary(&self.shown));
            news.from_server.push(FromServer::Ended(reason.unwrap_or_default()));
        }
        Ok(news)
    }

    fn send(&mut self, mut line: Vec<u8>) {
        line.push(b'\n');
        if let Some(input) = self.input() {
            input.queue(Zeroizing::new(line));
        }
    }

    fn write(&mut self) {
        if let Some(running) = &mut self.running {
            running.write();
        }
    }

    fn unsent(&self) -> usize {
        self.running.as_ref().and_then(|running| running.input.as_ref()).map_or(0, Input::unsent)
    }

    fn stop(&mut self) {
        if let Some(running) = &mut self.running {
            running.input = None;
            running.ask_to_end();
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

impl Running {
    /// Asks the warden to end everything.
    fn ask_to_end(&self) {
        if let Some(warden) = &self.warden {
            warden.ask_to_end();
        }
    }

    /// Writes what the server takes.
    fn write(&mut self) {
        let Some(input) = &mut self.input else { return };
        input.write();
        if input.is_broken() {
            self.close(Closed::Input);
        }
    }

    /// It has closed this.
    fn close(&mut self, closed: Closed) {
        if let Course::Runs = self.course {
            self.course = Course::Silent(closed, Instant::now() + MOMENT);
        }
    }

    /// Hears what one read gives. What the warden says instead of the server is no line for the agent.
    fn hear(&mut self, heard: &mut Vec<FromServer>) {
        let Some(output) = &mut self.output else { return };
        let pieces = output.read().unwrap_or_else(|| {
            self.close(Closed::Output);
            self.output.take().and_then(|mut output| output.cutter.end()).into_iter().collect()
        });
        for piece in pieces {
            if let Piece::Line(line) = &piece
                && let Some(reason) = line.strip_prefix(&[warden::MARK])
            {
                self.refusal = Some(excerpt(reason, REASON));
            } else {
                heard.push(FromServer::Said(piece));
            }
        }
    }

    fn hear_errors(&mut self) {
        if self.errors.as_mut().is_some_and(|errors| !errors.read()) {
            self.last_words = self.errors.take().map(Errors::finish).unwrap_or_default();
        }
    }

    /// The warden has ended.
    fn end(&mut self) {
        let status = self.warden.take().and_then(WatchedChild::wait);
        let closed = if let Course::Stopped(closed) = self.course { Some(closed) } else { None };
        let end = End { status, closed };
        self.course = Course::Strays(end, Instant::now() + warden::LAST);
    }

    /// When [`Self::is_over`] is to be asked again.
    fn until(&self) -> Option<Instant> {
        match self.course {
            Course::Runs | Course::Stopped(_) => None,
            Course::Silent(_, until) | Course::Over(_, until) => Some(until),
            Course::Strays(..) => Some(Instant::now() + warden::GLANCE),
        }
    }

    /// Takes the next step of its end, if it is time for that; says whether it has come.
    fn is_over(&mut self) -> bool {
        if let Course::Runs | Course::Stopped(_) = self.course {
            return false;
        }
        let now = Instant::now();
        match self.course {
            Course::Silent(closed, until) if now >= until => {
                self.ask_to_end();
                self.course = Course::Stopped(closed);
            }
            Course::Strays(end, until) if now >= until || !warden::end_strays() => {
                self.course = Course::Over(end, now + LAST_WORDS);
                return self.has_said_all();
            }
            Course::Over(_, until) => return now >= until || self.has_said_all(),
            _ => {}
        }
        false
    }

    fn has_said_all(&self) -> bool {
        self.output.is_none() && self.errors.is_none()
    }

    /// How it ended.
    fn obituary(self, shown: &str) -> String {
        if let Some(reason) = self.refusal {
            return format!("{shown} could not be executed: {reason}");
        }
        let words = self.errors.map_or(self.last_words, Errors::finish);
        let end = match self.course {
            Course::Strays(end, _) | Course::Over(end, _) => end,
            Course::Runs | Course::Silent(..) | Course::Stopped(_) => End { status: None, closed: None },
        };
        obituary(end, &words)
    }
}

impl Output {
    fn new(pipe: OwnedFd) -> Self {
        Self { pipe, cutter: Cutter::new(LINE_LIMIT), buffer: Vec::with_capacity(CHUNK) }
    }

    /// The lines that one read ends, if any; nothing once it is closed. It waits where there is nothing to read.
    fn read(&mut self) -> Option<Vec<Piece>> {
        self.buffer.clear();
        let mut pieces = Vec::new();
        match read(&self.pipe, spare_capacity(&mut self.buffer)) {
            Err(Errno::INTR | Errno::AGAIN) => {}
            Ok(0) | Err(_) => return None,
            Ok(_) => self.cutter.push(&self.buffer, |piece| pieces.push(piece)),
        }
        Some(pieces)
    }
}

/// How a server ended, with its last words. What the warden had to end for what it had closed did not end by itself.
fn obituary(end: End, words: &str) -> String {
    let status = end.status.map(|status| (status.code(), status.signal()));
    let how = match (status, end.closed) {
        (Some((None, Some(SIGTERM | SIGKILL))), Some(Closed::Output)) => "it closed its output".into(),
        (Some((None, Some(SIGTERM | SIGKILL))), Some(Closed::Input)) => "it closed its input".into(),
        (Some((Some(code), _)), _) => format!("it ended with status {code}"),
        (Some((None, Some(signal))), _) => format!("it was ended by signal {signal}"),
        (Some((None, None)) | None, _) => "it ended".into(),
    };
    if words.is_empty() { how } else { format!("{how}: {words}") }
}
