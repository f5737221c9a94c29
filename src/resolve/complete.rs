//! One declaration becomes one server: transport and route are settled, and what does not fit is a problem.

use std::rc::Rc;

use squire_strategies::{
    Code, Dynamic, Note, Remote, ResolvedServer, Route, Stdio, Text, Tier, Transport, masked_address,
};

use super::{Limits, Resolved, Rules, Standing, left_out, limits};
use crate::config::{
    Choice, Declaration, Kind, LayerKind, Located, Origin, Policy, Problem, Trust, is_address,
    working_directory,
};

type Completed<T> = Result<T, Box<Problem>>;

/// Completes a declaration under a policy. The error is the first thing in it that does not fit.
pub(super) fn complete(declaration: Rc<Declaration>, rules: Rules<'_>) -> Completed<Resolved> {
    let Rules { policy, standings, speaks } = rules;
    let context = Context { declaration: &declaration, policy };
    let mut transport = context.transport()?;
    context.refuse_ungranted(&transport)?;
    context.refuse_literal_credentials(&transport)?;
    context.refuse_widening()?;
    let route = context.route(&transport, speaks)?;
    limits::apply(policy, &mut transport);
    context.refuse_no_address(&transport)?;
    let timeout = declaration.timeout.as_ref().or(policy.timeout.as_ref());
    let server = ResolvedServer {
        name: declaration.name.clone(),
        tier: tier(&declaration),
        transport,
        route,
        startup_timeout: declaration.startup_timeout.as_ref().map(|located| located.value),
        timeout: timeout.map(|located| located.value),
        description: declaration.description.as_ref().map(|located| located.value.clone()),
        origin: declaration.origin.to_string(),
        declared_in: declared_in(&declaration),
        secret_variables: Vec::new(),
    };
    let standing = standings.get(declaration.name.as_str()).unwrap_or(&Standing::New);
    let left_out = obstacle(&declaration, &server, standing, policy, speaks).map(|(code, sentence)| {
        let mend = (code == Code::NotApproved).then(|| format!("squire approve {}", declaration.name));
        Note { mend, ..left_out(&declaration.name, code, sentence) }
    });
    let limits = Limits::of(&declaration, policy);
    Ok(Resolved { server: server.into(), declaration: Some(declaration), left_out, limits })
}

/// The directory of the repository's file, for a server of one.
fn declared_in(declaration: &Declaration) -> Option<String> {
    let directory = declaration.origin.layer.is_project().then(|| declaration.origin.directory());
    directory.map(|directory| directory.to_string_lossy().into_owned())
}

pub(super) fn tier(declaration: &Declaration) -> Tier {
    match (declaration.trust.as_ref().map(|trust| trust.value), declaration.origin.layer) {
        // A word of the user's lifts no server whose definition the repository can change at any time.
        (_, LayerKind::Project | LayerKind::Live)
        | (Some(Trust::Community), _)
        | (None, LayerKind::DropIn) => Tier::Community,
        (Some(Trust::Trusted), _) | (None, LayerKind::User | LayerKind::Local | LayerKind::Managed) => {
            Tier::Trusted
        }
    }
}

struct Context<'a> {
    declaration: &'a Declaration,
    policy: &'a Policy,
}

impl Context<'_> {
    fn problem<T>(&self, origin: &Origin, message: &str) -> Completed<T> {
        Err(Box::new(Problem {
            path: origin.path.to_path_buf(),
            place: origin.place,
            message: format!("[servers.{}]: {message}", self.declaration.name),
            help: None,
        }))
    }

    fn is_project(&self) -> bool {
        self.declaration.origin.layer.is_project()
    }

    fn transport(&self) -> Completed<Transport> {
        let Declaration { transport, command, url, origin, .. } = self.declaration;
        let kind = match (transport.as_ref().map(|located| &located.value), command, url) {
            (Some(Choice::Dynamic(choice)), _, _) => return self.dynamic(choice),
            (Some(Choice::Fixed(kind)), _, _) => *kind,
            (None, Some(_), None) => Kind::Stdio,
            (None, None, Some(_)) => Kind::Http,
            (None, Some(command), Some(url)) => {
                let is_later = if command.origin.path == url.origin.path {
                    command.origin.place > url.origin.place
                } else {
                    // A declaration begins in its lowest layer.
                    url.origin.path == origin.path
                };
                let later = if is_later { &command.origin } else { &url.origin };
                return self.problem(later, "both `command` and `url`: one server has one of them");
            }
            (None, None, None) => {
                return self
                    .problem(origin, "neither `command` nor `url`: one of them says what the server is");
            }
        };
        self.refuse_foreign_fields(kind)?;
        match kind {
            Kind::Stdio => self.stdio().map(Transport::Stdio),
            Kind::Http => self.remote().map(Transport::Http),
            Kind::Sse => self.remote().map(Transport::Sse),
        }
    }

    /// The gateway chooses when it starts, so both kinds of fields may stand there.
    fn dynamic(&self, choice: &Text) -> Completed<Transport> {
        let Declaration { command, url, origin, .. } = self.declaration;
        let stdio = command.as_ref().map(|_| self.stdio()).transpose()?;
        let remote = url.as_ref().map(|_| self.remote()).transpose()?;
        if stdio.is_none() && remote.is_none() {
            return self.problem(origin, "neither `command` nor `url`: one of them says what the server is");
        }
        Ok(Transport::Dynamic(Dynamic { choice: choice.clone(), stdio, remote }))
    }

    fn stdio(&self) -> Completed<Stdio> {
        let declaration = self.declaration;
        let Some(command) = &declaration.command else {
            return self.problem(&declaration.origin, "`command` is missing: a stdio server needs one");
        };
        let mut words = command.value.iter().cloned();
        let program = words.next().unwrap_or_else(|| Text::plain(""));
        if self.is_project() && program.literal().is_none() {
            return self.problem(&command.origin, "a project's `command` can't hold a reference");
        }
        if !self.is_project() && declaration.cwd.is_none() && is_relative_path(&program) {
            return self.problem(
                &command.origin,
                "a relative `command` would be another program in every directory: write its whole path, `~/…`, or a `cwd`",
            );
        }
        if let Some(cwd) = declaration.cwd.as_ref().filter(|cwd| self.is_project() && leaves(&cwd.value)) {
            return self.problem(
                &cwd.origin,
                "a project's `cwd` stays inside the project: a relative path without `..`",
            );
        }
        let own_cwd = declaration.cwd.as_ref().map(|located| located.value.clone());
        // A project's server runs in the project, wherever the launch is.
        let in_project = || Text::plain(working_directory(declaration).to_string_lossy());
        Ok(Stdio {
            command: program,
            args: words.chain(value_or_default(declaration.args.as_ref())).collect(),
            env: value_or_default(declaration.env.as_ref()),
            inherit_env: value_or_default(declaration.inherit_env.as_ref()),
            cwd: if self.is_project() { Some(in_project()) } else { own_cwd },
        })
    }

    fn remote(&self) -> Completed<Remote> {
        let declaration = self.declaration;
        let Some(url) = &declaration.url else {
            return self.problem(&declaration.origin, "`url` is missing: a remote server needs one");
        };
        if self.is_project() && !names_its_host(&url.value) {
            return self.problem(&url.origin, "a project's `url` can't hold a reference before its path");
        }
        let headers: Vec<(String, Text)> = value_or_default(declaration.headers.as_ref());
        if let Some(auth) = &declaration.auth
            && headers.iter().any(|(name, _)| name.eq_ignore_ascii_case(&auth.value.header))
        {
            let message = format!("`auth` and `headers` both set {}", auth.value.header);
            return self.problem(&auth.origin, &message);
        }
        Ok(Remote { url: url.value.clone(), headers })
    }

    /// Written plainly, a field of another transport is an error.
    fn refuse_foreign_fields(&self, kind: Kind) -> Completed<()> {
        let of_stdio = ["command", "args", "env", "inherit_env", "cwd"];
        let of_remote = ["url", "headers", "auth", "client_cert", "client_key", "ca"];
        let (foreign, word): (&[&str], _) = match kind {
            Kind::Stdio => (&of_remote, "a stdio server"),
            Kind::Http | Kind::Sse => (&of_stdio, "a remote server"),
        };
        match self.declaration.origins().find(|(field, _)| foreign.contains(field)) {
            None => Ok(()),
            Some((field, origin)) => {
                // Where a higher layer brought the transport, that is what does not fit.
                let transport = self.declaration.transport.as_ref();
                let higher = transport.filter(|transport| {
                    origin.path == self.declaration.origin.path && transport.origin.path != origin.path
                });
                let blamed = higher.map_or(origin, |transport| &transport.origin);
                self.problem(blamed, &format!("`{field}` does not go with {word}"))
            }
        }
    }

    /// `grants` is a ceiling: using more than is written there is an error.
    fn refuse_ungranted(&self, transport: &Transport) -> Completed<()> {
        let Some(Located { value: grants, origin }) = &self.declaration.grants else { return Ok(()) };
        let (is_program, is_remote) = match transport {
            Transport::Builtin => (false, false),
            Transport::Stdio(_) => (true, false),
            Transport::Http(_) | Transport::Sse(_) => (false, true),
            Transport::Dynamic(dynamic) => (dynamic.stdio.is_some(), dynamic.remote.is_some()),
        };
        if is_remote && grants.network == Some(false) {
            return self.problem(origin, "a remote server uses the network, which `grants` refuses");
        }
        if is_program && grants.filesystem == Some(false) {
            return self.problem(origin, "a program uses the file system, which `grants` refuses");
        }
        let auth = self.declaration.auth.as_ref().map(|auth| auth.value.secret.as_str());
        let used = transport.texts().flat_map(|(_, text)| text.secrets());
        let ungranted = |name: &&str| {
            grants.secrets.as_ref().is_some_and(|granted| !granted.iter().any(|other| other == name))
        };
        match used.chain(auth).find(ungranted) {
            None => Ok(()),
            Some(name) => {
                self.problem(origin, &format!("the secret `{name}` is used, and `grants` does not name it"))
            }
        }
    }

    /// What a repository holds is read by all who have it: a credential in clear is none of its own any more.
    fn refuse_literal_credentials(&self, transport: &Transport) -> Completed<()> {
        // Of any other declaration no field is a repository's.
        if !self.is_project() {
            return Ok(());
        }
        let literal = transport.texts().filter(|(field, text)| field.holds_credential(text));
        let mut of_repository = literal.filter_map(|(field, _)| {
            let (_, origin) = self.declaration.origins().find(|(key, _)| *key == field.key())?;
            origin.layer.is_project().then_some((field, origin))
        });
        let Some((field, origin)) = of_repository.next() else { return Ok(()) };
        let message = format!(
            "{field} holds what looks like a credential in clear, and everybody who has the repository reads it"
        );
        let help = "write ${secret:NAME} in its place, and let each user run: squire secret set NAME";
        self.problem(origin, &message)
            .map_err(|problem| Box::new(Problem { help: Some(help.into()), ..*problem }))
    }

    /// What the policy's rewriting leaves is held to the rule of what is written.
    fn refuse_no_address(&self, transport: &Transport) -> Completed<()> {
        let remote = match transport {
            Transport::Builtin | Transport::Stdio(_) => None,
            Transport::Http(remote) | Transport::Sse(remote) => Some(remote),
            Transport::Dynamic(dynamic) => dynamic.remote.as_ref(),
        };
        match (remote.and_then(|remote| remote.url.literal()), &self.policy.rewrite_urls) {
            (Some(url), Some(rewrites)) if !is_address(url) => self.problem(
                &rewrites.origin,
                &format!("`rewrite_urls` makes {:?} of its address, which is none", masked_address(url)),
            ),
            _ => Ok(()),
        }
    }

    /// A project may lower the limit on results, and not raise it.
    fn refuse_widening(&self) -> Completed<()> {
        let limit = self.policy.result_limit.as_ref().map_or(limits::RESULT_LIMIT, |limit| limit.value);
        match &self.declaration.result_limit {
            Some(own) if own.origin.layer.is_project() && own.value > limit => self.problem(
                &own.origin,
                &format!("a project can only lower `result_limit`, which is {limit} bytes"),
            ),
            Some(_) | None => Ok(()),
        }
    }

    /// Direct: a plain remote server whose transport the agent speaks; everything else goes through the gateway.
    fn route(&self, transport: &Transport, speaks: &dyn Fn(&Transport) -> bool) -> Completed<Route> {
        let declaration = self.declaration;
        let chosen = declaration.route.as_ref();
        if transport.remote().is_none() {
            return match chosen {
                Some(Located { value: Route::Direct, origin }) => self.problem(
                    origin,
                    "`route = \"direct\"` is for remote servers; a program always goes through the gateway",
                ),
                Some(Located { value: Route::Gateway, .. }) | None => Ok(Route::Gateway),
            };
        }
        let has_reference = transport.texts().any(|(_, text)| text.references().next().is_some());
        let plain = !has_reference && !is_for_the_gateway(declaration) && declaration.timeout.is_none();
        match chosen {
            Some(Located { value: Route::Direct, origin }) if !plain => self.problem(
                origin,
                "`route = \"direct\"` hands the entry to the agent as it is: no reference, auth, filter, limit or timeout goes with it",
            ),
            Some(Located { value: Route::Direct, origin }) if self.is_project() => self.problem(
                origin,
                "`route = \"direct\"` is not for a project to say: its servers are reached through the gateway",
            ),
            Some(chosen) => Ok(chosen.value),
            None if plain && !self.is_project() && speaks(transport) => Ok(Route::Direct),
            None => Ok(Route::Gateway),
        }
    }
}

fn value_or_default<T: Clone + Default>(located: Option<&Located<T>>) -> T {
    located.map(|located| located.value.clone()).unwrap_or_default()
}

/// Whether scheme, host and port of an address are written out.
fn names_its_host(url: &Text) -> bool {
    let written = url.leading_literal();
    let host = written.split_once("://").map(|(_, rest)| rest);
    url.literal().is_some() || host.is_some_and(|rest| rest.contains(['/', '?', '#']))
}

/// Whether a program is a path that begins in whatever directory it is started in.
fn is_relative_path(program: &Text) -> bool {
    program.literal().is_some_and(|written| written.contains('/') && !written.starts_with(['/', '~']))
}

/// Whether a directory may lead out of the one that it is relative to.
fn leaves(cwd: &Text) -> bool {
    let Some(written) = cwd.literal() else { return true };
    written.starts_with(['/', '~']) || written.split('/').any(|part| part == "..")
}

fn is_on(field: Option<&Located<String>>) -> bool {
    field.is_some_and(|word| word.value != "off")
}

/// Whether a declaration writes what only the gateway keeps.
fn is_for_the_gateway(declaration: &Declaration) -> bool {
    let Declaration { auth, client_cert, client_key, ca, result_limit, tools, audit, pin, .. } = declaration;
    let paths = [client_cert, client_key, ca];
    auth.is_some()
        || paths.into_iter().any(Option::is_some)
        || result_limit.is_some()
        || tools.is_some()
        || is_on(audit.as_ref())
        || is_on(pin.as_ref())
}

/// Why a server that needs the user's word does not run.
fn reason(standing: &Standing) -> Option<String> {
    match standing {
        Standing::Approved => None,
        Standing::New => Some("not approved".into()),
        Standing::Changed(differences) => {
            Some(format!("changed since it was approved: {}", differences.join(", ")))
        }
    }
}

/// Why a server that is well declared does not run.
fn obstacle(
    declaration: &Declaration,
    server: &ResolvedServer,
    standing: &Standing,
    policy: &Policy,
    speaks: &dyn Fn(&Transport) -> bool,
) -> Option<(Code, String)> {
    if let Some(disabled) = declaration.disabled.as_ref().filter(|disabled| disabled.value) {
        return Some((Code::Disabled, format!("disabled in {}", disabled.origin.layer.place())));
    }
    if let Some(sentence) = limits::refusal(policy, server) {
        return Some((Code::Policy, sentence));
    }
    if server.tier == Tier::Community
        && let Some(reason) = reason(standing)
    {
        let whose = match declaration.origin.layer {
            LayerKind::Project | LayerKind::Live => "declared by the project",
            LayerKind::DropIn => "declared in servers.d",
            LayerKind::User | LayerKind::Local | LayerKind::Managed => "of the tier community",
        };
        return Some((Code::NotApproved, format!("{whose}, and {reason}")));
    }
    if server.route == Route::Direct && !speaks(&server.transport) {
        let word = server.transport.as_str();
        return Some((Code::Transport, format!("the agent does not speak {word}, and its route is direct")));
    }
    None
}
