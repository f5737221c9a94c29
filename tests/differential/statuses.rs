//! How the agent ends, as its caller sees it.

use super::Scenario;
use crate::support::Place;

const CODES: &[u8] = &[0, 1, 2, 42, 125, 126, 127, 255];
const DEATHS: &[&str] = &["TERM", "KILL", "SEGV", "ABRT", "INT", "QUIT", "HUP", "PIPE"];

pub(super) fn scenarios() -> Vec<Scenario> {
    let mut scenarios = Vec::new();
    for place in [Place::Terminal, Place::Pipes] {
        for code in CODES {
            let script = format!("print out\\n; error err\\n; exit {code}");
            scenarios.push(Scenario::new(format!("exit {code} {place:?}"), place, script));
        }
        for signal in DEATHS {
            let script = format!("print out\\n; error err\\n; signal {signal}");
            scenarios.push(Scenario::new(format!("death by {signal} {place:?}"), place, script));
        }
    }
    scenarios
}
