//! Findings as SARIF 2.1.0, which editors and CI show beside the lines.

use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use serde_json::{Value, json};

use super::{Finding, render};

/// The findings as one run of one tool.
pub fn sarif(findings: &[Finding]) -> Value {
    let mut codes: Vec<&str> = Vec::new();
    for finding in findings {
        if !codes.contains(&finding.code) {
            codes.push(finding.code);
        }
    }
    let rules: Vec<Value> = codes
        .iter()
        .map(|code| json!({ "id": code, "shortDescription": { "text": code.replace('-', " ") } }))
        .collect();
    let results: Vec<Value> = findings.iter().map(|finding| result(finding, &codes)).collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": { "name": "squire", "version": env!("CARGO_PKG_VERSION"), "rules": rules } },
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    })
}

fn result(finding: &Finding, codes: &[&str]) -> Value {
    let mut text = render::sentence(finding);
    if let Some(help) = &finding.help {
        // Writing to a string can't fail.
        let _ = write!(text, "; {help}");
    }
    if !finding.agents.is_empty() {
        let _ = write!(text, " ({})", finding.agents.join(", "));
    }
    let locations: Vec<Value> =
        finding.path.iter().map(|path| json!({ "physicalLocation": location(finding, path) })).collect();
    json!({
        "ruleId": finding.code,
        "ruleIndex": codes.iter().position(|code| *code == finding.code),
        "level": finding.severity.as_str(),
        "message": { "text": text },
        "locations": locations,
    })
}

fn location(finding: &Finding, path: &Path) -> Value {
    let mut location = json!({ "artifactLocation": { "uri": uri(path) } });
    if let Some(place) = finding.place {
        location["region"] = json!({ "startLine": place.line, "startColumn": place.column });
    }
    location
}

/// A path as an address: every byte but unreserved ones and `/` is escaped.
fn uri(path: &Path) -> String {
    let mut uri = String::from("file://");
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                uri.push(char::from(*byte));
            }
            other => {
                let _ = write!(uri, "%{other:02X}");
            }
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_becomes_an_address() {
        assert_eq!(uri(Path::new("/a b/é%#?.toml")), "file:///a%20b/%C3%A9%25%23%3F.toml");
    }
}
