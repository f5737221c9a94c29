//! The lines of the audit, the oldest first, across the files that it is turned into.

use std::io;
use std::path::{Path, PathBuf};

use crate::files::Growing;
use crate::gateway::audit::{DIRECTORY, FILES};

/// A line and where it stands.
pub(super) struct Line {
    pub(super) path: PathBuf,
    pub(super) number: usize,
    pub(super) bytes: Vec<u8>,
}

/// The files as far as they were read. Nothing is made where there are none.
pub(super) struct Lines {
    directory: PathBuf,
    /// The oldest first.
    open: Vec<Open>,
}

struct Open {
    file: Growing,
    /// As it was called when it was opened.
    path: PathBuf,
    number: usize,
    /// The beginning of a line that is still being written.
    rest: Vec<u8>,
}

impl Lines {
    pub(super) fn of(state: &Path) -> Self {
        Self { directory: state.join(DIRECTORY), open: Vec::new() }
    }

    /// What was added since the last time.
    pub(super) fn more(&mut self) -> io::Result<Vec<Line>> {
        let mut lines = Vec::new();
        for open in &mut self.open {
            open.read(&mut lines)?;
        }
        for mut newer in self.newer()? {
            newer.read(&mut lines)?;
            self.open.push(newer);
        }
        // A gateway that opened a file just before it was turned adds to it a moment later.
        while self.open.len() > 2 {
            lines.extend(self.open.remove(0).end());
        }
        Ok(lines)
    }

    /// What is left where nothing more is waited for: a line without an end.
    pub(super) fn rest(&mut self) -> Vec<Line> {
        self.open.iter_mut().filter_map(Open::end).collect()
    }

    /// The files that came since the last time. The newest is opened first: one that is turned meanwhile is found a
    /// second time, under its next name, and none is missed.
    fn newer(&self) -> io::Result<Vec<Open>> {
        let mut newer: Vec<Open> = Vec::new();
        for name in FILES {
            let path = self.directory.join(name);
            let Some(file) = Growing::open(&path).map_err(|error| named(&path, &error))? else { continue };
            if self.open.last().is_some_and(|last| last.file.is_same(&file)) {
                break;
            }
            if !newer.iter().any(|known| known.file.is_same(&file)) {
                newer.push(Open { file, path, number: 0, rest: Vec::new() });
            }
        }
        newer.reverse();
        Ok(newer)
    }
}

impl Open {
    fn read(&mut self, lines: &mut Vec<Line>) -> io::Result<()> {
        self.rest.extend(self.file.more().map_err(|error| named(&self.path, &error))?);
        let Some(end) = self.rest.iter().rposition(|byte| *byte == b'\n') else { return Ok(()) };
        let rest = self.rest.split_off(end + 1);
        let whole = std::mem::replace(&mut self.rest, rest);
        for line in whole[..end].split(|byte| *byte == b'\n') {
            self.number += 1;
            lines.push(Line { path: self.path.clone(), number: self.number, bytes: line.to_vec() });
        }
        Ok(())
    }

    fn end(&mut self) -> Option<Line> {
        let bytes = std::mem::take(&mut self.rest);
        (!bytes.is_empty()).then(|| Line { path: self.path.clone(), number: self.number + 1, bytes })
    }
}

fn named(path: &Path, error: &io::Error) -> io::Error {
    io::Error::other(format!("{}: {error}", path.display()))
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test makes its files")]
mod tests {
    use super::*;
    use std::fs;
    use std::io::Write;

    fn texts(lines: Vec<Line>) -> Vec<String> {
        lines.into_iter().map(|line| String::from_utf8(line.bytes).unwrap()).collect()
    }

    fn append(path: &Path, text: &str) {
        fs::File::options().append(true).create(true).open(path).unwrap().write_all(text.as_bytes()).unwrap();
    }

    #[test]
    fn follows_across_files_that_are_turned() {
        let state = tempfile::tempdir().unwrap();
        let mut lines = Lines::of(state.path());
        assert!(texts(lines.more().unwrap()).is_empty());
        let directory = state.path().join(DIRECTORY);
        fs::create_dir(&directory).unwrap();
        let [current, first, second, third] = FILES.map(|name| directory.join(name));
        append(&third, "a\n");
        append(&first, "b\n");
        append(&current, "c\nd");
        assert_eq!(texts(lines.more().unwrap()), ["a", "b", "c"]);
        append(&current, "1\ne\n");
        assert_eq!(texts(lines.more().unwrap()), ["d1", "e"]);
        append(&current, "f\n");
        fs::rename(&first, &second).unwrap();
        fs::rename(&current, &first).unwrap();
        append(&current, "g\n");
        assert_eq!(texts(lines.more().unwrap()), ["f", "g"]);
        // One that had it open before.
        append(&first, "h\n");
        append(&current, "i\n");
        assert_eq!(texts(lines.more().unwrap()), ["h", "i"]);
        // Twice before the next look.
        for text in ["j\n", "k\n"] {
            fs::rename(&first, &second).unwrap();
            fs::rename(&current, &first).unwrap();
            append(&current, text);
        }
        append(&current, "half");
        assert_eq!(texts(lines.more().unwrap()), ["j", "k"]);
        assert_eq!(texts(lines.rest()), ["half"]);
        assert!(lines.more().unwrap().is_empty() && lines.rest().is_empty());
    }
}
