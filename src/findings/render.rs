//! Findings as lines that editors understand, and as JSON.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::{Finding, Severity, count};
use crate::printable::printable;

/// One line a finding, its mend below it, and the counts at the end.
pub fn text(findings: &[Finding]) -> String {
    let mut out = String::new();
    // Writing to a string can't fail.
    for finding in findings {
        let _ = writeln!(out, "{}", printable(&line(finding)));
        if let Some(help) = &finding.help {
            let _ = writeln!(out, "  help: {}", printable(help));
        }
    }
    let _ = writeln!(out, "{}", counted(findings));
    out
}

fn line(finding: &Finding) -> String {
    let mut line = place(finding);
    let _ = write!(line, "{}: {} [{}]", finding.severity.as_str(), sentence(finding), finding.code);
    if !finding.agents.is_empty() {
        let _ = write!(line, " ({})", finding.agents.join(", "));
    }
    line
}

fn place(finding: &Finding) -> String {
    match (&finding.path, finding.place) {
        (Some(path), Some(place)) => format!("{}:{}:{}: ", path.display(), place.line, place.column),
        (Some(path), None) => format!("{}: ", path.display()),
        (None, _) => String::new(),
    }
}

/// The message behind the server's name.
pub(super) fn sentence(finding: &Finding) -> String {
    match &finding.server {
        Some(server) => format!("{server}: {}", finding.message),
        None => finding.message.clone(),
    }
}

fn counted(findings: &[Finding]) -> String {
    let parts: Vec<String> = [Severity::Error, Severity::Warning, Severity::Note]
        .into_iter()
        .filter_map(|severity| match count(findings, severity) {
            0 => None,
            1 => Some(format!("1 {}", severity.as_str())),
            many => Some(format!("{many} {}s", severity.as_str())),
        })
        .collect();
    if parts.is_empty() { "nothing to report".into() } else { parts.join(", ") }
}

/// The findings as JSON. Keys are stable; new ones may come.
pub fn json(findings: &[Finding]) -> Value {
    let all: Vec<Value> = findings
        .iter()
        .map(|finding| {
            json!({
                "code": finding.code,
                "severity": finding.severity.as_str(),
                "message": finding.message,
                "help": finding.help,
                "server": finding.server,
                "agents": finding.agents,
                "path": finding.path.as_ref().map(|path| path.to_string_lossy()),
                "line": finding.place.map(|place| place.line),
                "column": finding.place.map(|place| place.column),
            })
        })
        .collect();
    json!({
        "findings": all,
        "errors": count(findings, Severity::Error),
        "warnings": count(findings, Severity::Warning),
    })
}
