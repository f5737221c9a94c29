//! The agent's side, watched beside the tasks of a remote server.

use std::cell::Cell;
use std::future::{pending, poll_fn};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::task::{Context, Poll};

use rustix::event::PollFlags;
use rustix::io::Errno;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

use crate::gateway::ready::{NOTHING, READ, WRITE, is_ready};

/// This process's own streams, and its signals.
pub(super) struct Watch {
    pub(super) input: Watched<BorrowedFd<'static>>,
    pub(super) output: Watched<BorrowedFd<'static>>,
    pub(super) interruptions: Watched<UnixStream>,
}

impl Watch {
    /// Inside a runtime. An error says that they can't be watched.
    pub(super) fn new(interruptions: &UnixStream) -> io::Result<Self> {
        Ok(Self {
            input: Watched::new(rustix::stdio::stdin(), READ)?,
            output: Watched::new(rustix::stdio::stdout(), WRITE)?,
            interruptions: Watched::new(interruptions.try_clone()?, READ)?,
        })
    }
}

/// A stream of which one step is waited for.
pub(super) struct Watched<S: AsFd + AsRawFd> {
    step: PollFlags,
    /// None for what is always ready, as a file and `/dev/null` are: epoll(7) takes no such thing.
    stream: Option<AsyncFd<S>>,
    /// Whether the step was told to be ready, and may have been taken since.
    is_told: Cell<bool>,
}

impl<S: AsFd + AsRawFd> Watched<S> {
    fn new(stream: S, step: PollFlags) -> io::Result<Self> {
        let interest = if step == READ { Interest::READABLE } else { Interest::WRITABLE };
        #[expect(
            unsafe_code,
            reason = "tokio has no safe way to watch a descriptor that it does not make itself"
        )]
        // SAFETY: what is `AsFd` is open and names the same file for as long as it lives, and the watch owns it.
        let watched = unsafe { AsyncFd::register_with_interest(stream, interest) };
        let stream = match watched.map_err(io::Error::from) {
            Ok(stream) => Some(stream),
            Err(error) if error.raw_os_error() == Some(Errno::PERM.raw_os_error()) => None,
            Err(error) => return Err(error),
        };
        Ok(Self { step, stream, is_told: Cell::new(false) })
    }

    /// What was told is over, and what comes from now on is news.
    pub(super) async fn settle(&self) {
        if self.is_told.replace(false)
            && let Some(stream) = &self.stream
        {
            let forget = |context: &mut Context<'_>| {
                if let Poll::Ready(Ok(mut news)) = stream.poll_read_ready(context) {
                    news.clear_ready();
                }
                Poll::Ready(())
            };
            poll_fn(forget).await;
        }
    }

    /// Waits until the step would not wait. It is taken elsewhere: what was told before is looked at again. What is told
    /// newly is not, as epoll itself looks before it tells.
    pub(super) async fn is_ready(&self) {
        let Some(stream) = &self.stream else { return };
        loop {
            let news = match self.step {
                READ => poll_fn(|context| stream.poll_read_ready(context)).await,
                _ => poll_fn(|context| stream.poll_write_ready(context)).await,
            };
            // An error is told by the step itself.
            let Ok(mut news) = news else { return };
            let was_told = self.is_told.replace(true);
            if !was_told || is_ready(stream.get_ref().as_fd(), self.step) {
                return;
            }
            news.clear_ready();
            self.is_told.set(false);
        }
    }

    /// Waits until nobody takes what is written.
    pub(super) async fn has_ended(&self) {
        let Some(stream) = &self.stream else { return pending().await };
        while !is_ready(stream.get_ref().as_fd(), NOTHING) {
            match poll_fn(|context| stream.poll_write_ready(context)).await {
                Ok(mut news) => news.clear_ready(),
                Err(_) => return,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::time::Duration;

    use tokio::runtime::Builder;
    use tokio::time::timeout;

    use super::*;

    async fn is_ready_soon<S: AsFd + AsRawFd>(watched: &Watched<S>) -> bool {
        timeout(Duration::from_millis(30), watched.is_ready()).await.is_ok()
    }

    #[test]
    fn what_is_there_is_told_until_it_is_taken() {
        Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
            // Whether or not whoever takes it says that nothing is left.
            for settles in [false, true] {
                let (mut own, mut other) = UnixStream::pair().unwrap();
                let watched = Watched::new(own.try_clone().unwrap(), READ).unwrap();
                assert!(!is_ready_soon(&watched).await);
                for _ in 0..3 {
                    other.write_all(b"ab").unwrap();
                    for _ in 0..2 {
                        assert!(is_ready_soon(&watched).await);
                        assert_eq!(own.read(&mut [0]).unwrap(), 1);
                    }
                    if settles {
                        watched.settle().await;
                    }
                    assert!(!is_ready_soon(&watched).await);
                }
                // An end is there for ever.
                drop(other);
                assert!(is_ready_soon(&watched).await && is_ready_soon(&watched).await);
            }
        });
    }

    #[test]
    fn room_is_told_once_there_is_some() {
        Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
            let (mut own, mut other) = UnixStream::pair().unwrap();
            own.set_nonblocking(true).unwrap();
            let watched = Watched::new(own.try_clone().unwrap(), WRITE).unwrap();
            for _ in 0..2 {
                assert!(is_ready_soon(&watched).await);
                let mut written = 0;
                while let Ok(count) = own.write(&[0; 4096]) {
                    written += count;
                }
                assert!(!is_ready_soon(&watched).await);
                other.read_exact(&mut vec![0; written]).unwrap();
            }
            let has_ended = timeout(Duration::from_millis(30), watched.has_ended()).await.is_ok();
            assert!(!has_ended);
            drop(other);
            watched.has_ended().await;
            let file = tempfile::tempfile().unwrap();
            assert!(is_ready_soon(&Watched::new(file, WRITE).unwrap()).await);
        });
    }
}
