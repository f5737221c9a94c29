//! What the suite watches of a client holds of a gateway's remote side.

use std::io;
use std::path::Path;

use squire_conformance::installed;
use squire_conformance::{suite, tell};

macro_rules! scenarios {
    ($($name:ident: $scenario:literal of $revision:literal,)+) => { $(
        #[test]
        fn $name() -> io::Result<()> {
            holds($scenario, $revision)
        }
    )+ };
}

scenarios! {
    initialize: "initialize" of "2025-11-25",
    tools_call_in_2025_11_25: "tools_call" of "2025-11-25",
    sse_retry: "sse-retry" of "2025-11-25",
    tools_call_in_2026_07_28: "tools_call" of "2026-07-28",
    request_metadata: "request-metadata" of "2026-07-28",
    http_standard_headers: "http-standard-headers" of "2026-07-28",
    http_custom_headers: "http-custom-headers" of "2026-07-28",
    http_invalid_tool_headers: "http-invalid-tool-headers" of "2026-07-28",
    json_schema_ref_no_deref: "json-schema-ref-no-deref" of "2026-07-28",
    client_request_state: "sep-2322-client-request-state" of "2026-07-28",
}

fn holds(scenario: &str, revision: &str) -> io::Result<()> {
    let Some(folder) = installed::folder()? else { return Ok(()) };
    let client = Path::new(env!("CARGO_BIN_EXE_conformance-client"));
    let found = suite::watch_client(&folder, client, scenario, revision)?;
    let checks = || found.values().flatten();
    let passed = checks().filter(|check| check.is_success()).count();
    let failed = checks().filter(|check| check.is_failure()).count();
    tell(&format!("{scenario}, {revision}: {passed} of {}", passed + failed))?;
    assert!(failed == 0 && passed > 0, "{found:#?}");
    Ok(())
}
