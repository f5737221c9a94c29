//! What the suite watches of a client holds of a gateway's remote side.

use std::io;
use std::path::Path;

use squire_conformance::installed;
use squire_conformance::suite;

const SCENARIOS: &[(&str, &str)] = &[
    ("initialize", "2025-11-25"),
    ("tools_call", "2025-11-25"),
    ("sse-retry", "2025-11-25"),
    ("tools_call", "2026-07-28"),
    ("request-metadata", "2026-07-28"),
    ("http-standard-headers", "2026-07-28"),
    ("http-custom-headers", "2026-07-28"),
    ("http-invalid-tool-headers", "2026-07-28"),
    ("json-schema-ref-no-deref", "2026-07-28"),
    ("sep-2322-client-request-state", "2026-07-28"),
];

#[test]
fn each_scenario_of_a_client() -> io::Result<()> {
    let Some(folder) = installed::folder()? else { return Ok(()) };
    let client = Path::new(env!("CARGO_BIN_EXE_conformance-client"));
    let mut flaws = Vec::new();
    for (scenario, revision) in SCENARIOS {
        let found = suite::watch_client(&folder, client, scenario, revision)?;
        let checks = || found.values().flatten();
        let passed = checks().filter(|check| check.is_success()).count();
        let failed = checks().filter(|check| check.is_failure()).count();
        eprintln!("{scenario}, {revision}: {passed} of {}", passed + failed);
        if failed > 0 || passed == 0 {
            flaws.push((scenario, found));
        }
    }
    assert!(flaws.is_empty(), "{flaws:#?}");
    Ok(())
}
