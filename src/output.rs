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
        // One call: what others write to the same stderr comes before or behind it.
        let _ = io::stderr().lock().write_all(format!("squire: {}\n", lines(text)).as_bytes());
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

    /// Puts lines in the place of so many that were drawn before, at the end of a terminal; none clear them. What it has
    /// no room for is left away. Gives how many were drawn.
    pub fn progress(self, lines: &[String], drawn: usize) -> usize {
        let mut stderr = io::stderr().lock();
        let size = rustix::termios::tcgetwinsize(&stderr).ok();
        let room = |cells: Option<u16>| cells.map_or(usize::MAX, usize::from).saturating_sub(1).max(1);
        let (rows, columns) = (size.map(|size| size.ws_row), size.map(|size| size.ws_col));
        let known = |cells: Option<u16>| cells.filter(|cells| *cells > 0);
        let (rows, columns) = (room(known(rows)), room(known(columns)));
        let up = if drawn > 1 { format!("\x1b[{}A\x1b[J", drawn - 1) } else { "\x1b[K".to_owned() };
        let shown: Vec<String> =
            lines.iter().take(rows).map(|line| line.chars().take(columns).collect()).collect();
        let _ = write!(stderr, "\r{up}{}", shown.join("\n")).and_then(|()| stderr.flush());
        shown.len()
    }

    /// Writes data to stdout that somebody else's server wrote: as it came, but on a terminal made safe to show.
    pub fn foreign_data(self, text: &str) -> anyhow::Result<()> {
        if io::stdout().is_terminal() { self.data(&safe_lines(text)) } else { self.data(text) }
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

/// As [`lines`], with the white space that shapes a text.
fn safe_lines(text: &str) -> String {
    let safe = |line: &str| line.split('\t').map(printable).collect::<Vec<_>>().join("\t");
    text.split('\n').map(|line| safe(line.strip_suffix('\r').unwrap_or(line))).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shape_stays_and_nothing_acts() {
        assert_eq!(safe_lines("a\tb\r\n\u{1b}[2Jc\n"), "a\tb\n\\u{1b}[2Jc\n");
    }
}
