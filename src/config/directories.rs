//! Where squire keeps its own files, and which project it stands in.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};

use crate::environment::Environment;
use crate::files;

/// squire's own directories. Nothing is created by knowing them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Directories {
    /// `$SQUIRE_CONFIG_DIR`, else `$XDG_CONFIG_HOME/squire`, else `~/.config/squire`.
    pub config: PathBuf,
    /// `$SQUIRE_STATE_DIR`, else `$XDG_STATE_HOME/squire`, else `~/.local/state/squire`.
    pub state: PathBuf,
}

impl Directories {
    /// Finds them; an error where neither a variable nor a home directory says where they are.
    pub fn find(environment: &Environment) -> Result<Self> {
        Ok(Self {
            config: directory(environment, "SQUIRE_CONFIG_DIR", "XDG_CONFIG_HOME", ".config")?,
            state: directory(environment, "SQUIRE_STATE_DIR", "XDG_STATE_HOME", ".local/state")?,
        })
    }

    /// The user layer's file.
    pub fn user_file(&self) -> PathBuf {
        self.config.join("squire.toml")
    }

    /// Refuses directories that a repository or another user could fill. The places below the home directory where
    /// they lie by default are the user's own, also where they are worked in.
    pub fn refuse_foreign(&self, project: Option<&Project>, environment: &Environment) -> Result<()> {
        let by_default = environment
            .home()
            .map(|home| [home.join(".config/squire"), home.join(".local/state/squire")])
            .unwrap_or_default();
        for (directory, variable) in [(&self.config, "SQUIRE_CONFIG_DIR"), (&self.state, "SQUIRE_STATE_DIR")]
        {
            let shown = directory.display();
            let in_project =
                |project: &Project| files::real_path_of_existing_part(directory).starts_with(&project.root);
            if let Some(project) =
                project.filter(|project| !by_default.contains(directory) && in_project(project))
            {
                bail!(
                    "{shown} lies inside the project {}: a repository could fill it; set {variable} to a directory of your own",
                    project.root.display()
                );
            }
            ensure!(
                files::is_ours_or_absent(directory),
                "{shown} belongs to somebody else; set {variable} to a directory of your own"
            );
        }
        Ok(())
    }
}

fn directory(environment: &Environment, own: &str, xdg: &str, below_home: &str) -> Result<PathBuf> {
    if let Some(path) = environment.get(own).map(PathBuf::from) {
        ensure!(path.is_absolute(), "{own} is {}: it must be an absolute path", path.display());
        return Ok(path);
    }
    let base = environment.xdg(xdg).or_else(|| environment.home().map(|home| home.join(below_home)));
    Ok(base
        .with_context(|| format!("there is no home directory: set HOME to an absolute path, or {own}"))?
        .join("squire"))
}

/// A repository, or a directory that is worked in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Project {
    /// Its real path: the nearest ancestor with `.git`, else the working directory alone.
    pub root: PathBuf,
    /// The directory of the nearest `squire.toml`, from the working directory up to the root.
    pub declares_in: Option<PathBuf>,
}

impl Project {
    /// The file that declares the project's servers.
    pub const FILE: &'static str = "squire.toml";

    /// The project around a directory (a real path); none in the home directory or above it, which is the user's.
    pub fn find(directory: &Path, home: Option<&Path>) -> Option<Self> {
        let home = home.map(files::real_path_of_existing_part);
        let of_user = |path: &Path| {
            path.parent().is_none() || home.as_deref().is_some_and(|home| home.starts_with(path))
        };
        let candidates = || directory.ancestors().take_while(|path| !of_user(path));
        let root =
            candidates().find(|path| files::exists(&path.join(".git"))).or_else(|| candidates().next())?;
        let declares_in = candidates()
            .take_while(|path| path.starts_with(root))
            .find(|path| files::exists(&path.join(Self::FILE)));
        Some(Self { root: root.to_path_buf(), declares_in: declares_in.map(Path::to_path_buf) })
    }
}
