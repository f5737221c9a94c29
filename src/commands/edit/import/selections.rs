//! The profiles that selections of servers become.

use toml_edit::{Array, InlineTable, Table};

use super::super::place::Target;
use super::plan::Plan;
use super::sources::{Source, State};
use crate::config::LayerKind;
use crate::config::edit::Document;
use crate::config::import::{Profile, Remark};

/// The profiles that selections of files become, where the file has a place for them.
pub(super) fn selections(plan: &mut Plan, sources: &[Source], target: &Target, there: &Document) {
    for (index, source) in sources.iter().enumerate() {
        let State::Read(found) = &source.state else { continue };
        for profile in &found.profiles {
            let (table, left) = profile_of(profile, plan);
            let reason = if target.layer != LayerKind::User {
                Some("the local layer has no profiles".to_owned())
            } else if there.has(&["profiles", &profile.name])
                || plan.profiles.iter().any(|(name, _)| *name == profile.name)
            {
                Some("a profile of the name is there already".to_owned())
            } else if table.is_none() {
                Some(format!("none of its servers is imported: {}", left.join(", ")))
            } else {
                None
            };
            if let Some(reason) = reason {
                let sentence = format!("what the agent {:?} sees is left away: {reason}", profile.name);
                plan.remarks.push((index, None, Remark { place: profile.place, sentence }));
            } else if let Some(table) = table {
                plan.profiles.push((profile.name.clone(), table));
            }
        }
    }
}

fn profile_of(profile: &Profile, plan: &Plan) -> (Option<Table>, Vec<String>) {
    let (mut servers, mut tools, mut left) = (Array::new(), InlineTable::new(), Vec::new());
    for (foreign, allow, deny) in &profile.servers {
        let Some(planned) = plan.servers.iter().find(|planned| planned.foreign.name == *foreign) else {
            left.push(foreign.clone());
            continue;
        };
        servers.push(planned.name.as_str());
        let mut filter = InlineTable::new();
        if !allow.iter().any(|tool| tool == "*") {
            filter.insert("allow", allow.iter().map(String::as_str).collect::<Array>().into());
        }
        if !deny.is_empty() {
            filter.insert("deny", deny.iter().map(String::as_str).collect::<Array>().into());
        }
        if !filter.is_empty() {
            tools.insert(planned.name.as_str(), filter.into());
        }
    }
    if servers.is_empty() {
        return (None, left);
    }
    let mut table = Table::new();
    table.insert("servers", toml_edit::value(servers));
    if !tools.is_empty() {
        table.insert("tools", toml_edit::value(tools));
    }
    (Some(table), left)
}
