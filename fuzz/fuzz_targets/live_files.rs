//! A file of an agent that declares servers of a project: whatever the bytes, what is found is what a reader of JSON finds,
//! each at its place, and what becomes a declaration can be read.

#![no_main]

use libfuzzer_sys::fuzz_target;
use squire::config::import::of_entry_of_project;
use squire::config::{LayerKind, read};
use squire_strategies::{Name, members, parse_jsonc};

fuzz_target!(|bytes: &[u8]| {
    for at in ["mcpServers", "servers"] {
        let Ok(found) = members(bytes, at) else { continue };
        let whole = parse_jsonc(bytes).unwrap_or_default();
        let lines = bytes.split(|byte| *byte == b'\n').count();
        for member in found {
            assert_eq!(whole.get(at).and_then(|servers| servers.get(&member.name)), Some(&member.value));
            assert!((1..=lines).contains(&member.position.0));
            let (Ok(name), Some(entry)) = (Name::parse(&member.name), member.value.as_object()) else {
                continue;
            };
            let Ok(imported) = of_entry_of_project(name.as_str(), entry, "fuzz") else { continue };
            assert!(imported.wanted.iter().all(|wanted| wanted.value.is_none()));
            let text = format!("[servers.{name}]\n{}", imported.table);
            let problems = read(text.as_bytes(), "F".as_ref(), LayerKind::Live).1;
            assert!(!problems.iter().any(|problem| problem.message.contains("${")), "{problems:?}");
        }
    }
});
