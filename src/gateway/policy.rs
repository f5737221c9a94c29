//! What the relay of one server keeps, from its declaration.

use std::time::Duration;

use glob::Pattern;
use squire_relay::{Allows, Policy, Seal, Time};
use squire_strategies::ResolvedServer;

use crate::cli;
use crate::config::Filter;
use crate::resolve::Resolved;

/// The policy of a server. An agent that does not show failures by itself is told of them by an answer in the server's
/// place. squire's own client is told everything, and starts a server once.
pub(super) fn of(entry: &Resolved, options: &cli::Gateway, shows_failures: bool, seal: Seal) -> Policy {
    let server = &entry.server;
    let limit = if options.whole {
        usize::MAX
    } else {
        usize::try_from(entry.limits.result_limit).unwrap_or(usize::MAX)
    };
    Policy {
        allows: allows(&entry.limits.filters),
        result_limit: limit,
        timeout: milliseconds(server.timeout.unwrap_or(ResolvedServer::TIMEOUT)),
        startup_timeout: milliseconds(server.startup_timeout.unwrap_or(ResolvedServer::STARTUP_TIMEOUT)),
        max_restarts: if options.candid { 0 } else { entry.limits.max_restarts },
        stands_in: !shows_failures,
        tells_withheld: options.candid,
        seal,
        name: server.name.to_string(),
    }
}

fn milliseconds(duration: Duration) -> Time {
    Time::try_from(duration.as_millis()).unwrap_or(Time::MAX)
}

/// A tool is there where every filter lets it be: it allows the name, or all, and does not deny it.
fn allows(filters: &[Filter]) -> Allows {
    let patterns = |globs: &[String]| -> Vec<Pattern> {
        globs.iter().filter_map(|written| Pattern::new(written).ok()).collect()
    };
    let filters: Vec<(Option<Vec<Pattern>>, Vec<Pattern>)> = filters
        .iter()
        .map(|filter| (filter.allow.as_deref().map(patterns), patterns(&filter.deny)))
        .collect();
    Box::new(move |name| {
        let is_one = |patterns: &[Pattern]| patterns.iter().any(|pattern| pattern.matches(name));
        filters.iter().all(|(allow, deny)| allow.as_deref().is_none_or(is_one) && !is_one(deny))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filter(allow: Option<&[&str]>, deny: &[&str]) -> Filter {
        let owned = |words: &[&str]| words.iter().map(ToString::to_string).collect();
        Filter { allow: allow.map(owned), deny: owned(deny) }
    }

    #[test]
    fn a_denied_tool_is_never_there_and_filters_only_narrow() {
        let of = |filters: &[Filter]| {
            let allows = allows(filters);
            let names = ["repo.list", "repo.delete", "issue.list", "Repo.list"];
            names.into_iter().filter(|name| allows(name)).collect::<Vec<_>>()
        };
        assert_eq!(of(&[]).len(), 4);
        assert_eq!(of(&[filter(Some(&["repo.*"]), &["*.delete"])]), ["repo.list"]);
        assert_eq!(of(&[filter(Some(&["repo.*"]), &[]), filter(Some(&["*.list"]), &[])]), ["repo.list"]);
        assert!(of(&[filter(Some(&[]), &[])]).is_empty());
        assert_eq!(of(&[filter(None, &["repo.*"])]), ["issue.list", "Repo.list"]);
    }
}
