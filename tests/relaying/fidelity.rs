//! What policy does not touch goes on as the bytes that came: held over generated messages, in the relay and in the
//! program.

use std::cell::Cell;

use proptest::collection::vec;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};
use serde_json::json;
use squire_relay::{Action, Policy, Relay, Spill};

use super::conversation::{Conversation, HELLO, INITIALIZED, puppet};
use super::messages::{Exchange, ID, exchange, id};

struct Nowhere;

impl Spill for Nowhere {
    fn keep(&mut self, _: &str) -> Option<String> {
        None
    }
}

fn relay() -> Relay {
    let mut relay = Relay::new(Policy {
        tells_withheld: false,
        allows: Box::new(|_| true),
        result_limit: usize::MAX,
        timeout: 1000,
        startup_timeout: 1000,
        max_restarts: 5,
        stands_in: true,
        seal: Box::new(|_| None),
        name: "a".into(),
    });
    relay.from_agent(HELLO.into(), 0);
    relay.started(0);
    relay.from_server(br#"{"jsonrpc":"2.0","id":0,"result":{}}"#.to_vec(), &mut Nowhere, 0);
    relay.from_agent(INITIALIZED.into(), 0);
    relay
}

/// The lines of an exchange in their order, each with whether the agent says it.
fn lines(exchange: &Exchange, number: usize) -> Vec<(bool, String)> {
    let named = |line: &String, spelling: usize| line.replacen(ID, &id(number, spelling), 1);
    match exchange {
        Exchange::AgentAsks { request, answer, spelling } => {
            vec![(true, named(request, *spelling)), (false, named(answer, *spelling))]
        }
        Exchange::ServerAsks { request, answer, spelling } => {
            vec![(false, named(request, *spelling)), (true, named(answer, *spelling))]
        }
        Exchange::AgentTells(line) => vec![(true, line.clone())],
        Exchange::ServerTells(line) => vec![(false, line.clone())],
    }
}

#[test]
#[expect(clippy::print_stdout, reason = "the count is for whoever asks for it with --nocapture")]
fn the_relay_changes_no_generated_message() {
    let count = Cell::new(0);
    let mut runner = TestRunner::new(Config { cases: 64, failure_persistence: None, ..Config::default() });
    let outcome = runner.run(&vec(exchange(), 1..40), |exchanges| {
        let mut relay = relay();
        for (number, exchange) in exchanges.iter().enumerate() {
            for (is_agents, line) in lines(exchange, number + 1) {
                let bytes = line.clone().into_bytes();
                let (actions, expected) = if is_agents {
                    (relay.from_agent(bytes.clone(), 0), Action::ToServer(bytes))
                } else {
                    (relay.from_server(bytes.clone(), &mut Nowhere, 0), Action::ToAgent(bytes))
                };
                let is_word = |action: &Action| !matches!(action, Action::Audit(_) | Action::Reached(_));
                let said: Vec<_> = actions.into_iter().filter(is_word).collect();
                if said != [expected] {
                    return Err(TestCaseError::fail(format!("{line}\nbecame {said:?}")));
                }
                count.set(count.get() + 1);
            }
        }
        Ok(())
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
    println!("0 of {} generated messages were changed by the relay", count.get());
}

#[test]
#[expect(clippy::print_stdout, reason = "the count is for whoever asks for it with --nocapture")]
fn the_program_changes_no_generated_message() {
    let mut runner =
        TestRunner::new_with_rng(Config::default(), TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let exchanges = vec(exchange(), 400).new_tree(&mut runner).unwrap().current();
    let mut conversation = Conversation::begun(puppet("result_limit = \"64MiB\"\n"));
    let (mut said, mut heard) = (vec![], 0);
    for (number, exchange) in exchanges.iter().enumerate() {
        match exchange {
            // What this server would answer is its own matter.
            Exchange::AgentAsks { .. } => {}
            _ => {
                for (is_agents, line) in lines(exchange, number + 1) {
                    if is_agents {
                        conversation.say(&line);
                        said.push(line);
                    } else {
                        conversation.ask_tool("say", &json!({ "line": line }));
                        assert_eq!(conversation.hear_line(), line);
                        heard += 1;
                    }
                }
            }
        }
    }
    conversation.works();
    let got = conversation.got();
    let others = |line: &&String| !line.contains("\"tools/call\"") || said.contains(line);
    assert_eq!(got[2..].iter().filter(others).collect::<Vec<_>>(), said.iter().collect::<Vec<_>>());
    println!("0 of {} generated messages were changed by the program", said.len() + heard);
    conversation.close_stdin();
    assert!(conversation.ends().success());
}
