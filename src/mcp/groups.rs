//! The process groups of the servers that are running, so that an interruption leaves none of them behind.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::process::{Pid, Signal, kill_process_group};

/// The groups of all servers that one command started. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct Groups(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    running: Vec<Pid>,
    ended: bool,
}

impl Groups {
    /// Ends every group at once, and every one that is yet to be added.
    pub fn kill(&self) {
        let mut state = self.state();
        state.ended = true;
        state.running.iter().for_each(|group| end(*group));
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
