//! One entry of the shape that most agents share: `{ command, args, env, cwd }` or `{ url, headers, type }`.

use serde_json::{Map, Value as Json};
use squire_strategies::Text;
use toml_edit::{Array, InlineTable, Item, Table, Value as Toml};

use super::Imported;
use super::string::{Place, Strings};

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
    "tools",
    "description",
    "disabled",
];

/// Translates the entry of a server. `name` is what it will be called; secrets are called after it. `origin` says in
/// notes where the entry is from. The error names the field that is of no use and what was expected.
pub fn of_entry(name: &str, entry: &Map<String, Json>, origin: &str) -> Result<Imported, String> {
    translate(Strings::new(name), entry, origin)
}

/// The same of an entry in a file of a project, where a credential in clear stays what it is: it is nobody's to take, and
/// what a project may not say is told of its declaration.
pub fn of_entry_of_project(name: &str, entry: &Map<String, Json>, origin: &str) -> Result<Imported, String> {
    translate(Strings { keeps_credentials: true, ..Strings::new(name) }, entry, origin)
}

fn translate(strings: Strings<'_>, entry: &Map<String, Json>, origin: &str) -> Result<Imported, String> {
    let mut reading = Reading { strings, table: Table::new(), origin };
    for (key, value) in entry {
        reading.field(key, value)?;
    }
    reading.variables_of_docker();
    reading.refuse_neither()?;
    let Reading { strings, mut table, .. } = reading;
    let place = |key: &str| ORDER.iter().position(|known| *known == key).unwrap_or(ORDER.len());
    table.sort_values_by(|one, _, other, _| place(one.get()).cmp(&place(other.get())));
    Ok(Imported { table, wanted: strings.wanted, notes: strings.notes })
}

struct Reading<'a> {
    strings: Strings<'a>,
    table: Table,
    origin: &'a str,
}

impl Reading<'_> {
    fn field(&mut self, key: &str, value: &Json) -> Result<(), String> {
        match key {
            "command" => self.command(value)?,
            "args" => {
                let words = strings_of("args", value)?;
                let words = self.arguments(&words);
                self.append("args", words);
            }
            "env" | "environment" => self.env(value)?,
            "inherit_env" => {
                let names = strings_of(key, value)?;
                self.set("inherit_env", names.into_iter().collect::<Array>());
            }
            "cwd" => {
                let place = Place { key: "cwd", name: None, label: "cwd" };
                let written = self.strings.translate(string_of(key, value)?, place);
                self.set("cwd", written);
            }
            "url" | "serverUrl" | "httpUrl" => self.url(key, value)?,
            "headers" | "http_headers" => self.headers(value)?,
            "type" | "transport" => self.transport(key, value)?,
            "bearer_token_env_var" => {
                let variable = string_of(key, value)?;
                let mut headers = InlineTable::new();
                headers.insert("Authorization", format!("Bearer ${{env:{variable}}}").into());
                self.set("headers", headers);
            }
            "disabled" if value == &Json::Bool(true) => self.set("disabled", true),
            "enabled" if value == &Json::Bool(false) => self.set("disabled", true),
            "disabled" | "enabled" => {}
            "description" => self.set("description", string_of(key, value)?),
            "disabledTools" | "disabled_tools" | "excludeTools" => self.filter("deny", key, value)?,
            "enabledTools" | "enabled_tools" | "includeTools" => self.filter("allow", key, value)?,
            "alwaysAllow" | "autoApprove" | "trust" => self.note(&format!(
                "`{key}` is left away: squire relaxes no agent's question before a tool is used"
            )),
            _ => self.note(&format!("{key:?} is no field that squire knows, and is left away")),
        }
        Ok(())
    }

    fn note(&mut self, sentence: &str) {
        self.strings.notes.push(format!("{}: {sentence}", self.origin));
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

    fn command(&mut self, value: &Json) -> Result<(), String> {
        let words = match value {
            Json::String(program) => vec![program.as_str()],
            _ => strings_of("command", value)?,
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
            translated.push(self.strings.translate(word, place));
            before = word;
        }
        translated
    }

    fn env(&mut self, value: &Json) -> Result<(), String> {
        let pairs = value.as_object().ok_or("`env` wants an object of variables")?;
        let mut env = InlineTable::new();
        for (name, value) in pairs {
            let text = scalar_of(&format!("env.{name}"), value)?;
            let place = Place { key: "env", name: Some(name), label: name };
            env.insert(name, self.strings.translate(&text, place).into());
        }
        if !env.is_empty() {
            self.set("env", env);
        }
        Ok(())
    }

    fn url(&mut self, key: &str, value: &Json) -> Result<(), String> {
        let place = Place { key: "url", name: None, label: "url" };
        let written = string_of(key, value)?;
        let translated = self.strings.translate(written, place);
        self.set("url", translated);
        Ok(())
    }

    fn headers(&mut self, value: &Json) -> Result<(), String> {
        let pairs = value.as_object().ok_or("`headers` wants an object of headers")?;
        let mut headers = InlineTable::new();
        for (name, value) in pairs {
            let text = scalar_of(&format!("headers.{name}"), value)?;
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
                None => drop(headers.insert(name, translated.into())),
            }
        }
        if !headers.is_empty() {
            self.set("headers", headers);
        }
        Ok(())
    }

    /// Only what can't be told from `command` or `url` is written (cases B19, B61).
    fn transport(&mut self, key: &str, value: &Json) -> Result<(), String> {
        let word = string_of(key, value)?;
        let folded = word.to_ascii_lowercase().replace('_', "-");
        match folded.as_str() {
            "sse" => self.set("transport", "sse"),
            "stdio" | "local" | "http" | "remote" | "streamable-http" | "streamablehttp" => {}
            _ => return Err(format!("`{key}` is {word:?}: squire speaks stdio, http and sse")),
        }
        Ok(())
    }

    fn filter(&mut self, which: &str, key: &str, value: &Json) -> Result<(), String> {
        let tools: Array = strings_of(key, value)?.into_iter().collect();
        if tools.is_empty() {
            return Ok(());
        }
        let mut filter = self.table.get("tools").and_then(Item::as_inline_table).cloned().unwrap_or_default();
        filter.insert(which, tools.into());
        self.set("tools", filter);
        Ok(())
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
                Err("it has neither `command` nor `url`, and says not what the server is".into())
            }
            (true, true) => Err("it has both `command` and `url`, and one server has one of them".into()),
            _ => Ok(()),
        }
    }
}

fn string_of<'a>(key: &str, value: &'a Json) -> Result<&'a str, String> {
    value.as_str().ok_or_else(|| format!("`{key}` wants a string"))
}

/// A string, or what other tools take for one.
fn scalar_of(key: &str, value: &Json) -> Result<String, String> {
    match value {
        Json::String(text) => Ok(text.clone()),
        Json::Bool(_) | Json::Number(_) => Ok(value.to_string()),
        Json::Null | Json::Array(_) | Json::Object(_) => Err(format!("`{key}` wants a string")),
    }
}

fn strings_of<'a>(key: &str, value: &'a Json) -> Result<Vec<&'a str>, String> {
    let array = value.as_array().ok_or_else(|| format!("`{key}` wants an array of strings"))?;
    array
        .iter()
        .map(|value| value.as_str().ok_or_else(|| format!("`{key}` wants an array of strings")))
        .collect()
}
