//! What a launch put on disk, and how it goes away again.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use squire_strategies::File;

use super::Surroundings;
use super::merge::Merged;
use super::record::Record;
use crate::files::{self, PrivateDirectory};
use crate::output::Output;
use crate::plan::Plan;

/// Everything that a launch staged.
#[derive(Debug, Default)]
pub(super) struct Staged<'plan> {
    private: Option<PrivateDirectory>,
    paths: Vec<(&'static str, PathBuf)>,
    merged: Vec<Merged<'plan>>,
    record: Option<Record>,
}

impl<'plan> Staged<'plan> {
    /// Stages a plan. On an error nothing is left.
    pub(super) fn new(plan: &'plan Plan, surroundings: Surroundings<'_>, output: Output) -> Result<Self> {
        let mut staged = Self::default();
        match staged.fill(plan, surroundings) {
            Ok(()) => Ok(staged),
            Err(error) => {
                staged.undo(output);
                Err(error)
            }
        }
    }

    fn fill(&mut self, plan: &'plan Plan, surroundings: Surroundings<'_>) -> Result<()> {
        let Surroundings { environment, directories, .. } = surroundings;
        if plan.delivered().is_empty() && !plan.leaves_files() {
            return Ok(());
        }
        for file in &plan.artifacts.files {
            match file {
                File::Private { name, text } => self.write_private(name, text, surroundings)?,
                File::Merge { path, at, entries } => {
                    let directory = environment.directory()?;
                    let is_home = environment.home().is_some_and(|home| files::same_file(&home, directory));
                    ensure!(
                        !is_home,
                        "the working directory is the home directory, whose {path} is the agent's own: launch from a project"
                    );
                    self.merged.push(Merged::apply(directory, path, at, entries)?);
                }
            }
        }
        // Without a place for it the agent is equipped all the same; the built-in server then says what it lacks.
        self.record = Record::write(&directories.state, plan).ok();
        Ok(())
    }

    fn write_private(
        &mut self,
        name: &'static str,
        text: &str,
        surroundings: Surroundings<'_>,
    ) -> Result<()> {
        let Surroundings { environment, directories, project } = surroundings;
        let in_project = |directory: &Path| {
            project.is_some_and(|project| files::real_path_of_existing_part(directory).starts_with(project))
        };
        let runtime = environment
            .xdg("XDG_RUNTIME_DIR")
            .filter(|directory| files::is_private(directory) && !in_project(directory));
        let base =
            runtime.map_or_else(|| directories.state.join("private"), |directory| directory.join("squire"));
        let failed = || format!("no private directory can be had in {}", base.display());
        let directory = match &mut self.private {
            Some(directory) => directory,
            None => self.private.insert(PrivateDirectory::create(&base).with_context(failed)?),
        };
        self.paths.push((name, directory.write(name, text.as_bytes()).with_context(failed)?));
        Ok(())
    }

    /// Where a private file lies.
    pub(super) fn path_of(&self, name: &str) -> Option<&PathBuf> {
        self.paths.iter().find(|(file, _)| *file == name).map(|(_, path)| path)
    }

    /// The id of the launch record.
    pub(super) fn launch_id(&self) -> Option<&str> {
        self.record.as_ref().map(|record| record.id.as_str())
    }

    /// Puts everything back; what can't be is told.
    pub(super) fn undo(&mut self, output: Output) {
        let merged = self.merged.drain(..).map(Merged::undo);
        let private = self.private.take().map(|private| private.remove().context("a private file is left"));
        let record = self.record.take().map(Record::remove);
        for error in merged.chain(private).chain(record).filter_map(Result::err) {
            output.message(&format!("{error:#}"));
        }
    }
}
