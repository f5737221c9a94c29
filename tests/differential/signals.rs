//! Signals that are sent to the process that the caller knows, and to its whole group.

use std::thread;
use std::time::Duration;

use rustix::process::Signal;

use super::Scenario;
use crate::support::{Place, Session};

const SIGNALS: &[(&str, Signal)] = &[
    ("INT", Signal::INT),
    ("QUIT", Signal::QUIT),
    ("TERM", Signal::TERM),
    ("HUP", Signal::HUP),
    ("USR1", Signal::USR1),
    ("USR2", Signal::USR2),
];
const GROUP: &str = "a signal that another process sends to the whole group reaches the agent, and squire, which can't \
                     tell it from one that was sent to squire alone: it passes it on, and the agent may get it twice";
/// Counts what comes, until the last one.
pub(super) const COUNT: &str =
    "listen INT QUIT TERM HUP USR1 USR2 CONT ALRM; trap 0; trap-until ALRM; exit 7";

/// Nothing tells that a signal will not come a second time: what would come has a moment to do so. A scenario that is
/// equal stays so however short it is.
pub(super) fn end_of_count(session: &Session) {
    thread::sleep(Duration::from_millis(30));
    rustix::process::kill_process(session.agent(), Signal::ALARM).unwrap();
}

pub(super) fn scenarios() -> Vec<Scenario> {
    let mut scenarios = Vec::new();
    for place in [Place::Terminal, Place::Pipes] {
        for (name, signal) in SIGNALS {
            scenarios.push(Scenario::new(format!("{name} counted {place:?}"), place, COUNT).act(|session| {
                session.until_signals(0);
                session.send(*signal);
                session.until_signals(1);
                session.send(*signal);
                session.until_signals(2);
                end_of_count(session);
            }));
            let waiting = "wait-file <T>/never";
            scenarios.push(Scenario::new(format!("{name} ends {place:?}"), place, waiting).act(|session| {
                session.agent();
                session.send(*signal);
            }));
            scenarios.push(Scenario::new(format!("{name} ends all {place:?}"), place, waiting).act(
                |session| {
                    session.agent();
                    session.send_to_group(*signal);
                },
            ));
        }
    }
    for (name, signal) in SIGNALS {
        scenarios.push(
            Scenario::new(format!("{name} to the group"), Place::Terminal, COUNT)
                .act(|session| {
                    session.until_signals(0);
                    session.send_to_group(*signal);
                    session.until_signals(1);
                    end_of_count(session);
                })
                .differs(GROUP),
        );
        let to_its_group = format!("listen {name} ALRM; raise-group {name}; trap-until ALRM; exit 7");
        scenarios.push(Scenario::new(format!("{name} by the agent"), Place::Terminal, to_its_group).act(
            |session| {
                session.until_signals(1);
                end_of_count(session);
            },
        ));
    }
    scenarios.push(
        Scenario::new("ignored by the caller", Place::Terminal, "wait-file <T>/go; exit 5")
            .behind("trap '' HUP INT QUIT TERM USR1 USR2")
            .act(|session| {
                session.agent();
                for (_, signal) in SIGNALS {
                    session.send(*signal);
                    session.send_to_group(*signal);
                }
                session.go();
            }),
    );
    scenarios.push(
        Scenario::new("nohup", Place::Terminal, "wait-file <T>/go; exit 5").behind("trap '' HUP").act(
            |session| {
                session.agent();
                session.hang_up();
                session.go();
                crate::support::eventually("the agent ends", || session.is_gone());
            },
        ),
    );
    scenarios.push(Scenario::new("hangup", Place::Terminal, COUNT).act(|session| {
        session.until_signals(0);
        session.hang_up();
        session.until_signals(2);
        end_of_count(session);
        crate::support::eventually("the agent ends", || session.is_gone());
    }));
    scenarios.push(Scenario::new("hangup ends", Place::Terminal, "wait-file <T>/never").act(|session| {
        session.agent();
        session.hang_up();
        crate::support::eventually("the agent ends", || session.is_gone());
    }));
    scenarios
}
