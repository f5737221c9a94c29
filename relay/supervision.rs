//! Whether the server runs, and when it is tried again.

use alloc::string::String;

use crate::Time;

/// How long a server has to run until its earlier failures are forgotten, in milliseconds. A start alone is no proof:
/// one that dies after its first answer would be started for ever.
const SUSTAINED: Time = 60_000;

/// The state of the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// Nobody has needed it yet.
    Idle,
    /// It is being started.
    Starting,
    /// It runs and is being brought back into the session.
    Returning,
    /// It runs.
    Up,
    /// It is being ended, for this reason.
    Stopping(String),
    /// It is tried again then.
    Waiting(Time),
    /// It has failed too often.
    Failed,
    /// It may not be started: the next request asks again whether it may.
    Refused,
}

/// The server's life.
#[derive(Clone, Debug)]
pub(crate) struct Supervision {
    pub(crate) state: State,
    max_restarts: u32,
    failures: u32,
    began: Time,
    /// Why it is not there, for people.
    pub(crate) reason: String,
    /// Whether nobody needs it any more.
    is_over: bool,
}

impl Supervision {
    pub(crate) fn new(max_restarts: u32) -> Self {
        Self {
            state: State::Idle,
            max_restarts,
            failures: 0,
            began: 0,
            reason: String::new(),
            is_over: false,
        }
    }

    pub(crate) fn began(&mut self, now: Time) {
        self.began = now;
    }

    /// Whether an earlier start has ended.
    pub(crate) fn has_ended_before(&self) -> bool {
        self.failures > 0
    }

    /// It is not started again.
    pub(crate) fn over(&mut self) {
        self.is_over = true;
    }

    /// Its failures are forgotten; true where it had failed for good.
    pub(crate) fn revive(&mut self) -> bool {
        let had_failed = self.state == State::Failed;
        if had_failed {
            *self = Self::new(self.max_restarts);
        }
        had_failed
    }

    /// Notes that it ended, and decides what comes next.
    pub(crate) fn ended(&mut self, reason: String, now: Time) {
        let ran = now.saturating_sub(self.began);
        let was_up = self.state == State::Up && ran >= SUSTAINED;
        self.failures = if was_up { 1 } else { self.failures + 1 };
        self.reason = reason;
        self.state = if self.is_over || self.failures >= self.max_restarts {
            State::Failed
        } else {
            State::Waiting(now.saturating_add(backoff(self.failures)))
        };
    }

    /// Notes that it may not be started: that is no failure of its own.
    pub(crate) fn refused(&mut self, reason: String) {
        self.reason = reason;
        self.state = if self.is_over { State::Failed } else { State::Refused };
    }

    /// What is so, behind the server's name.
    pub(crate) fn situation(&self, now: Time) -> String {
        let reason = &self.reason;
        match self.state {
            // Nobody expects another start.
            State::Failed if self.is_over || self.max_restarts == 0 => reason.clone(),
            State::Failed => alloc::format!(
                "{reason}; it failed {} times in a row, and is not tried again in this launch",
                self.failures
            ),
            State::Waiting(until) => {
                let seconds = until.saturating_sub(now).div_ceil(1000);
                alloc::format!("{reason}; it is started again in {seconds} s")
            }
            State::Idle
            | State::Starting
            | State::Returning
            | State::Up
            | State::Stopping(_)
            | State::Refused => reason.clone(),
        }
    }
}

/// How long to wait after so many failures in a row, in milliseconds: 1, 2, 4, 8 … 60 s.
pub fn backoff(failures: u32) -> Time {
    1000_u64.checked_shl(failures.saturating_sub(1)).unwrap_or(Time::MAX).min(60_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_waits_double_up_to_a_minute() {
        let waits: alloc::vec::Vec<Time> = (1..=8).map(backoff).collect();
        assert_eq!(waits, [1000, 2000, 4000, 8000, 16000, 32000, 60000, 60000]);
        assert_eq!(backoff(200), 60_000);
    }

    #[test]
    fn failures_in_a_row_end_it_and_sustained_uptime_forgives() {
        let mut life = Supervision::new(3);
        for (at, expected) in [(0, State::Waiting(1000)), (1000, State::Waiting(3000)), (3000, State::Failed)]
        {
            life.state = State::Up;
            life.began(at);
            life.ended("gone".into(), at);
            assert_eq!(life.state, expected);
        }
        life.state = State::Up;
        life.began(0);
        life.ended("gone".into(), SUSTAINED);
        assert_eq!(life.state, State::Waiting(SUSTAINED + 1000));
    }
}
