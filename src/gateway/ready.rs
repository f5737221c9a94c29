//! A stream of this process's own, which is read and written without ever waiting on it.
//!
//! `O_NONBLOCK` would do that too, but it belongs to the open file, which the agent may hold as well: it is not ours to
//! set. A pipe could be opened anew to have it, but agents on Node and Bun give sockets, which can't be. So each write
//! says for itself that it is not to wait (`RWF_NOWAIT`, for pipes and sockets since Linux 6.4), and each other step is
//! taken when the system says that it would not wait.

use std::cell::Cell;
use std::future::{pending, poll_fn};
use std::io::{self, IoSlice};
use std::os::fd::BorrowedFd;

use rustix::buffer::spare_capacity;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, ReadWriteFlags, pwritev2};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// What can be written without waiting to a pipe or socket that takes anything at all (pipe(7), `PIPE_BUF`; a socket
/// is writable only while most of its buffer is free). A terminal may take less: then a person has stopped it.
const STEP: usize = 4096;

/// What pwritev2(2) takes for a stream, which has no offset.
const NO_OFFSET: u64 = u64::MAX;

/// One end of a stream.
pub(super) struct Ready<'a> {
    stream: BorrowedFd<'a>,
    /// None for what is always ready, as a file and `/dev/null` are: epoll(7) takes no such thing.
    watch: Option<AsyncFd<BorrowedFd<'a>>>,
    /// Whether a write can say that it is not to wait.
    can_say_so: Cell<bool>,
}

impl<'a> Ready<'a> {
    /// An end to read from. An error says that it can't be watched.
    pub(super) fn input(stream: BorrowedFd<'a>) -> io::Result<Self> {
        Self::new(stream, Interest::READABLE)
    }

    /// An end to write to. An error says that it can't be watched.
    pub(super) fn output(stream: BorrowedFd<'a>) -> io::Result<Self> {
        Self::new(stream, Interest::WRITABLE)
    }

    fn new(stream: BorrowedFd<'a>, interest: Interest) -> io::Result<Self> {
        #[expect(
            unsafe_code,
            reason = "tokio has no safe way to watch a descriptor that it does not make itself"
        )]
        // SAFETY: a `BorrowedFd<'a>` is open and names the same file for all of `'a`, which the watch does not outlive.
        let watch =
            match unsafe { AsyncFd::register_with_interest(stream, interest) }.map_err(io::Error::from) {
                Ok(watch) => Some(watch),
                Err(error) if error.raw_os_error() == Some(Errno::PERM.raw_os_error()) => None,
                Err(error) => return Err(error),
            };
        let can_say_so = Cell::new(watch.is_some());
        Ok(Self { stream, watch, can_say_so })
    }

    /// Reads what is there once something is, as much as there is room for behind what the buffer has; 0 at the end.
    /// Nothing is lost where it is dropped before that.
    pub(super) async fn read(&mut self, buffer: &mut Vec<u8>) -> io::Result<usize> {
        loop {
            let Some(watch) = &self.watch else {
                return Ok(rustix::io::read(self.stream, spare_capacity(buffer))?);
            };
            // News is good for one read: epoll looks again before it tells, and nobody else reads here.
            let mut news = poll_fn(|context| watch.poll_read_ready(context)).await?;
            let outcome = rustix::io::read(self.stream, spare_capacity(buffer));
            match outcome {
                Ok(_) if buffer.len() == buffer.capacity() && is_now(self.stream, PollFlags::IN) => {}
                Ok(0) => {}
                _ => news.clear_ready(),
            }
            match outcome {
                Err(Errno::INTR | Errno::AGAIN) => {}
                outcome => return Ok(outcome?),
            }
        }
    }

    /// Waits until there is something to read, or the end.
    pub(super) async fn has_news(&self) -> io::Result<()> {
        if let Some(watch) = &self.watch {
            poll_fn(|context| watch.poll_read_ready(context)).await?.retain_ready();
        }
        Ok(())
    }

    /// Writes the beginning of `bytes` if that needs no waiting: else the error is `WouldBlock`.
    pub(super) fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        if self.can_say_so.get() {
            match pwritev2(self.stream, &[IoSlice::new(bytes)], NO_OFFSET, ReadWriteFlags::NOWAIT) {
                // An older system, a terminal, or a sandbox that does not know the call.
                Err(Errno::OPNOTSUPP | Errno::NOSYS | Errno::SPIPE) => self.can_say_so.set(false),
                Err(Errno::INTR) => return Ok(0),
                outcome => return Ok(outcome?),
            }
        }
        if !is_now(self.stream, PollFlags::OUT) {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let step = bytes.get(..STEP).unwrap_or(bytes);
        match rustix::io::write(self.stream, step) {
            Err(Errno::INTR) => Ok(0),
            outcome => Ok(outcome?),
        }
    }

    /// Waits until [`Self::write`] may write again.
    pub(super) async fn has_room(&self) -> io::Result<()> {
        let Some(watch) = &self.watch else { return pending().await };
        loop {
            let mut news = poll_fn(|context| watch.poll_write_ready(context)).await?;
            if is_now(self.stream, PollFlags::OUT) {
                return Ok(());
            }
            news.clear_ready();
        }
    }
}

/// Whether it would not wait. An end, or an error, is told by the step itself.
fn is_now(stream: BorrowedFd<'_>, step: PollFlags) -> bool {
    let mut asked = [PollFd::from_borrowed_fd(stream, step)];
    matches!(poll(&mut asked, Some(&Timespec::default())), Ok(count) if count > 0)
}

#[cfg(test)]
mod tests {
    use std::future::Future;
    use std::io::{Read, Write, pipe};
    use std::os::fd::AsFd;
    use std::os::unix::net::UnixStream;
    use std::time::Duration;

    use super::*;

    /// What comes of it in a moment, if anything does.
    async fn soon<T>(future: impl Future<Output = T>) -> Option<T> {
        tokio::time::timeout(Duration::from_millis(30), future).await.ok()
    }

    fn run(test: impl Future<Output = ()>) {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(test);
    }

    /// What the next read gives, of at most four bytes.
    async fn next(input: &mut Ready<'_>) -> Option<Vec<u8>> {
        let mut buffer = Vec::with_capacity(4);
        assert_eq!(buffer.capacity(), 4);
        let count = soon(input.read(&mut buffer)).await?.unwrap();
        assert_eq!(count, buffer.len());
        Some(buffer)
    }

    /// Reads all that comes by the reader's own steps, and never waits outside them.
    async fn reads(input: &mut Ready<'_>, mut writer: impl Write) {
        assert!(next(input).await.is_none());
        // Exactly what the buffer holds, twice: the second look must not hang.
        for _ in 0..2 {
            writer.write_all(b"abcd").unwrap();
            assert_eq!(next(input).await.unwrap(), b"abcd");
            assert!(next(input).await.is_none());
        }
        writer.write_all(b"abcdef").unwrap();
        assert_eq!(next(input).await.unwrap(), b"abcd");
        assert_eq!(next(input).await.unwrap(), b"ef");
        assert!(next(input).await.is_none());
        writer.write_all(b"z").unwrap();
        drop(writer);
        assert_eq!(next(input).await.unwrap(), b"z");
        for _ in 0..2 {
            assert_eq!(next(input).await.unwrap(), b"");
        }
    }

    #[test]
    fn pipes_and_sockets_are_read_when_there_is_something() {
        run(async {
            let (reader, writer) = pipe().unwrap();
            reads(&mut Ready::input(reader.as_fd()).unwrap(), writer).await;
            let (reader, writer) = UnixStream::pair().unwrap();
            reads(&mut Ready::input(reader.as_fd()).unwrap(), writer).await;
        });
    }

    /// Writes until there is no room, and goes on when there is; a step never waits.
    async fn writes(output: &Ready<'_>, mut reader: impl Read) {
        let mut written = 0;
        loop {
            match output.write(&[b'x'; 3 * STEP]) {
                Ok(count) => written += count,
                Err(error) => break assert_eq!(error.kind(), io::ErrorKind::WouldBlock),
            }
        }
        assert!(written >= STEP);
        assert!(soon(output.has_room()).await.is_none());
        let mut taken = vec![0; written];
        reader.read_exact(&mut taken).unwrap();
        soon(output.has_room()).await.unwrap().unwrap();
        assert_eq!(output.write(b"y").unwrap(), 1);
        drop(reader);
        let error = output.write(b"z").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
    }

    #[test]
    fn pipes_and_sockets_are_written_while_there_is_room() {
        run(async {
            // On a new system, and on one where a write can't say that it is not to wait.
            for can_say_so in [true, false] {
                let (reader, writer) = pipe().unwrap();
                let output = Ready::output(writer.as_fd()).unwrap();
                output.can_say_so.set(can_say_so);
                writes(&output, reader).await;
                let (reader, writer) = UnixStream::pair().unwrap();
                let output = Ready::output(writer.as_fd()).unwrap();
                output.can_say_so.set(can_say_so);
                writes(&output, reader).await;
            }
        });
    }

    #[test]
    fn a_file_is_always_ready() {
        run(async {
            let mut file = tempfile::tempfile().unwrap();
            file.write_all(b"abc").unwrap();
            std::io::Seek::rewind(&mut file).unwrap();
            let mut input = Ready::input(file.as_fd()).unwrap();
            assert_eq!(next(&mut input).await.unwrap(), b"abc");
            assert_eq!(next(&mut input).await.unwrap(), b"");
            assert_eq!(Ready::output(file.as_fd()).unwrap().write(b"d").unwrap(), 1);
        });
    }
}
