//! One server as text for people.

use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, SystemTime};

use squire_strategies::{ResolvedServer, Tier};

use super::super::list::{below_home, state, target};
use super::{AgentRoute, Field, Shown, UsedSecret, is_program, set_variables, variables};
use crate::config::Origin;
use crate::declared::toml;
use crate::printable::printable;
use crate::trust::approvals::{Approval, Place, Word};

/// The server as text.
pub(super) fn text(shown: &Shown<'_>, home: Option<&Path>) -> String {
    let server = &shown.entry.server;
    let mut out = String::new();
    let reason = shown.entry.left_out.as_ref().map(|note| format!(": {}", note.sentence));
    let mut rows = vec![
        ("tier", server.tier.as_str().to_owned()),
        ("state", format!("{}{}", state(shown.entry), reason.unwrap_or_default())),
        ("transport", server.transport.as_str().to_owned()),
        ("route", routes(&shown.routes)),
        ("runs", target(shown.entry)),
    ];
    if let Some(declaration) = &shown.entry.declaration {
        rows.push(("declared", place(&declaration.origin, home)));
    }
    rows.push(("receives", receives(server)));
    let secret = |secret: &UsedSecret| match &secret.source {
        Some(source) => format!("{} ({source})", secret.name),
        None => secret.name.clone(),
    };
    rows.push(("secrets", listed(&shown.secrets.iter().map(secret).collect::<Vec<_>>())));
    rows.push(("profiles", listed(&shown.profiles)));
    if server.tier == Tier::Community {
        rows.push(("approved", shown.approval.as_ref().map_or_else(|| "no".into(), approved)));
        rows.extend(shown.digest.clone().map(|digest| ("digest", digest)));
    }
    // Writing to a string can't fail.
    let _ = writeln!(out, "{}", server.name);
    for (title, value) in rows {
        let _ = writeln!(out, "  {title:9}  {}", printable(&value));
    }
    fields(&mut out, &shown.fields, home);
    out
}

fn fields(out: &mut String, fields: &[Field], home: Option<&Path>) {
    let origin = |field: &Field| {
        field.origin.as_ref().map_or_else(|| "default".to_owned(), |origin| place(origin, home))
    };
    let rows: Vec<[String; 3]> = fields
        .iter()
        .map(|field| [field.name.into(), printable(&toml(&field.value)), printable(&origin(field))])
        .collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default();
    let (names, values) = (width(0), width(1));
    for (index, [name, value, origin]) in rows.iter().enumerate() {
        if index == 0 {
            out.push('\n');
        }
        // Writing to a string can't fail.
        let _ = writeln!(out, "{name:names$}  {value:values$}  {origin}");
    }
}

fn place(origin: &Origin, home: Option<&Path>) -> String {
    format!("{} ({})", below_home(&origin.to_string(), home), origin.layer.as_str())
}

/// One line: agents that get it in the same way, or lack it for the same reason, stand together.
fn routes(routes: &[AgentRoute]) -> String {
    let mut groups: Vec<(&AgentRoute, Vec<&str>)> = Vec::new();
    for route in routes {
        let is_same = |other: &AgentRoute| (other.route, &other.reason) == (route.route, &route.reason);
        match groups.iter_mut().find(|(other, _)| is_same(other)) {
            Some((_, agents)) => agents.push(&route.agent),
            None => groups.push((route, vec![&route.agent])),
        }
    }
    let group = |(route, agents): &(&AgentRoute, Vec<&str>)| {
        let words = match route.route {
            "left-out" => "left out of",
            "switched-off" => "switched off in",
            "refused" => "refused by",
            "gateway" => "through the gateway in",
            other => &format!("{other} in"),
        };
        let reason = route.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
        format!("{words} {}{reason}", agents.join(", "))
    };
    groups.iter().map(group).collect::<Vec<_>>().join("; ")
}

pub(super) fn receives(server: &ResolvedServer) -> String {
    let mut parts = Vec::new();
    if is_program(server) {
        parts.push("the base environment".to_owned());
    }
    let set = set_variables(server);
    if !set.is_empty() {
        parts.push(format!("{} as declared", set.join(", ")));
    }
    let read = variables(server);
    if !read.is_empty() {
        parts.push(format!("of your environment {}", read.join(", ")));
    }
    if parts.is_empty() { "nothing of your environment".into() } else { parts.join("; ") }
}

/// When, how and where a declaration was approved.
fn approved(approval: &Approval) -> String {
    let time = time(approval);
    let how = match approval.word {
        Word::Terminal => "on a terminal",
        Word::Digest => "by its digest",
    };
    match &approval.place {
        Place::User => format!("{time}, {how}"),
        Place::Project(root) | Place::Agent { project: root, .. } => format!("{time}, {how}, for {root}"),
    }
}

pub(super) fn time(approval: &Approval) -> String {
    let since = Duration::from_secs(approval.time);
    let time = SystemTime::UNIX_EPOCH.checked_add(since).unwrap_or(SystemTime::UNIX_EPOCH);
    humantime::format_rfc3339_seconds(time).to_string()
}

fn listed(names: &[String]) -> String {
    if names.is_empty() { "none".into() } else { names.join(", ") }
}
