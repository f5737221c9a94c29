//! Many calls through a gateway to a server that keeps dying, and what came of each.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use serde_json::{Value, json};

/// How many calls are under way at once.
pub(crate) const WINDOW: usize = 16;
/// The gateway's own code for a server that has ended.
const ENDED: i64 = -32081;

/// Which calls there are.
pub(crate) struct Soak {
    pub(crate) calls: usize,
    /// The calls that the server dies of.
    pub(crate) crashes: Vec<usize>,
}

/// What came of them, as the agent sees it.
#[derive(Debug, Default)]
pub(crate) struct Came {
    pub(crate) answered: usize,
    /// Those whose server ended before it answered them, or could not be told.
    pub(crate) broken: usize,
    pub(crate) unanswered: usize,
    pub(crate) answered_twice: usize,
    /// Lines that should not have come.
    pub(crate) odd: Vec<String>,
}

impl Soak {
    /// As many crashes at places by chance, `below` a limit, but never two among the calls that are under way at once.
    pub(crate) fn by_chance(calls: usize, crashes: usize, mut below: impl FnMut(usize) -> usize) -> Self {
        let part = calls / crashes;
        assert!(part > WINDOW, "{calls} calls are too few for {crashes} crashes");
        let crashes = (0..crashes).map(|crash| crash * part + below(part - WINDOW)).collect();
        Self { calls, crashes }
    }

    /// Asks all of them by `say`, each with its number from 1 for an id, and reads with `hear` until all are answered or
    /// nothing more comes. `sees` is told how many are answered so far, after each.
    pub(crate) fn run(
        &self,
        mut say: impl FnMut(&str),
        mut hear: impl FnMut() -> Option<Vec<u8>>,
        mut sees: impl FnMut(usize),
    ) -> Came {
        let mut came = Came::default();
        let mut is_answered = vec![false; self.calls];
        let (mut asked, mut answers) = (0, 0);
        while answers < self.calls {
            while asked < self.calls && asked - answers < WINDOW {
                let tool = if self.crashes.contains(&asked) { "crash" } else { "echo" };
                asked += 1;
                let params = json!({ "name": tool, "arguments": { "text": format!("call {asked}") } });
                let call = json!({ "jsonrpc": "2.0", "id": asked, "method": "tools/call", "params": params });
                say(&call.to_string());
            }
            let Some(line) = hear() else { break };
            let heard: Value = serde_json::from_slice(&line).unwrap_or_default();
            let number = heard["id"].as_u64().and_then(|id| usize::try_from(id).ok()).unwrap_or_default();
            let text = &heard["result"]["content"][0]["text"];
            if number == 0 || number > asked {
                if heard["method"] != "notifications/tools/list_changed" {
                    came.odd.push(String::from_utf8_lossy(&line).into_owned());
                }
                continue;
            }
            if std::mem::replace(&mut is_answered[number - 1], true) {
                came.answered_twice += 1;
                continue;
            }
            if *text == format!("echo:call {number}") {
                came.answered += 1;
            } else if heard["error"]["code"] == ENDED {
                came.broken += 1;
            } else {
                came.odd.push(String::from_utf8_lossy(&line).into_owned());
            }
            answers += 1;
            sees(answers);
        }
        came.unanswered = self.calls - answers;
        came
    }
}

/// What the server wrote down of all its lives.
#[derive(Debug, Default)]
pub(crate) struct Got {
    pub(crate) starts: usize,
    pub(crate) calls: usize,
    /// The calls that it got more than once.
    pub(crate) twice: usize,
}

impl Got {
    /// Reads the log of a puppet.
    pub(crate) fn read(log: &Path) -> Self {
        let mut got = Self::default();
        let mut times: BTreeMap<String, usize> = BTreeMap::new();
        for line in BufReader::new(File::open(log).unwrap()).lines() {
            let event: Value = serde_json::from_str(&line.unwrap()).unwrap();
            match event["event"].as_str().unwrap() {
                "start" => got.starts += 1,
                "line" => {
                    let message: Value = serde_json::from_str(event["text"].as_str().unwrap()).unwrap();
                    if message["method"] == "tools/call" {
                        *times.entry(message["id"].to_string()).or_default() += 1;
                    }
                }
                _ => {}
            }
        }
        got.calls = times.values().sum();
        got.twice = times.values().filter(|times| **times > 1).count();
        got
    }
}
