//! How far each server of a launch has come: the words for it, and what a launch's record and its gateways' reports say
//! together. Pure.
//!
//! The launch itself knows four steps: that a server is declared, resolved, translated for the agent and delivered to
//! it. The other three a gateway sees, as it stands between. Of a server that the agent reaches directly nothing more is
//! known than that it was delivered.

use serde::{Deserialize, Serialize};

use crate::findings::help_for;

/// One step of a server's way to an agent, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Step {
    /// A layer declares it.
    Declared,
    /// Layers, profile, policy and trust let it run.
    Resolved,
    /// The agent's language has words for it.
    Translated,
    /// The agent was given it.
    Delivered,
    /// It has answered the agent's first words.
    Initialized,
    /// It has told its tools.
    Listed,
    /// It has answered a call.
    Called,
}

impl Step {
    /// All, in their order.
    pub(crate) const ALL: [Self; 7] = [
        Self::Declared,
        Self::Resolved,
        Self::Translated,
        Self::Delivered,
        Self::Initialized,
        Self::Listed,
        Self::Called,
    ];

    /// The word for people and scripts.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Declared => "declared",
            Self::Resolved => "resolved",
            Self::Translated => "translated",
            Self::Delivered => "delivered",
            Self::Initialized => "initialized",
            Self::Listed => "listed",
            Self::Called => "called",
        }
    }
}

/// What a gateway reports: a line of the launch's file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Report {
    /// When, in milliseconds since 1970.
    pub(crate) time: u64,
    pub(crate) server: String,
    /// The step that was reached, or none where it went wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) step: Option<Step>,
    /// Why a step was not reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) gap: Option<Gap>,
}

/// Why the next step was not reached.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Gap {
    /// A stable word: one of a note's codes, or of [`code`].
    pub(crate) code: String,
    pub(crate) reason: String,
}

/// The codes of gaps that no note has.
pub(crate) mod code {
    /// The agent reaches the server without squire, which sees nothing more.
    pub(crate) const DIRECT: &str = "direct";
    /// The agent has not started the gateway.
    pub(crate) const NOT_STARTED: &str = "not-started";
    /// The gateway did not let it run: it has changed, or is not approved any more, or lacks what it refers to.
    pub(crate) const REFUSED: &str = "refused";
    /// The server could not be started, or ended.
    pub(crate) const ENDED: &str = "ended";
    /// The agent has not asked for it.
    pub(crate) const NOT_ASKED: &str = "not-asked";
    /// The agent was answered from what the server told before: it is started when it is needed.
    pub(crate) const FROM_RECORD: &str = "from-record";
    /// A tool, a prompt or the instructions are not what they were: noted, or held back.
    pub(crate) const DIFFERENT: &str = "different";

    /// All of them.
    #[cfg(test)]
    pub(crate) const ALL: [&str; 7] =
        [DIRECT, NOT_STARTED, REFUSED, ENDED, NOT_ASKED, FROM_RECORD, DIFFERENT];
}

/// What the user can do about a gap, where something helps.
pub(crate) fn mend(gap: &str, server: &str) -> Option<String> {
    Some(match gap {
        code::NOT_STARTED => "the agent may start it later, or ask the user first".into(),
        code::REFUSED => format!("squire show {server} tells what is declared now; a new launch takes it up"),
        code::ENDED => format!(
            "squire probe {server} shows what is wrong with it; squire enable {server} has it tried again where it was given up"
        ),
        code::FROM_RECORD => "nothing is wrong: a call of one of its tools starts it".into(),
        "not-approved" => {
            format!("the user looks at it and approves it, in a terminal: squire approve {server}")
        }
        other => return help_for(other).map(str::to_owned),
    })
}

/// A server in the record of a launch.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Recorded {
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) transport: String,
    #[serde(default)]
    pub(crate) route: String,
    pub(crate) delivered: bool,
    /// The step that was not reached where it was not delivered.
    #[serde(default)]
    pub(crate) missed: Option<Step>,
    #[serde(default)]
    pub(crate) code: Option<String>,
    #[serde(default)]
    pub(crate) reason: Option<String>,
}

/// A server's way in one launch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Chain {
    pub(crate) name: String,
    pub(crate) transport: String,
    pub(crate) route: String,
    /// The steps that were reached, each with its time in milliseconds since 1970.
    pub(crate) steps: Vec<Reached>,
    /// Why the next one was not, or not yet.
    pub(crate) gap: Option<Gap>,
    /// What of it is not what it was when it was seen first, in sentences.
    pub(crate) different: Vec<String>,
}

/// A step and when it was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Reached {
    pub(crate) step: Step,
    pub(crate) time: u64,
}

impl Chain {
    /// The way of a server that a launch of this time recorded, with what its gateway reported.
    pub(crate) fn of(recorded: &Recorded, launched: u64, reports: &[Report]) -> Self {
        let last = match recorded.missed {
            _ if recorded.delivered => Step::Delivered,
            Some(Step::Resolved) => Step::Declared,
            _ => Step::Resolved,
        };
        let own = Step::ALL.into_iter().take_while(|step| *step <= last);
        let mut steps: Vec<Reached> = own.map(|step| Reached { step, time: launched }).collect();
        let of_server: Vec<&Report> =
            reports.iter().filter(|report| report.server == recorded.name).collect();
        for report in &of_server {
            if let Some(step) = report.step.filter(|step| steps.iter().all(|known| known.step != *step)) {
                steps.push(Reached { step, time: report.time });
            }
        }
        steps.sort_by_key(|reached| reached.step);
        let is_different = |report: &&Report| matches!(&report.gap, Some(gap) if gap.code == code::DIFFERENT);
        let (different, others): (Vec<&Report>, Vec<&Report>) =
            of_server.iter().partition(|report| is_different(report));
        let mut sentences: Vec<String> =
            different.into_iter().filter_map(|report| Some(report.gap.clone()?.reason)).collect();
        sentences.sort();
        sentences.dedup();
        let gap = Self::gap(recorded, &steps, &others);
        let Recorded { name, transport, route, .. } = recorded.clone();
        Self { name, transport, route, steps, gap, different: sentences }
    }

    fn gap(recorded: &Recorded, steps: &[Reached], reports: &[&Report]) -> Option<Gap> {
        let gap = |code: &str, reason: &str| Some(Gap { code: code.into(), reason: reason.into() });
        if !recorded.delivered {
            return gap(
                recorded.code.as_deref().unwrap_or_default(),
                recorded.reason.as_deref().unwrap_or_default(),
            );
        }
        if recorded.route == "direct" {
            return gap(code::DIRECT, "the agent reaches it by itself: squire sees nothing more");
        }
        if let Some(last) = reports.last().and_then(|report| report.gap.clone()) {
            return Some(last);
        }
        match steps.last().map(|reached| reached.step) {
            Some(Step::Called) => None,
            Some(Step::Listed) => gap(code::NOT_ASKED, "no tool of it was called"),
            Some(Step::Initialized) => gap(code::NOT_ASKED, "the agent has not asked for its tools"),
            _ => gap(code::NOT_STARTED, "the agent has not started it"),
        }
    }

    /// The last step that was reached.
    pub(crate) fn reached(&self) -> Step {
        self.steps.last().map_or(Step::Declared, |reached| reached.step)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recorded(text: &str) -> Recorded {
        serde_json::from_str(text).unwrap()
    }

    fn report(time: u64, step: Option<Step>, gap: Option<&str>) -> Report {
        let gap = gap.map(|code| Gap { code: code.into(), reason: "r".into() });
        Report { time, server: "a".into(), step, gap }
    }

    fn chain(server: &Recorded, reports: &[Report]) -> (Step, Option<String>) {
        let chain = Chain::of(server, 5, reports);
        let known: Vec<Step> = chain.steps.iter().map(|reached| reached.step).collect();
        assert!(known.is_sorted());
        (chain.reached(), chain.gap.map(|gap| gap.code))
    }

    #[test]
    fn each_gap_has_its_code() {
        let left_out =
            recorded(r#"{"name":"a","delivered":false,"missed":"resolved","code":"disabled","reason":"r"}"#);
        assert_eq!(chain(&left_out, &[]), (Step::Declared, Some("disabled".into())));
        let lost = recorded(r#"{"name":"a","delivered":false,"missed":"translated","code":"transport"}"#);
        assert_eq!(chain(&lost, &[]), (Step::Resolved, Some("transport".into())));
        let direct = recorded(r#"{"name":"a","delivered":true,"route":"direct"}"#);
        assert_eq!(chain(&direct, &[]), (Step::Delivered, Some(code::DIRECT.into())));
        let through = recorded(r#"{"name":"a","delivered":true,"route":"gateway"}"#);
        let mut reports = Vec::new();
        let mut expect = |report: Option<Report>, step, code: Option<&str>| {
            reports.extend(report);
            assert_eq!(chain(&through, &reports), (step, code.map(Into::into)), "{reports:?}");
        };
        expect(None, Step::Delivered, Some(code::NOT_STARTED));
        expect(Some(report(6, None, Some(code::REFUSED))), Step::Delivered, Some(code::REFUSED));
        expect(Some(report(7, Some(Step::Initialized), None)), Step::Initialized, Some(code::NOT_ASKED));
        expect(Some(report(8, Some(Step::Listed), None)), Step::Listed, Some(code::NOT_ASKED));
        expect(Some(report(9, Some(Step::Called), None)), Step::Called, None);
        expect(Some(report(10, None, Some(code::ENDED))), Step::Called, Some(code::ENDED));
        // What differs is no gap.
        expect(Some(report(11, None, Some(code::DIFFERENT))), Step::Called, Some(code::ENDED));
        // It is there again, and the times are those of the first time.
        expect(Some(report(11, Some(Step::Initialized), None)), Step::Called, None);
        let Chain { steps, different, .. } = Chain::of(&through, 5, &reports);
        assert_eq!(different, ["r"]);
        assert_eq!(steps.iter().map(|reached| reached.time).collect::<Vec<_>>(), [5, 5, 5, 5, 7, 8, 9]);
    }

    #[test]
    fn another_servers_reports_count_for_nothing() {
        let through = recorded(r#"{"name":"b","delivered":true,"route":"gateway"}"#);
        let reports = [report(6, Some(Step::Called), None)];
        assert_eq!(chain(&through, &reports), (Step::Delivered, Some(code::NOT_STARTED.into())));
    }

    #[test]
    fn a_report_is_a_line_that_reads_back() {
        for report in [report(1, Some(Step::Listed), None), report(2, None, Some(code::ENDED))] {
            let line = serde_json::to_string(&report).unwrap();
            assert_eq!(serde_json::from_str::<Report>(&line).unwrap(), report, "{line}");
        }
        assert!(code::ALL.iter().all(|code| code.chars().all(|c| c.is_ascii_lowercase() || c == '-')));
    }
}
