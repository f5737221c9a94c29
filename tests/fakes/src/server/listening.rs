//! A port of the server's own choice, and a thread for each connection to it.

use std::io;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::time::Duration;
use std::{process, thread};

use super::{DEATH, complain};
use crate::files;

/// A server that its test forgot does not stay for ever.
const LIFETIME: Duration = Duration::from_secs(600);

/// Writes the port to its file and converses until the process is killed; returns the exit status.
pub(crate) fn serve(
    port_file: &Path,
    converse: impl Fn(&TcpStream) -> io::Result<()> + Clone + Send + 'static,
) -> io::Result<u8> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    files::write_atomically(port_file, &listener.local_addr()?.port().to_string())?;
    thread::spawn(move || {
        for connection in listener.incoming().flatten() {
            let converse = converse.clone();
            // A client that hangs up in the middle of a request is no matter of the server.
            thread::spawn(move || converse(&connection));
        }
    });
    thread::sleep(LIFETIME);
    Ok(0)
}

#[expect(clippy::exit, reason = "the thread of a connection has no other way to end the process")]
pub(crate) fn die() -> ! {
    process::exit(complain(DEATH, "dying after initialize, as asked").into())
}
