//! The relay between an agent and a server, either of which says anything: what goes on is one line of JSON, and no
//! request of the agent's is answered twice.

#![no_main]

use std::collections::BTreeMap;

use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use squire_relay::{Action, Believed, Past, Pin, Policy, Relay, Spill};

struct Nowhere;

impl Spill for Nowhere {
    fn keep(&mut self, _: &str) -> Option<String> {
        None
    }
}

fuzz_target!(|data: &[u8]| {
    let Some((first, rest)) = data.split_first() else { return };
    let policy = Policy {
        allows: Box::new(|name| name != "hidden"),
        result_limit: 64,
        timeout: 1000,
        startup_timeout: 1000,
        max_restarts: 3,
        stands_in: first & 1 == 0,
        tells_withheld: first & 2 == 0,
        seal: Box::new(|_| None),
        name: "s".into(),
    };
    let believed =
        Believed { tools: Some(BTreeMap::from([("t".into(), "h".into())])), ..Believed::default() };
    let pin = if first & 4 == 0 { Pin::Block } else { Pin::Off };
    let past = Past { pin, believed, answers: true, is_kept: true, ..Past::default() };
    let mut relay = Relay::new(policy).with_past(past);
    let mut server = Server::Away;
    let mut asked: BTreeMap<String, usize> = BTreeMap::new();
    for (now, line) in rest.split(|byte| *byte == b'\n').enumerate() {
        let now = now as u64 * 100;
        let Some((who, line)) = line.split_first() else { continue };
        let actions = match who {
            b'a' => {
                count(line, &mut asked);
                relay.from_agent(line.to_vec(), now)
            }
            b's' if server == Server::Runs => relay.from_server(line.to_vec(), &mut Nowhere, now),
            // A server is there once it was wanted, and goes once.
            b'u' if server == Server::Wanted => {
                server = Server::Runs;
                relay.started(now)
            }
            b'd' if server != Server::Away => {
                server = Server::Away;
                relay.ended("it ended", now)
            }
            _ => relay.tick(now),
        };
        for action in actions {
            match action {
                Action::ToAgent(line) => {
                    let _: &serde_json::value::RawValue =
                        serde_json::from_slice(&line).expect("JSON for the agent");
                    // A number that no reader has room for is JSON all the same.
                    let Ok(message) = serde_json::from_slice::<Value>(&line) else { continue };
                    if message.get("method").is_none() && !message["id"].is_null() {
                        let left = asked.entry(message["id"].to_string()).or_default();
                        *left = left.checked_sub(1).expect("an answer to what was asked, once");
                    }
                }
                Action::ToServer(line) => {
                    let _: &serde_json::value::RawValue =
                        serde_json::from_slice(&line).expect("JSON for the server");
                }
                Action::Start => server = Server::Wanted,
                _ => {}
            }
        }
    }
});

#[derive(PartialEq)]
enum Server {
    Away,
    Wanted,
    Runs,
}

/// Counts the requests of a line: it may be a batch.
fn count(line: &[u8], asked: &mut BTreeMap<String, usize>) {
    // As the relay, it overlooks what stands around a message.
    let text = String::from_utf8_lossy(line);
    let Ok(message) = serde_json::from_str::<Value>(
        text.trim_start_matches('\u{feff}').trim_matches([' ', '\t', '\r', '\n']),
    ) else {
        return;
    };
    match message {
        Value::Array(members) => {
            members.iter().for_each(|member| count(member.to_string().as_bytes(), asked))
        }
        message => {
            if let Some(id) = message.get("id").filter(|id| !id.is_null()) {
                *asked.entry(id.to_string()).or_default() += 1;
            }
        }
    }
}
