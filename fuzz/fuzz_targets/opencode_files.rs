//! OpenCode's files: no server of a repository's stays on that the user did not enable, and what the user has in the
//! variable is in it afterwards.

#![no_main]

use libfuzzer_sys::fuzz_target;
use serde_json::{Map, Value};
use squire_fuzz::{pieces, plan, strategy};
use squire_strategies::{Read, parse_jsonc};

const CONTENT: &str = "OPENCODE_CONFIG_CONTENT";

fuzz_target!(|data: &[u8]| {
    let pieces = pieces(data);
    let all: Vec<(Read, &[u8])> =
        strategy("opencode").reads().iter().copied().zip(pieces.iter().copied()).collect();
    for strict in [false, true] {
        let _ = plan("opencode", &all, strict);
    }

    let found = [(Read::Upward("opencode.json"), pieces[0])];
    let artifacts = plan("opencode", &found, false).expect("no file of a repository refuses a launch");
    let variable =
        |name: &str| artifacts.environment.iter().find(|(found, _)| found == name).map(|(_, value)| value);
    if variable("OPENCODE_DISABLE_PROJECT_CONFIG").is_none() {
        let file = parse_jsonc(pieces[0]).expect("what can't be read is off as a whole");
        let given: Value =
            variable(CONTENT).map(|text| serde_json::from_str(text).expect("JSON")).unwrap_or_default();
        let of_repository = servers(&file);
        for (name, _) in of_repository.iter().filter(|(_, entry)| entry["enabled"] != false) {
            assert_eq!(given["mcp"][name]["enabled"], false, "{name:?} stays on");
        }
    }

    let Some(own) = pieces.get(1).filter(|own| !own.is_empty()) else { return };
    let read = parse_jsonc(own).ok().filter(Value::is_object);
    match (plan("opencode", &[(Read::Variable(CONTENT), own)], false), read) {
        (Ok(artifacts), Some(before)) => {
            let text = artifacts.environment.iter().find(|(name, _)| name == CONTENT);
            let after: Value =
                text.map_or_else(Value::default, |(_, text)| serde_json::from_str(text).expect("JSON"));
            if text.is_some() {
                let (before_servers, after_servers) = (servers(&before), servers(&after));
                for (name, entry) in &before_servers {
                    assert_eq!(after_servers.get(name), Some(entry), "{name:?}");
                }
                assert_eq!(without_servers(&before), without_servers(&after));
            }
        }
        (Ok(artifacts), None) => assert!(artifacts.environment.is_empty(), "{artifacts:?}"),
        (Err(_), _) => {}
    }
});

fn servers(config: &Value) -> Map<String, Value> {
    config.get("mcp").and_then(Value::as_object).cloned().unwrap_or_default()
}

fn without_servers(config: &Value) -> Map<String, Value> {
    let mut rest = config.as_object().cloned().unwrap_or_default();
    rest.shift_remove("mcp");
    rest
}
