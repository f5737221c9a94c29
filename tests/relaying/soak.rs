//! Many calls and a server that keeps dying: each is answered once, and none is sent twice. The long form is
//! `cargo bench --bench stress -- soak`.

use std::cell::RefCell;
use std::thread;

use super::conversation::{Conversation, puppet};
use crate::support::soaking::{Came, Got, Soak, WINDOW};

const CALLS: usize = 5000;
const CRASHES: usize = 20;
const GATEWAYS: usize = 10;

/// Numbers that look like chance, the same in every run.
struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % limit
    }
}

#[test]
fn every_call_is_answered_once_and_sent_once() {
    // A server that fails again within a minute waits longer each time: several gateways share the crashes.
    let mut chance = Chance(20_261_130);
    let mut plan = || Soak::by_chance(CALLS / GATEWAYS, CRASHES / GATEWAYS, |limit| chance.below(limit));
    let plans: Vec<Soak> = (0..GATEWAYS).map(|_| plan()).collect();
    let soaking: Vec<_> = plans.into_iter().map(|plan| thread::spawn(move || soak(&plan))).collect();
    let all: Vec<Came> = soaking.into_iter().map(|soaking| soaking.join().unwrap()).collect();
    let answered: usize = all.iter().map(|came| came.answered).sum();
    let broken: usize = all.iter().map(|came| came.broken).sum();
    assert_eq!(answered + broken, CALLS);
    // The one that crashes it, and at most what was under way.
    assert!((CRASHES..=CRASHES * WINDOW).contains(&broken), "{broken}");
}

fn soak(plan: &Soak) -> Came {
    let conversation = RefCell::new(Conversation::begun(puppet("")));
    let came = plan.run(
        |line| conversation.borrow_mut().say(line),
        || Some(conversation.borrow().hear_line().into_bytes()),
        |_| {},
    );
    let conversation = conversation.into_inner();
    assert_eq!((came.unanswered, came.answered_twice), (0, 0));
    assert!(came.odd.is_empty(), "{:?}", came.odd);
    let got = Got::read(&conversation.test.path("log"));
    assert_eq!((got.twice, got.starts), (0, plan.crashes.len() + 1));
    conversation.finish();
    came
}
