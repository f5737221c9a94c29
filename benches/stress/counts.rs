//! What a stress counted, and what did not hold.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};

/// More of them say nothing new.
const SHOWN: usize = 20;

#[derive(Default)]
pub(super) struct Counts {
    counted: BTreeMap<String, usize>,
    wrong: Vec<String>,
}

impl Counts {
    pub(super) fn count(&mut self, what: &str, by: usize) {
        *self.counted.entry(what.to_owned()).or_default() += by;
    }

    /// Notes what does not hold.
    pub(super) fn wrong(&mut self, what: String) {
        self.wrong.push(what);
    }

    fn add(&mut self, other: Self) {
        for (what, by) in other.counted {
            self.count(&what, by);
        }
        self.wrong.extend(other.wrong);
    }

    pub(super) fn are_all_right(&self) -> bool {
        self.wrong.is_empty()
    }

    pub(super) fn print(&self) {
        for (what, count) in &self.counted {
            println!("{count:8}  {what}");
        }
        println!("{:8}  that did not hold", self.wrong.len());
        for wrong in self.wrong.iter().take(SHOWN) {
            println!("          {wrong}");
        }
    }
}

/// Does a number of pieces of work, as many at once as there are processors.
pub(super) fn parallel(pieces: usize, work: impl Fn(usize, &mut Counts) + Sync) -> Counts {
    let next = AtomicUsize::new(0);
    let worker = || {
        let mut counts = Counts::default();
        loop {
            let piece = next.fetch_add(1, Ordering::Relaxed);
            if piece >= pieces {
                return counts;
            }
            work(piece, &mut counts);
        }
    };
    let mut all = Counts::default();
    std::thread::scope(|scope| {
        let processors = std::thread::available_parallelism().map_or(1, NonZero::get);
        let workers: Vec<_> = (0..processors).map(|_| scope.spawn(worker)).collect();
        for worker in workers {
            all.add(worker.join().unwrap());
        }
    });
    all
}
