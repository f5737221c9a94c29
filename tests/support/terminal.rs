//! A terminal as its user has it: keys, a window, and a screen that collects all that is written.

use std::ffi::OsString;
use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Termios, Winsize, tcgetattr, tcsetwinsize};

pub(crate) struct Terminal {
    master: File,
    screen: Arc<Mutex<Vec<u8>>>,
    /// Ends the reader, which would keep the master open.
    stop: UnixStream,
    reader: JoinHandle<()>,
}

impl Terminal {
    pub(crate) fn new() -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let master = File::from(master);
        let screen = Arc::new(Mutex::new(Vec::new()));
        let (stop, stopped) = UnixStream::pair().unwrap();
        let (from, to) = (master.try_clone().unwrap(), Arc::clone(&screen));
        let reader = std::thread::spawn(move || collect(from, &to, &stopped));
        let terminal = Self { master, screen, stop, reader };
        terminal.resize(24, 80);
        terminal
    }

    /// The path of the end that programs open.
    pub(crate) fn path(&self) -> OsString {
        OsString::from_vec(ptsname(&self.master, Vec::new()).unwrap().into_bytes())
    }

    pub(crate) fn press(&self, keys: &[u8]) {
        (&self.master).write_all(keys).unwrap();
    }

    pub(crate) fn resize(&self, rows: u16, columns: u16) {
        let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&self.master, size).unwrap();
    }

    pub(crate) fn screen(&self) -> String {
        String::from_utf8_lossy(&self.screen.lock().unwrap()).into_owned()
    }

    pub(crate) fn attributes(&self) -> Termios {
        tcgetattr(&self.master).unwrap()
    }

    /// All that was ever written, once no program has the terminal open any more.
    pub(crate) fn finish(self) -> String {
        self.reader.join().unwrap();
        String::from_utf8_lossy(&self.screen.lock().unwrap()).into_owned()
    }

    /// Closes the window.
    pub(crate) fn hang_up(self) {
        drop(self.stop);
        self.reader.join().unwrap();
    }
}

fn collect(mut from: File, to: &Mutex<Vec<u8>>, stopped: &UnixStream) {
    let mut bytes = [0; 4096];
    loop {
        let mut sources = [PollFd::new(&from, PollFlags::IN), PollFd::new(stopped, PollFlags::IN)];
        poll(&mut sources, None).unwrap();
        if !sources[1].revents().is_empty() {
            return;
        }
        match from.read(&mut bytes) {
            Ok(count) => to.lock().unwrap().extend_from_slice(&bytes[..count]),
            // No program has it open any more.
            Err(_) => return,
        }
    }
}
