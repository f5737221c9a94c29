//! `squire.toml` and `servers.d`: what is read can be written again as the same thing, a problem lies in the file, and a
//! repository declares servers and profiles alone.

#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use squire::config::{Declarations, LayerKind, Policy, Problem, read, read_drop_in};
use squire::trust::digest::{Canonical, digest};

fuzz_target!(|data: &[u8]| {
    let Some((kind, bytes)) = data.split_first() else { return };
    let layer = [
        LayerKind::User,
        LayerKind::Project,
        LayerKind::Live,
        LayerKind::Local,
        LayerKind::Managed,
        LayerKind::DropIn,
    ][usize::from(*kind) % 6];
    let (declarations, problems) = read_as(bytes, layer);
    lie_in(bytes, &problems);
    if !bytes.starts_with(b"\xef\xbb\xbf") {
        let marked = [b"\xef\xbb\xbf", bytes].concat();
        // What is no UTF-8 may be another thing behind a mark: UTF-16 has marks of its own.
        if std::str::from_utf8(bytes).is_ok() {
            assert_eq!(read_as(&marked, layer), (declarations.clone(), problems.clone()), "the mark matters");
        }
    }
    if !problems.is_empty() {
        return;
    }
    if layer == LayerKind::Project {
        assert!(declarations.agents.is_empty() && declarations.policy == Policy::default());
        assert!(declarations.servers.iter().all(|server| server.trust.is_none()));
    }
    for server in &declarations.servers {
        let wanted = Canonical(server).fields();
        let text = declared(&server.name.to_string(), &Value::from(wanted.clone()));
        let (again, problems) = read(text.as_bytes(), Path::new("again.toml"), layer_of_servers(layer));
        assert!(problems.is_empty(), "{text}\n{problems:?}");
        let found = Canonical(&again.servers[0]);
        assert_eq!(digest(&found), digest(&wanted), "{text}");
    }
});

fn read_as(bytes: &[u8], layer: LayerKind) -> (Declarations, Vec<Problem>) {
    if layer == LayerKind::DropIn {
        read_drop_in(bytes, Path::new("server.toml"))
    } else {
        read(bytes, Path::new("squire.toml"), layer)
    }
}

/// A drop-in is written again as a whole file.
fn layer_of_servers(layer: LayerKind) -> LayerKind {
    if layer == LayerKind::DropIn { LayerKind::User } else { layer }
}

fn lie_in(bytes: &[u8], problems: &[Problem]) {
    let lines = bytes.iter().filter(|byte| **byte == b'\n').count() + 1;
    for problem in problems {
        let place = problem.place;
        assert!((1..=lines).contains(&place.line) && place.column >= 1, "{problem:?}");
        assert!(!problem.message.contains(['\u{1b}', '\u{202e}']), "{problem:?}");
    }
}

fn declared(name: &str, fields: &Value) -> String {
    let fields = fields.as_object().into_iter().flatten().filter(|(key, _)| *key != "name");
    let lines: String = fields.map(|(key, value)| format!("{key} = {}\n", toml(value))).collect();
    format!("[servers.{name}]\n{lines}")
}

/// A value as TOML on one line. A string of JSON is one of TOML, but for DEL.
fn toml(value: &Value) -> String {
    match value {
        Value::Object(table) => {
            let pairs: Vec<String> = table
                .iter()
                .map(|(key, value)| format!("{} = {}", toml(&key.as_str().into()), toml(value)))
                .collect();
            format!("{{ {} }}", pairs.join(", "))
        }
        Value::Array(values) => format!("[{}]", values.iter().map(toml).collect::<Vec<_>>().join(", ")),
        other => other.to_string().replace('\u{7f}', "\\u007f"),
    }
}
