//! Why a server could not be listed, in sentences.

use std::ffi::OsString;
use std::fmt::{self, Display, Formatter};
use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::Duration;

use serde_json::Value;

use super::message::ErrorObject;
use crate::printable::printable;

/// A failure of a [`Client`](super::Client). The texts are printable and name no header and no variable; what the
/// server itself wrote is quoted in them.
#[derive(Debug)]
pub enum Error {
    /// The program of a stdio server is not there.
    NotFound {
        /// The program as declared.
        command: OsString,
    },
    /// The working directory of a stdio server is not there.
    NoDirectory {
        /// The directory as given.
        directory: PathBuf,
    },
    /// The program is there but the system did not start it.
    NotStarted {
        /// The program as declared.
        command: OsString,
        /// What the system said.
        source: io::Error,
    },
    /// The server ended, or closed its output, before it had answered.
    Exited {
        /// The method that was not answered.
        step: &'static str,
        /// How the process ended, none while it runs on without an output.
        status: Option<ExitStatus>,
        /// What it said meanwhile.
        evidence: Evidence,
    },
    /// The time was over before the server had answered.
    TimedOut {
        /// The method that was not answered, or `connect`.
        step: &'static str,
        /// The time that was given for everything.
        after: Duration,
        /// What the server said meanwhile.
        evidence: Evidence,
    },
    /// The server refused a request.
    Answered {
        /// The method that was refused.
        step: &'static str,
        /// The JSON-RPC error code.
        code: i64,
        /// Its sentence, as it came.
        message: String,
        /// Whether it is a refusal of our own gateway's: the server did not say it.
        by_squire: bool,
        /// The protocol revisions that the server says it speaks, where it says so.
        supported: Vec<String>,
    },
    /// The answer lacks what the protocol requires.
    Malformed {
        /// The method that was answered.
        step: &'static str,
        /// What was expected.
        expected: &'static str,
    },
    /// A remote server accepted a request and sent no answer.
    Unanswered {
        /// The method that was not answered.
        step: &'static str,
    },
    /// The address answers, but not as an MCP server.
    NotMcp {
        /// The content type of the answer, empty where there was none.
        content_type: String,
        /// Its first bytes, printable.
        excerpt: String,
    },
    /// The server wants a login or a token (401).
    Unauthorised {
        /// Where the server describes how to get one: `resource_metadata` of its `WWW-Authenticate` header.
        metadata: Option<String>,
    },
    /// The address sends elsewhere. It is not followed: the headers may hold a secret.
    Redirected {
        /// The `Location` header, as it came.
        location: String,
    },
    /// The server answered with another HTTP status that is no success.
    Status {
        /// The status with its name, such as `503 Service Unavailable`.
        status: String,
        /// The first bytes of the body, printable.
        excerpt: String,
    },
    /// A line, event or body was longer than the limit.
    TooLong {
        /// The limit in bytes.
        limit: usize,
    },
    /// A list came to a page again that had been there before.
    RepeatedCursor {
        /// The cursor, as JSON.
        cursor: String,
    },
    /// A list had more pages than the limit.
    TooManyPages {
        /// The limit.
        limit: usize,
    },
    /// The transport is a known one that is not spoken.
    LegacySse,
    /// The connection could not be made, or broke.
    Transport(String),
    /// The user did not want to wait any longer.
    Interrupted,
}

/// What a server said besides its answers, for the person who has to find out why it failed.
#[derive(Debug, Default)]
pub struct Evidence {
    /// A clause about the lines of its output that were no messages.
    pub output: Option<String>,
    /// The last lines of its stderr, each printable.
    pub stderr: Vec<String>,
}

impl Error {
    /// The refusal of the request `step`.
    pub(crate) fn answered(step: &'static str, error: ErrorObject) -> Self {
        let supported = error.data.as_ref().and_then(|data| data.get("supported")).and_then(Value::as_array);
        let supported = supported.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned);
        let supported = supported.collect();
        let by_squire = error.data.as_ref().is_some_and(|data| data["by"] == "squire");
        Self::Answered { step, code: error.code, message: error.message, by_squire, supported }
    }

    /// The same error, which also says what else was in the output.
    pub(crate) fn with_output(mut self, output: Option<String>) -> Self {
        match (&mut self, output) {
            (Self::Exited { evidence, .. } | Self::TimedOut { evidence, .. }, output) => {
                evidence.output = output;
            }
            (Self::Answered { message, by_squire: true, .. }, Some(output)) => {
                message.push_str("; ");
                message.push_str(&output);
            }
            _ => {}
        }
        self
    }
}

impl Display for Error {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFound { command } => {
                write!(f, "`{}` was not found", printable(&command.to_string_lossy()))
            }
            Self::NoDirectory { directory } => {
                write!(
                    f,
                    "its working directory `{}` does not exist",
                    printable(&directory.to_string_lossy())
                )
            }
            Self::NotStarted { command, source } => {
                write!(f, "`{}` could not be started: {source}", printable(&command.to_string_lossy()))
            }
            Self::Exited { step, status: Some(status), evidence } => {
                write!(f, "ended before it answered {step} ({status}){evidence}")
            }
            Self::Exited { step, status: None, evidence } => {
                write!(f, "closed its output before it answered {step}{evidence}")
            }
            Self::TimedOut { step, after, evidence } => {
                write!(f, "timed out after {after:?} in {step}{evidence}")
            }
            Self::Answered { message, by_squire: true, .. } => {
                let sentence = message.strip_prefix("squire: ").unwrap_or(message);
                // The server is named by who tells of it.
                let behind_name = sentence.split_once(": ").filter(|(name, _)| !name.contains(' '));
                f.write_str(&printable(behind_name.map_or(sentence, |(_, reason)| reason)))
            }
            Self::Answered { step, code, message, supported, .. } => {
                write!(f, "answered {step} with an error: {} ({code})", printable(message))?;
                if supported.is_empty() {
                    return Ok(());
                }
                write!(f, "; it speaks the protocol revisions {}", printable(&supported.join(", ")))
            }
            Self::Malformed { step, expected } => write!(f, "its answer to {step} has no {expected}"),
            Self::Unanswered { step } => write!(f, "accepted {step} but ended the reply without an answer"),
            Self::NotMcp { content_type, excerpt } => {
                let kind = if content_type.is_empty() { "no content type" } else { content_type };
                write!(f, "not an MCP endpoint: it answered with {}: `{excerpt}`", printable(kind))
            }
            Self::Unauthorised { metadata: None } => f.write_str("needs authorisation (401)"),
            Self::Unauthorised { metadata: Some(metadata) } => {
                write!(f, "needs authorisation (401); how to get it: {}", printable(metadata))
            }
            Self::Redirected { location } => write!(
                f,
                "redirects to {}, which is not followed because headers may hold secrets; declare that address \
                 if it is the right one",
                printable(location)
            ),
            Self::Status { status, excerpt } if excerpt.is_empty() => {
                write!(f, "answered with HTTP {status}")
            }
            Self::Status { status, excerpt } => write!(f, "answered with HTTP {status}: `{excerpt}`"),
            Self::TooLong { limit } => write!(f, "sent a message of more than {} MiB", limit / (1024 * 1024)),
            Self::RepeatedCursor { cursor } => {
                write!(f, "its list of tools does not end: the cursor {} came twice", printable(cursor))
            }
            Self::TooManyPages { limit } => write!(f, "its list of tools has more than {limit} pages"),
            Self::LegacySse => f.write_str(
                "uses the legacy SSE transport, which this version of squire does not speak yet; many such \
                 servers offer Streamable HTTP at another address",
            ),
            Self::Transport(sentence) => f.write_str(sentence),
            Self::Interrupted => f.write_str("was interrupted"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        // The texts already hold their causes: a chain would say them twice.
        None
    }
}

impl Display for Evidence {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let Some(output) = &self.output {
            write!(f, "; {output}")?;
        }
        if !self.stderr.is_empty() {
            f.write_str("; its stderr ended with:")?;
        }
        for line in &self.stderr {
            write!(f, "\n    {line}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_server_cannot_write_to_the_terminal_through_an_error() {
        let data = Some(json!({ "supported": ["2024-11-05", "\u{1b}c"] }));
        let refusal = ErrorObject { code: -32602, message: "\u{1b}[2Jno\n".into(), data };
        let text = Error::answered("initialize", refusal).to_string();
        assert_eq!(
            text,
            "answered initialize with an error: \\u{1b}[2Jno\\n (-32602); \
             it speaks the protocol revisions 2024-11-05, \\u{1b}c"
        );
    }

    #[test]
    fn evidence_follows_the_sentence() {
        let evidence = Evidence { output: None, stderr: vec!["no such module".into()] };
        let error = Error::TimedOut { step: "initialize", after: Duration::from_secs(30), evidence };
        assert_eq!(
            error.with_output(Some("its output held `x`".into())).to_string(),
            "timed out after 30s in initialize; its output held `x`; its stderr ended with:\n    no such module"
        );
    }
}
