//! What a server says on stderr: passed on to the agent's log, and its end kept for the moment it dies.

use std::cell::OnceCell;
use std::io;
use std::os::fd::AsFd;
use std::rc::Rc;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use tokio::net::unix::pipe;
use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::mcp::{STDERR_LIMIT, last_lines};
use crate::secrets::Values;

/// How many pieces wait for an agent that does not read its servers' stderr; more are passed over.
const UNREAD: usize = 64;
/// How long a line is held for what may be in it.
const LONGEST: usize = 64 * 1024;
/// How long an agent may take to read the last of it.
const PATIENCE: Duration = Duration::from_millis(100);
/// How many lines are told.
const LINES: usize = 3;

/// Drains it to its end, so that no server ever waits for whoever reads; gives the last lines. A secret that the server
/// repeats is taken out, line by line.
pub(super) async fn drain(errors: pipe::Receiver, values: Rc<Values>) -> String {
    let onward = OnceCell::new();
    let pass_on = |piece: Vec<u8>| {
        if !piece.is_empty()
            && let Some((pieces, _)) = onward.get_or_init(begin)
        {
            // Whoever does not read it loses it.
            let _ = pieces.try_send(piece);
        }
    };
    let mut tail: Vec<u8> = Vec::new();
    let mut line: Vec<u8> = Vec::new();
    let mut buffer = vec![0; 8192];
    loop {
        match errors.try_read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => {
                line.extend_from_slice(buffer.get(..count).unwrap_or_default());
                let end = line.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
                let whole = if values.is_empty() || line.len() > LONGEST { line.len() } else { end };
                let said = values.hide(line.get(..whole).unwrap_or_default());
                line.drain(..whole);
                tail.extend_from_slice(&said);
                tail.drain(..tail.len().saturating_sub(STDERR_LIMIT));
                pass_on(said);
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                if errors.readable().await.is_err() {
                    break;
                }
            }
            Err(_) => break,
        }
    }
    let said = values.hide(&line);
    tail.extend_from_slice(&said);
    pass_on(said);
    // What is said of the server's end comes behind its own last words.
    if let Some(Some((pieces, written))) = onward.into_inner() {
        drop(pieces);
        let _ = timeout(PATIENCE, written).await;
    }
    told(&tail)
}

/// Begins a thread that writes to this process's own stderr: nobody else has to wait for it.
/// Who waits for the receiver hears of its end.
fn begin() -> Option<(SyncSender<Vec<u8>>, oneshot::Receiver<()>)> {
    let (pieces, unwritten) = sync_channel::<Vec<u8>>(UNREAD);
    let (writing, written) = oneshot::channel();
    let write = move || {
        let _writing: oneshot::Sender<()> = writing;
        let own = rustix::stdio::stderr();
        for piece in unwritten {
            let mut rest = piece.as_slice();
            while !rest.is_empty() {
                match rustix::io::write(own.as_fd(), rest) {
                    Ok(count) => rest = rest.get(count..).unwrap_or_default(),
                    Err(rustix::io::Errno::INTR) => {}
                    Err(_) => return,
                }
            }
        }
    };
    thread::Builder::new().name("server stderr".into()).spawn(write).ok().map(|_| (pieces, written))
}

fn told(tail: &[u8]) -> String {
    last_lines(tail, LINES).join(" | ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_are_told() {
        assert_eq!(told(b"a\nb\n\n c \r\nd\x1b[1m\n"), "b | c | d\\u{1b}[1m");
        assert_eq!(told(b"\n \n"), "");
    }
}
