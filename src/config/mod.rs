//! The layers of declarations: where they lie, what they hold, what is wrong with them.

mod directories;
mod fields;
mod json_schema;
mod problem;
mod read;
mod read_server;
mod schema;
mod table;

use std::path::Path;

use anyhow::{Result, anyhow};

pub use directories::{Directories, Project};
pub use json_schema::json_schema;
pub use problem::{Place, Problem, Problems, nearest};
pub use read::read;
pub use schema::{Declaration, Declarations, Kind, Layer, LayerKind, Located, Profile};

use crate::files;

/// All layers that a command sees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layers {
    /// The user's own.
    pub user: Layer,
    /// The repository's, where there is one that can be read.
    pub project: Option<Layer>,
    /// Why the repository's file is not used, where it is there and can't be.
    pub project_refused: Option<String>,
}

/// Reads the layers. A malformed user file is an error that names every problem; a malformed project file is set
/// aside with its reason, as a repository must not be able to stop a launch.
pub fn load(config: &Path, project: Option<&Project>) -> Result<Layers> {
    let user = load_user(&config.join("squire.toml"))?;
    let (project, project_refused) = match project.and_then(|project| load_project(project).transpose()) {
        None => (None, None),
        Some(Ok(layer)) => (Some(layer), None),
        Some(Err(reason)) => (None, Some(reason.to_string())),
    };
    Ok(Layers { user, project, project_refused })
}

fn load_user(path: &Path) -> Result<Layer> {
    let bytes = files::read_of_user(path).map_err(|error| anyhow!("{}: {error}", path.display()))?;
    let (declarations, problems) = read(&bytes.unwrap_or_default(), path, LayerKind::User);
    if !problems.is_empty() {
        return Err(Problems(problems).into());
    }
    Ok(Layer { kind: LayerKind::User, path: path.to_path_buf(), declarations })
}

fn load_project(project: &Project) -> Result<Option<Layer>> {
    let Some(directory) = &project.declares_in else { return Ok(None) };
    let path = directory.join(Project::FILE);
    let relative = path.strip_prefix(&project.root)?;
    let bytes = files::read_of_project(&project.root, relative)
        .map_err(|error| anyhow!("{}: {error}", path.display()))?;
    let (declarations, problems) = read(&bytes.unwrap_or_default(), &path, LayerKind::Project);
    if !problems.is_empty() {
        return Err(Problems(problems).into());
    }
    Ok(Some(Layer { kind: LayerKind::Project, path, declarations }))
}
