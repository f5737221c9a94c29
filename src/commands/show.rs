//! `squire show`: one server, every value with its origin.

mod render;

use anyhow::Result;
use serde_json::{Map, Value, json};
use squire_strategies::{
    Effect, Name, Refusal, ResolvedServer, Transport, masked_address, masked_header, masked_text,
};

use super::secret::told;
use super::{Agent, Surroundings};
use crate::cli;
use crate::config::{Declaration, Origin, Policy};
use crate::declared::{self, written};
use crate::environment::Environment;
use crate::exit::Exit;
use crate::output::Output;
use crate::resolve::{
    RESULT_LIMIT, Resolved, Selection, Standings, UnknownSelection, everything, resolve, rewrite_of,
    unknown_name,
};
use crate::secrets::of_declaration;
use crate::trust::approvals::Approval;
use crate::trust::digest::{canonical, digest};

/// Runs the command.
pub fn run(options: &cli::Show, environment: &Environment) -> Result<Exit> {
    let surroundings = Surroundings::find(environment)?;
    surroundings.refuse_foreign()?;
    let declared = everything(&surroundings.layers, &surroundings.standings, &|transport: &Transport| {
        transport.remote().is_some()
    })?;
    let entry = find(&declared.entries, &options.name)?;
    let shown = Shown {
        entry,
        routes: routes(&surroundings, entry, environment)?,
        fields: fields(entry, &surroundings),
        secrets: secrets(entry, &surroundings),
        profiles: profiles(&surroundings, entry),
        digest: entry.declaration.as_ref().map(|declaration| digest(&canonical(declaration))),
        approval: entry.declaration.as_ref().and_then(|it| surroundings.court(environment).approval(it)),
    };
    Output::default().data(&if options.json {
        format!("{:#}\n", render::json(&shown))
    } else {
        render::text(&shown, environment.home().as_deref())
    })?;
    Ok(Exit::DONE)
}

/// Everything that is shown of a server.
struct Shown<'a> {
    entry: &'a Resolved,
    routes: Vec<AgentRoute>,
    fields: Vec<Field>,
    secrets: Vec<UsedSecret>,
    profiles: Vec<String>,
    /// The digest of the declaration, and the approval of it.
    digest: Option<String>,
    approval: Option<Approval>,
}

/// A secret that the declaration names.
struct UsedSecret {
    name: String,
    /// Where its value comes from, or why nobody knows; nothing of a project's server, which is none of the user's.
    source: Option<String>,
    kind: Option<&'static str>,
}

/// How one agent gets the server, or why it does not.
struct AgentRoute {
    agent: String,
    /// `direct`, `gateway`, `left-out`, `switched-off` or `refused`.
    route: &'static str,
    reason: Option<String>,
}

/// A value, and who says so: nobody where it is the default.
struct Field {
    name: &'static str,
    value: Value,
    origin: Option<Origin>,
}

fn find<'a>(entries: &'a [Resolved], name: &str) -> Result<&'a Resolved> {
    if let Some(entry) = entries.iter().find(|entry| entry.server.name.as_str() == name) {
        return Ok(entry);
    }
    let known = entries.iter().map(|entry| entry.server.name.as_str());
    Err(UnknownSelection(vec![unknown_name("server", name, known)]).into())
}

fn routes(
    surroundings: &Surroundings,
    entry: &Resolved,
    environment: &Environment,
) -> Result<Vec<AgentRoute>> {
    let agents = surroundings.agents()?;
    agents.iter().map(|agent| route(surroundings, agent, &entry.server.name, environment)).collect()
}

/// Plans a launch with this server alone.
fn route(
    surroundings: &Surroundings,
    agent: &Agent,
    name: &Name,
    environment: &Environment,
) -> Result<AgentRoute> {
    let selection = Selection {
        servers: vec![name.to_string()],
        agent: Some(agent.name.clone()),
        ..Selection::default()
    };
    let told = |route, reason| AgentRoute { agent: agent.name.clone(), route, reason };
    let resolution = surroundings.resolve(agent, &selection)?;
    let plan = match surroundings.plan(agent, &resolution, &[], environment) {
        Ok(plan) => plan,
        Err(error) => {
            let reason = error.downcast_ref().map_or_else(|| format!("{error:#}"), Refusal::on_one_line);
            return Ok(told("refused", Some(reason)));
        }
    };
    if let Some(note) = plan.obstacles().get(name) {
        let is_off = note.code.effect() == Effect::SwitchedOff;
        return Ok(told(if is_off { "switched-off" } else { "left-out" }, Some(note.sentence.clone())));
    }
    let server = plan.servers.iter().find(|server| server.name == *name);
    Ok(told(server.map_or("left-out", |server| server.route.as_str()), None))
}

/// What is written, and behind it what holds where nothing is written: the policy's word, or the default.
fn fields(entry: &Resolved, surroundings: &Surroundings) -> Vec<Field> {
    let Some(declaration) = &entry.declaration else { return Vec::new() };
    let mut fields: Vec<Field> = written(declaration)
        .into_iter()
        .map(|written| {
            let value = match (written.field, written.value) {
                ("url", Value::String(url)) => json!(masked_address(&url)),
                ("headers", Value::Object(headers)) => masked_headers(headers),
                (_, value) => value,
            };
            Field { name: written.field, value, origin: Some(written.origin.clone()) }
        })
        .collect();
    let policy = &surroundings.layers.policy;
    let timeout = policy.timeout.as_ref();
    let result_limit = policy.result_limit.as_ref();
    let unwritten = [
        (
            "timeout",
            declared::duration(timeout.map_or(ResolvedServer::TIMEOUT, |timeout| timeout.value)),
            timeout.map(|timeout| &timeout.origin),
        ),
        ("startup_timeout", declared::duration(ResolvedServer::STARTUP_TIMEOUT), None),
        (
            "result_limit",
            declared::size(result_limit.map_or(RESULT_LIMIT, |limit| limit.value)),
            result_limit.map(|limit| &limit.origin),
        ),
    ];
    for (name, value, origin) in unwritten {
        if !fields.iter().any(|field| field.name == name) {
            fields.push(Field { name, value, origin: origin.cloned() });
        }
    }
    fields.extend(of_policy(policy, declaration));
    fields
}

/// What the policy adds to the server, and what it makes of its address.
fn of_policy(policy: &Policy, declaration: &Declaration) -> Vec<Field> {
    let added = added_variables(policy, declaration).map(|(env, origin)| Field {
        name: "policy.env",
        value: env,
        origin: Some(origin.clone()),
    });
    let url = declaration.url.as_ref().map(|url| &url.value);
    let rewritten = url.and_then(|url| rewrite_of(policy, url)).map(|(rewrite, origin)| Field {
        name: "policy.rewrite_urls",
        value: json!({ "from": masked_address(&rewrite.from), "to": masked_address(&rewrite.to) }),
        origin: Some(origin.clone()),
    });
    added.into_iter().chain(rewritten).collect()
}

fn added_variables<'a>(policy: &'a Policy, declaration: &Declaration) -> Option<(Value, &'a Origin)> {
    let env = policy.env.as_ref().filter(|_| declaration.command.is_some())?;
    let own = |name: &str| declaration.env.iter().flat_map(|env| &env.value).any(|(own, _)| own == name);
    let added: Map<String, Value> = env
        .value
        .iter()
        .filter(|(name, _)| !own(name))
        .map(|(name, text)| (name.clone(), json!(masked_text(text))))
        .collect();
    (!added.is_empty()).then(|| (added.into(), &env.origin))
}

/// Headers as they are shown.
fn masked_headers(headers: Map<String, Value>) -> Value {
    let masked = |(name, value): (String, Value)| {
        let shown = value.as_str().map_or_else(|| value.clone(), |value| masked_header(&name, value).into());
        (name, shown)
    };
    Value::Object(headers.into_iter().map(masked).collect())
}

/// The secrets that the declaration uses, and where the values of the user's own servers come from.
fn secrets(entry: &Resolved, surroundings: &Surroundings) -> Vec<UsedSecret> {
    let names = of_declaration(&entry.server.transport, entry.declaration.as_ref());
    let used = |name: &str| {
        let known = if entry.is_project() { None } else { Some(surroundings.secrets()) };
        let (source, kind) = match known {
            None => (None, None),
            Some(Err(_)) => (Some("secrets.toml can't be read".to_owned()), None),
            Some(Ok(secrets)) => match secrets.find(name) {
                None => (Some("not in secrets.toml".to_owned()), None),
                Some(secret) => (Some(told(&secret.source)), Some(secret.source.kind())),
            },
        };
        UsedSecret { name: name.to_owned(), source, kind }
    };
    names.into_iter().map(used).collect()
}

/// What the server receives of the user, as a sentence: variables, and secrets with who would get them.
pub(super) fn receives(entry: &Resolved) -> String {
    let mut parts = vec![render::receives(&entry.server)];
    let secrets = of_declaration(&entry.server.transport, entry.declaration.as_ref());
    if !secrets.is_empty() {
        let who = match entry.server.transport.remote() {
            Some(remote) => host(&remote.url.to_string()),
            None => "the program".into(),
        };
        parts.push(format!("secrets, for {who}: {}", secrets.join(", ")));
    }
    parts.join("; ")
}

fn host(url: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    authority.rsplit_once('@').map_or(authority, |(_, host)| host).to_owned()
}

/// The variables of the user's environment that the declaration reads or hands on.
fn variables(server: &ResolvedServer) -> Vec<String> {
    unique(server.declared_variables().into_iter().map(str::to_owned))
}

/// The variables that the declaration and the policy set.
fn set_variables(server: &ResolvedServer) -> Vec<String> {
    let stdio = match &server.transport {
        Transport::Stdio(stdio) => Some(stdio),
        Transport::Dynamic(dynamic) => dynamic.stdio.as_ref(),
        Transport::Builtin | Transport::Http(_) | Transport::Sse(_) => None,
    };
    unique(stdio.into_iter().flat_map(|stdio| &stdio.env).map(|(name, _)| name.clone()))
}

/// Whether it is a program, which has the base environment too.
fn is_program(server: &ResolvedServer) -> bool {
    match &server.transport {
        Transport::Stdio(_) => true,
        Transport::Dynamic(dynamic) => dynamic.stdio.is_some(),
        Transport::Builtin | Transport::Http(_) | Transport::Sse(_) => false,
    }
}

fn unique(names: impl Iterator<Item = String>) -> Vec<String> {
    let mut unique = Vec::new();
    for name in names {
        if !unique.contains(&name) {
            unique.push(name);
        }
    }
    unique
}

/// The profiles that select it: the user's, then the project's.
fn profiles(surroundings: &Surroundings, entry: &Resolved) -> Vec<String> {
    let layers = &surroundings.layers;
    let of_project = layers.project.iter().flat_map(|project| &project.profiles);
    let mut selecting = Vec::new();
    for profile in layers.user.profiles.iter().chain(of_project) {
        let selection = Selection { profiles: vec![profile.name.clone()], ..Selection::default() };
        // A project's profile that can't be selected selects nothing.
        let Ok(resolution) = resolve(layers, &Standings::new(), &selection, &|_| true) else { continue };
        let is_it = |other: &Resolved| {
            other.server.name == entry.server.name && other.is_project() == entry.is_project()
        };
        if resolution.entries.iter().any(is_it) {
            selecting.push(profile.name.clone());
        }
    }
    unique(selecting.into_iter())
}
