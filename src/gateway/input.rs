//! A server's stdin, written as fast as the server takes it.

use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::{Errno, ioctl_fionbio};
use zeroize::Zeroizing;

/// How many lines one write takes.
const AT_ONCE: usize = 64;

/// What waits to be written, and where to.
pub(super) struct Input {
    queue: VecDeque<Zeroizing<Vec<u8>>>,
    /// How much of the first is written.
    written: usize,
    unsent: usize,
    /// Gone once all is said, or nobody reads: then the server's end tells.
    pipe: Option<OwnedFd>,
    is_last: bool,
}

impl Input {
    /// The pipe is ours alone, so that it can be set never to wait.
    pub(super) fn new(pipe: OwnedFd) -> io::Result<Self> {
        ioctl_fionbio(&pipe, true)?;
        Ok(Self { queue: VecDeque::new(), written: 0, unsent: 0, pipe: Some(pipe), is_last: false })
    }

    /// Queues bytes; [`Self::write`] sends them.
    pub(super) fn queue(&mut self, bytes: Zeroizing<Vec<u8>>) {
        if self.pipe.is_some() && !self.is_last {
            self.unsent += bytes.len();
            self.queue.push_back(bytes);
        }
    }

    /// How many bytes are not written yet.
    pub(super) fn unsent(&self) -> usize {
        self.unsent
    }

    /// Where what is queued waits for room.
    pub(super) fn unwritten(&self) -> Option<BorrowedFd<'_>> {
        self.pipe.as_ref().filter(|_| !self.queue.is_empty()).map(AsFd::as_fd)
    }

    /// Whether nobody reads what was to be written.
    pub(super) fn is_broken(&self) -> bool {
        self.pipe.is_none() && !self.is_last
    }

    /// Closes it behind what is queued.
    pub(super) fn finish(&mut self) {
        self.is_last = true;
        self.write();
    }

    /// Writes what the server takes of what is queued.
    pub(super) fn write(&mut self) {
        let is_over = match self.write_now() {
            Ok(()) => self.is_last,
            Err(Errno::AGAIN) => false,
            Err(_) => true,
        };
        if is_over {
            self.pipe = None;
            self.queue.clear();
            self.unsent = 0;
        }
    }

    fn write_now(&mut self) -> Result<(), Errno> {
        let Some(pipe) = &self.pipe else { return Ok(()) };
        while !self.queue.is_empty() {
            let mut written = self.written;
            let mut slices = [IoSlice::new(&[]); AT_ONCE];
            for (slice, bytes) in slices.iter_mut().zip(&self.queue) {
                *slice = IoSlice::new(bytes.get(std::mem::take(&mut written)..).unwrap_or_default());
            }
            let slices = slices.get(..self.queue.len()).unwrap_or(&slices);
            let count = match rustix::io::writev(pipe, slices) {
                Err(Errno::INTR) => 0,
                count => count?,
            };
            self.unsent = self.unsent.saturating_sub(count);
            self.written += count;
            while let Some(first) = self.queue.front()
                && first.len() <= self.written
            {
                self.written -= first.len();
                self.queue.pop_front();
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, pipe};
    use std::thread;

    use super::super::ready::{WRITE, ready};
    use super::*;

    #[test]
    fn all_arrives_in_order_and_then_the_end() {
        let (mut output, input) = pipe().unwrap();
        let mut input = Input::new(input.into()).unwrap();
        let mut expected = Vec::new();
        for (number, length) in [0, 1, 70_000, 3, 4096, 200_000, 5].into_iter().enumerate() {
            let bytes = vec![b'a' + u8::try_from(number).unwrap(); length];
            expected.extend_from_slice(&bytes);
            input.queue(Zeroizing::new(bytes));
            if number % 2 == 0 {
                input.write();
            }
        }
        for number in 0..200 {
            let line = format!("{number}\n").into_bytes();
            expected.extend_from_slice(&line);
            input.queue(Zeroizing::new(line));
        }
        assert!(input.unsent() > 200_000);
        input.finish();
        input.queue(Zeroizing::new(b"late".to_vec()));
        let reader = thread::spawn(move || {
            let mut all = Vec::new();
            output.read_to_end(&mut all).map(|_| all)
        });
        while let Some(pipe) = input.unwritten() {
            ready([Some((pipe, WRITE))], None);
            input.write();
        }
        assert_eq!(reader.join().unwrap().unwrap(), expected);
        assert_eq!(input.unsent(), 0);
        assert!(!input.is_broken());
    }

    #[test]
    fn nothing_waits_for_a_reader_that_has_gone() {
        let (output, input) = pipe().unwrap();
        let mut input = Input::new(input.into()).unwrap();
        input.queue(Zeroizing::new(vec![b'x'; 200_000]));
        input.write();
        assert!(input.unsent() > 0);
        drop(output);
        ready([input.unwritten().map(|pipe| (pipe, WRITE))], None);
        input.write();
        assert_eq!(input.unsent(), 0);
        assert!(input.is_broken());
        input.queue(Zeroizing::new(b"more".to_vec()));
        input.write();
        assert_eq!(input.unsent(), 0);
        assert!(input.unwritten().is_none());
    }
}
