//! What the kernel takes at a start, checked before anything is staged (case B42).

use std::ffi::OsStr;
use std::fmt;

use anyhow::{Result, bail};
use rustix::process::{Resource, getrlimit};
use squire_strategies::Argument;

/// One string of the arguments or the environment: `MAX_ARG_STRLEN` of Linux, less its end.
const ONE_STRING: usize = 128 * 1024 - 1;
/// All of them, however large the stack may grow: three quarters of 8 MiB.
const AT_MOST: u64 = 6 * 1024 * 1024;
/// All of them, however small the stack: 128 KiB.
const AT_LEAST: u64 = 128 * 1024;
/// What the kernel itself puts there, and the program's name.
const RESERVE: u64 = 8 * 1024;

/// One string and what it is for.
pub(super) struct Sized<'a> {
    /// The string.
    pub text: &'a OsStr,
    /// What it is for.
    pub purpose: Purpose<'a>,
}

/// What a string is for, to name the largest.
pub(super) enum Purpose<'a> {
    /// An argument that the plan adds.
    Ours(&'a Argument),
    /// A word of the user.
    Word,
    /// The value of a variable that the plan sets.
    OurVariable(&'a str),
    /// The value of a variable of the user.
    Variable(&'a OsStr),
    /// The name of one.
    VariableName,
}

impl fmt::Display for Purpose<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ours(Argument { server: Some(server), .. }) => {
                write!(formatter, "the argument for the server {server}")
            }
            Self::Ours(Argument { text, .. }) => write!(formatter, "the argument {text}"),
            Self::Word => formatter.write_str("an argument of yours"),
            Self::OurVariable(name) => write!(formatter, "the variable {name}"),
            Self::Variable(name) => write!(formatter, "your variable {}", name.display()),
            Self::VariableName => formatter.write_str("a name of a variable"),
        }
    }
}

/// Refuses a start that the kernel would refuse with no more than "Argument list too long".
pub(super) fn check(strings: &[Sized<'_>]) -> Result<()> {
    let Some(largest) = strings.iter().max_by_key(|sized| sized.text.len()) else { return Ok(()) };
    if largest.text.len() > ONE_STRING {
        bail!("{} has {} bytes, and one may have {ONE_STRING}", largest.purpose, largest.text.len());
    }
    let pointer = size_of::<usize>();
    let total: usize = strings.iter().map(|sized| sized.text.len() + 1 + pointer).sum();
    let stack = getrlimit(Resource::Stack).current.unwrap_or(u64::MAX);
    let limit = (stack / 4).clamp(AT_LEAST, AT_MOST) - RESERVE;
    if total as u64 > limit {
        bail!(
            "arguments and environment have {total} bytes, and may have {limit}; the largest is {} with {} bytes",
            largest.purpose,
            largest.text.len()
        );
    }
    Ok(())
}
