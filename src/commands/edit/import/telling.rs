//! What an import says: of each file, each server, what was not carried over, and what remains to be done. Never a value.

use std::fmt::Write as _;

use serde_json::{Value, json};
use squire_strategies::toml_key;

use super::super::place::Target;
use super::plan::{Action, Plan, Planned};
use super::sources::{Source, State};
use crate::config::import::{Foreign, Scope};
use crate::output::Output;
use crate::printable::printable;

/// What there is to say, without a borrow of the plan, whose secrets are taken out when they are written.
pub(super) struct Outcome {
    sources: Vec<Value>,
    servers: Vec<Value>,
    profiles: Vec<String>,
    secrets: Vec<String>,
    notes: Vec<Value>,
    problems: Vec<Value>,
    /// The lines of the same.
    lines: Vec<String>,
    target: String,
    /// The commands that remain.
    pub(super) remaining: Vec<String>,
    /// How the agents' own copies are taken out.
    removal: Vec<String>,
}

impl Outcome {
    pub(super) fn new(plan: &Plan, sources: &[Source], target: &Target) -> Self {
        let mut outcome = Self {
            sources: Vec::new(),
            servers: Vec::new(),
            profiles: plan.profiles.iter().map(|(name, _)| name.clone()).collect(),
            secrets: plan.secrets.iter().map(|(name, _)| name.clone()).collect(),
            notes: Vec::new(),
            problems: Vec::new(),
            lines: Vec::new(),
            target: target.path.display().to_string(),
            remaining: Vec::new(),
            removal: Vec::new(),
        };
        for source in sources {
            outcome.source(source);
        }
        for problem in &plan.problems {
            outcome.lines.push(format!("{}: error: {}", problem.whereabouts(), problem.message));
            outcome.lines.extend(problem.help.iter().map(|help| format!("  help: {help}")));
            outcome.problems.push(json!({
                "path": problem.path.display().to_string(),
                "line": problem.place.line,
                "column": problem.place.column,
                "message": problem.message,
                "help": problem.help,
            }));
        }
        for planned in &plan.servers {
            outcome.server(planned, sources, &plan.known);
        }
        for name in &outcome.profiles {
            outcome.lines.push(format!("profile {name}: new"));
        }
        for name in &outcome.secrets {
            outcome.lines.push(format!("secret {name}: as the file declares it"));
        }
        if plan.servers.is_empty() && plan.problems.is_empty() {
            outcome.lines.push("there is no server to import in what was looked at".into());
        }
        for (source, name, remark) in &plan.remarks {
            let path =
                sources.get(*source).map(|source| source.path.display().to_string()).unwrap_or_default();
            let of = name.as_ref().map(|name| format!("{name}: ")).unwrap_or_default();
            outcome.lines.push(format!("{path}:{}: {of}{}", remark.place.line, remark.sentence));
            outcome.notes.push(json!({
                "path": path,
                "line": remark.place.line,
                "column": remark.place.column,
                "server": name.as_ref().map(squire_strategies::Name::as_str),
                "sentence": remark.sentence,
            }));
        }
        outcome
    }

    fn source(&mut self, source: &Source) {
        let path = source.path.display().to_string();
        let title = source.format.map(|format| format.title);
        let (state, told) = match &source.state {
            State::Absent => ("absent", Some("not there")),
            State::Broken(_) => ("broken", None),
            State::Read(_) => ("read", Some("read")),
        };
        if let Some(told) = told {
            self.lines.push(format!("{path} ({}): {told}", title.unwrap_or("unknown")));
        }
        self.sources.push(json!({
            "path": path,
            "format": source.format.map(|format| format.name),
            "scope": source.scope.as_str(),
            "state": state,
        }));
    }

    fn server(&mut self, planned: &Planned, sources: &[Source], known: &[String]) {
        let Planned { name, foreign, source, scope, translated, action, also } = planned;
        let path = |source: usize| sources[source].path.display().to_string();
        let called =
            if foreign.name == name.as_str() { String::new() } else { format!(", there {:?}", foreign.name) };
        let mut line = format!("{name}{called} ({}:{}): ", path(*source), foreign.place.line);
        let (word, reason) = match action {
            Action::Add => ("add", None),
            Action::Replace => ("replace", None),
            Action::Same => ("same", None),
            Action::Conflict(reason) => ("conflict", Some(reason)),
        };
        line += match action {
            Action::Add => "new",
            Action::Replace => "replaced",
            Action::Same => "is there already, the same",
            Action::Conflict(_) => "conflict: ",
        };
        line += reason.map_or("", String::as_str);
        for copy in also.iter().filter(|_| reason.is_none()) {
            // Writing to a string can't fail.
            let _ = write!(line, "; the same in {}:{}", path(copy.source), copy.foreign.place.line);
        }
        self.lines.push(line);
        let mut secrets = Vec::new();
        for wanted in &translated.wanted {
            let source = match (&wanted.value, &wanted.file) {
                (Some(_), _) => "value",
                (None, Some(_)) => "file",
                (None, None) => "wanted",
            };
            secrets.push(json!({ "name": wanted.secret, "field": wanted.field, "source": source }));
            if matches!(action, Action::Add | Action::Replace) {
                let is_known = known.contains(&wanted.secret);
                let told = match source {
                    _ if is_known => "which is in secrets.toml already",
                    "value" => "its value goes into secrets.toml",
                    "file" => "the file that it names",
                    _ => "has no value yet",
                };
                self.lines.push(format!("  {}: the secret {}, {told}", wanted.field, wanted.secret));
                let command = format!("squire secret set {}", wanted.secret);
                if source == "wanted" && !is_known && !self.remaining.contains(&command) {
                    self.remaining.push(command);
                }
            }
        }
        if reason.is_none() {
            self.removal.push(removal(&sources[*source], *scope, foreign));
            self.removal
                .extend(also.iter().map(|copy| removal(&sources[copy.source], copy.scope, &copy.foreign)));
        }
        self.servers.push(json!({
            "name": name.as_str(),
            "was": foreign.name,
            "path": path(*source),
            "line": foreign.place.line,
            "scope": scope.as_str(),
            "action": word,
            "reason": reason,
            "secrets": secrets,
            "also": also.iter().map(|copy| json!({ "path": path(copy.source), "line": copy.foreign.place.line })).collect::<Vec<_>>(),
        }));
    }

    /// The plan for people.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        for line in &self.lines {
            text += &printable(line);
            text.push('\n');
        }
        text
    }

    /// The same for scripts.
    pub(super) fn json(&self, is_written: bool, difference: &str) -> String {
        let document = json!({
            "target": self.target,
            "written": is_written,
            "difference": difference,
            "sources": self.sources,
            "servers": self.servers,
            "profiles": self.profiles,
            "secrets": self.secrets,
            "notes": self.notes,
            "problems": self.problems,
            "remaining": self.remaining,
            "removal": self.removal,
        });
        format!("{document:#}\n")
    }

    /// The same on stderr, after it was done.
    pub(super) fn tell(&self, output: Output) {
        for line in &self.lines {
            output.notice(line);
        }
        let count = |word: &str| self.servers.iter().filter(|server| server["action"] == word).count();
        if count("conflict") > 0 {
            output.notice("nothing was written");
        } else {
            let written: Vec<&str> = self
                .servers
                .iter()
                .filter(|server| server["action"] == "add" || server["action"] == "replace")
                .filter_map(|server| server["name"].as_str())
                .collect();
            match written.as_slice() {
                [] => {}
                [name] => output.notice(&format!("{name} is in {} now, and off until approved", self.target)),
                names => output.notice(&format!(
                    "{} are in {} now, and off until approved",
                    names.join(", "),
                    self.target
                )),
            }
        }
    }

    /// The commands that remain, and how the agents' own copies go.
    pub(super) fn tell_what_remains(&self, output: Output) {
        if !self.remaining.is_empty() {
            output.notice(&format!("what remains:\n  {}", self.remaining.join("\n  ")));
        }
        if !self.removal.is_empty() {
            output.notice(&format!(
                "the agents still have their own; this takes them out there:\n  {}",
                self.removal.join("\n  ")
            ));
        }
    }
}

/// The command, or the key of the file, that takes an entry out where it came from.
fn removal(source: &Source, scope: Scope, foreign: &Foreign) -> String {
    let command = source.format.and_then(|format| format.remove).filter(|_| source.is_own);
    if let Some(command) = command.and_then(|command| command(&foreign.name, scope)) {
        return command;
    }
    let path = source.path.display();
    if foreign.path.len() < 2 {
        let is_alone = source.path.extension().is_some_and(|extension| extension != "kedi");
        let line = foreign.place.line;
        return if is_alone {
            format!("delete {path}")
        } else {
            format!("delete `> mcp:` in line {line} of {path}")
        };
    }
    let keys: Vec<String> = foreign.path.iter().map(|key| toml_key(key)).collect();
    format!("delete `{}` in {path}", keys.join("."))
}
