//! A server's stdin, written as fast as the server takes it.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::rc::Rc;

use rustix::io::Errno;
use tokio::net::unix::pipe;
use tokio::task::spawn_local;
use zeroize::Zeroizing;

/// How many lines one write takes.
const AT_ONCE: usize = 64;

/// What waits to be written, and where to.
pub(super) struct Input {
    queue: RefCell<VecDeque<Zeroizing<Vec<u8>>>>,
    /// How much of the first is written.
    written: Cell<usize>,
    pub(super) unsent: Cell<usize>,
    /// Gone once all is said, or nobody reads: then the server's end tells.
    pipe: RefCell<Option<Rc<pipe::Sender>>>,
    is_last: Cell<bool>,
    /// Whether a task waits for the server to read on.
    is_waiting: Cell<bool>,
}

impl Input {
    pub(super) fn new(pipe: pipe::Sender) -> Rc<Self> {
        Rc::new(Self {
            queue: RefCell::default(),
            written: Cell::default(),
            unsent: Cell::default(),
            pipe: RefCell::new(Some(Rc::new(pipe))),
            is_last: Cell::default(),
            is_waiting: Cell::default(),
        })
    }

    /// Queues bytes; [`Self::write`] sends them.
    pub(super) fn queue(&self, bytes: Zeroizing<Vec<u8>>) {
        if self.pipe.borrow().is_some() && !self.is_last.get() {
            self.unsent.set(self.unsent.get() + bytes.len());
            self.queue.borrow_mut().push_back(bytes);
        }
    }

    /// Closes it behind what is queued.
    pub(super) fn finish(self: &Rc<Self>) {
        self.is_last.set(true);
        self.write();
    }

    /// Writes what is queued: at once what the server takes, and the rest as it reads on.
    pub(super) fn write(self: &Rc<Self>) {
        if self.is_waiting.get() {
            return;
        }
        let Some(pipe) = self.pipe.borrow().clone() else { return };
        match self.write_now(&pipe) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                self.is_waiting.set(true);
                let own = Rc::clone(self);
                spawn_local(async move {
                    let outcome = pipe.writable().await;
                    own.is_waiting.set(false);
                    if outcome.is_ok() {
                        own.write();
                    } else {
                        own.close();
                    }
                });
                return;
            }
            Err(_) => self.close(),
        }
        if self.is_last.get() {
            self.close();
        }
    }

    fn close(&self) {
        self.pipe.take();
        self.queue.take();
        self.unsent.set(0);
    }

    fn write_now(&self, pipe: &pipe::Sender) -> io::Result<()> {
        let mut queue = self.queue.borrow_mut();
        while !queue.is_empty() {
            let mut written = self.written.get();
            let mut slices = [IoSlice::new(&[]); AT_ONCE];
            for (slice, bytes) in slices.iter_mut().zip(&*queue) {
                *slice = IoSlice::new(bytes.get(std::mem::take(&mut written)..).unwrap_or_default());
            }
            let slices = slices.get(..queue.len()).unwrap_or(&slices);
            // Where nothing fits, the pipe is to know that it is to watch for room.
            let count = match rustix::io::writev(pipe, slices) {
                Err(Errno::AGAIN) => pipe.try_write_vectored(slices)?,
                Err(Errno::INTR) => 0,
                count => count?,
            };
            self.unsent.set(self.unsent.get().saturating_sub(count));
            let mut done = self.written.get() + count;
            while let Some(first) = queue.front()
                && first.len() <= done
            {
                done -= first.len();
                queue.pop_front();
            }
            self.written.set(done);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use tokio::task::LocalSet;

    use super::*;

    fn run(test: impl Future<Output = ()>) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        LocalSet::new().block_on(&runtime, test);
    }

    async fn read_all(output: &pipe::Receiver) -> Vec<u8> {
        let (mut all, mut buffer) = (Vec::new(), [0; 1000]);
        loop {
            output.readable().await.unwrap();
            match output.try_read(&mut buffer) {
                Ok(0) => return all,
                Ok(count) => all.extend_from_slice(&buffer[..count]),
                Err(error) => assert_eq!(error.kind(), io::ErrorKind::WouldBlock),
            }
        }
    }

    #[test]
    fn all_arrives_in_order_and_then_the_end() {
        run(async {
            let (input, output) = pipe::pipe().unwrap();
            let input = Input::new(input);
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
            assert!(input.unsent.get() > 200_000);
            input.finish();
            input.queue(Zeroizing::new(b"late".to_vec()));
            assert_eq!(read_all(&output).await, expected);
            assert_eq!(input.unsent.get(), 0);
        });
    }

    #[test]
    fn nothing_waits_for_a_reader_that_has_gone() {
        run(async {
            let (input, output) = pipe::pipe().unwrap();
            let input = Input::new(input);
            input.queue(Zeroizing::new(vec![b'x'; 200_000]));
            input.write();
            drop(output.into_nonblocking_fd().unwrap());
            while input.unsent.get() > 0 {
                tokio::task::yield_now().await;
            }
            input.queue(Zeroizing::new(b"more".to_vec()));
            input.write();
            assert_eq!(input.unsent.get(), 0);
        });
    }
}
