//! What launches left behind: settled by the next command, whichever it is; shown by `squire doctor` and cleared by
//! `squire clean`.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use super::merge::{self, Leaver, Surveyed};
use super::record;
use crate::files;
use crate::output::Output;

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
                output.notice(&format!("{}: what {left} is taken out", settled.file.display()));
            }
            Err(reason) => {
                done = false;
                output.message(&reason);
            }
        }
    }
    record::settle(state);
    done
}

/// Removes squire's whole state, file by file and each directory only when it is empty; gives what is gone. Refused
/// while a launch runs, or while a project's file waits to be put right.
pub fn remove_state(state: &Path) -> Result<Vec<PathBuf>> {
    let running: Vec<String> =
        record::running(state).iter().map(|launch| launch.process.to_string()).collect();
    ensure!(running.is_empty(), "nothing was removed: launches run, as the processes {}", running.join(", "));
    for surveyed in merge::survey(state) {
        if let Surveyed::Unsettled { file, journal } = surveyed {
            anyhow::bail!(
                "nothing was removed: entries of squire may be left in {}, and {} knows what it was before",
                file.display(),
                journal.display()
            );
        }
    }
    let mut gone = Vec::new();
    for directory in ["launches", "merges", "private"].map(|name| state.join(name)) {
        remove_files_below(&directory, &mut gone)?;
    }
    remove_empty(state, &mut gone)?;
    Ok(gone)
}

fn remove_files_below(directory: &Path, gone: &mut Vec<PathBuf>) -> Result<()> {
    let names = files::names_in(directory).with_context(|| directory.display().to_string())?;
    for name in names {
        let path = directory.join(&name);
        if files::is_private(&path) {
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
