//! The process groups of the servers that are running, so that an interruption leaves none of them behind.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

/// How often it is looked whether all have ended.
const LOOK: Duration = Duration::from_millis(10);

/// The groups of all servers that one command started. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct Groups(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    running: Vec<Pid>,
    ended: bool,
}

impl Groups {
    /// Asks every group to end, so that a gateway can say good-bye, and ends those that are left after `grace`, and every
    /// one that is yet to be added.
    pub fn end(&self, grace: Duration) {
        {
            let mut state = self.state();
            state.ended = true;
            for group in &state.running {
                // An error says that there is nobody left.
                let _ = kill_process_group(*group, Signal::TERM);
            }
        }
        let until = Instant::now() + grace;
        while Instant::now() < until && !self.state().running.is_empty() {
            thread::sleep(LOOK);
        }
        self.state().running.iter().for_each(|group| end(*group));
    }

    /// Whether none runs.
    pub fn is_empty(&self) -> bool {
        self.state().running.is_empty()
    }

    pub(super) fn add(&self, group: Pid) {
        let mut state = self.state();
        state.running.push(group);
        if state.ended {
            end(group);
        }
    }

    pub(super) fn remove(&self, group: Pid) {
        self.state().running.retain(|other| *other != group);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn end(group: Pid) {
    // An error says that there is nobody left.
    let _ = kill_process_group(group, Signal::KILL);
}
