//! Reads `[agents.NAME]` and `[policy]`. Pure.

use super::fields::{self, AGENT, AgentField, POLICY, PolicyField};
use super::read_filter::{read_filters, read_globs};
use super::read_server::read_env;
use super::schema::{AgentSettings, Kind, Located, Policy, Rewrite};
use super::table::{Entry, Reader};

/// Reads the settings of one agent.
pub(super) fn read_agent<'a>(reader: &mut Reader<'a>, entry: Entry<'a>) -> AgentSettings {
    let mut agent = AgentSettings {
        name: entry.key.to_owned(),
        origin: reader.origin(entry.place),
        profile: None,
        tools: Vec::new(),
        strategy: None,
        program: None,
    };
    reader.check_word(entry, "agent");
    for field in reader.table(entry, "a table of the agent's fields") {
        let Some(known) = fields::find(AGENT, field.key) else {
            let within = format!("[agents.{}]", entry.key.escape_debug());
            reader.unknown_key(field, &within, &fields::keys(AGENT));
            continue;
        };
        match known.id {
            AgentField::Profile => agent.profile = reader.string(field),
            AgentField::Tools => agent.tools = read_filters(reader, field),
            AgentField::Strategy => agent.strategy = read_strategy(reader, field),
            AgentField::Program => agent.program = read_program(reader, field),
        }
    }
    let is_known = squire_strategies::find(entry.key).is_some();
    if let Some(strategy) = agent.strategy.as_ref().filter(|strategy| is_known && strategy.value != entry.key)
    {
        let message =
            format!("`{}` is an agent that squire knows, and speaks its own language alone", entry.key);
        reader.problem(
            strategy.origin.place,
            message,
            Some("give the custom command a name of its own".into()),
        );
    }
    if !is_known && (agent.strategy.is_none() || agent.program.is_none()) {
        let message = format!(
            "`{}` is no agent that squire knows: it wants `strategy` and `program`",
            entry.key.escape_debug()
        );
        reader.problem(entry.place, message, None);
    }
    agent
}

fn read_strategy<'a>(reader: &mut Reader<'a>, field: Entry<'a>) -> Option<Located<String>> {
    let known: Vec<&str> = squire_strategies::AGENTS.iter().map(|strategy| strategy.name()).collect();
    reader.word(field, &known)
}

fn read_program<'a>(reader: &mut Reader<'a>, field: Entry<'a>) -> Option<Located<Vec<String>>> {
    let program = reader.words(field, "an array of a program and its first arguments")?;
    let name = program.value.first().map(String::as_str).unwrap_or_default();
    if name.is_empty() {
        reader.problem(field.place, "`program` wants a program, and this is empty", None);
        return None;
    }
    if name.contains('/') && !name.starts_with('/') && !name.starts_with("~/") {
        let message = format!("`program`: {name:?} would be another program in every directory");
        let help = "write a name that is looked up on PATH, a whole path, or one below `~/`";
        reader.problem(field.place, message, Some(help.into()));
        return None;
    }
    Some(program)
}

/// Reads the limits on every server.
pub(super) fn read_policy<'a>(reader: &mut Reader<'a>, section: Entry<'a>) -> Policy {
    let mut policy = Policy::default();
    for field in reader.table(section, "a table, as in [policy]") {
        let Some(known) = fields::find(POLICY, field.key) else {
            reader.unknown_key(field, "[policy]", &fields::keys(POLICY));
            continue;
        };
        match known.id {
            PolicyField::Transports => policy.transports = read_transports(reader, field),
            PolicyField::AllowServers => policy.allow_servers = read_globs(reader, field),
            PolicyField::DenyServers => policy.deny_servers = read_globs(reader, field),
            PolicyField::RewriteUrls => policy.rewrite_urls = read_rewrites(reader, field),
            PolicyField::Env => policy.env = Some(read_env(reader, field)),
            PolicyField::Timeout => policy.timeout = reader.duration(field),
            PolicyField::ResultLimit => policy.result_limit = reader.size(field),
            PolicyField::Spill => policy.spill = reader.boolean(field),
            PolicyField::MaxProjectServers => {
                policy.max_project_servers = reader.number(field);
            }
            PolicyField::LiveSources => policy.live_sources = reader.boolean(field),
        }
    }
    policy
}

fn read_transports<'a>(reader: &mut Reader<'a>, field: Entry<'a>) -> Option<Located<Vec<Kind>>> {
    let expected = "an array of `stdio`, `http` and `sse`";
    let words = reader.words(field, expected)?;
    let mut kinds = Vec::new();
    for word in &words.value {
        match Kind::parse(word) {
            Some(kind) => kinds.push(kind),
            None => return reader.unfit(field, expected, word),
        }
    }
    Some(Located { value: kinds, origin: words.origin })
}

fn read_rewrites<'a>(reader: &mut Reader<'a>, field: Entry<'a>) -> Option<Located<Vec<Rewrite>>> {
    let expected = "an array of tables, as in [{ from = \"http://localhost:\", to = \"http://host:\" }]";
    let mut rewrites = Vec::new();
    for value in reader.array(field, expected)? {
        let (mut from, mut to) = (None, None);
        for inner in reader.table(Entry { value, ..field }, expected) {
            match inner.key {
                "from" => from = reader.string(inner),
                "to" => to = reader.string(inner),
                _ => reader.unknown_key(inner, "`rewrite_urls`", &["from", "to"]),
            }
        }
        let (Some(from), Some(to)) = (from, to) else {
            reader.problem(field.place, "each of `rewrite_urls` wants `from` and `to`", None);
            return None;
        };
        if from.value.is_empty() {
            reader.problem(from.origin.place, "`from` is empty, and would fit every address", None);
        }
        rewrites.push(Rewrite { from: from.value, to: to.value });
    }
    Some(reader.located(rewrites, field.place))
}
