//! Asks many servers at once, and ends all of them where the user has had enough.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use signal_hook::consts::signal::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::commands::waiting::while_drawing;
use crate::environment::Environment;
use crate::mcp::Groups;
use crate::output::Output;
use crate::signals::Watched;

/// The signals that end a command.
const SIGNALS: &[i32] = &[SIGINT, SIGTERM, SIGHUP, SIGQUIT];
/// How long gateways may take to say good-bye to their servers.
const FAREWELL: Duration = Duration::from_secs(1);

/// Does the work, and watches for the signals that end a command: they set the flag, and end the servers, which are in
/// groups of their own that a terminal's Ctrl-C does not reach, where the work has not done so after `patience`. Gives what
/// came of the work, and the signal.
pub(in crate::commands) fn watched<T>(
    patience: Duration,
    work: impl FnOnce(&Groups, &AtomicBool) -> T,
) -> Result<(T, Option<i32>)> {
    let _watched = Watched::begin(SIGNALS).context("signals can't be watched")?;
    let groups = Groups::default();
    let is_over = AtomicBool::new(false);
    let mut signals = Signals::new(SIGNALS).context("signals can't be watched")?;
    let handle = signals.handle();
    let watch = || {
        let signal = signals.forever().next()?;
        is_over.store(true, Ordering::SeqCst);
        let until = Instant::now() + patience;
        while !groups.is_empty() && Instant::now() < until {
            thread::sleep(Duration::from_millis(10));
        }
        groups.end(FAREWELL);
        Some(signal)
    };
    Ok(thread::scope(|scope| {
        let watching = scope.spawn(watch);
        let outcome = work(&groups, &is_over);
        handle.close();
        (outcome, watching.join().ok().flatten())
    }))
}

/// Does the work for each of the items at once: one dead server does not delay the rest (case B57). A terminal shows
/// which ones are waited for. The outcomes are in the items' order, `lost` where a thread broke; the error is the signal
/// that interrupted.
pub(in crate::commands) fn at_once<Item: Sync, Outcome: Send>(
    items: &[Item],
    name: impl Fn(&Item) -> &str + Sync,
    environment: &Environment,
    output: Output,
    work: impl Fn(&Item, &Groups) -> Outcome + Sync,
    lost: impl Fn(&Item) -> Outcome,
) -> Result<Result<Vec<Outcome>, i32>> {
    let answered: Vec<AtomicBool> = items.iter().map(|_| AtomicBool::new(false)).collect();
    let count = AtomicUsize::new(0);
    let began = Instant::now();
    let lines = || {
        let seconds = began.elapsed().as_secs();
        let waiting = items.iter().zip(&answered).filter(|(_, answered)| !answered.load(Ordering::Relaxed));
        let waiting = waiting.map(|(item, _)| format!("  {} {seconds} s", name(item)));
        let head = format!("{} of {} servers answered", count.load(Ordering::Relaxed), items.len());
        [head].into_iter().chain(waiting).collect()
    };
    let (outcomes, signal) = watched(Duration::ZERO, |groups, _| {
        while_drawing(lines, environment, output, || {
            let run = |item: &Item, answered: &AtomicBool| {
                let outcome = work(item, groups);
                answered.store(true, Ordering::Relaxed);
                count.fetch_add(1, Ordering::Relaxed);
                outcome
            };
            let run = &run;
            thread::scope(|scope| {
                let spawned = items.iter().zip(&answered);
                let spawned =
                    spawned.map(|(item, answered)| (item, scope.spawn(move || run(item, answered))));
                let running: Vec<_> = spawned.collect();
                let ended = running.into_iter();
                ended
                    .map(|(item, thread)| thread.join().unwrap_or_else(|_| lost(item)))
                    .collect::<Vec<Outcome>>()
            })
        })
    })?;
    Ok(signal.map_or(Ok(outcomes), Err))
}
