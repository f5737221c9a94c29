//! Ctrl-C, the window, and what the terminal is left as.

use rustix::process::{Signal, kill_process};

use super::signals::end_of_count;
use super::{Scenario, Way, observe};
use crate::support::Place;

const CRASH: &str = "wanted: after a death by a signal squire puts the terminal back, as the agent could not";

pub(super) fn scenarios() -> Vec<Scenario> {
    let on_terminal = |name: &str, script: &str| Scenario::new(name, Place::Terminal, script);
    let mut scenarios = vec![
        on_terminal("Ctrl-C, twice", "listen INT ALRM; trap 0; trap-until ALRM; exit 9").act(|session| {
            session.until_signals(0);
            for count in 1..3 {
                session.press(b"\x03");
                session.until_signals(count);
            }
            end_of_count(session);
        }),
        on_terminal("Ctrl-C ends at the second", "trap 2; exit 9").act(|session| {
            session.until_signals(0);
            session.press(b"\x03");
            session.until_signals(1);
            session.press(b"\x03");
        }),
        on_terminal("Ctrl-\\", "listen QUIT ALRM; trap 0; trap-until ALRM; exit 9").act(|session| {
            session.until_signals(0);
            session.press(b"\x1c");
            session.until_signals(1);
            end_of_count(session);
        }),
        on_terminal("Ctrl-C ends", "print ready; wait-file <T>/never").act(|session| {
            session.until_shown("ready");
            session.press(b"\x03");
        }),
        on_terminal("Ctrl-\\ ends", "print ready; wait-file <T>/never").act(|session| {
            session.until_shown("ready");
            session.press(b"\x1c");
        }),
        on_terminal(
            "another window size",
            "listen WINCH ALRM; window; trap 0; trap-until WINCH; window; trap-until ALRM; window; exit 3",
        )
        .act(|session| {
            session.until_signals(0);
            session.resize(33, 101);
            session.until("the size", |log| log["windows"].as_array().is_some_and(|seen| seen.len() == 2));
            end_of_count(session);
        }),
        on_terminal(
            "another window size after a stop",
            "listen CONT WINCH ALRM; trap 0; trap-until WINCH; window; trap-until ALRM; exit 3",
        )
        .act(|session| {
            session.until_signals(0);
            session.press(b"\x1a");
            session.stopped();
            session.order("foreground");
            session.until_signals(1);
            session.resize(33, 101);
            session.until_signals(2);
            end_of_count(session);
        }),
        on_terminal("keys in raw mode", "raw; print ready; read; read; read; exit 3").act(|session| {
            session.until_shown("ready");
            for (count, key) in [b"\x03", b"\x1a", b"\x1c"].into_iter().enumerate() {
                session.press(key);
                session.until_reads(count + 1);
            }
        }),
        on_terminal("whose terminal it is", "terminal; exit 3"),
        on_terminal("raw mode left behind", "raw; print \u{1b}[?1049h; exit 0"),
        on_terminal("raw mode left behind by a failure", "raw; print \u{1b}[?1049h; exit 1"),
        on_terminal("stopped in raw mode", "raw; terminal; stop; terminal; exit 3").act(|session| {
            session.stopped();
            session.order("foreground");
        }),
        on_terminal("killed in the background of a raw terminal", "raw; stop; wait-file <T>/never").act(
            |session| {
                session.stopped();
                session.order("background");
                kill_process(session.agent(), Signal::KILL).unwrap();
            },
        ),
        on_terminal("killed, the terminal as it was", "print \u{1b}[1m; signal KILL"),
    ];
    for signal in ["KILL", "SEGV", "TERM"] {
        let script = format!("raw; print \u{1b}[?1049h\u{1b}[?2004h; signal {signal}");
        scenarios.push(on_terminal(&format!("death by {signal} in raw mode"), &script).differs(CRASH));
    }
    scenarios.push(
        on_terminal("TERM in raw mode", "raw; print ready; wait-file <T>/never")
            .act(|session| {
                session.until_shown("ready");
                session.send(Signal::TERM);
            })
            .differs(CRASH),
    );
    scenarios
}

/// By exec there is nobody left to do it.
#[test]
fn b38_after_a_crash_in_raw_mode_the_terminal_is_as_it_was() {
    let parents = [Way::Parent("claude", "claude"), Way::Parent("cursor", "cursor-agent")];
    let untouched = Scenario::new("untouched", Place::Terminal, "exit 0");
    let untouched = observe(&untouched, Way::Bare)[0].replace("\"exited\":0", "");
    let set = "\u{1b}[?1049h\u{1b}[?1003h\u{1b}[?2004h\u{1b}[>1u";
    for (signal, number) in [("KILL", 9), ("SEGV", 11), ("TERM", 15)] {
        let crash = Scenario::new("crash", Place::Terminal, format!("raw; print {set}; signal {signal}"));
        for way in parents {
            let seen = observe(&crash, way);
            assert_eq!(seen[0].replace(&format!("\"killed\":{number}"), ""), untouched, "{way:?} {signal}");
            let written = seen[1].strip_prefix(format!("screen {set:?}").trim_end_matches('"'));
            let written = written.unwrap_or_else(|| panic!("{way:?} {signal}: {}", seen[1]));
            for mode_off in ["?1049l", "?1003l", "?2004l", "[<u", "?25h"] {
                assert!(written.contains(mode_off), "{way:?} {signal}: {written}");
            }
        }
        for way in [Way::Bare, Way::Exec("codex", "codex")] {
            assert!(observe(&crash, way)[0].contains(" raw "), "{way:?} {signal}");
        }
    }
}
