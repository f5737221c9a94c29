//! Numbers by chance: what is random here is when things happen, and that no seed repeats.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

/// The generator `SplitMix64`.
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new() -> Self {
        Self(RandomState::new().hash_one(()))
    }

    /// A number below a limit.
    pub(super) fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % limit
    }

    /// A time below a limit.
    pub(super) fn time(&mut self, limit: Duration) -> Duration {
        Duration::from_micros(self.below(u64::try_from(limit.as_micros()).unwrap().max(1)))
    }

    pub(super) fn pause(&mut self, limit: Duration) {
        std::thread::sleep(self.time(limit));
    }
}
