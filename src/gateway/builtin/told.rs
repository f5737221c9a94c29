//! What an agent is told of one server. Pure.

use std::time::{Duration, UNIX_EPOCH};

use serde_json::{Value, json};

use crate::delivery::{Chain, Gap, code, mend};

/// A server of the launch: what its record says, and how far it has come.
pub(super) struct Told {
    pub(super) recorded: Value,
    pub(super) chain: Chain,
}

impl Told {
    fn is_delivered(&self) -> bool {
        self.recorded["delivered"] == true
    }

    fn description(&self) -> &str {
        self.recorded["description"].as_str().unwrap_or_default()
    }

    /// In a line.
    pub(super) fn line(&self) -> String {
        let Chain { name, transport, gap, different, .. } = &self.chain;
        let reason = gap.as_ref().map(|gap| gap.reason.as_str()).unwrap_or_default();
        if !self.is_delivered() {
            return format!("{name} is missing: {reason}");
        }
        let description = self.description();
        let separator = if description.is_empty() { "" } else { ": " };
        let mut line =
            format!("{name} ({transport}){separator}{description} [{}", self.chain.reached().as_str());
        if let Some(gap) = self.trouble() {
            line.extend(["; ", &gap.reason]);
        }
        line.push(']');
        if !different.is_empty() {
            line.push_str(" (some of it has changed: explain_server tells)");
        }
        line
    }

    /// A gap that the agent's own next call does not close.
    fn trouble(&self) -> Option<&Gap> {
        self.chain.gap.as_ref().filter(|gap| gap.code != code::NOT_ASKED)
    }

    /// In full.
    pub(super) fn explained(&self) -> String {
        let Chain { name, transport, route, steps, gap, different } = &self.chain;
        let mut lines = Vec::new();
        if self.is_delivered() {
            lines.push(format!(
                "{name} ({transport}, {route}) has come as far as: {}.",
                self.chain.reached().as_str()
            ));
        } else {
            lines.push(format!("{name} is missing from this session."));
        }
        if !self.description().is_empty() {
            lines.push(self.description().to_owned());
        }
        for reached in steps {
            lines.push(format!("- {} at {}", reached.step.as_str(), moment(reached.time)));
        }
        if let Some(gap) = gap {
            lines.push(format!("Not further: {} [{}]", gap.reason, gap.code));
            lines.extend(mend(&gap.code, name).map(|mend| format!("What helps: {mend}")));
        }
        lines.extend(different.iter().map(|sentence| format!("Changed: {sentence}")));
        lines.join("\n")
    }

    /// For programs: the record's fields, and how far it has come.
    pub(super) fn json(&self) -> Value {
        let mut told = self.recorded.clone();
        let steps = self.chain.steps.iter();
        told["reached"] = self.chain.reached().as_str().into();
        told["steps"] = steps
            .map(|reached| json!({ "step": reached.step.as_str(), "time": moment(reached.time) }))
            .collect();
        told["gap"] = json!(self.chain.gap);
        told["different"] = json!(self.chain.different);
        told["mend"] = json!(self.chain.gap.as_ref().and_then(|gap| mend(&gap.code, &self.chain.name)));
        told
    }
}

fn moment(milliseconds: u64) -> String {
    let time = UNIX_EPOCH.checked_add(Duration::from_millis(milliseconds)).unwrap_or(UNIX_EPOCH);
    humantime::format_rfc3339_millis(time).to_string()
}
