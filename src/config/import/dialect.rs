//! How the tools differ: what a field means, which references a string may hold, what is so where nothing is written.

use std::time::Duration;

/// What a field of a foreign entry means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    Command,
    Arguments,
    Variables,
    /// Names of variables that are handed on.
    Inherited,
    Directory,
    Address,
    Headers,
    /// The variable whose value stands behind `Bearer `.
    BearerVariable,
    /// Headers, each with the name of the variable that holds its value.
    HeaderVariables,
    Transport,
    /// `true` switches it off.
    Off,
    /// `false` switches it off.
    On,
    Description,
    /// The only tools that are seen.
    Allow,
    /// Tools that are not seen.
    Deny,
    /// The longest wait for one call.
    Timeout(Unit),
    /// The longest wait for its start.
    StartupTimeout(Unit),
    /// Something that squire has no place for, with the reason.
    LeftAway(&'static str),
    /// It says nothing that the other fields don't.
    Nothing,
}

/// What a number of time counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    Milliseconds,
    Seconds,
}

impl Unit {
    /// The duration of a number that squire can hold.
    pub(super) fn duration(self, number: f64) -> Option<Duration> {
        const LONGEST: f64 = 24.0 * 24.0 * 60.0 * 60.0;
        let seconds = if self == Self::Milliseconds { number / 1000.0 } else { number };
        // Nobody means parts of a millisecond.
        let seconds = (seconds * 1000.0).round() / 1000.0;
        (seconds > 0.0 && seconds <= LONGEST).then(|| Duration::try_from_secs_f64(seconds).ok()).flatten()
    }
}

/// A syntax for what a string does not say itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Syntax {
    /// `${NAME}` and `${NAME:-default}`: Claude Code, Gemini CLI, Copilot CLI.
    Braces,
    /// `$NAME`: Gemini CLI.
    Bare,
    /// `$NAME` in capitals, where a value is expected: READMEs.
    BareInValues,
    /// `${env:NAME}`: Cursor, VS Code, Windsurf.
    Named,
    /// `{env:NAME}` and `{file:PATH}`: OpenCode.
    Curly,
    /// `${workspaceFolder}`, `${userHome}` and what else an editor knows.
    Editor,
    /// `${input:ID}`: VS Code.
    Inputs,
    /// Those of squire.
    Own,
}

/// What `url` without a transport means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Untyped {
    /// Streamable HTTP, as everywhere.
    Http,
    /// The same, but the tool itself wants a word: it is said what was taken.
    HttpTold,
    /// HTTP with server-sent events.
    Sse,
}

/// How one tool writes its entries.
#[derive(Debug)]
pub(super) struct Dialect {
    /// What its own fields mean, before those that all share.
    pub(super) fields: &'static [(&'static str, Meaning)],
    /// What its strings may hold.
    pub(super) references: &'static [Syntax],
    pub(super) untyped: Untyped,
    /// Whether it is the entry of a README, which leaves something to fill in.
    pub(super) is_readme: bool,
}

pub(super) const ASKS: &str = "squire relaxes no agent's question before a tool is used";

/// What most tools write.
const SHARED: &[(&str, Meaning)] = &[
    ("command", Meaning::Command),
    ("args", Meaning::Arguments),
    ("env", Meaning::Variables),
    ("environment", Meaning::Variables),
    ("inherit_env", Meaning::Inherited),
    ("cwd", Meaning::Directory),
    ("url", Meaning::Address),
    ("serverUrl", Meaning::Address),
    ("httpUrl", Meaning::Address),
    ("headers", Meaning::Headers),
    ("http_headers", Meaning::Headers),
    ("bearer_token_env_var", Meaning::BearerVariable),
    ("env_http_headers", Meaning::HeaderVariables),
    ("type", Meaning::Transport),
    ("transport", Meaning::Transport),
    ("disabled", Meaning::Off),
    ("enabled", Meaning::On),
    ("description", Meaning::Description),
    ("disabledTools", Meaning::Deny),
    ("disabled_tools", Meaning::Deny),
    ("excludeTools", Meaning::Deny),
    ("enabledTools", Meaning::Allow),
    ("enabled_tools", Meaning::Allow),
    ("includeTools", Meaning::Allow),
    ("alwaysAllow", Meaning::LeftAway(ASKS)),
    ("autoApprove", Meaning::LeftAway(ASKS)),
    ("trust", Meaning::LeftAway(ASKS)),
];

/// What stands in a README, whose tool nobody knows.
pub(super) static ANY: Dialect = Dialect {
    fields: &[],
    references: &[
        Syntax::Braces,
        Syntax::BareInValues,
        Syntax::Named,
        Syntax::Curly,
        Syntax::Editor,
        Syntax::Inputs,
        Syntax::Own,
    ],
    untyped: Untyped::Http,
    is_readme: true,
};

impl Dialect {
    /// What a field means; none of what nobody knows.
    pub(super) fn meaning(&self, key: &str) -> Option<Meaning> {
        let of = |fields: &[(&str, Meaning)]| {
            fields.iter().find(|(known, _)| *known == key).map(|(_, meaning)| *meaning)
        };
        of(self.fields).or_else(|| of(SHARED))
    }

    pub(super) fn has(&self, syntax: Syntax) -> bool {
        self.references.contains(&syntax)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_that_can_be_held() {
        assert_eq!(Unit::Milliseconds.duration(1500.0), Some(Duration::from_millis(1500)));
        assert_eq!(Unit::Seconds.duration(10.5), Some(Duration::from_millis(10_500)));
        for nothing in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e12] {
            assert_eq!(Unit::Seconds.duration(nothing), None, "{nothing}");
        }
    }
}
