//! The command line of the server.

use std::ffi::OsString;
use std::path::PathBuf;

use super::mode::Mode;

/// The transport.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Stdio,
    Http { port_file: PathBuf },
    Sse { port_file: PathBuf },
}

impl Kind {
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Stdio => "stdio",
            Self::Http { .. } => "http",
            Self::Sse { .. } => "sse",
        }
    }
}

/// What the command line asks for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Options {
    pub(crate) kind: Kind,
    pub(crate) mode: Mode,
    pub(crate) log: Option<PathBuf>,
    /// The names of `--tools`; none without that option.
    pub(crate) tools: Option<Vec<String>>,
    pub(crate) instructions: Option<String>,
    /// A file that says at each moment what the server tells of itself: `tools`, `prompts`, `instructions`.
    pub(crate) definitions: Option<PathBuf>,
}

impl Options {
    /// Reads the arguments after the program. One that means nothing is left to the log.
    pub(crate) fn parse(arguments: &[OsString]) -> Result<Self, String> {
        let value = |option: &str| {
            let position = arguments.iter().position(|argument| argument == option)?;
            arguments.get(position + 1)
        };
        let text = |option: &str| value(option).map(|value| value.to_string_lossy().into_owned());
        let port_file =
            || value("--port-file").map(PathBuf::from).ok_or("http and sse need --port-file FILE");
        let kind = match arguments.first().and_then(|kind| kind.to_str()) {
            Some("stdio") => Kind::Stdio,
            Some("http") => Kind::Http { port_file: port_file()? },
            Some("sse") => Kind::Sse { port_file: port_file()? },
            _ => return Err("the first argument is stdio, http or sse".into()),
        };
        Ok(Self {
            kind,
            mode: text("--mode").map_or(Ok(Mode::Ok), |mode| mode.parse())?,
            log: value("--log").map(PathBuf::from),
            tools: text("--tools").map(|names| names.split(',').map(str::to_owned).collect()),
            instructions: text("--instructions"),
            definitions: value("--definitions").map(PathBuf::from),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Options, String> {
        Options::parse(&line.split(' ').map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn unknown_arguments_mean_nothing() {
        let expected = Options {
            kind: Kind::Stdio,
            mode: Mode::Hang,
            log: Some("/log".into()),
            tools: Some(vec!["a".into(), "b".into()]),
            instructions: None,
            definitions: None,
        };
        assert_eq!(parse("stdio --token x --mode hang stray --log /log --tools a,b"), Ok(expected));
    }

    #[test]
    fn a_wrong_line_is_refused() {
        for line in ["", "pipe", "http", "sse", "stdio --mode odd"] {
            assert!(parse(line).is_err(), "{line}");
        }
    }
}
