//! What a policy does to servers. Pure.

use squire_strategies::{Remote, ResolvedServer, Stdio, Text, Transport};

use crate::config::{Kind, Located, Origin, Policy, Rewrite};

/// The largest result where nothing else is written, in bytes.
pub(crate) const RESULT_LIMIT: u64 = 64 * 1024;

/// Rewrites addresses and adds variables.
pub(super) fn apply(policy: &Policy, transport: &mut Transport) {
    match transport {
        Transport::Builtin => {}
        Transport::Stdio(stdio) => add_variables(policy, stdio),
        Transport::Http(remote) | Transport::Sse(remote) => rewrite(policy, remote),
        Transport::Dynamic(dynamic) => {
            dynamic.stdio.iter_mut().for_each(|stdio| add_variables(policy, stdio));
            dynamic.remote.iter_mut().for_each(|remote| rewrite(policy, remote));
        }
    }
}

fn add_variables(policy: &Policy, stdio: &mut Stdio) {
    for (name, text) in policy.env.iter().flat_map(|env| &env.value) {
        if !stdio.env.iter().any(|(own, _)| own == name) {
            stdio.env.push((name.clone(), text.clone()));
        }
    }
}

fn rewrite(policy: &Policy, remote: &mut Remote) {
    if let Some((rewrite, _)) = rewrite_of(policy, &remote.url) {
        remote.url.replace_start(&rewrite.from, &rewrite.to);
    }
}

/// The rewrite of an address, and where the policy's are written: the first that fits is the one.
pub(crate) fn rewrite_of<'a>(policy: &'a Policy, url: &Text) -> Option<(&'a Rewrite, &'a Origin)> {
    let rewrites = policy.rewrite_urls.as_ref()?;
    let fits = |rewrite: &&Rewrite| url.clone().replace_start(&rewrite.from, &rewrite.to);
    rewrites.value.iter().find(fits).map(|rewrite| (rewrite, &rewrites.origin))
}

/// Why a policy does not let a server run.
pub(super) fn refusal(policy: &Policy, server: &ResolvedServer) -> Option<String> {
    let name = server.name.as_str();
    let fits = |globs: &Located<Vec<String>>| {
        globs.value.iter().any(|written| glob::Pattern::new(written).is_ok_and(|glob| glob.matches(name)))
    };
    if let Some(denied) = policy.deny_servers.as_ref().filter(|denied| fits(denied)) {
        return Some(format!("denied by the policy in {}", denied.origin));
    }
    if let Some(allowed) = policy.allow_servers.as_ref().filter(|allowed| !fits(allowed)) {
        return Some(format!("not among the servers that the policy in {} allows", allowed.origin));
    }
    let kinds: &[Kind] = match &server.transport {
        Transport::Builtin => &[],
        Transport::Stdio(_) => &[Kind::Stdio],
        Transport::Http(_) => &[Kind::Http],
        Transport::Sse(_) => &[Kind::Sse],
        Transport::Dynamic(dynamic) => match (&dynamic.stdio, &dynamic.remote) {
            (Some(_), None) => &[Kind::Stdio],
            (None, _) => &[Kind::Http, Kind::Sse],
            (Some(_), Some(_)) => &[Kind::Stdio, Kind::Http, Kind::Sse],
        },
    };
    let allowed = policy.transports.as_ref()?;
    let refused = kinds.iter().find(|kind| !allowed.value.contains(kind))?;
    Some(format!("the policy in {} does not allow {}", allowed.origin, refused.as_str()))
}
