//! Where our arguments go among the user's: last, but before the user's first `--` (cases B01, B03, B04).
//!
//! To know that, the user's words are read by two tables taken from the agent's `--help`: its options, and its
//! subcommands. No word of the user is changed, moved or swallowed. Where a word can't be judged, nothing is added:
//! a trailing `-c` behind `codex mcp add` was seen to be stored in the user's config for good (Codex 0.171.0).

use alloc::string::{String, ToString};
use core::fmt;

/// How many words follow an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arity {
    /// None.
    Flag,
    /// The next one, whatever it is.
    One,
    /// The next one, unless it begins with `-`.
    Optional,
    /// The next one and all that follow, up to one that begins with `-`.
    Many,
}

/// What a first word is that no table knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BareWord {
    /// A prompt: a subcommand of a newer version refuses our arguments and stores nothing.
    Prompt,
    /// A prompt only if it can't be a subcommand of a newer version, which might store our arguments.
    PerhapsSubcommand,
}

/// What an agent's command line looks like.
#[derive(Debug)]
pub struct Placement {
    /// Every option of the agent and of its subcommands that run a session.
    pub options: &'static [(&'static str, Arity)],
    /// Options after which nothing runs.
    pub informational: &'static [&'static str],
    /// Subcommands that run a session.
    pub sessions: &'static [&'static str],
    /// Subcommands that don't.
    pub others: &'static [&'static str],
    /// What any other first word is.
    pub bare_word: BareWord,
    /// Options that leave a session behind when the agent ends, and with it what a launch puts back.
    pub detaching: &'static [&'static str],
    /// Words that make a session headless: nobody is there to answer the agent's questions.
    pub headless: &'static [&'static str],
    /// Parts of words by which the user has answered the agent's question about tools already.
    pub approving: &'static [&'static str],
}

/// Why nothing is added to the user's words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Spot {
    /// Our arguments go before the word at this index, or behind the last one.
    Before(usize),
    /// The words run no session: a subcommand for something else, or `--help`.
    NoSession(String),
    /// The session outlives the launch, whose files are gone by then.
    Outlives(String),
    /// An unknown option stands before the first word, so that this may be the option's value.
    UnknownOption(String),
    /// The first word may be a subcommand of a newer version.
    UnknownWord(String),
    /// The last option lacks its value, and would take our argument for it.
    MissingValue(String),
}

impl fmt::Display for Spot {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Before(index) => write!(formatter, "before argument {index}"),
            Self::NoSession(word) => write!(formatter, "`{word}` runs no session"),
            Self::Outlives(word) => {
                write!(formatter, "the session of `{word}` outlives the launch, whose files are gone by then")
            }
            Self::UnknownOption(option) => {
                write!(
                    formatter,
                    "it is not known whether `{option}` takes a value; write `{option}=VALUE`, or put it last"
                )
            }
            Self::UnknownWord(word) => {
                write!(formatter, "`{word}` may be a subcommand; a prompt of one word goes behind `--`")
            }
            Self::MissingValue(option) => write!(formatter, "`{option}` lacks its value"),
        }
    }
}

enum Word {
    Known(Arity),
    ValueAttached,
    Unknown,
}

impl Placement {
    /// Whether the agent would refuse tool calls, as nobody can be asked and nothing is approved.
    pub fn refuses_tools(&self, words: &[&[u8]]) -> bool {
        let mut own = words.iter().take_while(|word| **word != b"--");
        let mut others = own.clone();
        let contains =
            |word: &[u8], part: &str| word.windows(part.len()).any(|window| window == part.as_bytes());
        own.any(|word| self.headless.iter().any(|entry| entry.as_bytes() == *word))
            && !others.any(|word| self.approving.iter().any(|part| contains(word, part)))
    }

    /// Whether these are words of the agent's alone: options and subcommands of it. Otherwise they are a wrapper's, such
    /// as `npx` or one of a team's own.
    pub fn knows(&self, words: &[&[u8]]) -> bool {
        let is = |table: &[&str], word: &[u8]| table.iter().any(|entry| entry.as_bytes() == word);
        let mut index = 0;
        while let Some(&word) = words.get(index) {
            index += 1;
            let is_option = word.len() > 1 && word.starts_with(b"-") && word != b"--";
            if !is_option {
                if is(self.sessions, word) || is(self.others, word) {
                    continue;
                }
                return false;
            }
            match self.option(word) {
                Word::Known(Arity::Flag) | Word::ValueAttached => {}
                Word::Known(Arity::One) => index += 1,
                Word::Known(Arity::Optional) => {
                    index += values(words.get(index..).unwrap_or_default()).min(1);
                }
                Word::Known(Arity::Many) => index += values(words.get(index..).unwrap_or_default()),
                Word::Unknown if is(self.informational, word) => {}
                Word::Unknown => return false,
            }
        }
        true
    }

    /// Finds the place for our arguments among the user's words.
    pub fn spot(&self, words: &[&[u8]]) -> Spot {
        let mut unknown_option = None;
        let mut first_word_seen = false;
        let mut index = 0;
        while let Some(&word) = words.get(index) {
            index += 1;
            if word == b"--" {
                return Spot::Before(index - 1);
            }
            if word.len() > 1 && word.starts_with(b"-") {
                if self.informational.iter().any(|option| option.as_bytes() == word) {
                    return Spot::NoSession(printable(word));
                }
                let name = word.split(|byte| *byte == b'=').next().unwrap_or(word);
                if self.detaching.iter().any(|option| option.as_bytes() == name) {
                    return Spot::Outlives(printable(word));
                }
                match self.option(word) {
                    Word::Known(Arity::Flag) | Word::ValueAttached => {}
                    Word::Known(Arity::One) => {
                        if index == words.len() {
                            return Spot::MissingValue(printable(word));
                        }
                        index += 1;
                    }
                    Word::Known(Arity::Optional) => index += values(&words[index..]).min(1),
                    Word::Known(Arity::Many) => {
                        let found = values(&words[index..]);
                        if index + found == words.len() && found == 0 {
                            return Spot::MissingValue(printable(word));
                        }
                        index += found.max(1);
                    }
                    Word::Unknown => unknown_option = unknown_option.or(Some(word)),
                }
                continue;
            }
            if first_word_seen {
                continue;
            }
            first_word_seen = true;
            if let Some(refused) = self.judge_first_word(word, unknown_option) {
                return refused;
            }
        }
        Spot::Before(words.len())
    }

    fn judge_first_word(&self, word: &[u8], unknown_option: Option<&[u8]>) -> Option<Spot> {
        let is = |table: &[&str]| table.iter().any(|entry| entry.as_bytes() == word);
        if let Some(option) = unknown_option {
            return Some(Spot::UnknownOption(printable(option)));
        }
        if is(self.others) {
            return Some(Spot::NoSession(printable(word)));
        }
        let word_like = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || *byte == b'-';
        match self.bare_word {
            BareWord::PerhapsSubcommand
                if !is(self.sessions) && !word.is_empty() && word.iter().all(word_like) && word != b"-" =>
            {
                Some(Spot::UnknownWord(printable(word)))
            }
            BareWord::PerhapsSubcommand | BareWord::Prompt => None,
        }
    }

    fn option(&self, word: &[u8]) -> Word {
        let arity = |name: &[u8]| {
            self.options.iter().find(|(option, _)| option.as_bytes() == name).map(|(_, arity)| *arity)
        };
        if let Some(arity) = arity(word) {
            return Word::Known(arity);
        }
        if word.starts_with(b"--") {
            return if word.contains(&b'=') { Word::ValueAttached } else { Word::Unknown };
        }
        // A cluster: `-pc` is `-p -c`, `-mX` is `-m X`.
        for (position, letter) in word.iter().enumerate().skip(1) {
            match arity(&[b'-', *letter]) {
                None => return Word::Unknown,
                Some(Arity::Flag) => {}
                Some(arity) if position + 1 == word.len() => return Word::Known(arity),
                Some(_) => return Word::ValueAttached,
            }
        }
        Word::Known(Arity::Flag)
    }
}

fn values(words: &[&[u8]]) -> usize {
    words.iter().take_while(|word| !word.starts_with(b"-")).count()
}

fn printable(word: &[u8]) -> String {
    String::from_utf8_lossy(word).escape_debug().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    const TABLE: Placement = Placement {
        options: &[
            ("--print", Arity::Flag),
            ("-p", Arity::Flag),
            ("-c", Arity::Flag),
            ("-m", Arity::One),
            ("--model", Arity::One),
            ("--resume", Arity::Optional),
            ("--mcp-config", Arity::Many),
        ],
        informational: &["--help"],
        sessions: &["exec"],
        others: &["mcp"],
        bare_word: BareWord::Prompt,
        detaching: &["--bg"],
        headless: &["-p", "--print"],
        approving: &["--allow"],
    };
    const CAUTIOUS: Placement = Placement { bare_word: BareWord::PerhapsSubcommand, ..TABLE };

    fn spot(table: &Placement, line: &str) -> Spot {
        let words: Vec<&[u8]> = line.split(' ').filter(|word| !word.is_empty()).map(str::as_bytes).collect();
        table.spot(&words)
    }

    #[test]
    fn the_words_of_a_wrapper_are_none_of_the_agents() {
        let knows =
            |words: &[&str]| TABLE.knows(&words.iter().map(|word| word.as_bytes()).collect::<Vec<_>>());
        for words in
            [&[][..], &["mcp"], &["exec"], &["-p"], &["--model", "x", "-p"], &["--help"], &["--new=x"]]
        {
            assert!(knows(words), "{words:?}");
        }
        for words in
            [&["--team"][..], &["@scope/agent"], &["run", "image"], &["exec", "--"], &["-p", "a prompt"]]
        {
            assert!(!knows(words), "{words:?}");
        }
    }

    #[test]
    fn ours_come_last_but_before_the_first_separator() {
        for (line, index) in [
            ("", 0),
            ("-p hello", 2),
            ("-p -- hello", 1),
            ("-p --model -- hello", 4), // The first `--` is the model's value.
            ("--mcp-config a.json b.json -c -p hi", 6), // B04
            ("--mcp-config a.json b.json -- hi", 3),
            ("--resume -- hi", 1),
            ("--resume mcp", 2),
            ("-pc -mX hi", 3),
            ("--unknown=value hi", 2),
            ("hi --unknown value", 3),
            ("--unknown -- hi", 1),
            ("-", 1),
        ] {
            assert_eq!(spot(&TABLE, line), Spot::Before(index), "{line:?}");
        }
    }

    #[test]
    fn b03_what_runs_no_session_gets_nothing() {
        assert_eq!(spot(&TABLE, "mcp list"), Spot::NoSession("mcp".into()));
        assert_eq!(spot(&TABLE, "-p mcp list"), Spot::NoSession("mcp".into()));
        assert_eq!(spot(&TABLE, "--help"), Spot::NoSession("--help".into()));
        assert_eq!(spot(&TABLE, "-p --bg hi"), Spot::Outlives("--bg".into()));
        assert_eq!(spot(&TABLE, "--unknown mcp add"), Spot::UnknownOption("--unknown".into()));
        assert_eq!(spot(&TABLE, "-px mcp"), Spot::UnknownOption("-px".into()));
        assert_eq!(spot(&TABLE, "hi --model"), Spot::MissingValue("--model".into()));
        assert_eq!(spot(&TABLE, "hi --mcp-config"), Spot::MissingValue("--mcp-config".into()));
    }

    #[test]
    fn a_word_that_may_be_a_new_subcommand_gets_nothing_where_that_could_be_stored() {
        assert_eq!(spot(&CAUTIOUS, "newcommand x"), Spot::UnknownWord("newcommand".into()));
        assert_eq!(spot(&CAUTIOUS, "exec x"), Spot::Before(2));
        assert_eq!(spot(&CAUTIOUS, "Fix"), Spot::Before(1));
        assert_eq!(spot(&CAUTIOUS, "-- newcommand"), Spot::Before(0));
        assert_eq!(spot(&TABLE, "newcommand x"), Spot::Before(2));
    }

    #[test]
    fn a_headless_session_without_approval_refuses_tools() {
        let refuses =
            |line: &str| TABLE.refuses_tools(&line.split(' ').map(str::as_bytes).collect::<Vec<_>>());
        assert!(refuses("-p hi"));
        assert!(refuses("-p -- --allow"));
        assert!(!refuses("-p hi --allow=x"));
        assert!(!refuses("hi"));
    }

    proptest! {
        /// Whatever the user types, an agent that reads options as Claude and Codex do takes ours for an option:
        /// neither a value of the option before it (case B01) nor text behind a separator.
        #[test]
        fn b01_our_argument_is_read_as_an_option(
            line in "((--|-p|-m|--model|--resume|--mcp-config|exec|mcp|hi|--x=1|-pm|é) ){0,8}",
        ) {
            let words: Vec<&[u8]> = line.split(' ').filter(|word| !word.is_empty()).map(str::as_bytes).collect();
            if let Spot::Before(index) = TABLE.spot(&words) {
                let mut all = words.clone();
                all.insert(index, b"--ours=F");
                prop_assert!(options_read(&all).contains(&index), "{line:?} at {index}");
            }
        }
    }

    /// The indexes of the words that an agent would read as options.
    fn options_read(words: &[&[u8]]) -> Vec<usize> {
        let mut options = Vec::new();
        let mut value_wanted = false;
        for (index, word) in words.iter().enumerate() {
            if core::mem::take(&mut value_wanted) {
                continue;
            }
            match *word {
                b"--" => break,
                b"-m" | b"--model" | b"-pm" => value_wanted = true,
                b"--mcp-config" => {
                    value_wanted = words.get(index + 1).is_some_and(|next| next.starts_with(b"-"));
                }
                word if word.starts_with(b"-") => options.push(index),
                _ => {}
            }
        }
        options
    }
}
