//! The folder of one launch: a home, a project, and what the test wrote into the home.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A fresh home beside an empty project; both are gone when it is dropped.
#[derive(Debug)]
pub(crate) struct Home {
    folder: TempDir,
    written: Vec<(PathBuf, String)>,
}

impl Home {
    pub(crate) fn new() -> io::Result<Self> {
        let home =
            Self { folder: tempfile::Builder::new().prefix("squire-agent-").tempdir()?, written: Vec::new() };
        fs::create_dir(home.path())?;
        fs::create_dir(home.project())?;
        Ok(home)
    }

    /// What HOME names.
    pub(crate) fn path(&self) -> PathBuf {
        self.beside("home")
    }

    /// The working directory of the launch.
    pub(crate) fn project(&self) -> PathBuf {
        self.beside("project")
    }

    /// A place of the test's own, outside home and project.
    pub(crate) fn beside(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file of the user, to be compared with later.
    pub(crate) fn write(&mut self, name: &str, contents: String) -> io::Result<()> {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().unwrap_or(Path::new("/")))?;
        fs::write(&path, &contents)?;
        self.written.push((path, contents));
        Ok(())
    }

    /// The files of the user that are no longer what they were, and all that was left in the project.
    pub(crate) fn changed(&self) -> io::Result<Vec<PathBuf>> {
        let differs = |path: &Path, before: &str| fs::read(path).map_or(true, |now| now != before.as_bytes());
        let written = self.written.iter().filter(|(path, before)| differs(path, before));
        let left = fs::read_dir(self.project())?.map(|entry| entry.map(|entry| entry.path()));
        written.map(|(path, _)| Ok(path.clone())).chain(left).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::Home;

    #[test]
    fn a_changed_file_is_noticed() {
        let mut home = Home::new().unwrap();
        home.write(".agent/kept", "a".into()).unwrap();
        home.write(".agent/touched", "a".into()).unwrap();
        home.write("removed", "a".into()).unwrap();
        std::fs::write(home.path().join(".agent/touched"), "b").unwrap();
        std::fs::remove_file(home.path().join("removed")).unwrap();
        std::fs::write(home.project().join("left"), "").unwrap();
        let expected =
            [home.path().join(".agent/touched"), home.path().join("removed"), home.project().join("left")];
        assert_eq!(home.changed().unwrap(), expected);
    }
}
