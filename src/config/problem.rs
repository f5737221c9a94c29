//! What is wrong with a file of the user, and where.

use std::fmt;
use std::path::PathBuf;

use squire_strategies::Whereabouts;

/// A position in a file, both from 1; the column counts characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The line.
    pub line: usize,
    /// The character within the line.
    pub column: usize,
}

/// Where the lines of a text begin, so that many offsets can be placed.
pub(crate) struct Lines<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    /// Finds the lines.
    pub(crate) fn of(text: &'a str) -> Self {
        let after_newlines = text.match_indices('\n').map(|(newline, _)| newline + 1);
        Self { text, starts: std::iter::once(0).chain(after_newlines).collect() }
    }

    /// The position of a byte offset; one beyond the text is at its end.
    pub(crate) fn place(&self, offset: usize) -> Place {
        let offset = offset.min(self.text.len());
        let line = self.starts.partition_point(|start| *start <= offset);
        let start = self.starts.get(line - 1).copied().unwrap_or_default();
        Place { line, column: self.text.get(start..offset).map_or(0, |before| before.chars().count()) + 1 }
    }
}

/// One thing that is wrong, with the mend.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The file.
    pub path: PathBuf,
    /// Where in it.
    pub place: Place,
    /// What is wrong and what was expected.
    pub message: String,
    /// What helps, where it is known.
    pub help: Option<String>,
}

impl Problem {
    /// Its place, as notes have it.
    pub fn whereabouts(&self) -> Whereabouts {
        let Place { line, column } = self.place;
        Whereabouts { path: self.path.display().to_string().into(), position: Some((line, column)) }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.whereabouts(), self.message)?;
        self.help.iter().try_for_each(|help| write!(formatter, "\n  help: {help}"))
    }
}

/// All that is wrong with the files of one command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problems(pub Vec<Problem>);

impl Problems {
    /// How many are told: what is wrong in one place tends to show in many.
    pub(super) const SHOWN: usize = 20;
}

impl fmt::Display for Problems {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.0.iter().take(Self::SHOWN).enumerate() {
            if index > 0 {
                formatter.write_str("\n")?;
            }
            write!(formatter, "{problem}")?;
        }
        match self.0.len().saturating_sub(Self::SHOWN) {
            0 => Ok(()),
            more => write!(formatter, "\nand {more} problems more"),
        }
    }
}

impl std::error::Error for Problems {}

/// The one of the candidates that a misspelt word was probably meant to be.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    candidates
        .into_iter()
        .map(|candidate| (strsim::jaro_winkler(&word.to_lowercase(), &candidate.to_lowercase()), candidate))
        .filter(|(likeness, _)| *likeness > 0.75)
        .max_by(|(one, _), (other, _)| one.total_cmp(other))
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_lines_and_characters() {
        let text = "a = 1\né🙂 = 2\n";
        let lines = Lines::of(text);
        assert_eq!(lines.place(0), Place { line: 1, column: 1 });
        assert_eq!(lines.place(text.find('=').unwrap()), Place { line: 1, column: 3 });
        assert_eq!(lines.place(text.rfind('=').unwrap()), Place { line: 2, column: 4 });
        assert_eq!(lines.place(99), Place { line: 3, column: 1 });
    }

    #[test]
    fn a_misspelt_word_finds_its_neighbour() {
        assert_eq!(nearest("comand", ["command", "args", "url"]), Some("command"));
        assert_eq!(nearest("xyz", ["command", "args", "url"]), None);
    }
}
