//! Takes a value from the terminal, without showing it, or from stdin where that is no terminal. Never from an argument.

use std::io::{self, stdin};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context, Result, anyhow, bail};
use rustix::buffer::spare_capacity;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use signal_hook::SigId;
use signal_hook::consts::signal::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP};
use signal_hook::low_level::{emulate_default_handler, pipe, unregister};
use zeroize::Zeroizing;

use crate::output::Output;
use crate::secrets::{LARGEST, Value};
use crate::signals::Watched;

/// What a terminal's line holds (termios(3), canonical mode), its end not counted: the rest is lost in silence.
const LONGEST_LINE: usize = 4095;
/// What must not leave the terminal without echo.
const SIGNALS: &[i32] = &[SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP];

/// The value of a secret of this name.
pub(in crate::commands) fn value(name: &str, output: Output) -> Result<Value> {
    let bytes = match tcgetattr(stdin()) {
        Ok(attributes) => from_terminal(name, attributes, output)?,
        Err(_) => from_stdin()?,
    };
    Value::of_line(bytes).map_err(|reason| anyhow!("no value was given: {reason}"))
}

fn from_stdin() -> Result<Zeroizing<Vec<u8>>> {
    // Room for a line end, and for one byte that says that there is more.
    let mut bytes = Zeroizing::new(Vec::with_capacity(LARGEST + 3));
    while bytes.len() < bytes.capacity() {
        match rustix::io::read(stdin(), spare_capacity(&mut bytes)) {
            Ok(0) => break,
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error).context("stdin can't be read"),
        }
    }
    if bytes.len() > LARGEST + 2 {
        bail!("stdin holds more than {} KiB, which is no secret", LARGEST / 1024);
    }
    Ok(bytes)
}

fn from_terminal(name: &str, attributes: Termios, output: Output) -> Result<Zeroizing<Vec<u8>>> {
    let silence = Silence::begin(attributes).context("the terminal can't be read without echo")?;
    loop {
        output.prompt(&format!("value of {name} (not shown): "));
        silence.fall().context("the terminal's echo can't be switched off")?;
        if let Some(line) = silence.line()? {
            return Ok(line);
        }
        // It was stopped and goes on: what was typed before is gone, and is asked for again.
    }
}

/// A terminal that does not show what is typed; it does again when this goes away, and before any signal has its way.
struct Silence {
    before: Termios,
    signalled: UnixStream,
    signal: Arc<AtomicUsize>,
    handlers: Vec<SigId>,
    _watched: Watched,
}

impl Silence {
    fn begin(before: Termios) -> io::Result<Self> {
        let watched = Watched::begin(SIGNALS)?;
        let (signalled, sender) = UnixStream::pair()?;
        signalled.set_nonblocking(true)?;
        let signal = Arc::new(AtomicUsize::new(0));
        let mut silence = Self { before, signalled, signal, handlers: Vec::new(), _watched: watched };
        for number in SIGNALS {
            let value = usize::try_from(*number).unwrap_or_default();
            let flag = Arc::clone(&silence.signal);
            silence.handlers.push(signal_hook::flag::register_usize(*number, flag, value)?);
            silence.handlers.push(pipe::register(*number, sender.try_clone()?)?);
        }
        Ok(silence)
    }

    fn fall(&self) -> rustix::io::Result<()> {
        let mut silent = self.before.clone();
        silent.local_modes.remove(LocalModes::ECHO);
        // The line's end is shown: the next line begins where it should.
        silent.local_modes.insert(LocalModes::ECHONL | LocalModes::ICANON);
        tcsetattr(stdin(), OptionalActions::Flush, &silent)
    }

    fn end(&self) {
        // A terminal that is gone needs no echo.
        let _ = tcsetattr(stdin(), OptionalActions::Flush, &self.before);
    }

    /// One line; none where a signal stopped this process, which goes on now.
    fn line(&self) -> Result<Option<Zeroizing<Vec<u8>>>> {
        let mut line = Zeroizing::new(Vec::with_capacity(LONGEST_LINE + 2));
        let stdin = stdin();
        loop {
            let mut waited =
                [PollFd::new(&stdin, PollFlags::IN), PollFd::new(&self.signalled, PollFlags::IN)];
            match poll(&mut waited, None) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            let is_there = !waited[0].revents().is_empty();
            let signal = self.signal.swap(0, Ordering::SeqCst);
            if signal != 0 {
                let mut scratch = [0; 64];
                let _ = rustix::io::read(&self.signalled, &mut scratch);
                self.end();
                // Ends this process, or stops it until it is continued.
                emulate_default_handler(i32::try_from(signal).unwrap_or_default())?;
                return Ok(None);
            }
            if !is_there {
                continue;
            }
            match rustix::io::read(&stdin, spare_capacity(&mut line)) {
                Ok(0) => bail!("no value was given"),
                Ok(_) if line.ends_with(b"\n") => break,
                Ok(_) if line.len() < LONGEST_LINE => {}
                Err(Errno::INTR) => {}
                Err(error) => return Err(error).context("the terminal can't be read"),
                Ok(_) => break,
            }
        }
        if line.len() >= LONGEST_LINE {
            bail!(
                "a terminal's line holds {LONGEST_LINE} bytes at most: give the value on stdin, as in `squire secret set NAME < FILE`"
            );
        }
        Ok(Some(line))
    }
}

impl Drop for Silence {
    fn drop(&mut self) {
        self.end();
        for handler in &self.handlers {
            unregister(*handler);
        }
    }
}
