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
    while_drawing(|| vec![what.to_owned()], environment, output, work)
}

/// Does the work, and shows these lines on a terminal meanwhile, anew with every frame. The first has the spinner. They
/// are printable; what the terminal has no room for is not shown.
pub(super) fn while_drawing<T>(
    lines: impl Fn() -> Vec<String> + Send,
    environment: &Environment,
    output: Output,
    work: impl FnOnce() -> T,
) -> T {
    let is_drawn = output.shows_progress() && environment.get("TERM").is_none_or(|term| term != "dumb");
    thread::scope(|scope| {
        let (done, is_done) = mpsc::channel();
        let drawing = is_drawn.then(|| scope.spawn(move || draw(&lines, &is_done, output)));
        let result = work();
        drop::<mpsc::Sender<()>>(done);
        // Before anything is printed: a spinner that failed is no reason to print nothing.
        let _ = drawing.map(thread::ScopedJoinHandle::join);
        result
    })
}

/// Draws until the other end of the channel is dropped.
fn draw(lines: &impl Fn() -> Vec<String>, is_done: &mpsc::Receiver<()>, output: Output) {
    let mut drawn = 0;
    for frame in FRAMES.iter().cycle() {
        let mut lines = lines();
        if let Some(first) = lines.first_mut() {
            *first = format!("{frame} {first}");
        }
        drawn = output.progress(&lines, drawn);
        if is_done.recv_timeout(FRAME) != Err(RecvTimeoutError::Timeout) {
            break;
        }
    }
    output.progress(&[], drawn);
}
