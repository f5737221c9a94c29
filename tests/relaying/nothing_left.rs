//! However a gateway ends, no process of its server lives: here one that outlives the end of its input and SIGTERM, with a
//! child in a session of its own.

use std::fs::File;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::conversation::{Conversation, HELLO, lives, misbehaving};
use crate::support::{Test, eventually, gateway_words};

/// How long any of it may live.
const LIMIT: Duration = Duration::from_secs(6);

fn survivor() -> Conversation {
    let mut conversation = Conversation::begun(test());
    conversation.works();
    conversation
}

fn test() -> Test {
    misbehaving("survivor:<T>/child", "")
}

#[track_caller]
fn check(conversation: &Conversation, end: impl FnOnce()) {
    let processes = conversation.processes();
    assert_eq!(processes.len(), 3);
    assert!(processes.iter().all(|pid| lives(*pid)), "{processes:?}");
    let start = Instant::now();
    end();
    while processes.iter().any(|pid| lives(*pid)) {
        assert!(start.elapsed() < LIMIT, "{:?} live", processes.iter().filter(|pid| lives(**pid)));
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn after_the_end_of_the_input() {
    let mut conversation = survivor();
    conversation.close_stdin();
    check(&conversation, || {});
    assert!(conversation.ends().success());
}

#[test]
fn after_a_signal_that_asks_the_gateway_to_end() {
    for signal in [Signal::TERM, Signal::HUP] {
        let mut conversation = survivor();
        check(&conversation, || conversation.signal(signal));
        assert!(conversation.ends().success());
    }
}

#[test]
fn after_a_sudden_end_of_the_gateway() {
    let conversation = survivor();
    check(&conversation, || conversation.signal(Signal::KILL));
}

/// The pipes close: both, as the kernel closes what a killed process had.
#[test]
fn after_a_sudden_end_of_the_agent() {
    let test = test().write("words", format!("{HELLO}\n"));
    // It holds the only writing end of the gateway's stdin.
    let mut agent = Command::new("tail");
    agent.args(["-n", "+1", "-f"]).arg(test.path("words")).stdout(Stdio::piped());
    let mut agent = agent.spawn().unwrap();
    let mut command = test.clone().args(gateway_words(&test, "a", "claude")).command();
    command.stdin(agent.stdout.take().unwrap()).stdout(Stdio::piped());
    let mut gateway = command.stderr(File::create(test.path("stderr")).unwrap()).spawn().unwrap();
    let log = test.path("log");
    eventually("the server got the first words", || {
        std::fs::read_to_string(&log).unwrap_or_default().contains("initialize")
    });
    let start: serde_json::Value =
        serde_json::from_str(std::fs::read_to_string(&log).unwrap().lines().next().unwrap()).unwrap();
    let child = std::fs::read_to_string(test.path("child")).unwrap().parse().unwrap();
    let processes = [start["pid"].as_u64().unwrap(), start["ppid"].as_u64().unwrap(), child];
    assert!(processes.iter().all(|pid| lives(*pid)), "{processes:?}");
    let began = Instant::now();
    kill_process(Pid::from_child(&agent), Signal::KILL).unwrap();
    drop(gateway.stdout.take());
    agent.wait().unwrap();
    while processes.iter().any(|pid| lives(*pid)) {
        assert!(began.elapsed() < LIMIT, "{processes:?}");
        thread::sleep(Duration::from_millis(20));
    }
    assert!(gateway.wait().unwrap().success());
}

/// A server of which the agent wants to know nothing more.
#[test]
fn after_the_agent_has_closed_its_reading_end() {
    let mut conversation = survivor();
    conversation.stop_listening();
    conversation.ask_tool("echo", &serde_json::json!({}));
    thread::sleep(Duration::from_millis(100));
    conversation.ask_tool("echo", &serde_json::json!({}));
    check(&conversation, || {});
    assert!(conversation.ends().success());
}

/// A crash leaves no child behind either, before the next start.
#[test]
fn after_a_crash() {
    let mut conversation = survivor();
    let child = *conversation.processes().last().unwrap();
    conversation.ask_tool("crash", &serde_json::json!({}));
    eventually("the child of the one that crashed is gone", || !lives(child));
    conversation.close_stdin();
    assert!(conversation.ends().success());
    conversation.nothing_is_left();
}

/// Without its parent the server comes to the gateway, which starts another only when nothing of it is left.
#[test]
fn after_a_sudden_end_of_the_parent() {
    let mut conversation = survivor();
    let parent = i32::try_from(conversation.processes()[1]).unwrap();
    check(&conversation, || kill_process(Pid::from_raw(parent).unwrap(), Signal::KILL).unwrap());
    eventually("another is started", || conversation.events("start").len() == 2);
    conversation.close_stdin();
    assert!(conversation.ends().success());
    conversation.nothing_is_left();
}

/// A gateway that was told nothing yet, and the parent of its server to come, which waits for its orders.
fn waiting() -> (Conversation, u64) {
    let conversation = Conversation::start(test());
    eventually("the parent is there", || !conversation.children().is_empty());
    let parents = conversation.children();
    assert_eq!(parents.len(), 1, "{parents:?}");
    (conversation, parents[0])
}

#[test]
fn of_a_parent_without_a_server() {
    let (mut closed, parent) = waiting();
    closed.close_stdin();
    assert!(closed.ends().success());
    assert!(!lives(parent));
    assert_eq!(closed.stderr(), "");

    let (killed, parent) = waiting();
    killed.signal(Signal::KILL);
    eventually("it goes with its gateway", || !lives(parent));
    assert_eq!(killed.stderr(), "");
}

#[test]
fn another_parent_is_started_for_one_that_was_killed_before_it_had_a_server() {
    let (mut conversation, parent) = waiting();
    kill_process(Pid::from_raw(i32::try_from(parent).unwrap()).unwrap(), Signal::KILL).unwrap();
    eventually("it has ended", || !lives(parent));
    conversation.begin();
    conversation.works();
    assert_eq!(conversation.events("start").len(), 1);
    conversation.close_stdin();
    assert!(conversation.ends().success());
    conversation.nothing_is_left();
}
