//! Ctrl-Z, `fg` and `bg`, and stops that come from elsewhere.

use rustix::process::{Signal, kill_process};

use super::Scenario;
use super::signals::{COUNT, end_of_count};
use crate::support::{Place, Session};

const READ_TWICE: &str = "print ready; read; read; exit 3";

fn stop_and_go(session: &mut Session) {
    session.stopped();
    session.order("foreground");
}

fn on_terminal(name: &str, script: &str) -> Scenario {
    Scenario::new(name, Place::Terminal, script)
}

pub(super) fn scenarios() -> Vec<Scenario> {
    [by_keys(), in_the_background(), by_others(), by_the_agent()].into_iter().flatten().collect()
}

fn by_keys() -> Vec<Scenario> {
    vec![
        on_terminal("Ctrl-Z, twice", READ_TWICE).act(|session| {
            session.until_shown("ready");
            for count in 1..3 {
                session.press(b"\x1a");
                stop_and_go(session);
                session.press(b"hello\n");
                session.until_reads(count);
            }
        }),
        on_terminal("Ctrl-Z and bg", "print ready; wait-file <T>/go; terminal; exit 3").act(|session| {
            session.until_shown("ready");
            session.press(b"\x1a");
            session.stopped();
            session.order("background");
            session.go();
        }),
        on_terminal("Ctrl-Z, bg, a read, fg", READ_TWICE).act(|session| {
            session.until_shown("ready");
            session.press(b"\x1a");
            session.stopped();
            session.order("background");
            stop_and_go(session);
            session.press(b"a\n");
            session.until_reads(1);
            session.press(b"b\n");
        }),
        on_terminal("Ctrl-Z that the agent handles", "listen TSTP; trap 0; trap-until TSTP; exit 4").act(
            |session| {
                session.until_signals(0);
                session.press(b"\x1a");
            },
        ),
        on_terminal(
            "Ctrl-Z that the agent answers by a stop of its own",
            "listen TSTP CONT ALRM; trap 0; trap-until TSTP; stop; trap-until ALRM; exit 4",
        )
        .act(|session| {
            session.until_signals(0);
            session.press(b"\x1a");
            stop_and_go(session);
            session.until_signals(2);
            end_of_count(session);
        }),
    ]
}

fn in_the_background() -> Vec<Scenario> {
    vec![
        Scenario::new("a read in the background", Place::Background, READ_TWICE).act(|session| {
            stop_and_go(session);
            session.press(b"a\n");
            session.until_reads(1);
            session.press(b"b\n");
        }),
        Scenario::new("raw mode in the background", Place::Background, "raw; terminal; exit 3")
            .act(stop_and_go),
        Scenario::new("a launch in the background", Place::Background, "print out; terminal; exit 3"),
    ]
}

fn by_others() -> Vec<Scenario> {
    let mut scenarios = vec![
        on_terminal("the agent alone is stopped", READ_TWICE).act(|session| {
            session.until_shown("ready");
            kill_process(session.agent(), Signal::STOP).unwrap();
            stop_and_go(session);
            session.press(b"a\n");
            session.until_reads(1);
            session.press(b"b\n");
        }),
        on_terminal("continued, not stopped", COUNT).act(|session| {
            session.until_signals(0);
            session.send(Signal::CONT);
            session.until_signals(1);
            end_of_count(session);
        }),
        on_terminal("the group is stopped by SIGSTOP", COUNT).act(|session| {
            session.until_signals(0);
            session.send_to_group(Signal::STOP);
            session.until_stopped();
            stop_and_go(session);
            session.until_signals(1);
            end_of_count(session);
        }),
        on_terminal("the group is stopped and continued by another", COUNT).act(|session| {
            session.until_signals(0);
            session.send_to_group(Signal::TSTP);
            session.stopped();
            session.order("background");
            session.until_signals(1);
            end_of_count(session);
        }),
        // The order of both is the kernel's: a stopped squire passes SIGTERM on once it is continued.
        on_terminal("a stopped job is ended", "listen TERM ALRM; trap 0; trap-until ALRM; exit 7").act(
            |session| {
                session.until_signals(0);
                session.press(b"\x1a");
                session.stopped();
                session.send(Signal::TERM);
                session.order("foreground");
                session.until_signals(1);
                end_of_count(session);
            },
        ),
        on_terminal("a stopped job is killed", "wait-file <T>/never").act(|session| {
            session.agent();
            session.press(b"\x1a");
            session.stopped();
            session.send_to_group(Signal::KILL);
            session.order("foreground");
        }),
    ];
    for (name, signal) in [("TSTP", Signal::TSTP), ("TTIN", Signal::TTIN), ("TTOU", Signal::TTOU)] {
        scenarios.push(on_terminal(&format!("{name} sent to the job's process"), COUNT).act(
            move |session| {
                session.until_signals(0);
                session.send(signal);
                session.stopped();
                session.order("one");
                session.until_signals(1);
                end_of_count(session);
            },
        ));
    }
    // Nobody can answer SIGSTOP: below squire the agent goes on until it reads. The caller sees the same.
    scenarios.push(on_terminal("SIGSTOP sent to the job's process", READ_TWICE).act(|session| {
        session.until_shown("ready");
        session.send(Signal::STOP);
        stop_and_go(session);
        session.press(b"a\n");
        session.until_reads(1);
        session.press(b"b\n");
    }));
    scenarios
}

fn by_the_agent() -> Vec<Scenario> {
    let mut scenarios = Vec::new();
    for stop in ["raise TSTP", "raise TTIN", "raise TTOU", "stop", "raise-group TSTP", "raise-group STOP"] {
        let script = format!("listen CONT ALRM; {stop}; trap-until ALRM; exit 7");
        for place in [Place::Terminal, Place::Pipes] {
            for order in ["foreground", "one"] {
                // A group that was stopped as a whole is continued as a whole.
                if order == "one" && stop.starts_with("raise-group") {
                    continue;
                }
                let name = format!("the agent stops by {stop}, {order}, {place:?}");
                scenarios.push(Scenario::new(name, place, script.as_str()).act(|session| {
                    session.stopped();
                    session.until_stopped();
                    session.order(order);
                    session.until_signals(1);
                    end_of_count(session);
                }));
            }
        }
    }
    scenarios
}
