//! Looks up programs on PATH, but not where a repository could have put one (case B43).

use std::ffi::OsStr;
use std::fmt;
use std::path::{Path, PathBuf};

use crate::exit::Exit;
use crate::files;

/// Where programs are looked for where PATH is unset, as shells do.
const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// Why there is no program to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotRunnable {
    /// It is there, and may not be executed.
    NotExecutable(PathBuf),
    /// The system refused to start it, with this reason: its interpreter is missing, say.
    Refused(PathBuf, String),
    /// The path leads to nothing.
    Missing(PathBuf),
    /// It is nowhere on PATH but in these places, which are skipped with their reasons.
    NotFound {
        /// What was looked for.
        name: String,
        /// Where one of the name lies all the same.
        skipped: Vec<(PathBuf, &'static str)>,
    },
}

impl NotRunnable {
    /// The exit code, as env(1) has it.
    pub fn exit(&self) -> Exit {
        match self {
            Self::NotExecutable(_) | Self::Refused(..) => Exit::NOT_EXECUTABLE,
            Self::Missing(_) | Self::NotFound { .. } => Exit::NOT_FOUND,
        }
    }
}

impl fmt::Display for NotRunnable {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotExecutable(path) => write!(formatter, "{} can't be executed", path.display()),
            Self::Refused(path, reason) => {
                write!(formatter, "{} could not be started: {reason}", path.display())
            }
            Self::Missing(path) => write!(formatter, "there is no {}", path.display()),
            Self::NotFound { name, skipped } => {
                write!(formatter, "{name} was not found on PATH")?;
                for (path, reason) in skipped {
                    write!(formatter, "; {} is skipped: {reason}", path.display())?;
                }
                Ok(())
            }
        }
    }
}

impl std::error::Error for NotRunnable {}

/// Where a program may not come from.
#[derive(Clone, Copy, Debug, Default)]
pub struct Boundaries<'a> {
    /// The project's real path: what lies in it is the repository's.
    pub project: Option<&'a Path>,
    /// squire's own program, which must not launch itself under another name.
    pub squire: Option<&'a Path>,
}

/// Finds the program that a bare name means on a PATH. Relative and empty entries are skipped, as they mean another
/// program in every directory, and so are entries inside the project.
pub fn look_up(
    name: &OsStr,
    path: Option<&OsStr>,
    boundaries: Boundaries<'_>,
) -> Result<PathBuf, NotRunnable> {
    let mut skipped = Vec::new();
    let mut not_executable = None;
    for entry in std::env::split_paths(path.unwrap_or(DEFAULT_PATH.as_ref())) {
        let candidate = entry.join(name);
        let executable = files::is_executable(&candidate);
        if executable == Ok(false) {
            continue;
        }
        if let Some(reason) = refusal(&entry, &candidate, boundaries) {
            skipped.push((candidate, reason));
        } else if executable == Ok(true) {
            return Ok(candidate);
        } else {
            not_executable.get_or_insert(candidate);
        }
    }
    match not_executable {
        Some(path) => Err(NotRunnable::NotExecutable(path)),
        None => Err(NotRunnable::NotFound { name: name.to_string_lossy().into_owned(), skipped }),
    }
}

/// The program that a bare name means to whoever looks at every entry of PATH, as agents do.
pub fn first_on(path: Option<&OsStr>, name: &OsStr, directory: &Path) -> Option<PathBuf> {
    let entries = std::env::split_paths(path.unwrap_or(DEFAULT_PATH.as_ref()));
    let mut candidates = entries.map(|entry| directory.join(entry).join(name));
    candidates.find(|candidate| files::is_executable(candidate) == Ok(true))
}

fn refusal(entry: &Path, candidate: &Path, boundaries: Boundaries<'_>) -> Option<&'static str> {
    let inside = |project: &Path| {
        let real = files::real_path_of_existing_part;
        real(entry).starts_with(project) || real(candidate).starts_with(project)
    };
    if !entry.is_absolute() {
        Some("its PATH entry is relative")
    } else if boundaries.project.is_some_and(inside) {
        Some("it lies in the project")
    } else if boundaries.squire.is_some_and(|squire| files::same_file(squire, candidate)) {
        Some("it is squire itself")
    } else {
        None
    }
}
