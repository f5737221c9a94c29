//! Layers and a selection become resolved servers and notes. Pure: once, and every command uses this result.

use squire_strategies::{Code, Name, Note, Remote, ResolvedServer, Route, Stdio, Text, Tier, Transport};

use crate::config::{
    Declaration, Kind, Layer, LayerKind, Layers, Located, Problem, Problems, Profile, nearest,
};

/// What the command line selects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// `--profile`, in order.
    pub profiles: Vec<String>,
    /// `--server`, in order.
    pub servers: Vec<String>,
}

/// One selected server: as it would run, and why it does not, if so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolved {
    /// The server.
    pub server: ResolvedServer,
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
    pub fn servers(&self) -> Vec<ResolvedServer> {
        self.entries
            .iter()
            .filter(|entry| entry.left_out.is_none())
            .map(|entry| entry.server.clone())
            .collect()
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

/// A selection that names what is not there. Each sentence says what is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownSelection(pub Vec<String>);

impl std::fmt::Display for UnknownSelection {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.0.join("\n"))
    }
}

impl std::error::Error for UnknownSelection {}

/// Resolves the layers for one selection.
///
/// `speaks` says whether the agent speaks a remote transport itself, which makes a plain remote server direct.
/// Errors are [`Problems`] of a declaration, or an [`UnknownSelection`].
pub fn resolve(
    layers: &Layers,
    selection: &Selection,
    speaks: &dyn Fn(&Transport) -> bool,
) -> anyhow::Result<Resolution> {
    let Resolution { entries: all, notes } = everything(layers, speaks)?;
    let selected = select(layers, selection, &all)?;
    let mut entries: Vec<Resolved> = Vec::new();
    for name in &selected.servers {
        let Some(mut entry) = all.iter().find(|entry| entry.server.name.as_str() == name).cloned() else {
            continue;
        };
        if selected.narrowed.contains(name) && entry.left_out.is_none() {
            entry.left_out = Some(needs_relay(&entry.server.name, "the profile narrows its tools"));
        }
        entries.push(entry);
    }
    Ok(Resolution { entries, notes })
}

/// Resolves every declared server, whatever is selected.
pub fn everything(layers: &Layers, speaks: &dyn Fn(&Transport) -> bool) -> anyhow::Result<Resolution> {
    let mut resolver = Resolver { layers, speaks, problems: Vec::new(), project_refused: None };
    let entries = resolver.all();
    if !resolver.problems.is_empty() {
        return Err(Problems(resolver.problems).into());
    }
    let refused = layers.project_refused.iter().chain(&resolver.project_refused);
    let notes = refused.map(|reason| Note {
        code: Code::ProjectFile,
        server: None,
        sentence: format!("the project's file is not used: {reason}"),
        mend: None,
    });
    Ok(Resolution { entries, notes: notes.collect() })
}

struct Resolver<'a> {
    layers: &'a Layers,
    speaks: &'a dyn Fn(&Transport) -> bool,
    problems: Vec<Problem>,
    project_refused: Option<String>,
}

impl Resolver<'_> {
    /// Every declared server: the built-in one, the user's, the project's.
    fn all(&mut self) -> Vec<Resolved> {
        let mut all = vec![self.builtin()];
        let user = &self.layers.user;
        for declaration in &user.declarations.servers {
            if let Some(entry) = self.entry(user, declaration) {
                all.push(entry);
            }
        }
        if let Some(project) = &self.layers.project {
            // A repository's mistakes leave its own file out, and stop nothing of the user.
            let mut apart = Resolver {
                layers: self.layers,
                speaks: self.speaks,
                problems: Vec::new(),
                project_refused: None,
            };
            let declared = &project.declarations.servers;
            let entries: Vec<Resolved> = declared
                .iter()
                .filter_map(|declaration| apart.entry(project, declaration))
                .map(|entry| unapproved(entry, &all))
                .collect();
            match apart.problems.first() {
                None => all.extend(entries),
                Some(problem) => self.project_refused = Some(problem.to_string()),
            }
        }
        all
    }

    fn builtin(&self) -> Resolved {
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
        let disabled = self.layers.user.declarations.builtin_disabled;
        let left_out = disabled.then(|| Note {
            code: Code::Disabled,
            server: Some(server.name.clone()),
            sentence: "disabled in squire.toml".into(),
            mend: None,
        });
        Resolved { server, left_out }
    }

    fn entry(&mut self, layer: &Layer, declaration: &Declaration) -> Option<Resolved> {
        let transport = self.transport(layer, declaration)?;
        let route = self.route(layer, declaration, &transport)?;
        let server = ResolvedServer {
            name: declaration.name.clone(),
            tier: match layer.kind {
                LayerKind::User => Tier::Trusted,
                LayerKind::Project => Tier::Community,
            },
            transport,
            route,
            startup_timeout: declaration.startup_timeout.as_ref().map(|located| located.value),
            timeout: declaration.timeout.as_ref().map(|located| located.value),
            description: declaration.description.as_ref().map(|located| located.value.clone()),
            origin: format!("{}:{}", layer.path.display(), declaration.place.line),
        };
        let left_out = left_out(declaration, &server);
        Some(Resolved { server, left_out })
    }

    fn transport(&mut self, layer: &Layer, declaration: &Declaration) -> Option<Transport> {
        let kind = match (&declaration.transport, &declaration.command, &declaration.url) {
            (Some(kind), _, _) => kind.value,
            (None, Some(_), None) => Kind::Stdio,
            (None, None, Some(_)) => Kind::Http,
            (None, Some(command), Some(url)) => {
                let message = "both `command` and `url`: one server has one of them";
                self.problem(layer, declaration, command.place.max(url.place), message);
                return None;
            }
            (None, None, None) => {
                let message = "neither `command` nor `url`: one of them says what the server is";
                self.problem(layer, declaration, declaration.place, message);
                return None;
            }
        };
        self.refuse_foreign_fields(layer, declaration, kind)?;
        match kind {
            Kind::Stdio => self.stdio(layer, declaration).map(Transport::Stdio),
            Kind::Http => self.remote(layer, declaration).map(Transport::Http),
            Kind::Sse => self.remote(layer, declaration).map(Transport::Sse),
        }
    }

    fn stdio(&mut self, layer: &Layer, declaration: &Declaration) -> Option<Stdio> {
        let Some(command) = &declaration.command else {
            self.problem(
                layer,
                declaration,
                declaration.place,
                "`command` is missing: a stdio server needs one",
            );
            return None;
        };
        let mut words = command.value.iter().cloned();
        let program = words.next().unwrap_or_else(|| Text::plain(""));
        let args = words.chain(declaration.args.iter().flat_map(|args| args.value.iter().cloned())).collect();
        Some(Stdio {
            command: program,
            args,
            env: value_or_default(declaration.env.as_ref()),
            inherit_env: value_or_default(declaration.inherit_env.as_ref()),
            cwd: declaration.cwd.as_ref().map(|located| located.value.clone()),
        })
    }

    fn remote(&mut self, layer: &Layer, declaration: &Declaration) -> Option<Remote> {
        let Some(url) = &declaration.url else {
            self.problem(
                layer,
                declaration,
                declaration.place,
                "`url` is missing: a remote server needs one",
            );
            return None;
        };
        Some(Remote { url: url.value.clone(), headers: value_or_default(declaration.headers.as_ref()) })
    }

    /// Written plainly, a field of another transport is an error.
    fn refuse_foreign_fields(&mut self, layer: &Layer, declaration: &Declaration, kind: Kind) -> Option<()> {
        let of_stdio = [
            ("command", declaration.command.as_ref().map(|field| field.place)),
            ("args", declaration.args.as_ref().map(|field| field.place)),
            ("env", declaration.env.as_ref().map(|field| field.place)),
            ("inherit_env", declaration.inherit_env.as_ref().map(|field| field.place)),
            ("cwd", declaration.cwd.as_ref().map(|field| field.place)),
        ];
        let of_remote = [
            ("url", declaration.url.as_ref().map(|field| field.place)),
            ("headers", declaration.headers.as_ref().map(|field| field.place)),
        ];
        let (foreign, word): (&[_], _) = match kind {
            Kind::Stdio => (&of_remote, "a stdio server"),
            Kind::Http | Kind::Sse => (&of_stdio, "a remote server"),
        };
        let found = foreign.iter().find_map(|(key, place)| place.map(|place| (key, place)));
        match found {
            None => Some(()),
            Some((key, place)) => {
                self.problem(layer, declaration, place, &format!("`{key}` does not go with {word}"));
                None
            }
        }
    }

    /// Direct: a plain remote server whose transport the agent speaks; everything else goes through the gateway.
    fn route(&mut self, layer: &Layer, declaration: &Declaration, transport: &Transport) -> Option<Route> {
        let Some(remote) = transport.remote() else {
            if let Some(Located { value: Route::Direct, place }) = &declaration.route {
                let message =
                    "`route = \"direct\"` is for remote servers; a program always goes through the gateway";
                self.problem(layer, declaration, *place, message);
                return None;
            }
            return Some(Route::Gateway);
        };
        let has_reference = transport.texts().iter().any(|(_, text)| text.references().next().is_some());
        let plain = !has_reference && declaration.needs_relay.is_empty() && declaration.timeout.is_none();
        match declaration.route.as_ref() {
            Some(Located { value: Route::Direct, place }) if !plain => {
                let message = "`route = \"direct\"` hands the entry to the agent as it is: no reference, auth, filter, limit or timeout goes with it";
                self.problem(layer, declaration, *place, message);
                None
            }
            Some(chosen) => Some(chosen.value),
            None if plain && layer.kind == LayerKind::User && (self.speaks)(transport) => {
                debug_assert!(remote.url.literal().is_some(), "a direct address holds no reference");
                Some(Route::Direct)
            }
            None => Some(Route::Gateway),
        }
    }

    fn problem(
        &mut self,
        layer: &Layer,
        declaration: &Declaration,
        place: crate::config::Place,
        message: &str,
    ) {
        self.problems.push(Problem {
            path: layer.path.clone(),
            place,
            message: format!("[servers.{}]: {message}", declaration.name),
            help: None,
        });
    }
}

fn unapproved(mut entry: Resolved, of_user: &[Resolved]) -> Resolved {
    let name = entry.server.name.clone();
    let taken = of_user.iter().any(|other| other.server.name.collides(&name));
    let (code, sentence) = if taken {
        (Code::NameTaken, "a server of yours has this name, and a project can't take it")
    } else {
        (Code::NotApproved, "declared by the project, and not approved")
    };
    entry.left_out = Some(Note { code, server: Some(name), sentence: sentence.into(), mend: None });
    entry
}

fn value_or_default<T: Clone + Default>(located: Option<&Located<T>>) -> T {
    located.map(|located| located.value.clone()).unwrap_or_default()
}

fn left_out(declaration: &Declaration, server: &ResolvedServer) -> Option<Note> {
    let name = &declaration.name;
    if declaration.disabled.as_ref().is_some_and(|disabled| disabled.value) {
        return Some(Note {
            code: Code::Disabled,
            server: Some(name.clone()),
            sentence: "disabled in squire.toml".into(),
            mend: None,
        });
    }
    if let Some(field) = declaration.needs_relay.first() {
        return Some(needs_relay(name, field.value));
    }
    if let Some(reference) = server
        .transport
        .texts()
        .iter()
        .flat_map(|(_, text)| text.references())
        .find(|reference| matches!(reference.source, squire_strategies::Source::Secret(_)))
    {
        return Some(needs_relay(name, &reference.to_string()));
    }
    if server.transport.remote().is_some() && server.route == Route::Gateway {
        return Some(needs_relay(name, &format!("{} through the gateway", server.transport.as_str())));
    }
    None
}

fn needs_relay(name: &Name, what: &str) -> Note {
    Note {
        code: Code::NeedsRelay,
        server: Some(name.clone()),
        sentence: format!(
            "{what} needs the relaying gateway, which this version of squire does not have yet"
        ),
        mend: None,
    }
}

fn select(layers: &Layers, selection: &Selection, all: &[Resolved]) -> Result<Selected, UnknownSelection> {
    let user_profiles = &layers.user.declarations.profiles;
    let project_profiles =
        layers.project.as_ref().map(|layer| layer.declarations.profiles.as_slice()).unwrap_or_default();
    let mut unknown = Vec::new();
    let mut selected = Selected::default();
    for name in &selection.profiles {
        if let Some(profile) = user_profiles.iter().find(|profile| profile.name == *name) {
            selected.add_profile(profile, user_profiles);
        } else if let Some(profile) = project_profiles.iter().find(|profile| profile.name == *name) {
            selected.add_profile(profile, project_profiles);
        } else {
            let known: Vec<&str> =
                user_profiles.iter().chain(project_profiles).map(|profile| profile.name.as_str()).collect();
            unknown.push(unknown_name("profile", name, &known));
        }
    }
    for name in &selection.servers {
        if all.iter().any(|entry| entry.server.name.as_str() == name) {
            selected.add(name);
        } else {
            let known: Vec<&str> = all.iter().map(|entry| entry.server.name.as_str()).collect();
            unknown.push(unknown_name("server", name, &known));
        }
    }
    if !unknown.is_empty() {
        return Err(UnknownSelection(unknown));
    }
    if selection.profiles.is_empty() && selection.servers.is_empty() {
        if let Some(profile) = user_profiles.iter().find(|profile| profile.name == "default") {
            selected.add_profile(profile, user_profiles);
        } else {
            // Every enabled server: what is switched off by its own declaration is not news at each launch.
            let disabled =
                |entry: &&Resolved| entry.left_out.as_ref().is_none_or(|note| note.code != Code::Disabled);
            for entry in all.iter().filter(disabled) {
                selected.add(entry.server.name.as_str());
            }
        }
    }
    Ok(selected)
}

fn unknown_name(what: &str, name: &str, known: &[&str]) -> String {
    let help = match (nearest(name, known.iter().copied()), known) {
        (Some(near), _) => format!("did you mean `{near}`?"),
        (None, []) => format!("no {what} is declared"),
        (None, known) => format!("there are: {}", known.join(", ")),
    };
    format!("there is no {what} {name:?}; {help}")
}

/// The names that are selected, in order.
#[derive(Default)]
struct Selected {
    servers: Vec<String>,
    /// Those whose tools a profile narrows.
    narrowed: Vec<String>,
    /// Profiles that are in already: one that is extended by two ways is meant once.
    profiles: Vec<String>,
}

impl Selected {
    /// A server that comes twice keeps its first place.
    fn add(&mut self, name: &str) {
        if !self.servers.iter().any(|selected| selected == name) {
            self.servers.push(name.to_owned());
        }
    }

    fn add_profile(&mut self, profile: &Profile, profiles: &[Profile]) {
        if self.profiles.contains(&profile.name) {
            return;
        }
        self.profiles.push(profile.name.clone());
        for extended in &profile.extends {
            if let Some(found) = profiles.iter().find(|candidate| candidate.name == extended.value) {
                self.add_profile(found, profiles);
            }
        }
        for server in &profile.servers {
            self.add(&server.value);
        }
        self.narrowed.extend(profile.narrows.iter().map(|narrowed| narrowed.value.clone()));
    }
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
