//! Many calls and a server that keeps dying: each is answered once, and none is sent twice.

use std::collections::BTreeMap;
use std::{array, thread};

use serde_json::{Value, json};

use super::conversation::{Conversation, failure, puppet};

const CALLS: usize = 5000;
const CRASHES: usize = 20;
const GATEWAYS: usize = 10;
/// How many are under way at once.
const WINDOW: usize = 16;

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
    let share = CALLS / GATEWAYS;
    let mut crash = || [chance.below(share / 2), share / 2 + chance.below(share / 2 - WINDOW)];
    let plans: [[usize; CRASHES / GATEWAYS]; GATEWAYS] = array::from_fn(|_| crash());
    let soaking: Vec<_> = plans.into_iter().map(|plan| thread::spawn(move || soak(share, &plan))).collect();
    let counts: Vec<_> = soaking.into_iter().map(|soaking| soaking.join().unwrap()).collect();
    let answered: usize = counts.iter().map(|(answered, _)| answered).sum();
    let broken: usize = counts.iter().map(|(_, broken)| broken).sum();
    assert_eq!(answered + broken, CALLS);
    // The one that crashes it, and at most what was under way.
    assert!((CRASHES..=CRASHES * WINDOW).contains(&broken), "{broken}");
}

/// Asks so often, with crashes at these calls; gives how many were answered and how many broken.
fn soak(calls: usize, crashes: &[usize]) -> (usize, usize) {
    let mut conversation = Conversation::begun(puppet(""));
    let mut answers: BTreeMap<u64, Value> = BTreeMap::new();
    let mut asked = 0;
    while answers.len() < calls {
        while asked < calls && asked - answers.len() < WINDOW {
            let tool = if crashes.contains(&asked) { "crash" } else { "echo" };
            asked += 1;
            let id = conversation.ask_tool(tool, &json!({ "text": format!("call {asked}") }));
            assert_eq!(usize::try_from(id).unwrap(), asked);
        }
        let heard = conversation.hear();
        if let Some(id) = heard["id"].as_u64() {
            assert_eq!(answers.insert(id, heard), None, "answered twice: {id}");
        } else {
            assert_eq!(heard["method"], "notifications/tools/list_changed", "{heard}");
        }
    }
    let is_broken = |answer: &&Value| answer.get("error").is_some();
    let broken: Vec<&Value> = answers.values().filter(is_broken).collect();
    assert!(broken.iter().all(|answer| failure(answer).0 == -32081), "{broken:?}");
    let mut got: Vec<Value> = Vec::new();
    for line in conversation.got() {
        let message: Value = serde_json::from_str(&line).unwrap();
        got.extend(Some(message["id"].clone()).filter(|_| message["method"] == "tools/call"));
    }
    let sent = got.len();
    got.sort_by_key(Value::as_u64);
    got.dedup();
    assert_eq!(sent, got.len(), "sent twice");
    assert_eq!(conversation.events("start").len(), crashes.len() + 1);
    let counts = (answers.len() - broken.len(), broken.len());
    conversation.finish();
    counts
}
