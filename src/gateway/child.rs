//! A child whose end can be waited for beside other things.

use std::io::{self, PipeReader, pipe};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::process::{Child, ExitStatus};
use std::thread::{self, JoinHandle};

use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};

/// A child that nobody has waited for yet, so that its number is its own.
pub(super) struct WatchedChild {
    pid: Pid,
    end: End,
}

enum End {
    /// What the system tells it by.
    Descriptor(OwnedFd, Child),
    /// Where the system has no such thing, or a sandbox does not let it be had, a thread waits and closes the pipe.
    Thread(PipeReader, JoinHandle<io::Result<ExitStatus>>),
}

impl WatchedChild {
    /// An error says that its end can't be waited for.
    pub(super) fn new(child: Child) -> io::Result<Self> {
        let pid = Pid::from_child(&child);
        match pidfd_open(pid, PidfdFlags::empty()) {
            Ok(descriptor) => Ok(Self { pid, end: End::Descriptor(descriptor, child) }),
            Err(_) => Self::by_thread(child),
        }
    }

    fn by_thread(mut child: Child) -> io::Result<Self> {
        let pid = Pid::from_child(&child);
        let (told, tell) = pipe()?;
        let wait = move || {
            let status = child.wait();
            drop(tell);
            status
        };
        let thread = thread::Builder::new().name("warden's end".into()).spawn(wait)?;
        Ok(Self { pid, end: End::Thread(told, thread) })
    }

    /// What is ready to be read once it has ended.
    pub(super) fn end(&self) -> BorrowedFd<'_> {
        match &self.end {
            End::Descriptor(descriptor, _) => descriptor.as_fd(),
            End::Thread(told, _) => told.as_fd(),
        }
    }

    /// Asks it to end.
    pub(super) fn ask_to_end(&self) {
        // An error says that it has ended.
        let _ = kill_process(self.pid, Signal::TERM);
    }

    /// Waits for its end.
    pub(super) fn wait(self) -> Option<ExitStatus> {
        match self.end {
            End::Descriptor(_, mut child) => child.wait().ok(),
            End::Thread(_, thread) => thread.join().ok()?.ok(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};
    use std::time::{Duration, Instant};

    use super::super::ready::{READ, ready};
    use super::*;

    #[test]
    fn a_childs_end_is_heard_of_in_either_way() {
        for new in [WatchedChild::new, WatchedChild::by_thread] {
            let child = Command::new("sh").args(["-c", "read line; exit 7"]).stdin(Stdio::piped()).spawn();
            let mut child = child.unwrap();
            let stdin = child.stdin.take();
            let child = new(child).unwrap();
            let has_ended = |until| ready([Some((child.end(), READ))], until) == [true];
            assert!(!has_ended(Some(Instant::now() + Duration::from_millis(50))));
            drop(stdin);
            assert!(has_ended(None));
            assert_eq!(child.wait().unwrap().code(), Some(7));
        }
    }
}
