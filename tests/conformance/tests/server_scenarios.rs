//! What the suite requires of a server must hold through a gateway wherever it holds directly.

use std::io;
use std::path::Path;
use std::process::Command;

use squire_conformance::front::Front;
use squire_conformance::gateway::Gateway;
use squire_conformance::installed::{self, EVERYTHING, NODE};
use squire_conformance::suite::{self, Check, Found};
use squire_conformance::tell;

/// What asks the client for a sample of its model, which squire refuses; the last declares that capability alone, which
/// squire takes away, so that nothing is left to be asked for.
const REFUSED: &[&str] = &[
    "tools-call-sampling",
    "input-required-result-basic-sampling",
    "input-required-result-multiple-input-requests",
    "input-required-result-capability-check",
];

/// What the suite runs and does not score: extensions, drafts, and the transport's own that the front does without.
const UNSCORED: &[&str] = &[
    "http-custom-header-server-validation",
    "http-header-validation",
    "server-session-lifecycle",
    "server-sse-polling",
    "tasks-",
];

/// Asks a server directly and through a gateway.
fn both(folder: &Path, words: &[String], revision: &str) -> io::Result<(Found, Found)> {
    let direct = {
        let words = words.to_vec();
        let start = move || {
            let mut command = Command::new(&words[0]);
            command.args(&words[1..]);
            Ok(command)
        };
        let front = Front::new(Box::new(start))?;
        suite::ask_server(folder, &front.url(), revision)?
    };
    let gateway = Gateway::to_program(words)?;
    let front = Front::new(Box::new(move || Ok(gateway.command())))?;
    Ok((direct, suite::ask_server(folder, &front.url(), revision)?))
}

/// Every check of every scenario that is not refused comes out the same.
fn compare(
    server: &str,
    revision: &str,
    refused: &[&str],
    direct: &Found,
    through: &Found,
) -> io::Result<()> {
    let [before, after] = [direct, through].map(|found| {
        let checks = || required(found).map(|(_, check)| check);
        let passed = checks().filter(|check| check.is_success()).count();
        format!("{passed} passed and {} failed", checks().filter(|check| check.is_failure()).count())
    });
    tell(&format!("{server}, {revision}: directly {before}, through the gateway {after}"))?;
    assert!(direct.keys().eq(through.keys()), "{:?} and {:?}", direct.keys(), through.keys());
    for (scenario, checks) in direct {
        if refused.contains(&scenario.as_str()) {
            assert!(!checks.iter().any(Check::is_failure), "{scenario}: {checks:?}");
            assert!(through[scenario].iter().any(Check::is_failure), "{scenario} is not refused");
        } else {
            assert_eq!(checks, &through[scenario], "{scenario}");
        }
    }
    Ok(())
}

/// The checks that count.
fn required(found: &Found) -> impl Iterator<Item = (&String, &Check)> {
    let all = found.iter().flat_map(|(scenario, checks)| checks.iter().map(move |check| (scenario, check)));
    all.filter(|(scenario, _)| !UNSCORED.iter().any(|unscored| scenario.starts_with(unscored)))
}

fn fixture(revision: &str) -> io::Result<()> {
    let Some(folder) = installed::folder()? else { return Ok(()) };
    let words = [env!("CARGO_BIN_EXE_conformance-fixture").to_owned()];
    let (direct, through) = both(&folder, &words, revision)?;
    // A fixture that fails hides what a gateway breaks.
    let flaws: Vec<_> = required(&direct).filter(|(_, check)| check.is_failure()).collect();
    assert!(flaws.is_empty(), "the fixture itself: {flaws:#?}");
    let refused: Vec<_> = REFUSED.iter().copied().filter(|scenario| direct.contains_key(*scenario)).collect();
    assert!(!refused.is_empty(), "nothing asked for a sample");
    compare("the fixture", revision, &refused, &direct, &through)
}

#[test]
fn the_fixture_in_2025_11_25() -> io::Result<()> {
    fixture("2025-11-25")
}

#[test]
fn the_fixture_in_2026_07_28() -> io::Result<()> {
    fixture("2026-07-28")
}

/// A server that nobody here wrote.
#[test]
fn server_everything() -> io::Result<()> {
    let Some(folder) = installed::folder()? else { return Ok(()) };
    let word = |path: &str| folder.join(path).display().to_string();
    let words = [word(NODE), word(EVERYTHING), "stdio".into()];
    let (direct, through) = both(&folder, &words, "2025-11-25")?;
    compare("server-everything", "2025-11-25", &[], &direct, &through)
}
