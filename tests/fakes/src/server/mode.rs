//! How the server behaves, or misbehaves.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use super::answer::Listing;

/// The value of `--mode`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Ok,
    Slow(Duration),
    SlowCall(Duration),
    SlowList(Duration),
    Hang,
    Die,
    DieAfterInitialize,
    Garbage,
    Noisy,
    Listing(Listing),
    Deaf,
    Grandchild(PathBuf),
    /// The process that `grandchild` starts.
    LeftBehind(PathBuf),
    /// Each call says what the server does (`puppet.rs`).
    Puppet,
    /// A puppet that outlives the end of its input and SIGTERM, with a child in a session of its own.
    Survivor(PathBuf),
    /// The process that `survivor` starts.
    Apart(PathBuf),
    SseReply,
    /// It speaks 2026-07-28 and nothing older.
    Modern,
    Http401,
    Html,
}

impl FromStr for Mode {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let unknown = || format!("not a mode: {text}");
        let Some((name, value)) = text.split_once(':') else {
            return Self::plain(text).ok_or_else(unknown);
        };
        let time = || value.parse().map(Duration::from_millis).map_err(|_| unknown());
        Ok(match name {
            "slow" => Self::Slow(time()?),
            "slow-call" => Self::SlowCall(time()?),
            "slow-list" => Self::SlowList(time()?),
            "grandchild" => Self::Grandchild(value.into()),
            "left-behind" => Self::LeftBehind(value.into()),
            "survivor" => Self::Survivor(value.into()),
            "apart" => Self::Apart(value.into()),
            _ => return Err(unknown()),
        })
    }
}

impl Mode {
    fn plain(name: &str) -> Option<Self> {
        Some(match name {
            "ok" => Self::Ok,
            "hang" => Self::Hang,
            "die" => Self::Die,
            "die-after-initialize" => Self::DieAfterInitialize,
            "garbage" => Self::Garbage,
            "noisy" => Self::Noisy,
            "pages" => Self::Listing(Listing::Pages),
            "loop" => Self::Listing(Listing::Endless),
            "error-list" => Self::Listing(Listing::Refused),
            "deaf" => Self::Deaf,
            "puppet" => Self::Puppet,
            "modern" => Self::Modern,
            "sse-reply" => Self::SseReply,
            "http-401" => Self::Http401,
            "html" => Self::Html,
            _ => return None,
        })
    }

    /// How `tools/list` goes.
    pub(crate) fn listing(&self) -> Listing {
        if let Self::Listing(listing) = self { *listing } else { Listing::Whole }
    }

    /// How long the answer to `method` is held back.
    pub(crate) fn delay(&self, method: &str) -> Duration {
        match (self, method) {
            (Self::Slow(time), "initialize")
            | (Self::SlowCall(time), "tools/call")
            | (Self::SlowList(time), "tools/list") => *time,
            _ => Duration::ZERO,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_carry_their_values() {
        assert_eq!("slow:20".parse(), Ok(Mode::Slow(Duration::from_millis(20))));
        assert_eq!("grandchild:/a:b".parse(), Ok(Mode::Grandchild("/a:b".into())));
        for wrong in ["slow", "slow:x", "ok:1", ""] {
            assert_eq!(wrong.parse::<Mode>(), Err(format!("not a mode: {wrong}")));
        }
    }

    #[test]
    fn only_the_slow_method_waits() {
        let mode = Mode::SlowCall(Duration::from_secs(1));
        assert_eq!(mode.delay("tools/call"), Duration::from_secs(1));
        assert_eq!(mode.delay("initialize"), Duration::ZERO);
    }
}
