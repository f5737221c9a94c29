//! One safe way to change a file of the list: what an edit would come to is read as every command would read it before
//! anything is written.

use anyhow::{Result, anyhow};
use serde_json::json;
use similar::TextDiff;
use squire_strategies::{Code, Text, Transport, masked_text};

use super::place::{Stand, Target};
use crate::config::edit::Document;
use crate::config::{self, MANAGED_POLICY, Problem, Problems, Project, Sources};
use crate::output::Output;
use crate::printable::printable;
use crate::resolve::{Standings, everything};

/// What a new file's permissions are: of the user's own, and of one that a repository shares.
const OWN: u32 = 0o600;
const SHARED: u32 = 0o644;

/// What an edit came to.
struct Change {
    /// Whether there was anything to change.
    is_changed: bool,
    /// What would be, where nothing was written.
    difference: Option<String>,
}

impl Change {
    /// Prints it for a script: what was done to which server or profile, and where.
    fn print(&self, action: &str, what: &str, name: &str, target: &Target) -> Result<()> {
        let told = json!({
            "version": VERSION,
            "action": action,
            what: name,
            "layer": target.layer.as_str(),
            "path": target.path.to_string_lossy(),
            "changed": self.is_changed,
            "dry_run": self.difference.is_some(),
            "difference": self.difference,
        });
        Output::default().data(&format!("{told:#}\n"))
    }
}

/// The version of what edits print with `--json`.
const VERSION: u32 = 1;

/// Changes a file, or shows the difference. `false` where there is nothing to change.
pub(super) fn change(
    stand: &Stand,
    target: &Target,
    dry_run: bool,
    edit: impl FnOnce(&mut Document) -> Result<()>,
) -> Result<bool> {
    let change = change_silently(stand, target, dry_run, edit)?;
    if let Some(difference) = &change.difference {
        Output::default().data(difference)?;
    }
    Ok(change.is_changed)
}

/// The same where the caller prints what came of it.
fn change_silently(
    stand: &Stand,
    target: &Target,
    dry_run: bool,
    edit: impl FnOnce(&mut Document) -> Result<()>,
) -> Result<Change> {
    let done = |is_changed| Change { is_changed, difference: None };
    if dry_run {
        let before = target.read()?;
        let after = edited(stand, target, &before, edit)?;
        let difference = Some(difference(target, before.text(), after.text()));
        return Ok(Change { is_changed: before != after, difference });
    }
    let (file, said) = target.open(stand.project.as_ref())?;
    let before = target.document(file.bytes())?;
    let after = edited(stand, target, &before, edit)?;
    if before == after && file.exists() {
        return Ok(done(false));
    }
    let mode = if target.layer.is_project() { SHARED } else { OWN };
    file.finish(after.text().as_bytes(), mode)
        .map_err(|error| anyhow!("{} can't be changed: {error}", target.path.display()))?;
    if let Some(said) = said {
        Output::default().notice(&said);
    }
    Ok(done(true))
}

/// The same for a command that prints JSON where that is asked for, in the place of the difference.
pub(super) fn change_told(
    stand: &Stand,
    target: &Target,
    told: Told<'_>,
    edit: impl FnOnce(&mut Document) -> Result<()>,
) -> Result<bool> {
    let Told { dry_run, json, action, what, name } = told;
    if !json {
        return change(stand, target, dry_run, edit);
    }
    let change = change_silently(stand, target, dry_run, edit)?;
    change.print(action, what, name, target)?;
    Ok(change.is_changed)
}

/// What a command does, and how it is told.
#[derive(Clone, Copy)]
pub(super) struct Told<'a> {
    pub(super) dry_run: bool,
    pub(super) json: bool,
    /// The subcommand.
    pub(super) action: &'a str,
    /// `server` or `profile`.
    pub(super) what: &'a str,
    pub(super) name: &'a str,
}

/// What an edit would come to: the text before and after it. Nothing is written or printed.
pub(super) fn preview(
    stand: &Stand,
    target: &Target,
    edit: impl FnOnce(&mut Document) -> Result<()>,
) -> Result<(Document, Document)> {
    let before = target.read()?;
    let after = edited(stand, target, &before, edit)?;
    Ok((before, after))
}

fn edited(
    stand: &Stand,
    target: &Target,
    before: &Document,
    edit: impl FnOnce(&mut Document) -> Result<()>,
) -> Result<Document> {
    let mut after = before.clone();
    edit(&mut after).map_err(|error| match error.downcast::<config::edit::Unfit>() {
        Ok(unfit) => anyhow!("{}: {unfit}", target.path.display()),
        Err(error) => error,
    })?;
    if *before != after {
        refuse_new_problems(stand, target, before, &after)?;
    }
    Ok(after)
}

/// Refuses an edit that makes something wrong. What was wrong before, such as a key that only a later squire knows,
/// stays as it is.
fn refuse_new_problems(stand: &Stand, target: &Target, before: &Document, after: &Document) -> Result<()> {
    let new = new_problems(stand, target, before, after)?;
    if new.is_empty() {
        return Ok(());
    }
    Err(anyhow!("nothing was changed, as this would be wrong:\n{}", Problems(new)))
}

/// What is wrong with a text and was not before.
pub(super) fn new_problems(
    stand: &Stand,
    target: &Target,
    before: &Document,
    after: &Document,
) -> Result<Vec<Problem>> {
    let known = problems(stand, target, before)?;
    let mut new = problems(stand, target, after)?;
    new.retain(|problem| !known.iter().any(|known| known.message == problem.message));
    Ok(new)
}

/// What is wrong with the layers where a file holds this text.
fn problems(stand: &Stand, target: &Target, document: &Document) -> Result<Vec<Problem>> {
    let mut project = stand.project.clone();
    if let (Some(project), true) = (&mut project, target.layer.is_project()) {
        project.declares_in = target.path.parent().map(Into::into);
    }
    let sources = Sources {
        config: &stand.directories.config,
        state: &stand.directories.state,
        project: project.as_ref(),
        managed: MANAGED_POLICY.as_ref(),
    };
    let loaded = config::load_with(sources, Some((&target.path, document.text().as_bytes())));
    let resolved = loaded.and_then(|layers| {
        everything(&layers, &Standings::new(), &|transport: &Transport| transport.remote().is_some())
    });
    match resolved {
        Err(error) => Ok(error.downcast::<Problems>()?.0),
        // A repository's mistakes are notes for everybody else.
        Ok(resolution) => Ok(resolution
            .notes
            .into_iter()
            .filter(|note| note.code == Code::ProjectFile)
            .map(|note| of_note(note, project.as_ref()))
            .collect()),
    }
}

fn of_note(note: squire_strategies::Note, project: Option<&Project>) -> Problem {
    let place = note.place.as_ref();
    let (line, column) = place.and_then(|place| place.position).unwrap_or((1, 1));
    let file =
        project.map(|project| project.declares_in.as_ref().unwrap_or(&project.root).join(Project::FILE));
    Problem {
        path: place.map_or_else(|| file.unwrap_or_default(), |place| place.path.to_string().into()),
        place: config::Place { line, column },
        message: note.sentence,
        help: note.mend,
    }
}

/// The difference in the words of diff(1). A line that surely holds a credential is not shown.
pub(super) fn difference(target: &Target, before: &str, after: &str) -> String {
    if before == after {
        return String::new();
    }
    let path = target.path.display().to_string();
    let diff = TextDiff::from_lines(before, after);
    let unified = diff.unified_diff().context_radius(3).header(&path, &path).to_string();
    let shown = |line: &str| {
        let (sign, text) = line.split_at(line.chars().next().map_or(0, char::len_utf8));
        let plain = Text::plain(text);
        let masked = masked_text(&plain);
        // What is written as a reference stays as it is written.
        let is_hidden = masked == "***";
        format!("{sign}{}\n", printable(if is_hidden { &masked } else { text }))
    };
    unified.lines().map(shown).collect()
}
