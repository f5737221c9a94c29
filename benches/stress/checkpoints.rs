//! SIGKILL at each change that a launch makes, × SIGKILL at each change of the clean-up behind it: after one more
//! command everything is as it was.

use std::process::Command;

use nix::libc;
use nix::sys::signal::Signal;

use super::counts::{Counts, parallel};
use super::place::Place;
use super::shapes::{SHAPES, Shape};
use super::tracer::{Call, Ending, Order, Trace, trace};

/// Where a launch is killed.
#[derive(Clone, Copy)]
enum Checkpoint {
    BeforeChange(usize),
    WhileTheAgentRuns,
}

/// Of the shapes whose name holds a word.
pub(super) fn run(word: &str) -> Counts {
    let checkpoints = |shape: &Shape| {
        let place = shape.place();
        let launch = trace(&mut place.traced_launch(), &place.root, |_| Order::GoOn);
        let changes = launch.calls.iter().filter(|call| is_change(call)).count();
        (0..changes).map(Checkpoint::BeforeChange).chain([Checkpoint::WhileTheAgentRuns])
    };
    let all: Vec<(Shape, Checkpoint)> = SHAPES
        .iter()
        .filter(|shape| shape.name.contains(word))
        .flat_map(|shape| checkpoints(shape).map(|checkpoint| (*shape, checkpoint)))
        .collect();
    let mut counts = parallel(all.len(), |piece, counts| {
        let (shape, checkpoint) = all[piece];
        kill_cleanups(shape, checkpoint, counts);
    });
    counts.count("checkpoints of launches", all.len());
    counts
}

/// Kills the launch, and each time another change of the clean-up, until there is none left to kill before.
fn kill_cleanups(shape: Shape, checkpoint: Checkpoint, counts: &mut Counts) {
    for change in 0.. {
        let place = shape.place();
        let launch = killed_launch(&place, checkpoint);
        if !was_killed(&launch) {
            counts.count("launches that ended before their checkpoint", 1);
            return;
        }
        let cleanup = killed_before_change(place.traced_next(), &place, change);
        if let Err(reason) = place.settle().and_then(|()| shape.check_restored(&place)) {
            counts.count(shape.wrong_kind(&place), 1);
            counts.wrong(format!("launch {}, clean-up {}: {reason}", end(&launch), end(&cleanup)));
        }
        counts.count("runs", 1);
        if !was_killed(&cleanup) {
            counts.count("clean-ups that ended", 1);
            return;
        }
        counts.count("clean-ups that were killed", 1);
    }
}

fn killed_launch(place: &Place, checkpoint: Checkpoint) -> Trace {
    let command = place.traced_launch();
    match checkpoint {
        Checkpoint::BeforeChange(change) => killed_before_change(command, place, change),
        Checkpoint::WhileTheAgentRuns => {
            let mut started = false;
            killed(command, place, |call| {
                let runs = started;
                started |= call.name.starts_with("clone");
                runs
            })
        }
    }
}

/// Between which changes it was killed.
fn end(trace: &Trace) -> String {
    let changes: Vec<&Call> = trace.calls.iter().filter(|call| is_change(call)).collect();
    let told = |call: &&Call| format!("{} {:?}", call.name, call.paths);
    match changes.as_slice() {
        _ if !was_killed(trace) => "ended".into(),
        [.., made, next] if next.result.is_none() => {
            format!("killed after {}, before {}", told(made), told(next))
        }
        [.., made] if made.result.is_some() => format!("killed after {}", told(made)),
        _ => "killed before any change".into(),
    }
}

fn killed_before_change(command: Command, place: &Place, change: usize) -> Trace {
    let mut changes = 0;
    killed(command, place, |call| {
        changes += usize::from(is_change(call));
        changes == change + 1
    })
}

fn killed(mut command: Command, place: &Place, mut is_it: impl FnMut(&Call) -> bool) -> Trace {
    trace(&mut command, &place.root, |call| if is_it(call) { Order::KillBefore } else { Order::GoOn })
}

fn was_killed(trace: &Trace) -> bool {
    trace.ending == Ending::Signal(Signal::SIGKILL)
}

/// Whether a call changes what others can see; what squire prints is no change.
fn is_change(call: &Call) -> bool {
    let makes = |flags: u64| flags & u64::from(libc::O_CREAT.unsigned_abs()) != 0;
    match call.name {
        "open" => makes(call.arguments[1]),
        "openat" => makes(call.arguments[2]),
        "write" => call.arguments[0] > 2,
        "mkdir" | "mkdirat" | "rename" | "renameat" | "renameat2" | "unlink" | "unlinkat" | "rmdir"
        | "fchmod" | "fchmodat" | "fchown" | "fsetxattr" | "fremovexattr" | "fsync" | "fdatasync"
        | "flock" | "ftruncate" | "link" | "linkat" => true,
        _ => false,
    }
}
