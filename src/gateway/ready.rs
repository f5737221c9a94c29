//! Streams that are read and written without ever waiting on one of them alone.
//!
//! `O_NONBLOCK` would do that too, but it belongs to the open file, which the agent may hold as well: it is not ours to
//! set. A pipe could be opened anew to have it, but agents on Node and Bun give sockets, which can't be. So each write
//! says for itself that it is not to wait (`RWF_NOWAIT`, for pipes and sockets since Linux 6.4), and each other step is
//! taken when the system says that it would not wait.

use std::io::{self, IoSlice};
use std::os::fd::BorrowedFd;
use std::time::Instant;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{FileType, fstat};
use rustix::io::{Errno, ReadWriteFlags, pwritev2};

/// What can be written without waiting to a pipe or socket that takes anything at all (pipe(7), `PIPE_BUF`; a socket
/// is writable only while most of its buffer is free). A terminal may take less: then a person has stopped it.
const STEP: usize = 4096;

/// What pwritev2(2) takes for a stream, which has no offset.
const NO_OFFSET: u64 = u64::MAX;

/// A read or a write of a descriptor.
pub(super) type Step<'a> = (BorrowedFd<'a>, PollFlags);

pub(super) const READ: PollFlags = PollFlags::IN;
pub(super) const WRITE: PollFlags = PollFlags::OUT;
/// No step at all: that the other side has gone is told all the same.
pub(super) const NOTHING: PollFlags = PollFlags::empty();

/// Waits until one of the steps would not wait, or until then; says of each whether it would not. An end, or an error, is
/// told by the step itself. A file is always ready.
pub(super) fn ready<const N: usize>(steps: [Option<Step<'_>>; N], until: Option<Instant>) -> [bool; N] {
    let mut asked = Vec::with_capacity(N);
    asked.extend(steps.iter().flatten().map(|(stream, step)| PollFd::from_borrowed_fd(*stream, *step)));
    let left = until.map(|until| until.saturating_duration_since(Instant::now()));
    let left = left.map(|left| Timespec::try_from(left).unwrap_or_default());
    // An interruption is no news.
    let count = poll(&mut asked, left.as_ref()).unwrap_or_default();
    let mut answers = asked.iter();
    steps.map(|step| {
        step.is_some() && answers.next().is_some_and(|answer| count > 0 && !answer.revents().is_empty())
    })
}

/// Whether a step would not wait now.
pub(super) fn is_ready(stream: BorrowedFd<'_>, step: PollFlags) -> bool {
    ready([Some((stream, step))], Some(Instant::now())) == [true]
}

/// A stream that is written without waiting.
pub(super) struct Output<'a> {
    pub(super) stream: BorrowedFd<'a>,
    /// Whether a write can say that it is not to wait.
    can_say_so: bool,
}

impl<'a> Output<'a> {
    pub(super) fn new(stream: BorrowedFd<'a>) -> Self {
        // A file never waits for a reader, and takes the word for another one.
        let kind = fstat(stream).map(|status| FileType::from_raw_mode(status.st_mode));
        Self { stream, can_say_so: matches!(kind, Ok(FileType::Fifo | FileType::Socket)) }
    }

    /// Writes the beginning of `bytes` if that needs no waiting: else the error is `WouldBlock`.
    pub(super) fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.can_say_so {
            match pwritev2(self.stream, &[IoSlice::new(bytes)], NO_OFFSET, ReadWriteFlags::NOWAIT) {
                // An older system, or a sandbox that does not know the call.
                Err(Errno::OPNOTSUPP | Errno::NOSYS | Errno::SPIPE) => self.can_say_so = false,
                Err(Errno::INTR) => return Ok(0),
                outcome => return Ok(outcome?),
            }
        }
        if !is_ready(self.stream, WRITE) {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let step = bytes.get(..STEP).unwrap_or(bytes);
        match rustix::io::write(self.stream, step) {
            Err(Errno::INTR) => Ok(0),
            outcome => Ok(outcome?),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write, pipe};
    use std::os::fd::AsFd;
    use std::os::unix::net::UnixStream;
    use std::time::Duration;

    use super::*;

    /// Whether it is ready within a moment.
    fn is_ready_soon(stream: BorrowedFd<'_>, step: PollFlags) -> bool {
        ready([None, Some((stream, step))], Some(Instant::now() + Duration::from_millis(30))) == [false, true]
    }

    #[test]
    fn what_can_be_read_is_told_of_each() {
        let ((one, mut to_one), (two, to_two)) = (pipe().unwrap(), UnixStream::pair().unwrap());
        let steps = || [Some((one.as_fd(), READ)), None, Some((two.as_fd(), READ))];
        let soon = || Some(Instant::now() + Duration::from_millis(30));
        assert_eq!(ready(steps(), soon()), [false; 3]);
        to_one.write_all(b"a").unwrap();
        assert_eq!(ready(steps(), None), [true, false, false]);
        drop(to_two);
        assert_eq!(ready(steps(), None), [true, false, true]);
        // An end is news too, also where no step is asked for.
        let mut gone = [Some((to_one.as_fd(), NOTHING))];
        assert_eq!(ready(gone, soon()), [false]);
        gone = [Some((two.as_fd(), NOTHING))];
        assert_eq!(ready(gone, None), [true]);
        drop((to_one, (&one).read(&mut [0]).unwrap()));
        assert_eq!(ready(steps(), soon()), [true, false, true]);
    }

    /// Writes until there is no room, and goes on when there is; a step never waits.
    fn writes(output: &mut Output<'_>, mut reader: impl Read) {
        let mut written = 0;
        loop {
            match output.write(&[b'x'; 3 * STEP]) {
                Ok(count) => written += count,
                Err(error) => break assert_eq!(error.kind(), io::ErrorKind::WouldBlock),
            }
        }
        assert!(written >= STEP);
        assert!(!is_ready_soon(output.stream, WRITE));
        let mut taken = vec![0; written];
        reader.read_exact(&mut taken).unwrap();
        assert!(is_ready_soon(output.stream, WRITE));
        assert_eq!(output.write(b"y").unwrap(), 1);
        drop(reader);
        let error = output.write(b"z").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
    }

    #[test]
    fn pipes_and_sockets_are_written_while_there_is_room() {
        // On a new system, and on one where a write can't say that it is not to wait.
        for can_say_so in [true, false] {
            let (reader, writer) = pipe().unwrap();
            let mut output = Output::new(writer.as_fd());
            output.can_say_so &= can_say_so;
            writes(&mut output, reader);
            let (reader, writer) = UnixStream::pair().unwrap();
            let mut output = Output::new(writer.as_fd());
            output.can_say_so &= can_say_so;
            writes(&mut output, reader);
        }
    }

    #[test]
    fn a_file_is_always_ready() {
        let file = tempfile::tempfile().unwrap();
        for step in [READ, WRITE] {
            assert!(is_ready(file.as_fd(), step));
        }
        let mut output = Output::new(file.as_fd());
        assert!(!output.can_say_so);
        assert_eq!(output.write(b"d").unwrap(), 1);
    }
}
