//! Signals: as bytes that can be waited for, and those that end or stop this process by default, while something is to be
//! put right first.
//!
//! Whoever watches for a signal takes its default away for good: what is registered with the system stays. So the default
//! is registered beside it once, and holds whenever nobody watches.

use std::collections::BTreeMap;
use std::io;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use signal_hook::low_level::pipe;

/// A stream that gets a byte for each of these signals. They are handled and not blocked: a process that is started would
/// inherit a mask.
pub(crate) fn stream(signals: &[i32]) -> io::Result<UnixStream> {
    let (told, tell) = UnixStream::pair()?;
    told.set_nonblocking(true)?;
    for signal in signals {
        pipe::register(*signal, tell.try_clone()?)?;
    }
    Ok(told)
}

/// For each signal whose default was taken away, whether it holds.
static BY_DEFAULT: Mutex<BTreeMap<i32, Arc<AtomicBool>>> = Mutex::new(BTreeMap::new());

/// While it is there these signals do nothing by themselves: somebody watches for them.
#[derive(Debug)]
pub(crate) struct Watched(Vec<Arc<AtomicBool>>);

impl Watched {
    /// Begins, before the watching does.
    pub(crate) fn begin(signals: &[i32]) -> io::Result<Self> {
        let mut known = BY_DEFAULT.lock().unwrap_or_else(PoisonError::into_inner);
        let mut watched = Self(Vec::new());
        for signal in signals {
            let flag = if let Some(flag) = known.get(signal) {
                Arc::clone(flag)
            } else {
                let flag = Arc::new(AtomicBool::new(false));
                signal_hook::flag::register_conditional_default(*signal, Arc::clone(&flag))?;
                Arc::clone(known.entry(*signal).or_insert(flag))
            };
            flag.store(false, Ordering::SeqCst);
            watched.0.push(flag);
        }
        Ok(watched)
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.0.iter().for_each(|flag| flag.store(true, Ordering::SeqCst));
    }
}
