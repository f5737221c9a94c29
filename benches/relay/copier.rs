//! The least that can stand between: a process that copies bytes, a thread each way.

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

/// Tells this program to copy bytes between its own streams and the server that this names.
pub(super) const SERVER: &str = "SQUIRE_BENCHMARK_COPIER";

pub(super) fn copy(server: &Path) {
    let mut command = Command::new(server);
    command.arg("stdio").env_remove(SERVER).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let (mut input, mut output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    thread::spawn(move || pass_on(&mut std::io::stdin().lock(), &mut input));
    pass_on(&mut output, &mut std::io::stdout().lock());
    child.wait().unwrap();
}

fn pass_on(from: &mut impl Read, to: &mut impl Write) {
    let mut buffer = vec![0; 64 * 1024];
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        if to.write_all(&buffer[..count]).and_then(|()| to.flush()).is_err() {
            return;
        }
    }
}
