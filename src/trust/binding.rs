//! What an approval is bound to beside the words of the declaration: which program a name leads to, and the content of
//! the files of the project that the command line names.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow, ensure};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use squire_strategies::Stdio;

use crate::files;
use crate::runner::{Boundaries, look_up};

/// The program, and the project's files among the words.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Binding {
    /// The program's path, where it is a program.
    pub program: Option<String>,
    /// The SHA-256 of each file of the project that the command or an argument names, by its path in the project.
    pub files: BTreeMap<String, String>,
    /// Where in the project a program of it runs; none at its root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
}

/// How a binding differs from the approved one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// The program of the same name lies elsewhere, where no repository can have put it.
    Moved {
        /// Where it was.
        from: String,
        /// Where it is.
        to: String,
    },
    /// Something that runs is another thing than what was approved, as a sentence.
    Other(String),
}

impl Binding {
    /// What a program is bound to now. `project` is the root of the project that declares it, and the directory below
    /// that where it runs; a program of the user's own has none.
    ///
    /// The error says what can't be bound: a program that is nowhere, a link in the project.
    pub fn of(stdio: &Stdio, project: Option<(&Path, &Path)>, path: Option<&OsStr>) -> Result<Self> {
        let mut binding = Self::default();
        let words = std::iter::once(&stdio.command).chain(&stdio.args);
        if let Some((root, directory)) = project {
            for word in words {
                // What stands for an unset variable is a word of the declaration too.
                let by_default = word.by_default();
                for word in word.literal().into_iter().chain(by_default.as_deref()) {
                    binding.bind(word, root, directory)?;
                }
            }
            binding.directory =
                below(root, directory).map(|below| crate::environment::utf8(&below)).transpose()?;
        }
        let program = stdio.command.literal().unwrap_or_default();
        let program = if program.contains('/') {
            project.map_or_else(|| PathBuf::from(program), |(_, directory)| directory.join(program))
        } else {
            let boundaries = Boundaries { project: project.map(|(root, _)| root), squire: None };
            look_up(program.as_ref(), path, boundaries)?
        };
        binding.program = Some(crate::environment::utf8(&program)?);
        Ok(binding)
    }

    /// The digest of a declaration and of the project's files that it is bound to: what a machine that can't be asked is
    /// given. Without such files it is the declaration's own.
    pub fn digest_with(&self, declaration: &str) -> String {
        if self.files.is_empty() && self.directory.is_none() {
            return declaration.to_owned();
        }
        let bound = match &self.directory {
            None => serde_json::json!(self.files).to_string(),
            Some(directory) => serde_json::json!([self.files, directory]).to_string(),
        };
        let text = ["squire-approval-v1", declaration, &bound].join("\n");
        files::hexadecimal(&Sha256::digest(text))
    }

    /// Binds the file that a word names, where it is one of the project; so does the value of `--option=FILE`.
    fn bind(&mut self, word: &str, root: &Path, directory: &Path) -> Result<()> {
        let value =
            word.split_once('=').filter(|(option, _)| option.starts_with('-')).map(|(_, value)| value);
        for candidate in std::iter::once(word).chain(value) {
            let path = directory.join(candidate);
            // A way around: of another process another file, and of this one whatever the project has there.
            ensure!(
                !files::plain(&path).starts_with("/proc"),
                "{candidate} leads through /proc, and can't be bound to what is there now; write the path itself"
            );
            let plain = below(root, &path);
            let Some(relative) = plain.or_else(|| below(root, &files::real_path_of_existing_part(&path)))
            else {
                continue;
            };
            let hashed = files::digest_of_project(root, &relative)
                .map_err(|error| anyhow!("{}: {error}", root.join(&relative).display()))?;
            if let Some(digest) = hashed {
                self.files.insert(crate::environment::utf8(&relative)?, digest);
            }
        }
        Ok(())
    }

    /// What changed since it was approved.
    pub fn changes(&self, approved: &Self) -> Vec<Change> {
        let mut changes = Vec::new();
        for (file, digest) in &self.files {
            match approved.files.get(file) {
                Some(before) if before == digest => {}
                Some(_) => changes.push(Change::Other(format!("{file} has changed"))),
                None => changes.push(Change::Other(format!("{file} is a file of the project now"))),
            }
        }
        if self.directory != approved.directory {
            let shown = |directory: &Option<String>| directory.clone().unwrap_or_else(|| ".".into());
            let (before, now) = (shown(&approved.directory), shown(&self.directory));
            changes.push(Change::Other(format!(
                "it was approved to run in {before} of the project, and would run in {now}"
            )));
        }
        let gone = approved.files.keys().filter(|file| !self.files.contains_key(*file));
        changes.extend(gone.map(|file| Change::Other(format!("{file} is gone"))));
        match (&approved.program, &self.program) {
            (Some(from), Some(to)) if from != to => {
                changes.push(Change::Moved { from: from.clone(), to: to.clone() });
            }
            (Some(_), Some(_)) | (None, None) => {}
            (Some(from), None) => changes.push(Change::Other(format!("{from} no longer runs"))),
            (None, Some(to)) => changes.push(Change::Other(format!("{to} would run"))),
        }
        changes
    }
}

/// Whether a program at another path may be taken for the approved one: the same name, outside the project, of root or
/// the user (an update of node, another order of PATH).
pub fn is_harmless_move(from: &str, to: &str, root: &Path) -> bool {
    let (from, to) = (Path::new(from), Path::new(to));
    let outside = |path: &Path| !files::real_path_of_existing_part(path).starts_with(root);
    from.file_name() == to.file_name() && outside(from) && outside(to) && files::is_ours_or_absent(to)
}

/// A path relative to the root, where it lies below it without leading through `..` to elsewhere.
fn below(root: &Path, path: &Path) -> Option<PathBuf> {
    let plain = files::plain(path);
    let relative = plain.strip_prefix(root).ok()?;
    (!relative.as_os_str().is_empty()).then(|| relative.to_path_buf())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_below_the_root_whatever_its_spelling() {
        let root = Path::new("/p");
        let found =
            |path: &str| below(root, &root.join("a").join(path)).map(|path| path.display().to_string());
        assert_eq!(found("x.ts").as_deref(), Some("a/x.ts"));
        assert_eq!(found("./../x.ts").as_deref(), Some("x.ts"));
        assert_eq!(found("/p/a/../x.ts").as_deref(), Some("x.ts"));
        assert_eq!(found("../../etc/passwd"), None);
        assert_eq!(found("/usr/bin/node"), None);
    }
}
