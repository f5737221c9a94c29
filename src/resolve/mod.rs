//! Layers and a selection become resolved servers and notes. Pure: once, and every command uses this result.
//!
//! [`complete`] makes a server of one declaration, [`select`] picks the servers of a command line.

mod complete;
mod select;

use squire_strategies::{Code, Name, Note, ResolvedServer, Route, Tier, Transport};

use crate::config::{Layer, LayerKind, Layers, Problem, Problems};

pub use select::{Selection, UnknownSelection};

/// How many servers a project may declare.
const PROJECT_SERVERS: usize = 16;

/// One selected server: as it would run, and why it does not, if so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolved {
    /// The server.
    pub server: ResolvedServer,
    /// Who declares it; the built-in one counts as the user's.
    pub layer: LayerKind,
    /// The reason that leaves it out.
    pub left_out: Option<Note>,
}

/// The selected servers in their order, and what else is to be said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Resolution {
    /// Every selected server.
    pub entries: Vec<Resolved>,
    /// What is said of no single server.
    pub notes: Vec<Note>,
}

impl Resolution {
    /// The servers that an agent is to get.
    pub fn servers(&self) -> Vec<&ResolvedServer> {
        self.entries.iter().filter(|entry| entry.left_out.is_none()).map(|entry| &entry.server).collect()
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
    selection: &Selection,
    speaks: &dyn Fn(&Transport) -> bool,
) -> anyhow::Result<Resolution> {
    let Resolution { entries, notes } = everything(layers, speaks)?;
    let entries = select::select(layers, selection, entries)?;
    Ok(Resolution { entries, notes })
}

/// Resolves every declared server, whatever is selected: the built-in one, the user's, the project's.
pub fn everything(layers: &Layers, speaks: &dyn Fn(&Transport) -> bool) -> anyhow::Result<Resolution> {
    let (own, problems) = entries(&layers.user, speaks);
    if !problems.is_empty() {
        return Err(Problems(problems).into());
    }
    let mut entries = vec![builtin(layers.user.declarations.builtin_disabled)];
    entries.extend(own);
    let mut refused = layers.project_refused.clone();
    // A repository's mistakes leave its own file out, and stop nothing of the user.
    if let Some(project) = &layers.project {
        match of_project(project, &entries, speaks) {
            Ok(of_project) => entries.extend(of_project),
            Err(reason) => refused = Some(reason),
        }
    }
    let notes = refused.map(|reason| Note {
        code: Code::ProjectFile,
        server: None,
        sentence: format!("the project's file is not used: {reason}"),
        mend: None,
    });
    Ok(Resolution { entries, notes: notes.into_iter().collect() })
}

fn entries(layer: &Layer, speaks: &dyn Fn(&Transport) -> bool) -> (Vec<Resolved>, Vec<Problem>) {
    let mut problems = Vec::new();
    let mut entries = Vec::new();
    for declaration in &layer.declarations.servers {
        match complete::complete(layer, declaration, speaks) {
            Ok(entry) => entries.push(entry),
            Err(problem) => problems.push(*problem),
        }
    }
    (entries, problems)
}

fn builtin(disabled: bool) -> Resolved {
    let server = ResolvedServer {
        name: Name::squire(),
        tier: Tier::Builtin,
        transport: Transport::Builtin,
        route: Route::Gateway,
        startup_timeout: None,
        timeout: None,
        description: Some("which servers this launch has, and why one is missing".into()),
        origin: String::new(),
    };
    let left_out = disabled.then(|| left_out(&server.name, Code::Disabled, "disabled in squire.toml"));
    Resolved { server, layer: LayerKind::User, left_out }
}

fn of_project(
    layer: &Layer,
    of_user: &[Resolved],
    speaks: &dyn Fn(&Transport) -> bool,
) -> Result<Vec<Resolved>, String> {
    let declared = layer.declarations.servers.len();
    if declared > PROJECT_SERVERS {
        let path = layer.path.display();
        return Err(format!(
            "{path}: it declares {declared} servers, and a project may have {PROJECT_SERVERS}"
        ));
    }
    let (mut entries, problems) = entries(layer, speaks);
    if !problems.is_empty() {
        return Err(Problems(problems).to_string());
    }
    for entry in &mut entries {
        let name = &entry.server.name;
        let taken = of_user.iter().any(|other| other.server.name.collides(name));
        entry.left_out = Some(if taken {
            left_out(name, Code::NameTaken, "a server of yours has this name, and a project can't take it")
        } else {
            left_out(name, Code::NotApproved, "declared by the project, and not approved")
        });
    }
    Ok(entries)
}

fn left_out(name: &Name, code: Code, sentence: impl Into<String>) -> Note {
    Note { code, server: Some(name.clone()), sentence: sentence.into(), mend: None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::read;
    use std::path::Path;

    fn layer(kind: LayerKind, text: &str) -> Layer {
        let (declarations, problems) = read(text.as_bytes(), Path::new("F"), kind);
        assert!(problems.is_empty(), "{problems:?}");
        Layer { kind, path: "F".into(), declarations }
    }

    fn user(text: &str) -> Layers {
        Layers { user: layer(LayerKind::User, text), project: None, project_refused: None }
    }

    fn selection(profiles: &[&str], servers: &[&str]) -> Selection {
        let owned = |words: &[&str]| words.iter().map(ToString::to_string).collect();
        Selection { profiles: owned(profiles), servers: owned(servers) }
    }

    /// Each selected server, with the code that leaves it out.
    fn resolved(layers: &Layers, profiles: &[&str], servers: &[&str]) -> Vec<String> {
        let resolution = resolve(layers, &selection(profiles, servers), &|_| true).unwrap();
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

    /// Filters are the relay's work: a server whose tools a profile narrows is left out, not offered unfiltered.
    #[test]
    fn a_narrowed_server_is_left_out() {
        let layers = user(&format!(
            "{SERVERS}[profiles.base]\nservers = ['a']\ntools.a = {{ deny = ['x'] }}\n\
             [profiles.p]\nextends = ['base']\nservers = ['b']\n"
        ));
        assert_eq!(resolved(&layers, &["p"], &[]), ["a needs-relay", "b"]);
        assert_eq!(resolved(&layers, &[], &["a"]), ["a"]);
    }

    #[test]
    fn the_route_of_a_remote_server() {
        let routes = |text: &str, speaks: bool| -> Vec<String> {
            let resolution = resolve(&user(text), &Selection::default(), &|_| speaks).unwrap();
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
            assert!(resolve(&user(&text), &Selection::default(), &|_| true).is_err(), "{unfit}");
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
        let resolution = resolve(&layers, &Selection::default(), &|_| true).unwrap();
        assert!(resolution.all_notes().iter().any(|note| note.code == Code::NameTaken), "{resolution:?}");
        assert_eq!(resolution.servers()[1].origin, "F:1");
    }

    #[test]
    fn unknown_names_are_told_all_at_once() {
        let error = resolve(&user(SERVERS), &selection(&["p", "q"], &["aa"]), &|_| true).unwrap_err();
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
