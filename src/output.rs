//! The only code that prints: data on stdout, everything said to a person on stderr.

use std::io::{self, IsTerminal, Write};

use crate::printable::printable;

/// Where output goes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Output {
    /// Says nothing but failures.
    pub quiet: bool,
}

#[expect(clippy::disallowed_methods, reason = "the one place that prints")]
impl Output {
    /// Writes data to stdout. A reader that has gone away (`| head`) is no failure; a full disk is.
    pub fn data(self, text: &str) -> anyhow::Result<()> {
        self.data_to_reader(text).map(drop)
    }

    /// As [`Self::data`], and says whether anybody is left to read more.
    pub fn data_to_reader(self, text: &str) -> anyhow::Result<bool> {
        let mut stdout = io::stdout().lock();
        match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
            Err(error) => Err(anyhow::anyhow!("stdout can't be written: {error}")),
        }
    }

    /// Says something on stderr, behind squire's name. Where stderr is gone there is nobody to tell.
    pub fn message(self, text: &str) {
        let _ = writeln!(io::stderr().lock(), "squire: {}", lines(text));
    }

    /// Says something on stderr that `--quiet` leaves away.
    pub fn notice(self, text: &str) {
        if !self.quiet {
            self.message(text);
        }
    }

    /// Whether what is written over itself on stderr looks so to whom it is shown.
    pub fn shows_progress(self) -> bool {
        !self.quiet && io::stderr().is_terminal()
    }

    /// Puts a text in the place of the last one on a terminal's line; the empty one clears the line.
    pub fn progress(self, text: &str) {
        let mut stderr = io::stderr().lock();
        let _ = write!(stderr, "\r\x1b[K{text}").and_then(|()| stderr.flush());
    }

    /// Asks for something on stderr: the answer stands behind it, on the same line.
    pub fn prompt(self, text: &str) {
        let mut stderr = io::stderr().lock();
        let _ = write!(stderr, "squire: {}", printable(text)).and_then(|()| stderr.flush());
    }

    /// Writes what only a terminal reads, to whichever of stderr and stdout is one; an agent's pipe gets none of it.
    pub fn terminal(self, sequences: &str) {
        if io::stderr().is_terminal() {
            let _ = io::stderr().lock().write_all(sequences.as_bytes());
        } else if io::stdout().is_terminal() {
            let mut stdout = io::stdout().lock();
            let _ = stdout.write_all(sequences.as_bytes()).and_then(|()| stdout.flush());
        }
    }

    /// Writes a machine's line to stderr, where stdout belongs to the agent.
    pub fn machine(self, text: &str) {
        let _ = writeln!(io::stderr().lock(), "{text}");
    }
}

/// Every line made safe to show; line ends stay.
fn lines(text: &str) -> String {
    text.lines().map(printable).collect::<Vec<_>>().join("\n")
}
