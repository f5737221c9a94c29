//! Every program that is started, down to the last descendant, as the kernel starts it: a value is in the environment of
//! the one server that needs it, and in no words of any program.

use super::canary::{AGENTS, Canary, canaries};
use crate::gateway::gateway;
use crate::support::tracer::Ending;
use crate::support::tracer::executions::{Execution, Executions};
use crate::support::{Test, holds_canary};

/// What ran in `test`, none of it with a value that it may not have.
#[track_caller]
fn run(canary: &Canary, test: &Test) -> Executions {
    let run = test.executions();
    for execution in &run.all {
        let shown = execution.shown();
        assert!(!holds_canary(&execution.words), "a value is in the words: {shown}");
        let given = execution.variables(holds_canary);
        let is_server = shown.contains(" stdio --log ");
        if is_server && shown.trim_end().ends_with("/log") {
            assert_eq!(given, [format!("T=<{}>", canary.marker)], "{shown}");
        } else if is_server || !canary.is_of_environment() {
            assert_eq!(given, [""; 0], "{shown}");
        } else {
            // The user's own variable is that of all but the servers, and has no other name.
            assert!(given.iter().all(|variable| *variable == format!("FROM={}", canary.marker)), "{shown}");
        }
    }
    for text in [&run.stdout, &run.stderr] {
        assert!(!holds_canary(text.as_bytes()), "{text}");
    }
    run
}

#[track_caller]
fn assert_ran(run: &Executions, word: &str) {
    let has = |execution: &Execution| execution.shown().contains(word);
    assert!(run.all.iter().any(has), "{word} did not run: {:?}", run.all);
}

#[test]
fn b91_no_program_that_a_launch_starts_has_a_value() {
    for canary in canaries() {
        for (agent, program) in AGENTS {
            let test = canary.test().agent(program, "").script("bin/x", "");
            let launch = test.args(["launch", agent, "--server", "a", "--server", "other"]);
            let run = run(&canary, &launch);
            assert_eq!(run.ending, Ending::Code(0), "{}", run.stderr);
            if agent == "inspect" {
                assert_ran(&run, "/log");
                assert_ran(&run, "/other");
            } else {
                assert_ran(&run, program);
            }
        }
    }
}

#[test]
fn b91_no_program_that_a_gateway_or_a_check_starts_has_a_value() {
    for canary in canaries() {
        for (name, word) in [("a", "/log"), ("other", "/other"), ("fails", "gateway fails")] {
            assert_ran(&run(&canary, &gateway(canary.test(), name)), word);
        }
        for words in [&["secret", "check"][..], &["secret", "list"], &["check"], &["doctor"], &["list"]] {
            assert_ran(&run(&canary, &canary.test().args(words.iter().copied())), words[0]);
        }
    }
}

/// The control: where a declaration puts a value into an argument, which squire warns of, it is seen there.
#[test]
fn a_value_in_an_argument_is_seen() {
    let config = "[servers.a]\ncommand = [\"<server>\", \"stdio\", \"--log\", \"<T>/log\", \"-${secret:k}\"]\n\
                  env = { T = \"${secret:k}\" }\n";
    let test = Test::new().config(config).secrets("[secrets]\nk = \"S3CR3T\"\n").receiver("log");
    let run = gateway(test, "a").executions();
    assert!(run.all.iter().any(|execution| holds_canary(&execution.words)), "{:?}", run.all);
    assert!(run.all.iter().any(|execution| execution.variables(holds_canary) == ["T=S3CR3T"]));
}
