//! The report as a table, and below it a line for all that is not right.

use std::fmt::Write as _;
use std::time::Duration;

use super::report::{Outcome, Report};
use crate::printable::{excerpt, printable};
use crate::tokens::TOKENIZER;

const HEADINGS: [&str; 8] =
    ["NAME", "STATE", "TRANSPORT", "TOOLS", "TOKENS", "START", "ROUND TRIP", "SPEAKS AND IS"];
/// The least width of each column: what takes longer on one run than on another moves no heading.
const WIDTHS: [usize; 8] = [0, 0, 0, 0, 0, "99999 ms".len(), 0, 0];
/// How much of a server's own name is shown, in characters.
const LONGEST_NAME: usize = 60;

/// The report as text.
pub(super) fn of(reports: &[Report<'_>]) -> String {
    if reports.is_empty() {
        return "no servers\n".into();
    }
    let mut rows = vec![HEADINGS.map(String::from)];
    rows.extend(reports.iter().map(row));
    let widths: Vec<usize> = (0..HEADINGS.len())
        .map(|column| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default())
        .zip(WIDTHS)
        .map(|(width, least)| width.max(least))
        .collect();
    let mut text = String::new();
    for row in &rows {
        let cells: Vec<String> =
            row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}")).collect();
        // Writing to a string can't fail.
        let _ = writeln!(text, "{}", cells.join("  ").trim_end());
    }
    for report in reports {
        let name = &report.server.name;
        if let Some((sentence, mend)) = report.cause() {
            // The sentences of errors are printable, and may have lines of their own.
            let _ = writeln!(text, "{name}: {}", lines(&sentence));
            let _ = mend.map_or(Ok(()), |mend| writeln!(text, "  help: {}", printable(&mend)));
        }
        for warning in report.warnings() {
            let _ = writeln!(text, "{name}: warning: {warning}");
        }
    }
    let _ = writeln!(text, "{}", sum(reports));
    text
}

fn lines(sentence: &str) -> String {
    sentence.lines().map(printable).collect::<Vec<_>>().join("\n")
}

fn row(report: &Report<'_>) -> [String; 8] {
    let server = report.server;
    let mut row = [""; 8].map(|_| String::from("-"));
    row[0].clone_from(&server.name);
    row[1] = report.word().into();
    row[2] = server.transport.into();
    if let Outcome::Answered(answered) = &report.outcome {
        let (shown, all) = (answered.tools.shown.len(), answered.all_tools());
        row[3] = if shown == all { all.to_string() } else { format!("{shown} of {all}") };
        row[4] = answered.tokens.to_string();
        row[5] = milliseconds(answered.hello.took);
        row[6] = answered.round_trip.map_or("-".into(), milliseconds);
        let identity = &answered.hello.server;
        let own = format!("{} {} {}", answered.hello.protocol, identity.name, identity.version);
        row[7] = excerpt(own.as_bytes(), LONGEST_NAME);
    }
    row
}

fn milliseconds(time: Duration) -> String {
    format!("{} ms", time.as_millis())
}

fn sum(reports: &[Report<'_>]) -> String {
    let answered: Vec<_> = reports
        .iter()
        .filter_map(
            |report| if let Outcome::Answered(answered) = &report.outcome { Some(answered) } else { None },
        )
        .collect();
    let tools: usize = answered.iter().map(|answered| answered.tools.shown.len()).sum();
    let tokens: usize = answered.iter().map(|answered| answered.tokens).sum();
    let plural = if tools == 1 { "" } else { "s" };
    format!(
        "{} of {} answered: {tools} tool{plural}, whose definitions are {tokens} tokens of {TOKENIZER}",
        answered.len(),
        reports.len()
    )
}
