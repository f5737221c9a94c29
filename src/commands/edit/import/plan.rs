//! What an import would do: which entries become which servers, and what stands in the way. Nothing is written here.

use std::cell::RefCell;

use anyhow::Result;
use squire_strategies::{Name, Text};
use toml_edit::Table;

use super::super::add;
use super::super::change::new_problems;
use super::super::place::{Stand, Target};
use super::naming::{names, select};
use super::selections::selections;
use super::sources::{Source, State, problem};
use super::store::Store;
use crate::cli;
use crate::config::edit::Document;
use crate::config::import::{Context, Foreign, Input, Remark, Scope, Translated};
use crate::config::{self, LayerKind, Problem};
use crate::secrets::{NewSource, Secrets};
use crate::trust::digest::Canonical;

/// Everything that would be done.
pub(super) struct Plan {
    pub(super) servers: Vec<Planned>,
    /// Entries and files that can't be taken.
    pub(super) problems: Vec<Problem>,
    /// What is to be said of files and entries: the source, the server, and the sentence with its place.
    pub(super) remarks: Vec<(usize, Option<Name>, Remark)>,
    /// Secrets that files declare by themselves.
    pub(super) secrets: Vec<(String, NewSource)>,
    pub(super) profiles: Vec<(String, Table)>,
    /// The secrets that there are.
    pub(super) known: Vec<String>,
}

/// A server that an entry becomes.
pub(super) struct Planned {
    pub(super) name: Name,
    pub(super) foreign: Foreign,
    /// Its file, among the sources.
    pub(super) source: usize,
    pub(super) scope: Scope,
    pub(super) translated: Translated,
    pub(super) action: Action,
    /// Further files that declare the same.
    pub(super) also: Vec<Copy>,
}

/// A declaration that is another's in every word.
pub(super) struct Copy {
    pub(super) source: usize,
    pub(super) scope: Scope,
    pub(super) foreign: Foreign,
}

/// What becomes of a server.
pub(super) enum Action {
    Add,
    Replace,
    /// It is there already, the same.
    Same,
    /// Why nothing can be written, and what settles it.
    Conflict(String),
}

impl Plan {
    pub(super) fn conflicts(&self) -> impl Iterator<Item = (&Planned, &str)> {
        self.servers.iter().filter_map(|planned| match &planned.action {
            Action::Conflict(reason) => Some((planned, reason.as_str())),
            Action::Add | Action::Replace | Action::Same => None,
        })
    }

    /// Whether it would write no declaration.
    pub(super) fn is_empty(&self) -> bool {
        self.written().next().is_none() && self.profiles.is_empty()
    }

    /// Those that are to be written.
    pub(super) fn written(&self) -> impl Iterator<Item = &Planned> {
        self.servers.iter().filter(|planned| matches!(planned.action, Action::Add | Action::Replace))
    }
}

/// An entry, with what it is of.
pub(super) struct Entry {
    pub(super) source: usize,
    scope: Scope,
    pub(super) foreign: Foreign,
}

/// Makes the plan.
pub(super) fn plan(
    options: &cli::Import,
    sources: &mut [Source],
    stand: &Stand,
    target: &Target,
) -> Result<Plan> {
    let known = Secrets::load(&stand.directories.config)?;
    let mut plan = Plan {
        servers: Vec::new(),
        problems: Vec::new(),
        remarks: Vec::new(),
        secrets: Vec::new(),
        profiles: Vec::new(),
        known: known.all.iter().map(|secret| secret.name.clone()).collect(),
    };
    let there = target.read()?;
    let entries = gather(sources, &mut plan);
    let names = names(&entries, &there);
    let entries = select(entries, names, &options.servers)?;
    let declared = plan.secrets.iter().map(|(name, _)| name.clone()).collect();
    let store = Store { config: &stand.directories.config, known, planned: RefCell::new(declared) };
    for (entry, name) in entries {
        match translate(&entry, &name, sources, stand, &store) {
            Ok(translated) => place(&mut plan, entry, name, translated),
            Err(unread) => {
                let path = &sources[entry.source].path;
                let mut problem = problem(path, unread);
                problem.message = format!("{}: {}", entry.foreign.name, problem.message);
                plan.problems.push(problem);
            }
        }
    }
    judge(&mut plan, options, sources, stand, target, &there)?;
    selections(&mut plan, sources, target, &there);
    Ok(plan)
}

/// The entries of all files: what only changes another is joined to it, and of what one agent has several times, the
/// one that it takes itself stays.
fn gather(sources: &mut [Source], plan: &mut Plan) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    for (index, source) in sources.iter_mut().enumerate() {
        let State::Read(found) = &mut source.state else {
            if let State::Broken(problem) = &source.state {
                plan.problems.push(problem.clone());
            }
            continue;
        };
        plan.problems.extend(found.unusable.drain(..).map(|unread| problem(&source.path, unread)));
        plan.remarks.extend(found.remarks.drain(..).map(|remark| (index, None, remark)));
        for secret in &found.secrets {
            let name = &secret.name;
            let left = match secret.source().filter(|_| Text::is_secret(name)) {
                Some(_) if plan.known.contains(name) => {
                    "one of the name is in secrets.toml, and stays".to_owned()
                }
                Some(new) => {
                    plan.secrets.push((name.clone(), new));
                    continue;
                }
                None => format!("it is none that squire can have; squire secret set {name}"),
            };
            let sentence = format!("the secret {name:?} is left away: {left}");
            plan.remarks.push((index, None, Remark { place: secret.place, sentence }));
        }
        for foreign in std::mem::take(&mut found.servers) {
            let scope = foreign.scope.unwrap_or(source.scope);
            entries.push(Entry { source: index, scope, foreign });
        }
    }
    let format = |entry: &Entry| sources[entry.source].format.map(|format| format.name);
    let mut kept: Vec<Entry> = Vec::new();
    for entry in entries {
        let same = kept
            .iter_mut()
            .find(|known| format(known) == format(&entry) && known.foreign.name == entry.foreign.name);
        match same {
            Some(known) if entry.foreign.amends => known.foreign.amend(&entry.foreign),
            Some(known) if known.foreign.amends => {
                let mut whole = entry;
                whole.foreign.amend(&known.foreign);
                *known = whole;
            }
            // Both are the agent's: the nearer scope replaces the whole entry there.
            Some(known)
                if sources[entry.source].is_own
                    && sources[known.source].is_own
                    && known.scope != entry.scope =>
            {
                let is_nearer = entry.scope > known.scope;
                let shadowed = if is_nearer { std::mem::replace(known, entry) } else { entry };
                let sentence = format!(
                    "{} is not taken: the agent itself takes the one of the {} scope",
                    shadowed.foreign.name,
                    known.scope.as_str()
                );
                plan.remarks.push((
                    shadowed.source,
                    None,
                    Remark { place: shadowed.foreign.place, sentence },
                ));
            }
            Some(_) | None => kept.push(entry),
        }
    }
    kept
}

fn translate(
    entry: &Entry,
    name: &Name,
    sources: &[Source],
    stand: &Stand,
    store: &Store<'_>,
) -> Result<Translated, crate::config::import::Unread> {
    let source = &sources[entry.source];
    let project = stand.project.as_ref().and_then(|project| project.root.to_str());
    let workspace = if entry.scope == Scope::Local { project } else { source.workspace.as_deref() };
    let none: &[Input] = &[];
    let inputs = if let State::Read(found) = &source.state { &found.inputs } else { none };
    let context = Context {
        directory: source.path.parent().and_then(std::path::Path::to_str),
        workspace,
        inputs,
        is_taken: &|secret, value| store.is_taken(secret, value, name),
        ..Context::NONE
    };
    let translated = entry.foreign.translate(name.as_str(), &context)?;
    store.planned.borrow_mut().extend(translated.wanted.iter().map(|wanted| wanted.secret.clone()));
    Ok(translated)
}

/// Adds a server to the plan, or finds that it is there already.
fn place(plan: &mut Plan, entry: Entry, name: Name, mut translated: Translated) {
    let Entry { source, scope, foreign } = entry;
    let remarks = translated.remarks.drain(..).map(|remark| (source, Some(name.clone()), remark));
    let remarks: Vec<_> = remarks.collect();
    let is_it = |known: &&mut Planned| known.name == name;
    if let Some(known) = plan.servers.iter_mut().find(is_it) {
        if is_same(&known.translated, &translated) {
            known.also.push(Copy { source, scope, foreign });
            return;
        }
        let line = foreign.place.line;
        known.action = Action::Conflict(format!(
            "another file has it, too, and not the same (line {line}): import one of the two files alone"
        ));
        known.also.push(Copy { source, scope, foreign });
        return;
    }
    plan.remarks.extend(remarks);
    plan.servers.push(Planned {
        name,
        foreign,
        source,
        scope,
        translated,
        action: Action::Add,
        also: Vec::new(),
    });
}

fn is_same(one: &Translated, other: &Translated) -> bool {
    let values = |one: &Translated, other: &Translated| {
        one.wanted.len() == other.wanted.len()
            && one.wanted.iter().zip(&other.wanted).all(|(one, other)| {
                let is_same_value = match (&one.value, &other.value) {
                    (Some(one), Some(other)) => one.is_same(other),
                    (None, None) => true,
                    (Some(_), None) | (None, Some(_)) => false,
                };
                one.secret == other.secret && one.file == other.file && is_same_value
            })
    };
    one.table.to_string() == other.table.to_string() && values(one, other)
}

/// Says of each server what becomes of it: compared with what is there, and tried alone.
fn judge(
    plan: &mut Plan,
    options: &cli::Import,
    sources: &[Source],
    stand: &Stand,
    target: &Target,
    there: &Document,
) -> Result<()> {
    let mut judged = Vec::new();
    for mut planned in plan.servers.drain(..) {
        let name = planned.name.as_str();
        let is_there = there.has(&["servers", name]);
        if matches!(planned.action, Action::Conflict(_)) {
        } else if let Some(path) = stand.drop_in(name) {
            let path = path.display();
            planned.action = Action::Conflict(format!("it is declared in {path}, which squire only reads"));
        } else if let Some(path) = stand.below(target, name)? {
            let path = path.display();
            planned.action = Action::Conflict(format!(
                "it is declared in {path}, and the local layer would change it field by field"
            ));
        } else if is_there && is_declared_so(there, &planned, target) {
            planned.action = Action::Same;
        } else if is_there && !options.replace {
            let path = target.path.display();
            planned.action = Action::Conflict(format!(
                "another one is in {path} already: --replace gives it this definition, --server NAME takes others alone"
            ));
        } else {
            let mut after = there.clone();
            let tried = add::write(&mut after, name, &planned.translated.table, target);
            let wrong = match tried {
                Ok(()) => new_problems(stand, target, there, &after)?,
                Err(unfit) => {
                    let path = target.path.display();
                    planned.action = Action::Conflict(format!("{path}: {unfit}"));
                    Vec::new()
                }
            };
            if let Some(first) = wrong.into_iter().next() {
                let message = format!("{}: {}", planned.foreign.name, first.message);
                let path = sources[planned.source].path.clone();
                plan.problems.push(Problem { path, place: planned.foreign.place, message, help: first.help });
                continue;
            }
            if is_there && !matches!(planned.action, Action::Conflict(_)) {
                planned.action = Action::Replace;
            }
        }
        judged.push(planned);
    }
    plan.servers = judged;
    Ok(())
}

/// What the user sets of a server that is there already, and an import leaves as it is.
const OF_USER: &[&str] = &[
    "audit",
    "description",
    "grants",
    "max_restarts",
    "pin",
    "result_limit",
    "route",
    "spill",
    "startup_timeout",
    "timeout",
    "tools",
];

/// What a server is, without what the user sets of it.
fn definition(declaration: &config::Declaration) -> serde_json::Map<String, serde_json::Value> {
    let mut fields = Canonical(declaration).fields();
    fields.retain(|field, _| !OF_USER.contains(&field.as_str()));
    fields
}

/// Whether the file says the same of the server, however it is written.
fn is_declared_so(there: &Document, planned: &Planned, target: &Target) -> bool {
    let name = planned.name.as_str();
    let mut alone = Document::parse("").ok();
    let written = alone.as_mut().map(|alone| alone.insert(["servers", name], &planned.translated.table));
    let (Some(alone), Some(Ok(()))) = (alone, written) else { return false };
    let of = |document: &Document| {
        let (declarations, _) = config::read(document.text().as_bytes(), &target.path, LayerKind::User);
        declarations.servers.into_iter().find(|server| server.name == planned.name)
    };
    match (of(there), of(&alone)) {
        (Some(one), Some(other)) => {
            let is_off = |server: &config::Declaration| server.disabled.as_ref().is_some_and(|off| off.value);
            // One that is switched off here stays so: what it is is the same.
            definition(&one) == definition(&other) && (is_off(&one) || !is_off(&other))
        }
        _ => false,
    }
}
