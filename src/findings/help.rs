//! What helps against each code of a plan, where its note says nothing more special.

use squire_strategies::Code;

/// What the user can do about a code of a plan, by its word.
pub(crate) fn help_for(word: &str) -> Option<&'static str> {
    Code::ALL.iter().find(|code| code.as_str() == word).copied().and_then(help)
}

/// What the user can do.
pub(super) fn help(code: Code) -> Option<&'static str> {
    Some(match code {
        Code::NameTaken => "rename it in the project's file",
        Code::Disabled => "take out what disables it, or its name out of the profile",
        Code::Policy => "change the policy there, or select other servers",
        Code::NeedsGateway => "take `route = \"direct\"` out, or the filter",
        Code::Transport => "launch it with an agent that speaks it, or take its `route` out",
        Code::Inexpressible => "write it without `${`, or launch it with another agent",
        Code::Exposed => "launch it with claude, whose file is private",
        Code::NoSession => "take that word out of `program`",
        Code::AgentRequires => "where it may be away, leave it out with `disabled = true` or a profile",
        Code::Hidden => "take `strict` out of the profile to keep them",
        Code::Unreadable => "mend the file, or let the agent write it anew",
        // Each of these says it by itself, or no mend is needed.
        Code::AgentApproval
        | Code::AgentDisabled
        | Code::AgentHasIt
        | Code::NoStrict
        | Code::NotApproved
        | Code::ProjectFile
        | Code::RepositoryServer
        | Code::TooLarge
        | Code::Unenforced
        | Code::Unmergeable
        | Code::UnreadableApproval
        | Code::Unresolved
        | Code::Unused => return None,
    })
}
