//! Layers and a selection become resolved servers and notes. Pure: once, and every command uses this result.
//!
//! [`complete`] makes a server of one declaration under the [`limits`] of the policy, [`select`] picks the servers of
//! a command line.

mod complete;
mod limits;
mod select;

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use squire_strategies::{Code, Name, Note, ResolvedServer, Route, Tier, Transport};

use crate::config::{
    Declaration, Filter, LayerKind, Layers, Located, Origin, Policy, Problem, Problems, not_used_for,
    unusable_server,
};

pub(crate) use limits::{RESULT_LIMIT, rewrite_of};
pub(crate) use select::{ALL, settings, strategy, unknown_name};
pub use select::{Selection, UnknownSelection};

/// What the user has said of a declaration of somebody else's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Approved as it is.
    Approved,
    /// Approved once, and something is different now: each difference as a sentence.
    Changed(Vec<String>),
    /// Never approved.
    New,
}

/// Standings by the server's name; a server without one is new.
pub type Standings = BTreeMap<String, Standing>;

/// One selected server: as it would run, and why it does not, if so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolved {
    /// The server.
    pub server: Rc<ResolvedServer>,
    /// The declaration after the layers; none of the built-in server.
    pub declaration: Option<Rc<Declaration>>,
    /// The reason that leaves it out.
    pub left_out: Option<Note>,
    /// What the gateway keeps.
    pub limits: Limits,
}

/// What the gateway of a server keeps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Filters of tools: one that any of them hides is hidden.
    pub filters: Vec<Filter>,
    /// The largest result, in bytes.
    pub result_limit: u64,
    /// How many failures in a row it stands.
    pub max_restarts: u32,
}

impl Limits {
    /// Failures in a row where nothing else is written.
    const MAX_RESTARTS: u32 = 5;

    fn of(declaration: &Declaration, policy: &Policy) -> Self {
        let own = |limit: &Option<Located<u64>>| limit.as_ref().map(|limit| limit.value);
        Self {
            filters: declaration.tools.iter().map(|tools| tools.value.clone()).collect(),
            result_limit: own(&declaration.result_limit)
                .or(own(&policy.result_limit))
                .unwrap_or(limits::RESULT_LIMIT),
            max_restarts: declaration.max_restarts.as_ref().map_or(Self::MAX_RESTARTS, |limit| limit.value),
        }
    }
}

impl Resolved {
    /// Whether a repository declares it.
    pub fn is_project(&self) -> bool {
        self.declaration.as_ref().is_some_and(|declaration| declaration.origin.layer.is_project())
    }

    /// Whether a repository declares it in a file of an agent.
    pub fn is_live(&self) -> bool {
        self.declaration.as_ref().is_some_and(|declaration| declaration.origin.layer == LayerKind::Live)
    }
}

/// A server that a launch must have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Required {
    /// Its name, or `all`.
    pub name: String,
    /// The profile's word for it; none of the command line.
    pub origin: Option<Origin>,
}

/// The selected servers in their order, and what else is to be said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Resolution {
    /// Every selected server.
    pub entries: Vec<Resolved>,
    /// What is said of no single server.
    pub notes: Vec<Note>,
    /// What their own declaration switches off, where nothing selects: no news to whoever wrote it.
    pub switched_off: Vec<Note>,
    /// The profiles that selected and narrowed, those included that apply without being named.
    pub profiles: Vec<String>,
    /// Servers without which there is no launch; `all` means every selected one.
    pub require: Vec<Required>,
    /// Whether the agent's own servers are to be switched off.
    pub strict: bool,
    /// Whether servers of the agent's own project files stay on.
    pub agent_servers: bool,
    /// The profile's word for that, where it is one's.
    pub strict_origin: Option<Origin>,
}

impl Resolution {
    /// The servers that an agent is to get.
    pub fn servers(&self) -> Vec<&ResolvedServer> {
        self.entries.iter().filter(|entry| entry.left_out.is_none()).map(|entry| &*entry.server).collect()
    }

    /// The entries of these servers, which an agent is to get.
    pub fn entries_of(&self, servers: &[&ResolvedServer]) -> Vec<&Resolved> {
        let names: BTreeSet<&Name> = servers.iter().map(|server| &server.name).collect();
        let is_one = |entry: &&Resolved| entry.left_out.is_none() && names.contains(&entry.server.name);
        self.entries.iter().filter(is_one).collect()
    }

    /// Every note, those that leave a server out first.
    pub fn all_notes(&self) -> Vec<Note> {
        self.entries
            .iter()
            .filter_map(|entry| entry.left_out.clone())
            .chain(self.notes.iter().cloned())
            .collect()
    }
}

/// Resolves the layers for one selection.
///
/// `speaks` says whether the agent speaks a remote transport itself, which makes a plain remote server direct.
/// Errors are [`Problems`] of a declaration, or an [`UnknownSelection`].
pub fn resolve(
    layers: &Layers,
    standings: &Standings,
    selection: &Selection,
    speaks: &dyn Fn(&Transport) -> bool,
) -> anyhow::Result<Resolution> {
    let everything = everything(layers, standings, speaks)?;
    Ok(select::select(layers, selection, everything)?)
}

/// Resolves every declared server, whatever is selected: the built-in one, the user's, the project's.
pub fn everything(
    layers: &Layers,
    standings: &Standings,
    speaks: &dyn Fn(&Transport) -> bool,
) -> anyhow::Result<Resolution> {
    let rules = Rules { policy: &layers.policy, standings, speaks };
    let (own, problems) = complete_all(of_user(layers), rules);
    if !problems.is_empty() {
        return Err(Problems(problems).into());
    }
    let mut entries = vec![builtin(layers)];
    entries.extend(own);
    let mut notes = layers.project_refused.clone();
    // A repository's mistakes leave its own file out, and stop nothing of the user.
    match of_project(layers, &entries, rules, &mut notes) {
        Ok(of_project) => entries.extend(of_project),
        Err(problems) => notes.extend(not_used_for(&problems)),
    }
    notes.extend(changes_of_nothing(layers));
    Ok(Resolution { entries, notes, ..Resolution::default() })
}

/// The user's declarations with the changes of the local layer, and behind them what the local layer adds.
fn of_user(layers: &Layers) -> Vec<Rc<Declaration>> {
    let mut declarations: Vec<Rc<Declaration>> =
        layers.user.servers.iter().map(|server| amended(server, layers)).collect();
    let known: Vec<&Name> = layers.user.servers.iter().map(|server| &server.name).collect();
    // What does not say what the server is can only change one, of the project perhaps: a repository that no longer
    // declares it, or a gateway that does not read the repository's file, is stopped by nothing.
    let added = layers.local.servers.iter().filter(|local| local.is_whole() && !known.contains(&&local.name));
    declarations.extend(added.cloned());
    declarations.retain(|declaration| !is_removed(declaration));
    declarations
}

/// What the local layer says of servers that no layer declares. Where the project's file can't be read nobody knows.
fn changes_of_nothing(layers: &Layers) -> Vec<Note> {
    if !layers.project_refused.is_empty() {
        return Vec::new();
    }
    let of_project = layers.project.iter().flat_map(|project| &project.servers);
    let known: Vec<&Name> = layers.user.servers.iter().chain(of_project).map(|server| &server.name).collect();
    let of_nothing = |local: &&Rc<Declaration>| !local.is_whole() && !known.contains(&&local.name);
    let told = |local: &Rc<Declaration>| {
        let sentence = format!("the local layer changes `{}`, which no layer declares", local.name);
        unused(&local.origin, sentence, "correct the name, or say there what the server is")
    };
    layers.local.servers.iter().filter(of_nothing).map(told).collect()
}

/// What is written and has no effect.
fn unused(origin: &Origin, sentence: String, mend: &str) -> Note {
    Note {
        code: Code::Unused,
        server: None,
        sentence,
        mend: Some(mend.into()),
        place: Some(origin.whereabouts()),
    }
}

fn amended(declaration: &Rc<Declaration>, layers: &Layers) -> Rc<Declaration> {
    let mut declaration = Rc::clone(declaration);
    if let Some(local) = layers.local.servers.iter().find(|local| local.name == declaration.name) {
        Rc::make_mut(&mut declaration).amend(local);
    }
    declaration
}

fn is_removed(declaration: &Declaration) -> bool {
    declaration.remove.as_ref().is_some_and(|remove| remove.value)
}

/// What every declaration is completed under.
#[derive(Clone, Copy)]
struct Rules<'a> {
    policy: &'a Policy,
    standings: &'a Standings,
    speaks: &'a dyn Fn(&Transport) -> bool,
}

fn complete_all(declarations: Vec<Rc<Declaration>>, rules: Rules<'_>) -> (Vec<Resolved>, Vec<Problem>) {
    let mut problems = Vec::new();
    let mut entries = Vec::with_capacity(declarations.len());
    for declaration in declarations {
        match complete::complete(declaration, rules) {
            Ok(entry) => entries.push(entry),
            Err(problem) => problems.push(*problem),
        }
    }
    (entries, problems)
}

/// The declarations that need the user's word: those of a repository whose names are not taken, and those of the user
/// that a tool brought.
pub fn community(layers: &Layers) -> Vec<Rc<Declaration>> {
    let own = of_user(layers);
    let is_taken = |name: &Name| own.iter().any(|own| own.name.collides(name));
    let mut community = match too_many(layers) {
        Some(_) => Vec::new(),
        None => project_declarations(layers, &is_taken),
    };
    community.retain(|declaration| !is_taken(&declaration.name));
    community.extend(own.into_iter().filter(|own| complete::tier(own) == Tier::Community));
    community
}

fn project_declarations(layers: &Layers, is_taken: &dyn Fn(&Name) -> bool) -> Vec<Rc<Declaration>> {
    let declared = layers.project.iter().flat_map(|project| &project.servers);
    declared
        // What the local layer says of a name that is the user's, it says of the user's server.
        .map(|server| if is_taken(&server.name) { Rc::clone(server) } else { amended(server, layers) })
        .filter(|declaration| !is_removed(declaration))
        .collect()
}

fn builtin(layers: &Layers) -> Resolved {
    let server = ResolvedServer {
        name: Name::squire(),
        tier: Tier::Builtin,
        transport: Transport::Builtin,
        route: Route::Gateway,
        startup_timeout: None,
        timeout: None,
        description: Some("which servers this launch has, and why one is missing".into()),
        origin: String::new(),
        declared_in: None,
        secret_variables: Vec::new(),
    };
    let disabled = layers.user.builtin_disabled.as_ref().filter(|disabled| disabled.value);
    let disabled =
        disabled.map(|disabled| (Code::Disabled, format!("disabled in {}", disabled.origin.layer.place())));
    let refused = || limits::refusal(&layers.policy, &server).map(|sentence| (Code::Policy, sentence));
    let left_out = disabled.or_else(refused).map(|(code, sentence)| left_out(&server.name, code, sentence));
    let limits = Limits {
        filters: Vec::new(),
        result_limit: limits::RESULT_LIMIT,
        max_restarts: Limits::MAX_RESTARTS,
    };
    Resolved { server: server.into(), declaration: None, left_out, limits }
}

fn of_project(
    layers: &Layers,
    of_user: &[Resolved],
    rules: Rules<'_>,
    notes: &mut Vec<Note>,
) -> Result<Vec<Resolved>, Vec<Problem>> {
    if let Some(problem) = too_many(layers) {
        return Err(vec![problem]);
    }
    let is_taken = |name: &Name| of_user.iter().any(|other| other.server.name.collides(name));
    // What an agent's file can say and squire can't costs that server, and not the whole file.
    let (live, own): (Vec<_>, Vec<_>) = project_declarations(layers, &is_taken)
        .into_iter()
        .partition(|declaration| declaration.origin.layer == LayerKind::Live);
    let (mut entries, problems) = complete_all(own, rules);
    if !problems.is_empty() {
        return Err(problems);
    }
    let (live, problems) = complete_all(live, rules);
    entries.extend(live);
    notes.extend(problems.iter().map(unusable_server));
    for entry in &mut entries {
        let name = &entry.server.name;
        if is_taken(name) {
            let sentence = "a server of yours has this name, and a project can't take it";
            entry.left_out = Some(left_out(name, Code::NameTaken, sentence));
        }
    }
    Ok(entries)
}

fn too_many(layers: &Layers) -> Option<Problem> {
    let project = layers.project.as_ref()?;
    let limit = layers.policy.project_servers();
    let first_beyond = usize::try_from(limit).ok().and_then(|limit| project.servers.get(limit));
    first_beyond.map(|declaration| &declaration.origin).map(|origin| Problem {
        path: origin.path.to_path_buf(),
        place: origin.place,
        message: format!("it declares {} servers, and a project may have {limit}", project.servers.len()),
        help: Some("raise `max_project_servers` of your [policy]".into()),
    })
}

fn left_out(name: &Name, code: Code, sentence: impl Into<String>) -> Note {
    Note { code, server: Some(name.clone()), sentence: sentence.into(), mend: None, place: None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Declarations, read};
    use std::path::Path;

    fn layer(kind: LayerKind, text: &str) -> Declarations {
        let (declarations, problems) = read(text.as_bytes(), Path::new("F"), kind);
        assert!(problems.is_empty(), "{problems:?}");
        declarations
    }

    fn user(text: &str) -> Layers {
        Layers { user: layer(LayerKind::User, text), ..Layers::default() }
    }

    fn selection(profiles: &[&str], servers: &[&str]) -> Selection {
        let owned = |words: &[&str]| words.iter().map(ToString::to_string).collect();
        Selection { profiles: owned(profiles), servers: owned(servers), ..Selection::default() }
    }

    /// Each selected server, with the code that leaves it out.
    fn resolved(layers: &Layers, profiles: &[&str], servers: &[&str]) -> Vec<String> {
        let resolution =
            resolve(layers, &Standings::new(), &selection(profiles, servers), &|_| true).unwrap();
        let told = |entry: &Resolved| match &entry.left_out {
            None => entry.server.name.to_string(),
            Some(note) => format!("{} {}", entry.server.name, note.code.as_str()),
        };
        resolution.entries.iter().map(told).collect()
    }

    const SERVERS: &str = "[servers.a]\ncommand = 'a'\n[servers.b]\ncommand = 'b'\n[servers.c]\ncommand = 'c'\n\
                           [servers.off]\ncommand = 'off'\ndisabled = true\n";

    #[test]
    fn without_a_selection_every_enabled_server_or_the_default_profile() {
        assert_eq!(resolved(&user(SERVERS), &[], &[]), ["squire", "a", "b", "c"]);
        let layers = user(&format!("{SERVERS}[profiles.default]\nservers = ['c', 'off']\n"));
        assert_eq!(resolved(&layers, &[], &[]), ["c", "off disabled"]);
        assert_eq!(resolved(&layers, &[], &["a"]), ["a"]);
    }

    #[test]
    fn profiles_append_and_a_server_keeps_its_first_place() {
        let layers = user(&format!(
            "{SERVERS}[profiles.base]\nservers = ['c']\n[profiles.one]\nextends = ['base']\nservers = ['a', 'c']\n\
             [profiles.two]\nextends = ['base', 'one']\nservers = ['squire', 'b']\n"
        ));
        assert_eq!(resolved(&layers, &["one"], &[]), ["c", "a"]);
        assert_eq!(resolved(&layers, &["two"], &[]), ["c", "a", "squire", "b"]);
        assert_eq!(
            resolved(&layers, &["two", "one", "two"], &["b", "off"]),
            ["c", "a", "squire", "b", "off disabled"]
        );
        assert_eq!(resolved(&layers, &[], &["b", "a", "b"]), ["b", "a"]);
    }

    #[test]
    fn filters_add_up() {
        let layers = user(&format!(
            "{SERVERS}[servers.t]\ncommand = 't'\ntools = {{ deny = ['z'] }}\n\
             [profiles.base]\nservers = ['t']\ntools.t = {{ deny = ['x'] }}\n\
             [profiles.p]\nextends = ['base']\nservers = ['b']\n"
        ));
        let denied = |profiles: &[&str], servers: &[&str]| -> Vec<Vec<String>> {
            let selection = selection(profiles, servers);
            let resolution = resolve(&layers, &Standings::new(), &selection, &|_| true).unwrap();
            let of = |entry: &Resolved| {
                entry.limits.filters.iter().map(|filter| filter.deny.join("+")).collect::<Vec<_>>()
            };
            resolution.entries.iter().map(of).collect()
        };
        assert_eq!(denied(&["p"], &[]), [vec!["z", "x"], vec![]]);
        assert_eq!(denied(&[], &["t"]), [vec!["z"]]);
    }

    #[test]
    fn the_route_of_a_remote_server() {
        let routes = |text: &str, speaks: bool| -> Vec<String> {
            let resolution =
                resolve(&user(text), &Standings::new(), &Selection::default(), &|_| speaks).unwrap();
            let told = |entry: &Resolved| format!("{} {}", entry.server.name, entry.server.route.as_str());
            resolution.entries.iter().skip(1).map(told).collect()
        };
        let text = "[servers.plain]\nurl = 'https://h/'\nstartup_timeout = '1s'\n\
                    [servers.reference]\nurl = 'https://h/${env:X:-y}'\n[servers.limit]\nurl = 'https://h/'\ntimeout = '1m'\n\
                    [servers.filter]\nurl = 'https://h/'\ntools = { deny = [] }\n\
                    [servers.chosen]\nurl = 'https://h/'\nroute = 'gateway'\n";
        assert_eq!(
            routes(text, true),
            ["plain direct", "reference gateway", "limit gateway", "filter gateway", "chosen gateway"]
        );
        assert_eq!(routes(text, false)[0], "plain gateway");
        for unfit in ["timeout = '1m'", "tools = {}", "headers = { A = '${env:X}' }", "result_limit = '1KiB'"]
        {
            let text = format!("[servers.a]\nurl = 'https://h/'\nroute = 'direct'\n{unfit}\n");
            assert!(
                resolve(&user(&text), &Standings::new(), &Selection::default(), &|_| true).is_err(),
                "{unfit}"
            );
        }
    }

    #[test]
    fn b33_a_projects_servers_come_last_and_are_left_out() {
        let project = layer(LayerKind::Project, "[servers.x]\ncommand = 'x'\n");
        let layers = Layers { project: Some(project), ..user(SERVERS) };
        assert_eq!(resolved(&layers, &[], &[]), ["squire", "a", "b", "c", "x not-approved"]);
        assert_eq!(resolved(&layers, &[], &["x"]), ["x not-approved"]);
        let taken = layer(LayerKind::Project, "[servers.A]\ncommand = 'x'\n");
        let layers = Layers { project: Some(taken), ..user(SERVERS) };
        assert_eq!(resolved(&layers, &[], &["A", "a"]), ["A name-taken", "a"]);
    }

    /// B35: also where the names are the very same, the project's is named as left out.
    #[test]
    fn b35_the_loser_of_a_name_is_named() {
        let taken = layer(LayerKind::Project, "[servers.a]\ncommand = 'x'\n");
        let layers = Layers { project: Some(taken), ..user("[servers.a]\ncommand = 'mine'\n") };
        let resolution = resolve(&layers, &Standings::new(), &Selection::default(), &|_| true).unwrap();
        assert!(resolution.all_notes().iter().any(|note| note.code == Code::NameTaken), "{resolution:?}");
        assert_eq!(resolution.servers()[1].origin, "F:1");
    }

    #[test]
    fn unknown_names_are_told_all_at_once() {
        let error = resolve(&user(SERVERS), &Standings::new(), &selection(&["p", "q"], &["aa"]), &|_| true)
            .unwrap_err();
        let UnknownSelection(sentences) = error.downcast_ref().unwrap();
        assert_eq!(
            sentences,
            &[
                "there is no profile \"p\"; no profile is declared",
                "there is no profile \"q\"; no profile is declared",
                "there is no server \"aa\"; did you mean `a`?"
            ]
        );
    }
}
