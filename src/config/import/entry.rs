//! One entry of the shape that most agents share: `{ command, args, env, cwd }` or `{ url, headers, type }`.

use serde_json::{Map, Value as Json};
use squire_strategies::Text;
use toml_edit::{InlineTable, Item, Table, Value as Toml};

use super::dialect::{ANY, Dialect, Meaning, Unit, Untyped};
use super::string::{Place, Strings};
use super::tree::{Member, Node, Tree, Unread, members_of};
use super::values::{flag_of, list_of, scalar_of, string_of, strings_of, table_of, variable_of};
use super::{Context, Imported, Translated, credential};

/// The order in which the fields are written.
const ORDER: &[&str] = &[
    "transport",
    "command",
    "args",
    "env",
    "inherit_env",
    "cwd",
    "url",
    "auth",
    "headers",
    "startup_timeout",
    "timeout",
    "tools",
    "description",
    "disabled",
];

/// Translates the entry of a server. `name` is what it will be called; secrets are called after it. `origin` says in
/// notes where the entry is from. The error names the field that is of no use and what was expected.
pub fn of_entry(name: &str, entry: &Map<String, Json>, origin: &str) -> Result<Imported, String> {
    of_entry_in(&Context::NONE, name, entry, origin)
}

/// The same of an entry in a file of a project, where a credential in clear stays what it is: it is nobody's to take, and
/// what a project may not say is told of its declaration.
pub fn of_entry_of_project(name: &str, entry: &Map<String, Json>, origin: &str) -> Result<Imported, String> {
    of_entry_in(&Context { keeps_credentials: true, ..Context::NONE }, name, entry, origin)
}

fn of_entry_in(
    context: &Context<'_>,
    name: &str,
    entry: &Map<String, Json>,
    origin: &str,
) -> Result<Imported, String> {
    let translated = translate(name, &members_of(entry), &ANY, context).map_err(|unread| unread.reason)?;
    let Translated { table, wanted, remarks } = translated;
    let notes = remarks.into_iter().map(|remark| format!("{origin}: {}", remark.sentence)).collect();
    Ok(Imported { table, wanted, notes })
}

/// Translates the members of an entry in the dialect of the tool that wrote it.
pub(super) fn translate(
    name: &str,
    entry: &[Member],
    dialect: &'static Dialect,
    context: &Context<'_>,
) -> Result<Translated, Unread> {
    let mut strings = Strings::new(name, dialect, context);
    let is_variables = |member: &&Member| dialect.meaning(&member.key) == Some(Meaning::Variables);
    let variables = entry.iter().filter(is_variables).flat_map(|member| member.value.members());
    strings.own = variables.map(|variable| variable.key.clone()).collect();
    let mut reading = Reading { strings, table: Table::new(), unknown: Vec::new() };
    for member in entry {
        reading.strings.at = member.place;
        reading
            .field(&member.key, &member.value)
            .map_err(|reason| Unread { place: member.value.place, reason })?;
    }
    let place = entry.first().map_or(super::tree::NOWHERE, |first| first.place);
    reading.strings.at = place;
    reading.variables_of_docker();
    reading.refuse_neither().map_err(|reason| Unread { place, reason })?;
    if let Some(reason) = reading.strings.unfit.take() {
        return Err(Unread { place, reason });
    }
    reading.untyped(entry);
    reading.keep_directory();
    let Reading { strings, mut table, .. } = reading;
    let place = |key: &str| ORDER.iter().position(|known| *known == key).unwrap_or(ORDER.len());
    table.sort_values_by(|one, _, other, _| place(one.get()).cmp(&place(other.get())));
    Ok(Translated { table, wanted: strings.wanted, remarks: strings.remarks })
}

struct Reading<'a> {
    strings: Strings<'a>,
    table: Table,
    /// The fields that nobody knows.
    unknown: Vec<String>,
}

impl Reading<'_> {
    fn field(&mut self, key: &str, value: &Tree) -> Result<(), String> {
        let Some(meaning) = self.strings.dialect.meaning(key) else {
            self.unknown.push(format!("{key:?}"));
            self.strings.remark(format!("{key:?} is no field that squire knows, and is left away"));
            return Ok(());
        };
        match meaning {
            Meaning::Command => self.command(value)?,
            Meaning::Arguments => {
                let words = self.arguments(&strings_of(key, value)?);
                self.append("args", words);
            }
            Meaning::Variables => self.env(key, value)?,
            Meaning::Inherited => self.inherited(key, value)?,
            Meaning::Directory => self.directory(string_of(key, value)?),
            Meaning::Address => self.url(string_of(key, value)?),
            Meaning::Headers => self.headers(key, value)?,
            Meaning::BearerVariable => {
                let variable = variable_of(key, value)?;
                self.header("Authorization", format!("Bearer ${{env:{variable}}}"));
            }
            Meaning::HeaderVariables => {
                let pairs = table_of(key, value, "headers")?;
                for pair in pairs {
                    let variable = variable_of(&format!("{key}.{}", pair.key), &pair.value)?;
                    self.header(&pair.key, format!("${{env:{variable}}}"));
                }
            }
            Meaning::Transport => self.transport(key, value)?,
            Meaning::Off if flag_of(key, value)? => self.set("disabled", true),
            Meaning::On if !flag_of(key, value)? => self.set("disabled", true),
            Meaning::Off | Meaning::On | Meaning::Nothing => {}
            Meaning::Description => {
                let text = string_of(key, value)?;
                if credential::is_credential("args", None, text) {
                    self.strings.remark("its description has a secret in it, and is left away");
                } else {
                    self.set("description", text);
                }
            }
            Meaning::Deny => self.filter("deny", &strings_of(key, value)?),
            Meaning::Allow => self.filter("allow", &strings_of(key, value)?),
            Meaning::Timeout(unit) => self.duration("timeout", key, value, unit)?,
            Meaning::StartupTimeout(unit) => self.duration("startup_timeout", key, value, unit)?,
            Meaning::LeftAway(reason) => self.strings.remark(format!("`{key}` is left away: {reason}")),
        }
        Ok(())
    }

    fn set(&mut self, key: &str, value: impl Into<Toml>) {
        self.table.insert(key, Item::Value(value.into()));
    }

    fn append(&mut self, key: &str, words: Vec<String>) {
        let mut array = self.table.get(key).and_then(Item::as_array).cloned().unwrap_or_default();
        array.extend(words);
        if !array.is_empty() {
            self.set(key, array);
        }
    }

    fn command(&mut self, value: &Tree) -> Result<(), String> {
        let words = match value.text() {
            Some(program) => vec![program],
            None => strings_of("command", value)?,
        };
        let Some((program, arguments)) = words.split_first().filter(|(program, _)| !program.is_empty())
        else {
            return Err("`command` is empty, and names no program".into());
        };
        let place = Place { key: "command", name: None, label: "command" };
        let program = self.strings.translate(program, place);
        self.set("command", program);
        let arguments = self.arguments(arguments);
        let behind = self.table.remove("args");
        self.append("args", arguments);
        let behind = behind.as_ref().and_then(Item::as_array).into_iter().flatten();
        let behind: Vec<String> = behind.filter_map(|word| word.as_str().map(str::to_owned)).collect();
        self.append("args", behind);
        Ok(())
    }

    fn arguments(&mut self, words: &[&str]) -> Vec<String> {
        let mut before = "";
        let mut translated = Vec::new();
        for word in words {
            // The value of `-e NAME=VALUE` is named after the variable.
            let variable = word.split_once('=').filter(|_| matches!(before, "-e" | "--env"));
            let option = before.strip_prefix('-').map(|option| option.trim_start_matches('-'));
            let label = variable.map(|(name, _)| name).or(option).filter(|label| !label.is_empty());
            let place = Place { key: "args", name: None, label: label.unwrap_or("argument") };
            let from = credential::secret_of_argument(before, word);
            translated.push(self.strings.translate_from(word, place, from));
            before = word;
        }
        translated
    }

    fn env(&mut self, key: &str, value: &Tree) -> Result<(), String> {
        let mut env = self.table.get("env").and_then(Item::as_inline_table).cloned().unwrap_or_default();
        for pair in table_of(key, value, "variables")? {
            self.strings.at = pair.place;
            let name = &pair.key;
            // An unset variable is one that is not there.
            if matches!(pair.value.node, Node::Null) {
                self.strings.remark(format!("`{key}.{name}` says nothing, and is left away"));
                continue;
            }
            let text = scalar_of(&format!("env.{name}"), &pair.value)?;
            let place = Place { key: "env", name: Some(name), label: name };
            env.insert(name, self.strings.translate(&text, place).into());
        }
        if !env.is_empty() {
            self.set("env", env);
        }
        Ok(())
    }

    /// Names, or as Codex also has them `{ name = "X", source = "local" }`.
    fn inherited(&mut self, key: &str, value: &Tree) -> Result<(), String> {
        let mut names = Vec::new();
        for item in list_of(key, value, "names of variables")? {
            let name = item.get("name").unwrap_or(item);
            names.push(variable_of(key, name)?);
            if let Some(source) = item.get("source").and_then(Tree::text).filter(|source| *source != "local")
            {
                self.strings.remark(format!(
                    "`{key}`: the source {source:?} is left away: squire hands on its own variables"
                ));
            }
        }
        self.append("inherit_env", names);
        Ok(())
    }

    /// The workspace is where an agent is launched, which is where a server runs that says nothing. A relative
    /// directory is below it.
    fn directory(&mut self, written: &str) {
        let place = Place { key: "cwd", name: None, label: "cwd" };
        let before = self.strings.remarks.len();
        let translated = self.strings.translate(written, place);
        match self.strings.context.workspace {
            Some(workspace) if translated != workspace => {
                let is_relative = !translated.starts_with(['/', '~', '$']);
                let below = translated.trim_start_matches("./");
                let whole = format!("{}/{below}", workspace.replace("${", "$${"));
                self.set("cwd", if is_relative { whole } else { translated });
            }
            Some(_) => self.set("cwd", translated),
            None if self.strings.dialect.is_readme => self.set("cwd", translated),
            None if matches!(translated.as_str(), "" | "." | "./") => self.strings.remarks.truncate(before),
            None if translated.starts_with(['/', '~', '$']) => self.set("cwd", translated),
            None => self.strings.remark(
                "`cwd` is left away: it is relative to a directory that the file does not name; the server runs where an agent is launched",
            ),
        }
    }

    fn url(&mut self, written: &str) {
        let place = Place { key: "url", name: None, label: "url" };
        let translated = self.strings.translate(written, place);
        self.set("url", translated);
    }

    fn headers(&mut self, key: &str, value: &Tree) -> Result<(), String> {
        for pair in table_of(key, value, "headers")? {
            self.strings.at = pair.place;
            let name = &pair.key;
            let text = scalar_of(&format!("headers.{name}"), &pair.value)?;
            let is_authorization = name.eq_ignore_ascii_case("authorization");
            let label = if is_authorization { "token" } else { name };
            let place = Place { key: "headers", name: Some(name), label };
            let translated = self.strings.translate(&text, place);
            let bearer = translated.strip_prefix("Bearer ${secret:").and_then(|rest| rest.strip_suffix('}'));
            match bearer.filter(|secret| is_authorization && Text::is_secret(secret)) {
                Some(secret) => {
                    let mut auth = InlineTable::new();
                    auth.insert("type", "bearer".into());
                    auth.insert("secret", secret.into());
                    self.set("auth", auth);
                }
                None => self.header(name, translated),
            }
        }
        Ok(())
    }

    fn header(&mut self, name: &str, value: String) {
        let mut headers =
            self.table.get("headers").and_then(Item::as_inline_table).cloned().unwrap_or_default();
        headers.insert(name, value.into());
        self.set("headers", headers);
    }

    /// Only what can't be told from `command` or `url` is written (cases B19, B61).
    fn transport(&mut self, key: &str, value: &Tree) -> Result<(), String> {
        let word = string_of(key, value)?;
        let folded = word.to_ascii_lowercase().replace('_', "-");
        match folded.as_str() {
            "sse" => self.set("transport", "sse"),
            "stdio" | "local" | "http" | "remote" | "streamable-http" | "streamablehttp" => {}
            _ => return Err(format!("`{key}` is {word:?}: squire speaks stdio, http and sse")),
        }
        Ok(())
    }

    fn filter(&mut self, which: &str, tools: &[&str]) {
        let mut filter = self.table.get("tools").and_then(Item::as_inline_table).cloned().unwrap_or_default();
        let mut globs = filter.get(which).and_then(Toml::as_array).cloned().unwrap_or_default();
        // A list without a name in it allows nothing where it is one of allowed tools, and denies nothing else.
        if tools.is_empty() && (which == "deny" || self.strings.dialect.is_readme) {
            return;
        }
        globs.extend(tools.iter().copied());
        filter.insert(which, globs.into());
        self.set("tools", filter);
    }

    fn duration(&mut self, field: &str, key: &str, value: &Tree, unit: Unit) -> Result<(), String> {
        let number = match &value.node {
            Node::Number(written) => written.parse().unwrap_or(f64::NAN),
            Node::Null => return Ok(()),
            Node::Flag(_) | Node::Text(_) | Node::List(_) | Node::Table(_) => {
                return Err(format!("`{key}` wants a number"));
            }
        };
        match unit.duration(number) {
            Some(duration) => {
                self.set(field, humantime::format_duration(duration).to_string().replace(' ', ""));
            }
            None => self.strings.remark(format!("`{key}` is left away: it is no time that squire can wait")),
        }
        Ok(())
    }

    /// What an address without a word for its transport is.
    fn untyped(&mut self, entry: &[Member]) {
        let meaning = |member: &Member| self.strings.dialect.meaning(&member.key);
        let is_typed = entry.iter().any(|member| meaning(member) == Some(Meaning::Transport));
        let Some(address) = entry.iter().find(|member| meaning(member) == Some(Meaning::Address)) else {
            return;
        };
        if is_typed || address.key == "httpUrl" || self.table.contains_key("transport") {
            return;
        }
        self.strings.at = address.place;
        match self.strings.dialect.untyped {
            Untyped::Http | Untyped::HttpTold if self.is_called_sse() => {
                self.set("transport", "sse");
                self.strings.remark("`url` ends in /sse: it is taken for the older kind of remote server");
            }
            Untyped::Http => {}
            Untyped::Sse => {
                self.set("transport", "sse");
                self.strings.remark("`url` is SSE there where no `type` says otherwise");
            }
            Untyped::HttpTold => self.strings.remark(
                "it has no `type`: it is taken for streamable HTTP; for the older kind: transport = \"sse\"",
            ),
        }
    }

    /// Whether the address is named after the older kind of remote servers, as theirs are.
    fn is_called_sse(&self) -> bool {
        let address = self.table.get("url").and_then(Item::as_str).unwrap_or_default();
        let path = address.split(['?', '#']).next().unwrap_or_default();
        path.trim_end_matches('/').ends_with("/sse")
    }

    /// A server of a project is started in it: one that names files relative to it needs to be here, too.
    fn keep_directory(&mut self) {
        let Some(workspace) = self.strings.context.workspace else { return };
        if self.table.contains_key("cwd") || !self.table.contains_key("command") {
            return;
        }
        let is_relative =
            |word: &str| word.starts_with("./") || word.starts_with("../") || matches!(word, "." | "..");
        let program = self.table.get("command").and_then(Item::as_str).unwrap_or_default();
        let is_path = program.contains('/') && !program.starts_with(['/', '~', '$']);
        let words = self.table.get("args").and_then(Item::as_array);
        let names_files = words.is_some_and(|words| words.iter().filter_map(Toml::as_str).any(is_relative));
        if is_path || names_files {
            self.set("cwd", workspace.replace("${", "$${"));
            self.strings.remark("`cwd` is the project's directory: the entry names files relative to it");
        }
    }

    /// `docker run -e NAME` hands a variable of its own on: it must have it.
    fn variables_of_docker(&mut self) {
        let program = self.table.get("command").and_then(Item::as_str).unwrap_or_default();
        if !matches!(program.rsplit('/').next(), Some("docker" | "podman" | "nerdctl")) {
            return;
        }
        let words = self.table.get("args").and_then(Item::as_array);
        let words: Vec<&str> = words.into_iter().flatten().filter_map(Toml::as_str).collect();
        let behind =
            words.iter().zip(words.iter().skip(1)).filter(|(word, _)| matches!(**word, "-e" | "--env"));
        let joined = words.iter().filter_map(|word| word.strip_prefix("--env="));
        let has = |name: &str| {
            self.table.get("env").and_then(Item::as_inline_table).is_some_and(|env| env.contains_key(name))
        };
        let mut names: Vec<String> = behind
            .map(|(_, name)| *name)
            .chain(joined)
            .filter(|name| Text::is_variable(name) && !has(name))
            .map(str::to_owned)
            .collect();
        names.dedup();
        self.append("inherit_env", names);
    }

    fn refuse_neither(&self) -> Result<(), String> {
        match (self.table.contains_key("command"), self.table.contains_key("url")) {
            (false, false) => {
                let unknown = match self.unknown.as_slice() {
                    [] => String::new(),
                    unknown => format!("; squire does not know {}", unknown.join(", ")),
                };
                Err(format!("it has neither `command` nor `url`, and says not what the server is{unknown}"))
            }
            (true, true) => Err("it has both `command` and `url`, and one server has one of them".into()),
            _ => Ok(()),
        }
    }
}
