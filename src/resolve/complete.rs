//! One declaration becomes one server: transport and route are settled, and what does not fit is a problem.

use squire_strategies::{Code, Remote, ResolvedServer, Route, Source, Stdio, Text, Tier, Transport};

use super::{Resolved, left_out};
use crate::config::{Declaration, Kind, Layer, LayerKind, Located, Place, Problem};

type Completed<T> = Result<T, Box<Problem>>;

/// Completes a declaration. The error is the first thing in it that does not fit.
pub(super) fn complete(
    layer: &Layer,
    declaration: &Declaration,
    speaks: &dyn Fn(&Transport) -> bool,
) -> Completed<Resolved> {
    let context = Context { layer, declaration };
    let transport = context.transport()?;
    let route = context.route(&transport, speaks)?;
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
    let left_out = obstacle(declaration, &server, speaks)
        .map(|(code, sentence)| left_out(&declaration.name, code, sentence));
    Ok(Resolved { server, layer: layer.kind, left_out })
}

struct Context<'a> {
    layer: &'a Layer,
    declaration: &'a Declaration,
}

impl Context<'_> {
    fn problem<T>(&self, place: Place, message: &str) -> Completed<T> {
        Err(Box::new(Problem {
            path: self.layer.path.clone(),
            place,
            message: format!("[servers.{}]: {message}", self.declaration.name),
            help: None,
        }))
    }

    fn transport(&self) -> Completed<Transport> {
        let Declaration { transport, command, url, place, .. } = self.declaration;
        let kind = match (transport, command, url) {
            (Some(kind), _, _) => kind.value,
            (None, Some(_), None) => Kind::Stdio,
            (None, None, Some(_)) => Kind::Http,
            (None, Some(command), Some(url)) => {
                let message = "both `command` and `url`: one server has one of them";
                return self.problem(command.place.max(url.place), message);
            }
            (None, None, None) => {
                return self
                    .problem(*place, "neither `command` nor `url`: one of them says what the server is");
            }
        };
        self.refuse_foreign_fields(kind)?;
        match kind {
            Kind::Stdio => self.stdio().map(Transport::Stdio),
            Kind::Http => self.remote().map(Transport::Http),
            Kind::Sse => self.remote().map(Transport::Sse),
        }
    }

    fn stdio(&self) -> Completed<Stdio> {
        let declaration = self.declaration;
        let Some(command) = &declaration.command else {
            return self.problem(declaration.place, "`command` is missing: a stdio server needs one");
        };
        let mut words = command.value.iter().cloned();
        let program = words.next().unwrap_or_else(|| Text::plain(""));
        if self.layer.kind == LayerKind::Project && program.literal().is_none() {
            return self.problem(command.place, "a project's `command` can't hold a reference");
        }
        Ok(Stdio {
            command: program,
            args: words.chain(value_or_default(declaration.args.as_ref())).collect(),
            env: value_or_default(declaration.env.as_ref()),
            inherit_env: value_or_default(declaration.inherit_env.as_ref()),
            cwd: declaration.cwd.as_ref().map(|located| located.value.clone()),
        })
    }

    fn remote(&self) -> Completed<Remote> {
        let declaration = self.declaration;
        let Some(url) = &declaration.url else {
            return self.problem(declaration.place, "`url` is missing: a remote server needs one");
        };
        if self.layer.kind == LayerKind::Project && !names_its_host(&url.value) {
            return self.problem(url.place, "a project's `url` can't hold a reference before its path");
        }
        Ok(Remote { url: url.value.clone(), headers: value_or_default(declaration.headers.as_ref()) })
    }

    /// Written plainly, a field of another transport is an error.
    fn refuse_foreign_fields(&self, kind: Kind) -> Completed<()> {
        let declaration = self.declaration;
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
        match foreign.iter().find_map(|(key, place)| place.map(|place| (key, place))) {
            None => Ok(()),
            Some((key, place)) => self.problem(place, &format!("`{key}` does not go with {word}")),
        }
    }

    /// Direct: a plain remote server whose transport the agent speaks; everything else goes through the gateway.
    fn route(&self, transport: &Transport, speaks: &dyn Fn(&Transport) -> bool) -> Completed<Route> {
        let declaration = self.declaration;
        let chosen = declaration.route.as_ref();
        if transport.remote().is_none() {
            return match chosen {
                Some(Located { value: Route::Direct, place }) => self.problem(
                    *place,
                    "`route = \"direct\"` is for remote servers; a program always goes through the gateway",
                ),
                Some(Located { value: Route::Gateway, .. }) | None => Ok(Route::Gateway),
            };
        }
        let has_reference = transport.texts().iter().any(|(_, text)| text.references().next().is_some());
        let plain = !has_reference && declaration.needs_relay.is_empty() && declaration.timeout.is_none();
        match chosen {
            Some(Located { value: Route::Direct, place }) if !plain => self.problem(
                *place,
                "`route = \"direct\"` hands the entry to the agent as it is: no reference, auth, filter, limit or timeout goes with it",
            ),
            Some(chosen) => Ok(chosen.value),
            None if plain && self.layer.kind == LayerKind::User && speaks(transport) => Ok(Route::Direct),
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

/// Why a server that is well declared does not run.
fn obstacle(
    declaration: &Declaration,
    server: &ResolvedServer,
    speaks: &dyn Fn(&Transport) -> bool,
) -> Option<(Code, String)> {
    if declaration.disabled.as_ref().is_some_and(|disabled| disabled.value) {
        return Some((Code::Disabled, "disabled in squire.toml".into()));
    }
    if server.route == Route::Direct && !speaks(&server.transport) {
        let word = server.transport.as_str();
        return Some((Code::Transport, format!("the agent does not speak {word}, and its route is direct")));
    }
    let is_secret = |source: &Source| matches!(source, Source::Secret(_));
    let texts = server.transport.texts();
    let mut references = texts.iter().flat_map(|(_, text)| text.references());
    let what = if let Some(field) = declaration.needs_relay.first() {
        field.value.to_owned()
    } else if let Some(secret) = references.find(|reference| is_secret(&reference.source)) {
        secret.to_string()
    } else if server.transport.remote().is_some() && server.route == Route::Gateway {
        let referring = texts.iter().find(|(_, text)| text.references().next().is_some());
        match referring {
            Some((field, _)) => format!("a reference in {field}"),
            None if declaration.timeout.is_some() => "the timeout of a remote server".into(),
            None => format!("{} through the gateway", server.transport.as_str()),
        }
    } else {
        return None;
    };
    Some((Code::NeedsRelay, needs_relay(&what)))
}

/// The sentence for what only the relay will do.
pub(super) fn needs_relay(what: &str) -> String {
    format!("{what} needs the relaying gateway, which this version of squire does not have yet")
}
