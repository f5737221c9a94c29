//! How each agent reads what squire's plan gives it, written down from the agents' own code and documentation.
//!
//! - Claude Code 2.1.197: strict JSON; an entry needs a `type` that it knows (B61); `${VAR}` and `${VAR:-default}` are
//!   expanded once in `command`, `args`, `env`, `url` and `headers`, and a variable that is unset stays as text.
//! - Codex 0.171.0: `-c KEY=VALUE` is split at the first `=`, both sides are trimmed, KEY is split at every `.` with no
//!   quoting, VALUE is parsed as TOML behind `_x_ = `, and what does not parse is taken for a string without an error
//!   (B73): that must never happen. It knows no SSE. A server gets the variables that `env_vars` names.
//! - OpenCode 1.18.33: `{env:NAME}` and `{file:PATH}` are replaced in the text, before it is parsed; `type` is `local`
//!   with `command` as an array, or `remote` (B18); a server gets the whole environment.
//! - Cursor: `${env:NAME}` is expanded, an unset one to nothing, as are `${userHome}` and `${workspaceFolder}`; an
//!   entry with `url` is remote.
//! - inspect: Claude's shape.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use squire::plan::Plan;
use squire_strategies::{Argument, File, SWITCHED_OFF};
use toml::de::{DeTable, DeValue};

type Variables = BTreeMap<String, String>;

/// A server as the agent understood it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    Program {
        command: String,
        args: Vec<String>,
        environment: Variables,
    },
    /// `kind` where the agent does not find out by itself.
    Remote {
        kind: Option<String>,
        url: String,
        headers: Variables,
    },
}

/// The servers that the plan's agent gets, launched with `environment`.
pub(crate) fn received(plan: &Plan, environment: &Variables) -> BTreeMap<String, Entry> {
    match plan.agent.as_str() {
        "claude" | "inspect" => claude(plan, environment),
        "codex" => codex(&plan.artifacts.arguments, environment),
        "cursor" => cursor(plan, environment),
        "opencode" => opencode(plan, environment),
        other => panic!("the rules of {other} are not written down: add them here"),
    }
}

fn claude(plan: &Plan, environment: &Variables) -> BTreeMap<String, Entry> {
    let files: Vec<&String> = plan
        .artifacts
        .files
        .iter()
        .map(|file| match file {
            File::Private { text, .. } => text,
            File::Merge { path, .. } => panic!("{path} is not read"),
        })
        .collect();
    let named = plan.artifacts.arguments.iter().filter(|argument| argument.text == "--mcp-config=").count();
    assert_eq!((files.len(), named), (files.len().min(1), files.len()), "one file, named once");
    let Some(text) = files.first() else { return BTreeMap::new() };
    let file: Value = serde_json::from_str(text).unwrap();
    for (name, entry) in replacing(plan) {
        assert!(file["mcpServers"].get(&name).is_none(), "{name} of ours would lose nothing by it");
        // Serves nothing, and no loader of the repository's starts with it.
        assert_eq!(entry["args"][1], SWITCHED_OFF);
        assert_eq!(entry["env"]["LD_PRELOAD"], "${LD_PRELOAD:-}");
    }
    let expand = |text: &str| {
        expand(text, |inner| {
            let (name, default) = match inner.split_once(":-") {
                Some((name, default)) => (name, Some(default)),
                None => (inner, None),
            };
            environment.get(name).map(String::as_str).or(default).map(str::to_owned)
        })
    };
    let entries = file["mcpServers"].as_object().unwrap();
    entries
        .iter()
        .map(|(name, entry)| {
            let entry = match entry["type"].as_str() {
                Some("stdio") => program(entry, &expand),
                Some(kind @ ("http" | "sse")) => remote(Some(kind), entry, &expand),
                kind => panic!("Claude Code drops {name} of type {kind:?}"),
            };
            (name.clone(), entry)
        })
        .collect()
}

/// The entries of the argument before the user's words: they replace those of the project's files, while ours and the
/// user's, which come later, replace them.
fn replacing(plan: &Plan) -> Map<String, Value> {
    let configs = plan.artifacts.leading.iter().filter_map(|argument| {
        assert_eq!(argument.file, None);
        argument.text.strip_prefix("--mcp-config=")
    });
    let configs: Vec<Value> = configs.map(|config| serde_json::from_str(config).unwrap()).collect();
    configs.into_iter().flat_map(|config| config["mcpServers"].as_object().unwrap().clone()).collect()
}

fn cursor(plan: &Plan, environment: &Variables) -> BTreeMap<String, Entry> {
    let expand = |text: &str| {
        expand(text, |inner| match inner {
            "userHome" | "workspaceFolder" | "workspaceFolderBasename" | "pathSeparator" | "/" => {
                Some("EXPANDED".into())
            }
            _ => inner.strip_prefix("env:").map(|name| environment.get(name).cloned().unwrap_or_default()),
        })
    };
    let mut servers = BTreeMap::new();
    for file in &plan.artifacts.files {
        let File::Merge { path, at, entries } = file else { panic!("a private file is not read") };
        assert_eq!((*path, *at), (".cursor/mcp.json", "mcpServers"));
        for (name, entry) in entries.iter() {
            let entry: Value = serde_json::from_str(entry).unwrap();
            let read = if entry.get("url").is_some() {
                remote(None, &entry, &expand)
            } else {
                program(&entry, &expand)
            };
            servers.insert(name.to_owned(), read);
        }
    }
    servers
}

/// Replaces every `${…}` once; `None` from `value` leaves it as it is.
fn expand(text: &str, value: impl Fn(&str) -> Option<String>) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("${") {
        let Some(length) = rest[at..].find('}') else { break };
        let whole = &rest[at..=at + length];
        out.push_str(&rest[..at]);
        out.push_str(&value(&whole[2..whole.len() - 1]).unwrap_or_else(|| whole.to_owned()));
        rest = &rest[at + length + 1..];
    }
    out + rest
}

fn program(entry: &Value, expand: &dyn Fn(&str) -> String) -> Entry {
    Entry::Program {
        command: expand(entry["command"].as_str().unwrap()),
        args: strings(&entry["args"]).iter().map(|arg| expand(arg)).collect(),
        environment: pairs(&entry["env"], expand),
    }
}

fn remote(kind: Option<&str>, entry: &Value, expand: &dyn Fn(&str) -> String) -> Entry {
    Entry::Remote {
        kind: kind.map(str::to_owned),
        url: expand(entry["url"].as_str().unwrap()),
        headers: pairs(&entry["headers"], expand),
    }
}

fn strings(value: &Value) -> Vec<String> {
    value.as_array().unwrap().iter().map(|value| value.as_str().unwrap().to_owned()).collect()
}

fn pairs(value: &Value, expand: &dyn Fn(&str) -> String) -> Variables {
    let none = Map::new();
    let entries = if value.is_null() { &none } else { value.as_object().unwrap() };
    entries.iter().map(|(name, value)| (name.clone(), expand(value.as_str().unwrap()))).collect()
}

fn opencode(plan: &Plan, environment: &Variables) -> BTreeMap<String, Entry> {
    assert!(plan.artifacts.files.is_empty() && plan.artifacts.arguments.is_empty());
    let Some((_, text)) =
        plan.artifacts.environment.iter().find(|(name, _)| name == "OPENCODE_CONFIG_CONTENT")
    else {
        return BTreeMap::new();
    };
    let replaced = substitute(text, "{env:", &|name| environment.get(name).cloned().unwrap_or_default());
    let replaced = substitute(&replaced, "{file:", &|_| "THE FILE".into());
    let config: Value = serde_json::from_str(&replaced).unwrap();
    let own: Option<Value> = environment
        .get("OPENCODE_CONFIG_CONTENT")
        .map(|own| squire_strategies::parse_jsonc(own.as_bytes()).unwrap());
    let is_own = |name: &str| own.as_ref().is_some_and(|own| own["mcp"].get(name).is_some());
    // An entry of no other key switches one of another file off, and adds none.
    let is_off = |entry: &Value| *entry == serde_json::json!({ "enabled": false });
    let entries =
        config["mcp"].as_object().unwrap().iter().filter(|(name, entry)| !is_own(name) && !is_off(entry));
    entries
        .map(|(name, entry)| {
            assert_eq!(entry["enabled"], true);
            let read = match entry["type"].as_str() {
                Some("local") => {
                    let mut command = strings(&entry["command"]);
                    let program = command.remove(0);
                    // B18: these are the common shape's keys, which OpenCode ignores or refuses.
                    assert!(entry.get("env").is_none() && entry.get("args").is_none());
                    Entry::Program { command: program, args: command, environment: environment.clone() }
                }
                Some("remote") => remote(None, entry, &str::to_owned),
                kind => panic!("OpenCode refuses {name} of type {kind:?}"),
            };
            (name.clone(), read)
        })
        .collect()
}

/// Replaces `OPEN…}` with at least one character between, as `/\{env:([^}]+)\}/g` does.
fn substitute(text: &str, open: &str, value: &dyn Fn(&str) -> String) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(open) {
        let inner = &rest[at + open.len()..];
        match inner.find('}') {
            Some(length) if length > 0 => {
                out.push_str(&rest[..at]);
                out.push_str(&value(&inner[..length]));
                rest = &inner[length + 1..];
            }
            _ => {
                out.push_str(&rest[..at + open.len()]);
                rest = inner;
            }
        }
    }
    out + rest
}

fn codex(arguments: &[Argument], environment: &Variables) -> BTreeMap<String, Entry> {
    let mut servers: BTreeMap<String, BTreeMap<String, Value>> = BTreeMap::new();
    for pair in arguments.chunks(2) {
        let [option, assignment] = pair else { panic!("an argument is left over") };
        assert_eq!((option.text.as_str(), option.file, assignment.file), ("-c", None, None));
        let (key, value) = assignment.text.split_once('=').unwrap();
        let path: Vec<&str> = key.trim().split('.').collect();
        let ["mcp_servers", name, key] = path[..] else { panic!("{key} is no key of one server") };
        assert!(name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_')), "B06: {name}");
        let line = format!("_x_ = {}", value.trim());
        assert!(!line.contains('\n'), "{line}");
        let document = DeTable::parse(&line).unwrap_or_else(|_| panic!("kept as a string: {value}"));
        let value = json(document.into_inner().remove("_x_").unwrap().into_inner());
        let earlier = servers.entry(name.to_owned()).or_default().insert(key.to_owned(), value);
        assert!(earlier.is_none(), "{name}.{key} comes twice");
    }
    servers.into_iter().map(|(name, keys)| (name, codex_server(keys, environment))).collect()
}

fn codex_server(mut keys: BTreeMap<String, Value>, environment: &Variables) -> Entry {
    let mut take = |key: &str| keys.remove(key);
    assert_eq!((take("enabled"), take("required")), (Some(true.into()), Some(true.into())));
    for timeout in ["startup_timeout_sec", "tool_timeout_sec"] {
        assert!(take(timeout).unwrap().as_f64().unwrap() > 0.0);
    }
    let entry = if let Some(url) = take("url") {
        Entry::Remote {
            kind: Some("http".into()),
            url: url.as_str().unwrap().into(),
            headers: pairs(&take("http_headers").unwrap_or_default(), &str::to_owned),
        }
    } else {
        let names = strings(&take("env_vars").unwrap());
        Entry::Program {
            command: take("command").unwrap().as_str().unwrap().into(),
            args: strings(&take("args").unwrap()),
            environment: names
                .into_iter()
                .filter_map(|name| Some((name.clone(), environment.get(&name)?.clone())))
                .collect(),
        }
    };
    assert!(keys.is_empty(), "Codex does not know {keys:?}");
    entry
}

pub(crate) fn json(value: DeValue<'_>) -> Value {
    match value {
        DeValue::String(text) => text.as_ref().into(),
        DeValue::Boolean(value) => value.into(),
        DeValue::Integer(number) => number.to_string().parse::<i64>().unwrap().into(),
        DeValue::Float(number) => number.to_string().parse::<f64>().unwrap().into(),
        DeValue::Array(values) => values.into_iter().map(|value| json(value.into_inner())).collect(),
        DeValue::Table(table) => table
            .into_iter()
            .map(|(key, value)| (key.into_inner().into_owned(), json(value.into_inner())))
            .collect(),
        DeValue::Datetime(_) => panic!("no key of a server is a date"),
    }
}
