//! Where entries live: the files of the layers, and which of them has one.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail, ensure};

use crate::cli::Layer;
use crate::config::edit::Document;
use crate::config::{self, Directories, LayerKind, MANAGED_POLICY, Problems, Project, Sources, Unusable};
use crate::environment::Environment;
use crate::files;
use crate::resolve::{UnknownSelection, unknown_name};

/// squire's directories and the project around the working directory.
pub(super) struct Stand {
    pub(super) directories: Directories,
    pub(super) project: Option<Project>,
}

/// A file that can be edited.
#[derive(Clone, Debug)]
pub(super) struct Target {
    pub(super) layer: LayerKind,
    pub(super) path: PathBuf,
    /// Of a project's file: its root.
    pub(super) root: Option<PathBuf>,
}

impl Stand {
    /// Finds them; those that a repository could fill are refused.
    pub(super) fn find(environment: &Environment) -> Result<Self> {
        let directories = Directories::find(environment)?;
        let project = Project::find(environment.directory()?, environment.home().as_deref());
        directories.refuse_foreign(project.as_ref(), environment)?;
        Ok(Self { directories, project })
    }

    /// The file of a layer, which need not be there.
    pub(super) fn target(&self, layer: Layer) -> Result<Target> {
        let project = || {
            self.project
                .as_ref()
                .context("this is no project: neither the home directory nor what is above it is one")
        };
        Ok(match layer {
            Layer::User => Target { layer: LayerKind::User, path: self.directories.user_file(), root: None },
            Layer::Local => {
                let path = config::local_file(&self.directories.config, project()?);
                Target { layer: LayerKind::Local, path, root: None }
            }
            Layer::Project => {
                let Project { root, declares_in } = project()?;
                let path = declares_in.as_ref().unwrap_or(root).join(Project::FILE);
                ensure!(
                    !files::same_file(&path, &self.directories.user_file()),
                    "{} is your own file, and no project's",
                    path.display()
                );
                Target { layer: LayerKind::Project, path, root: Some(root.clone()) }
            }
        })
    }

    /// The files that could have an entry, the lowest layer first.
    pub(super) fn targets(&self) -> Result<Vec<Target>> {
        let mut targets = vec![self.target(Layer::User)?];
        if let Some(project) = &self.project {
            // Where squire's own files are worked in, the user's file is no project's.
            targets.extend(project.declares_in.as_ref().and_then(|_| self.target(Layer::Project).ok()));
            targets.push(self.target(Layer::Local)?);
        }
        Ok(targets)
    }

    /// The file of `servers.d` that a server has, which squire only reads.
    pub(super) fn drop_in(&self, name: &str) -> Option<PathBuf> {
        let path = self.directories.config.join("servers.d").join(format!("{name}.toml"));
        files::exists(&path).then_some(path)
    }

    /// The file of a lower layer that has a server of this name: an entry of the local layer would change it field by
    /// field, and not be one of its own.
    pub(super) fn below(&self, target: &Target, name: &str) -> Result<Option<PathBuf>> {
        if target.layer != LayerKind::Local {
            return Ok(None);
        }
        for lower in self.targets()?.into_iter().filter(|lower| lower.layer != LayerKind::Local) {
            let is_there = lower.read().is_ok_and(|document| document.has(&["servers", name]));
            if is_there {
                return Ok(Some(lower.path));
            }
        }
        Ok(self.live(name))
    }

    /// The file of an agent in which the project declares a server. What can't be read every other command tells.
    pub(super) fn live(&self, name: &str) -> Option<PathBuf> {
        let sources = Sources {
            config: &self.directories.config,
            state: &self.directories.state,
            project: self.project.as_ref(),
            managed: MANAGED_POLICY.as_ref(),
        };
        let project = config::load(sources).ok()?.project?;
        let mut live = project.servers.iter().filter(|server| server.origin.layer == LayerKind::Live);
        let server = live.find(|server| server.name.as_str() == name)?;
        Some(server.origin.path.to_path_buf())
    }

    /// The files that have an entry, the lowest layer first; an error where none has one and no drop-in is there.
    pub(super) fn homes(&self, section: &str, what: &str, name: &str) -> Result<Vec<(Target, Document)>> {
        let (mut homes, mut known) = (Vec::new(), Vec::new());
        for target in self.targets()? {
            // What can't be read of a repository is no reason to touch nothing of the user's.
            let document = match target.read() {
                Err(_) if target.layer.is_project() => continue,
                document => document?,
            };
            known.extend(document.keys(&[section]));
            if document.has(&[section, name]) {
                homes.push((target, document));
            }
        }
        let is_declared = || self.drop_in(name).is_some() || self.live(name).is_some();
        if homes.is_empty() && (section != "servers" || !is_declared()) {
            let sentence = unknown_name(what, name, known.iter().map(String::as_str));
            return Err(UnknownSelection(vec![sentence]).into());
        }
        Ok(homes)
    }
}

impl Target {
    /// The text of the file; an empty one where it is not there.
    pub(super) fn read(&self) -> Result<Document> {
        let bytes = match &self.root {
            Some(root) => files::read_of_project(root, self.relative(root)?),
            None => files::read_of_user(&self.path),
        };
        let unusable = |reason: String| Unusable { path: self.path.clone(), reason };
        let bytes = bytes.map_err(|error| unusable(error.to_string()))?.unwrap_or_default();
        self.document(&bytes)
    }

    /// Bytes of this file as text to edit.
    pub(super) fn document(&self, bytes: &[u8]) -> Result<Document> {
        let told = || -> anyhow::Error {
            let problems = config::read(bytes, &self.path, self.layer).1;
            if problems.is_empty() {
                anyhow!("{} is no TOML", self.path.display())
            } else {
                Problems(problems).into()
            }
        };
        let text = std::str::from_utf8(bytes).map_err(|_| told())?;
        Document::parse(text).map_err(|_| told())
    }

    pub(super) fn relative<'a>(&'a self, root: &Path) -> Result<&'a Path> {
        Ok(self.path.strip_prefix(root)?)
    }

    /// Begins to change the file: a link of the user's is followed and said, one in a project is refused.
    pub(super) fn open(&self, project: Option<&Project>) -> Result<(files::Rewrite, Option<String>)> {
        let unwritable = |error: std::io::Error| anyhow!("{} can't be changed: {error}", self.path.display());
        if let Some(root) = &self.root {
            let opened = files::Rewrite::of_project(root, self.relative(root)?);
            return Ok((opened.map_err(unwritable)?, None));
        }
        if files::is_link(&self.path) && self.path.canonicalize().is_err() {
            bail!("{} is a symbolic link to nothing", self.path.display());
        }
        let real = files::real_path_of_existing_part(&self.path);
        let is_linked = files::is_link(&self.path) || self.path.parent().is_some_and(files::is_link);
        if let Some(project) = project.filter(|project| is_linked && real.starts_with(&project.root)) {
            bail!(
                "{} leads to {}, which lies in the project {}: change it from elsewhere",
                self.path.display(),
                real.display(),
                project.root.display()
            );
        }
        let said = is_linked.then(|| {
            format!("{} leads to {}, which was changed; the link stays", self.path.display(), real.display())
        });
        Ok((files::Rewrite::of_user(&real).map_err(unwritable)?, said))
    }
}
