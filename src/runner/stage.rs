//! What a launch put on disk, and how it goes away again.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use squire_strategies::File;

use super::Surroundings;
use super::merge::{Merged, Target};
use super::record::Record;
use crate::files::{self, PrivateDirectory};
use crate::output::Output;
use crate::plan::Plan;

/// Everything that a launch staged.
#[derive(Debug, Default)]
pub(super) struct Staged {
    private: Option<PrivateDirectory>,
    paths: Vec<(&'static str, PathBuf)>,
    merged: Vec<Merged>,
    record: Option<Record>,
}

impl Staged {
    /// Stages a plan. On an error nothing is left.
    pub(super) fn new(plan: &Plan, surroundings: Surroundings<'_>, output: Output) -> Result<Self> {
        let mut staged = Self::default();
        match staged.fill(plan, surroundings, output) {
            Ok(()) => Ok(staged),
            Err(error) => {
                staged.undo(false, output);
                Err(error)
            }
        }
    }

    fn fill(&mut self, plan: &Plan, surroundings: Surroundings<'_>, output: Output) -> Result<()> {
        let room = Room { plan, surroundings, base: private_base(surroundings), id: files::random_name()? };
        for file in &plan.artifacts.files {
            match file {
                File::Private { name, text } => {
                    let path = self.write_private(&room, name, text.as_bytes())?;
                    self.paths.push((name, path));
                }
                File::Merge { path, at, entries } => {
                    let Surroundings { environment, .. } = surroundings;
                    let directory = environment.directory()?;
                    let is_home = environment.home().is_some_and(|home| files::same_file(&home, directory));
                    ensure!(
                        !is_home,
                        "the working directory is the home directory, whose {path} is the agent's own: launch from a project"
                    );
                    let target = Target { directory, path, at };
                    let state = &surroundings.directories.state;
                    self.merged.push(Merged::enter(state, &target, &room.id, entries, output)?);
                }
            }
        }
        if !plan.delivered().is_empty() {
            self.write_record(&room);
        }
        Ok(())
    }

    fn write_private(&mut self, room: &Room<'_>, name: &str, bytes: &[u8]) -> Result<PathBuf> {
        // Before the first file, so that the files of a launch that was killed are found.
        self.write_record(room);
        let failed = || {
            let base = room.base.display();
            format!(
                "no private directory can be had in {base}; set SQUIRE_STATE_DIR to one that can be written"
            )
        };
        let directory = match &mut self.private {
            Some(directory) => directory,
            None => self.private.insert(PrivateDirectory::create(&room.base, &room.id).with_context(failed)?),
        };
        directory.write(name, bytes).with_context(failed)
    }

    /// Without a place for it the agent is equipped all the same; the built-in server then says what it lacks.
    fn write_record(&mut self, room: &Room<'_>) {
        if self.record.is_none() {
            let private = room.base.join(&room.id);
            self.record = Record::write(&room.id, room.plan, room.surroundings, &private).ok();
        }
    }

    /// Where a private file lies.
    pub(super) fn path_of(&self, name: &str) -> Option<&PathBuf> {
        self.paths.iter().find(|(file, _)| *file == name).map(|(_, path)| path)
    }

    /// The id of the launch record.
    pub(super) fn launch_id(&self) -> Option<&str> {
        self.record.as_ref().map(|record| record.id.as_str())
    }

    /// Puts everything back; what can't be is told. A launch of which the agent was started is remembered.
    pub(super) fn undo(&mut self, was_started: bool, output: Output) {
        let merged = self.merged.drain(..).map(|merged| merged.leave(output));
        let private = self.private.take().map(|private| private.remove().context("a private file is left"));
        // The record alone knows of a private file that is left: the next command reads it.
        let record = self.record.take().filter(|_| !matches!(private, Some(Err(_))));
        let record = record.map(|record| if was_started { record.put_away() } else { record.remove() });
        for error in merged.chain(private).chain(record).filter_map(Result::err) {
            output.message(&format!("{error:#}"));
        }
    }
}

/// Where the private files of one launch go, and under which id.
struct Room<'a> {
    plan: &'a Plan,
    surroundings: Surroundings<'a>,
    base: PathBuf,
    id: String,
}

/// The session's own directory where it is private, else the state directory.
fn private_base(surroundings: Surroundings<'_>) -> PathBuf {
    let Surroundings { environment, directories, project, .. } = surroundings;
    let in_project = |directory: &Path| {
        project.is_some_and(|project| files::real_path_of_existing_part(directory).starts_with(project))
    };
    let runtime = environment
        .xdg("XDG_RUNTIME_DIR")
        .filter(|directory| files::is_private(directory) && !in_project(directory));
    runtime.map_or_else(|| directories.state.join("private"), |directory| directory.join("squire"))
}
