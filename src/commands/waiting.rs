//! Shows on a terminal that something is waited for.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use crate::environment::Environment;
use crate::output::Output;

/// The frames of the spinner and how long each stands. A dozen lines: the crates for it bring the mathematical library,
/// whose loading every launch would pay for.
const FRAMES: [char; 8] = ['⠁', '⠂', '⠄', '⡀', '⢀', '⠠', '⠐', '⠈'];
const FRAME: Duration = Duration::from_millis(100);

/// Does the work, and says on a terminal meanwhile what is waited for.
pub(super) fn while_waiting<T>(
    what: &str,
    environment: &Environment,
    output: Output,
    work: impl FnOnce() -> T,
) -> T {
    let is_drawn = output.shows_progress() && environment.get("TERM").is_none_or(|term| term != "dumb");
    thread::scope(|scope| {
        let (done, is_done) = mpsc::channel();
        let drawing = is_drawn.then(|| scope.spawn(move || spin(what, &is_done, output)));
        let result = work();
        drop::<mpsc::Sender<()>>(done);
        // Before anything is printed: a spinner that failed is no reason to print nothing.
        let _ = drawing.map(thread::ScopedJoinHandle::join);
        result
    })
}

/// Draws until the other end of the channel is dropped.
fn spin(what: &str, is_done: &mpsc::Receiver<()>, output: Output) {
    for frame in FRAMES.iter().cycle() {
        output.progress(&format!("{frame} {what}"));
        if is_done.recv_timeout(FRAME) != Err(RecvTimeoutError::Timeout) {
            break;
        }
    }
    output.progress("");
}
