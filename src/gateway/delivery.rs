//! What a gateway reports of its server to its launch: how far it has come, and why not further.

use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use squire_relay::Step as Seen;

use crate::delivery::{Gap, Report, Step, code};
use crate::runner;

/// How much one gateway reports: a server that ends again and again says nothing new.
const MOST: usize = 20;
/// How many of its definitions that differ are told: the record of its tools has them all.
const MOST_DIFFERENT: usize = 8;

/// The reports of one gateway. Without a launch there is nobody to report to.
pub(super) struct Delivery {
    launch: Option<(PathBuf, String)>,
    server: String,
    left: usize,
    left_different: usize,
    /// Steps that are told once the agent has its lines: nobody waits for what is told of them.
    newly: Vec<Step>,
    /// Whether the server ever answered the agent's first words.
    has_initialized: bool,
    /// Why it ended. It is told once it is started again: where the agent goes too, nothing was wrong, as one that ends
    /// everything below itself ends the server first (OpenCode 1.18.33).
    end: Option<String>,
}

impl Delivery {
    pub(super) fn new(state: PathBuf, launch: Option<&str>, server: &str) -> Self {
        let launch = launch.map(|id| (state, id.to_owned()));
        Self {
            launch,
            server: server.to_owned(),
            left: MOST,
            left_different: MOST_DIFFERENT,
            newly: Vec::new(),
            has_initialized: false,
            end: None,
        }
    }

    /// The server has come so far; [`Self::tell`] tells it.
    pub(super) fn reached(&mut self, seen: Seen) {
        self.has_initialized = true;
        self.newly.push(match seen {
            Seen::Initialized => Step::Initialized,
            Seen::Listed => Step::Listed,
            Seen::Called => Step::Called,
        });
    }

    /// Tells how far it has newly come.
    pub(super) fn tell(&mut self) {
        for step in std::mem::take(&mut self.newly) {
            self.report(Some(step), None);
        }
    }

    /// It has ended: one that never began is told of at once.
    pub(super) fn ended(&mut self, reason: &str) {
        self.end = Some(reason.to_owned());
        if !self.has_initialized {
            self.tell_end();
        }
    }

    /// Tells why it ended, where that was not told yet.
    pub(super) fn tell_end(&mut self) {
        if let Some(reason) = self.end.take() {
            self.gap(code::ENDED, &reason);
        }
    }

    /// It came no further, with a code of [`crate::delivery::code`].
    pub(super) fn gap(&mut self, code: &str, reason: &str) {
        self.report(None, Some(Gap { code: code.to_owned(), reason: reason.to_owned() }));
    }

    /// Something of it is not what it was.
    pub(super) fn different(&mut self, sentence: &str) {
        if self.left_different > 0 {
            self.left_different -= 1;
            self.left += 1;
            self.gap(code::DIFFERENT, sentence);
        }
    }

    fn report(&mut self, step: Option<Step>, gap: Option<Gap>) {
        let Some((state, launch)) = self.launch.as_ref().filter(|_| self.left > 0) else { return };
        self.left -= 1;
        let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
        let time = u64::try_from(time).unwrap_or(u64::MAX);
        let report = Report { time, server: self.server.clone(), step, gap };
        // A state directory that can't be written costs the report alone: the audit says that it can't be.
        let _ = runner::report(state, launch, &report);
    }
}
