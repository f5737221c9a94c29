//! Results that were too long for an agent, kept whole for it to read in parts: private files below the state directory,
//! a directory a launch. All of them together are bounded, and a day old they go.

use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::record;
use crate::files::{self, Lock};

/// Their directory below the state directory.
pub(super) const DIRECTORY: &str = "spill";
/// How many bytes all of them have together, over all launches.
const LARGEST: u64 = 64 * 1024 * 1024;
const OLDEST: Duration = Duration::from_secs(24 * 60 * 60);
/// The directory of gateways that no launch started.
const NO_LAUNCH: &str = "no-launch";
/// How long another gateway may take to keep a result of its own.
const PATIENCE: Duration = Duration::from_secs(1);

/// A kept result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spilled {
    /// When it was kept.
    pub time: SystemTime,
    /// Its length in bytes.
    pub length: u64,
    directory: PathBuf,
    name: String,
}

/// All kept results, the oldest first.
pub fn spilled(state: &Path) -> Vec<Spilled> {
    let base = state.join(DIRECTORY);
    let mut found = Vec::new();
    for launch in files::names_in(&base).unwrap_or_default() {
        let directory = base.join(launch);
        // What is no directory has no names.
        for name in files::names_in(&directory).unwrap_or_default() {
            let known = files::length_and_time(&directory.join(&name));
            if let (Some((length, time)), Ok(name)) = (known, name.into_string()) {
                found.push(Spilled { time, length, directory: directory.clone(), name });
            }
        }
    }
    found.sort_by(|one, other| (one.time, &one.name).cmp(&(other.time, &other.name)));
    found
}

/// Keeps a result of a launch; what is too old goes, and as much of the oldest as it needs the room of. `None` where it
/// is too large by itself, or where other gateways are busy for too long.
pub(crate) fn spill(state: &Path, launch: Option<&str>, result: &[u8]) -> io::Result<Option<PathBuf>> {
    keep(state, launch, result, LARGEST)
}

fn keep(state: &Path, launch: Option<&str>, result: &[u8], largest: u64) -> io::Result<Option<PathBuf>> {
    let length = result.len() as u64;
    if length > largest {
        return Ok(None);
    }
    let base = state.join(DIRECTORY);
    let Some(_lock) = Lock::take(&base, "lock", PATIENCE)? else { return Ok(None) };
    let now = SystemTime::now();
    let mut kept = spilled(state);
    let mut total: u64 = kept.iter().map(|spilled| spilled.length).sum();
    kept.retain(|spilled| {
        let goes = spilled.is_old(now) || total + length > largest;
        if goes {
            total -= spilled.length;
        }
        goes
    });
    for spilled in &kept {
        spilled.remove()?;
    }
    let directory = base.join(launch.filter(|id| record::is_id(id)).unwrap_or(NO_LAUNCH));
    let name = format!("{}.json", files::random_name()?);
    files::write_private(&directory, &name, &format!(".{name}.new"), result)?;
    Ok(Some(directory.join(name)))
}

/// Removes what is too old.
pub(super) fn settle(state: &Path) {
    let now = SystemTime::now();
    let is_old = |spilled: &Spilled| spilled.is_old(now);
    if !spilled(state).iter().any(is_old) {
        return;
    }
    // A gateway that keeps a result does the same, and must not find its directory gone.
    if let Ok(Some(_lock)) = Lock::take(&state.join(DIRECTORY), "lock", Duration::ZERO) {
        for old in spilled(state).into_iter().filter(is_old) {
            // What can't be removed today is tried again by the next command.
            let _ = old.remove();
        }
    }
}

impl Spilled {
    fn is_old(&self, now: SystemTime) -> bool {
        now.duration_since(self.time).is_ok_and(|age| age > OLDEST)
    }

    /// Removes it, and its directory with the last one.
    fn remove(&self) -> io::Result<()> {
        files::remove_left_behind(&self.directory, &[&self.name])
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test looks at the files itself")]
mod tests {
    use super::*;
    use std::fs::{self, File};
    use std::os::unix::fs::PermissionsExt;

    const ID: &str = "0123456789abcdef0123456789abcdef";

    fn state() -> tempfile::TempDir {
        let temp = tempfile::tempdir().unwrap();
        fs::set_permissions(temp.path(), fs::Permissions::from_mode(0o700)).unwrap();
        temp
    }

    fn age(path: &Path, age: Duration) {
        File::options().write(true).open(path).unwrap().set_modified(SystemTime::now() - age).unwrap();
    }

    #[test]
    fn a_result_is_kept_for_its_launch_and_nobody_else_can_read_it() {
        let state = state();
        let path = spill(state.path(), Some(ID), b"[1]").unwrap().unwrap();
        assert!(path.starts_with(state.path().join(DIRECTORY).join(ID)));
        assert_eq!(fs::read(&path).unwrap(), b"[1]");
        for (path, mode) in [(path.as_path(), 0o600), (path.parent().unwrap(), 0o700)] {
            assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o777, mode);
        }
        for id in [None, Some(""), Some("../../elsewhere"), Some("0123")] {
            let path = spill(state.path(), id, b"[2]").unwrap().unwrap();
            assert_eq!(path.parent().unwrap(), state.path().join("spill/no-launch"));
        }
        assert_eq!(spilled(state.path()).len(), 5);
    }

    #[test]
    fn the_oldest_of_all_launches_make_room() {
        let state = state();
        let keep = |launch, length| keep(state.path(), launch, &vec![b'x'; length], 100).unwrap();
        let oldest = keep(Some(ID), 60).unwrap();
        age(&oldest, Duration::from_secs(60));
        let older = keep(None, 30).unwrap();
        age(&older, Duration::from_secs(30));
        assert_eq!(keep(None, 101), None);
        let newest = keep(None, 20).unwrap();
        assert!(!oldest.exists() && older.exists() && newest.exists());
        // The launch has nothing more.
        assert!(!oldest.parent().unwrap().exists());
        let all = keep(None, 100).unwrap();
        assert_eq!(spilled(state.path()).len(), 1);
        assert!(all.exists());
    }

    #[test]
    fn a_day_old_they_go() {
        let state = state();
        let [old, young, next] =
            [Some(ID), None, None].map(|id| spill(state.path(), id, b"1").unwrap().unwrap());
        let hour = Duration::from_secs(3600);
        age(&old, 25 * hour);
        age(&young, 23 * hour);
        settle(state.path());
        assert!(!old.exists() && !old.parent().unwrap().exists() && young.exists());
        age(&next, 25 * hour);
        spill(state.path(), None, b"2").unwrap();
        assert!(!next.exists() && young.exists());
    }

    #[test]
    fn settling_makes_nothing() {
        let state = state();
        settle(state.path());
        assert_eq!(fs::read_dir(state.path()).unwrap().count(), 0);
    }
}
