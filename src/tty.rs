//! Asks a question on the terminal itself, which no pipe answers (case B94).

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};

use rustix::fs::{Mode, OFlags};

/// The longest answer that is read.
const LIMIT: u64 = 1024;

/// The terminal that the process belongs to.
pub struct Terminal(File);

impl Terminal {
    /// Opens it; an error where there is none.
    pub fn open() -> io::Result<Self> {
        let opened =
            rustix::fs::open("/dev/tty", OFlags::RDWR | OFlags::CLOEXEC | OFlags::NOCTTY, Mode::empty())?;
        Ok(Self(opened.into()))
    }

    /// Writes a text.
    pub fn show(&mut self, text: &str) -> io::Result<()> {
        self.0.write_all(text.as_bytes())
    }

    /// Asks for a yes; anything else, the end of input included, is a no.
    pub fn ask(&mut self, question: &str) -> io::Result<bool> {
        write!(self.0, "{question} [y/N] ")?;
        let mut answer = String::new();
        BufReader::new((&self.0).take(LIMIT)).read_line(&mut answer)?;
        Ok(matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
    }
}
