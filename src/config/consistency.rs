//! What must fit together across the files of one side: names, and what profiles and agents refer to. Pure.

use std::collections::HashMap;
use std::rc::Rc;

use squire_strategies::Name;

use super::problem::{Problem, nearest};
use super::schema::{Declaration, Declarations, Located, Origin, Profile};

/// The problems of declarations that are read as one: the user's squire.toml with its drop-ins, or a project's file, whose
/// profiles may name the servers of other files of the project too.
pub(super) fn check(declarations: &Declarations, elsewhere: &[&Name]) -> Vec<Problem> {
    let mut problems = Vec::new();
    check_names(declarations.servers.iter(), &mut problems);
    check_references(declarations, elsewhere, &mut problems);
    for profile in &declarations.profiles {
        if extends_itself(declarations, profile) {
            problems.push(problem(
                &profile.origin,
                format!("the profile `{}` extends itself", profile.name),
                None,
            ));
        }
    }
    problems.sort_by(|one, other| (&one.path, one.place).cmp(&(&other.path, other.place)));
    problems
}

/// The problems of the names that the local layer adds to the user's.
pub(super) fn check_local(local: &Declarations, user: &Declarations) -> Vec<Problem> {
    let mut problems = Vec::new();
    let is_new = |server: &&Rc<Declaration>| {
        server.is_whole() && !user.servers.iter().any(|other| other.name == server.name)
    };
    let added = local.servers.iter().filter(is_new);
    if added.clone().next().is_some() {
        check_names(user.servers.iter().chain(added), &mut problems);
    }
    problems
}

fn problem(origin: &Origin, message: String, help: Option<String>) -> Problem {
    Problem { path: origin.path.to_path_buf(), place: origin.place, message, help }
}

/// Two names that an agent would take for one (case B07).
fn check_names<'a>(servers: impl Iterator<Item = &'a Rc<Declaration>>, problems: &mut Vec<Problem>) {
    let mut seen: HashMap<String, (&Name, &Origin)> = HashMap::new();
    for server in servers {
        let folded = server.name.folded();
        if let Some((earlier, origin)) = seen.get(&folded) {
            let place = if origin.path == server.origin.path {
                format!("line {}", origin.place.line)
            } else {
                origin.to_string()
            };
            let message = if **earlier == server.name {
                format!("`{}` is declared in {origin} already", server.name)
            } else {
                format!(
                    "`{}` and `{earlier}` ({place}) are one name to some agents, which fold case and take `-` for `_`",
                    server.name
                )
            };
            problems.push(problem(&server.origin, message, Some("rename one of them".into())));
        } else {
            seen.insert(folded, (&server.name, &server.origin));
        }
    }
}

fn check_references(declarations: &Declarations, elsewhere: &[&Name], problems: &mut Vec<Problem>) {
    let profiles: Vec<&str> = declarations.profiles.iter().map(|profile| profile.name.as_str()).collect();
    let mut servers: Vec<&str> = declarations.servers.iter().map(|server| server.name.as_str()).collect();
    servers.extend(elsewhere.iter().map(|name| name.as_str()));
    servers.push(Name::SQUIRE);
    let mut check = |name: &Located<String>, known: &[&str], what: &str| {
        if !known.contains(&name.value.as_str()) {
            let help =
                nearest(&name.value, known.iter().copied()).map(|near| format!("did you mean `{near}`?"));
            problems.push(problem(
                &name.origin,
                format!("there is no {what} {:?} in this layer", name.value),
                help,
            ));
        }
    };
    for profile in &declarations.profiles {
        profile.extends.iter().for_each(|name| check(name, &profiles, "profile"));
        profile.servers.iter().for_each(|name| check(name, &servers, "server"));
        profile.tools.iter().for_each(|(name, _)| check(name, &servers, "server"));
        let required = profile.require.iter().filter(|name| name.value != "all");
        required.for_each(|name| check(name, &servers, "server"));
    }
    for agent in &declarations.agents {
        agent.profile.iter().for_each(|name| check(name, &profiles, "profile"));
        agent.tools.iter().for_each(|(name, _)| check(name, &servers, "server"));
    }
}

fn extends_itself(declarations: &Declarations, profile: &Profile) -> bool {
    let mut open: Vec<&str> = profile.extends.iter().map(|name| name.value.as_str()).collect();
    let mut seen: Vec<&str> = Vec::new();
    while let Some(name) = open.pop() {
        if name == profile.name {
            return true;
        }
        if seen.contains(&name) {
            continue;
        }
        seen.push(name);
        let found = declarations.profiles.iter().find(|profile| profile.name == name);
        open.extend(found.into_iter().flat_map(|profile| &profile.extends).map(|name| name.value.as_str()));
    }
    false
}
