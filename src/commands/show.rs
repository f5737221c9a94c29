//! `squire show`: one server, every value with its origin.

mod json;
mod render;
mod routes;
mod selecting;

use std::collections::BTreeSet;

use anyhow::Result;
use serde_json::{Map, Value, json};
use squire_strategies::{ResolvedServer, Tier, Transport, masked_address, masked_header, masked_text};

use super::Surroundings;
use super::secret::told;
use crate::cli;
use crate::config::{Declaration, Origin, Policy};
use crate::declared::{self, written};
use crate::environment::Environment;
use crate::exit::Exit;
use crate::output::Output;
use crate::resolve::{
    RESULT_LIMIT, Resolved, Standing, UnknownSelection, everything, rewrite_of, unknown_name,
};
use crate::secrets::of_declaration;
use crate::trust::Court;
use crate::trust::approvals::{self, Approval};
use crate::trust::digest::{Canonical, digest};
use crate::trust::pins::{Definitions, Pins, Subject};
use routes::{AgentRoute, routes};
use selecting::Selecting;

/// Runs the command.
pub fn run(options: &cli::Show, environment: &Environment) -> Result<Exit> {
    let surroundings = Surroundings::find(environment)?;
    surroundings.refuse_foreign()?;
    let declared = everything(&surroundings.layers, &surroundings.standings, &|transport: &Transport| {
        transport.remote().is_some()
    })?;
    let entry = find(&declared.entries, &options.name)?;
    let found = shown(&surroundings, std::slice::from_ref(&entry), environment)?;
    let Some(shown) = found.into_iter().next() else { return Ok(Exit::DONE) };
    Output::default().data(&if options.json {
        let mut json = json!({ "version": VERSION });
        if let (Some(json), Value::Object(server)) = (json.as_object_mut(), json::json(&shown)) {
            json.extend(server);
        }
        format!("{json:#}\n")
    } else {
        render::text(&shown, environment.home().as_deref())
    })?;
    Ok(Exit::DONE)
}

/// The version of what `list --json` and `show --json` print (docs/json.md): keys may come, and none goes or changes
/// without another number.
pub(super) const VERSION: u32 = 1;

/// The servers as JSON, each with everything that is known of it.
pub(super) fn as_json(
    surroundings: &Surroundings,
    entries: &[Resolved],
    environment: &Environment,
) -> Result<Vec<Value>> {
    let entries: Vec<&Resolved> = entries.iter().collect();
    Ok(shown(surroundings, &entries, environment)?.iter().map(json::json).collect())
}

/// Everything that is shown of servers.
fn shown<'a>(
    surroundings: &Surroundings,
    entries: &[&'a Resolved],
    environment: &Environment,
) -> Result<Vec<Shown<'a>>> {
    let mut routes = routes(surroundings, entries, environment)?.into_iter();
    let selecting = Selecting::of(&surroundings.layers);
    let court = surroundings.court(environment);
    let (approvals, _) = approvals::load(court.state);
    let one = |entry: &&'a Resolved| {
        let digest = entry.declaration.as_deref().map(|declaration| digest(&Canonical(declaration)));
        Shown {
            entry,
            routes: routes.next().unwrap_or_default(),
            fields: fields(entry, surroundings),
            secrets: secrets(entry, surroundings),
            profiles: selecting.profiles(entry),
            standing: standing(surroundings, entry),
            tools: entry.declaration.as_deref().and_then(|it| known_tools(&Subject::of(it, court), court)),
            digest,
            approval: entry
                .declaration
                .as_deref()
                .and_then(|it| court.approval_among(it, &approvals))
                .cloned(),
        }
    };
    Ok(entries.iter().map(one).collect())
}

/// Everything that is shown of a server.
struct Shown<'a> {
    entry: &'a Resolved,
    routes: Vec<AgentRoute>,
    fields: Vec<Field>,
    secrets: Vec<UsedSecret>,
    profiles: Vec<String>,
    /// What the user has said of it; nothing of what needs no word.
    standing: Option<Standing>,
    /// What a list of its tools said last.
    tools: Option<Vec<String>>,
    /// The digest of the declaration, and the approval of it.
    digest: Option<String>,
    approval: Option<Approval>,
}

/// The names of the tools that it had when they were seen last: those that are held back too.
fn known_tools(subject: &Subject, court: Court<'_>) -> Option<Vec<String>> {
    let record = Pins::of(court.state).read(subject).record?;
    let named = |definitions: Definitions| definitions.tools.unwrap_or_default().into_keys();
    let is_told = record.believed.tools.is_some();
    let all: BTreeSet<String> = named(record.believed).chain(named(record.differing)).collect();
    is_told.then(|| all.into_iter().collect())
}

fn standing(surroundings: &Surroundings, entry: &Resolved) -> Option<Standing> {
    let standing =
        || surroundings.standings.get(entry.server.name.as_str()).cloned().unwrap_or(Standing::New);
    (entry.server.tier == Tier::Community).then(standing)
}

/// A secret that the declaration names.
struct UsedSecret {
    name: String,
    /// Where its value comes from, or why nobody knows; nothing of a project's server, which is none of the user's.
    source: Option<String>,
    kind: Option<&'static str>,
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
    let names = of_declaration(&entry.server.transport, entry.declaration.as_deref());
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
    let secrets = of_declaration(&entry.server.transport, entry.declaration.as_deref());
    if !secrets.is_empty() {
        let who = match entry.server.transport.remote() {
            Some(remote) => host(&remote.url.to_string()),
            None => "the program".into(),
        };
        parts.push(format!("secrets, for {who}: {}", secrets.join(", ")));
    }
    if let Some(Declaration { client_key: Some(key), .. }) = entry.declaration.as_deref() {
        parts.push(format!("proof that it has the key in your file {}", key.value));
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
