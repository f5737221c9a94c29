//! What launches left behind: settled by the next command, whichever it is; shown by `squire doctor` and cleared by
//! `squire clean`.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use super::merge::{self, Leaver, Surveyed};
use super::{history, record, spilled};
use crate::files;
use crate::gateway::{ENABLED, audit, memory};
use crate::output::Output;
use crate::printable::printable;
use crate::trust::log::FILE as TRUST_LOG;
use crate::trust::pins;

/// Settles what dead launches left: entries in files of projects, private files, records. Only what is provably
/// squire's is touched, and what is said of it is said on stderr. `false` where something could not be settled.
pub fn settle(state: &Path, output: Output) -> bool {
    let mut done = true;
    for settled in merge::settle(state, output) {
        match settled.outcome {
            Ok(leaver) => {
                let left = match leaver {
                    Leaver::Launch => "a launch that was killed left",
                    Leaver::Editor => "an old copy brought back",
                };
                let file = printable(&settled.file.display().to_string());
                output.notice(&format!("{file}: what {left} is taken out"));
            }
            Err(reason) => {
                done = false;
                output.message(&reason);
            }
        }
    }
    record::settle(state);
    spilled::settle(state);
    done
}

/// The directories of the state directory, made or not.
pub fn state_directories(state: &Path) -> impl Iterator<Item = PathBuf> {
    let names = [
        "launches",
        history::PAST,
        history::REPORTS,
        "merges",
        "private",
        "approvals",
        ENABLED,
        pins::DIRECTORY,
        memory::DIRECTORY,
        spilled::DIRECTORY,
        audit::DIRECTORY,
    ];
    names.into_iter().map(|name| state.join(name))
}

/// Removes squire's whole state, file by file and each directory only when it is empty; gives what is gone. Refused
/// while a launch runs, or while a project's file waits to be put right.
pub fn remove_state(state: &Path) -> Result<Vec<PathBuf>> {
    let running: Vec<String> =
        record::running(state).iter().map(|launch| launch.process.to_string()).collect();
    ensure!(running.is_empty(), "nothing was removed: launches run, as the processes {}", running.join(", "));
    for surveyed in merge::survey(state) {
        match surveyed {
            Surveyed::Running { .. } | Surveyed::Remembered { .. } => {}
            Surveyed::Unsettled { file, journal } => anyhow::bail!(
                "nothing was removed: entries of squire may be left in {}, and {} knows what it was before",
                file.display(),
                journal.display()
            ),
            Surveyed::Unreadable { reason, .. } => {
                anyhow::bail!("nothing was removed: {reason}: squire doctor")
            }
            Surveyed::Kept(path) => {
                anyhow::bail!("nothing was removed: look at {}, then remove it yourself", path.display());
            }
        }
    }
    // The state directory itself may be reached by a link; below it none is followed.
    let real = files::real_path_of_existing_part(state);
    for directory in state_directories(&real) {
        ensure!(
            !files::exists(&directory) || files::is_directory(&directory),
            "nothing was removed: {} is no directory of squire's: look at it, then remove it yourself",
            directory.display()
        );
    }
    let (state, mut gone) = (real.as_path(), Vec::new());
    for directory in state_directories(state) {
        remove_files_below(&directory, &mut gone)?;
    }
    for name in [TRUST_LOG, audit::KEY_FILE] {
        let path = state.join(name);
        if files::exists(&path) {
            files::remove_private(state, name).with_context(|| path.display().to_string())?;
            gone.push(path);
        }
    }
    remove_empty(state, &mut gone)?;
    Ok(gone)
}

fn remove_files_below(directory: &Path, gone: &mut Vec<PathBuf>) -> Result<()> {
    let names = files::names_in(directory).with_context(|| directory.display().to_string())?;
    for name in names {
        let path = directory.join(&name);
        if files::is_directory(&path) {
            remove_files_below(&path, gone)?;
        } else if let Some(name) = name.to_str() {
            files::remove_private(directory, name).with_context(|| path.display().to_string())?;
            gone.push(path);
        }
    }
    remove_empty(directory, gone)
}

fn remove_empty(directory: &Path, gone: &mut Vec<PathBuf>) -> Result<()> {
    if files::remove_empty(directory).with_context(|| directory.display().to_string())? {
        gone.push(directory.to_path_buf());
    }
    Ok(())
}
