//! A terminal with one program on it.

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

pub(crate) struct Terminal {
    master: File,
    written: Arc<Mutex<Vec<u8>>>,
    child: Child,
}

impl Terminal {
    pub(crate) fn run(command: &mut Command) -> io::Result<Self> {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
        grantpt(&master)?;
        unlockpt(&master)?;
        let window = Winsize { ws_row: 50, ws_col: 120, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&master, window)?;
        let path = ptsname(&master, Vec::new())?;
        let end = OpenOptions::new().read(true).write(true).open(OsStr::from_bytes(path.as_bytes()))?;
        command.stdin(end.try_clone()?).stdout(end.try_clone()?).stderr(end).process_group(0);
        let child = command.spawn()?;
        let master = File::from(master);
        let written = Arc::new(Mutex::new(Vec::new()));
        let (mut from, to) = (master.try_clone()?, Arc::clone(&written));
        thread::spawn(move || {
            let mut bytes = [0; 4096];
            // Fails once no program has the terminal open any more.
            while let Ok(count) = from.read(&mut bytes) {
                let read = bytes.get(..count).unwrap_or_default();
                to.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(read);
            }
        });
        Ok(Self { master, written, child })
    }

    pub(crate) fn press(&self, keys: &[u8]) -> io::Result<()> {
        (&self.master).write_all(keys)
    }

    /// All that was written, without what moves and colours it, and one blank between words.
    pub(crate) fn words(&self) -> String {
        let written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&written);
        let mut words = String::new();
        let mut characters = text.chars();
        while let Some(character) = characters.next() {
            match character {
                '\u{1b}' => {
                    if characters.next() == Some('[') {
                        characters.by_ref().find(|end| ('@'..='~').contains(end));
                    }
                    words.push(' ');
                }
                control if control.is_control() => words.push(' '),
                plain => words.push(plain),
            }
        }
        words.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Ends the program and all that it started in its group.
    pub(crate) fn end(mut self) -> io::Result<()> {
        crate::process::end_group(self.child.id())?;
        self.child.wait().map(drop)
    }
}
