//! A line of the audit. Pure.

use std::time::SystemTime;

use serde::Serialize;
use serde_json::value::RawValue;
use squire_relay::{Call, Sealed};
use squire_strategies::spelled_in_json;

use super::key::Digests;
use crate::files;

/// The longest name of a tool, and the longest sentence, in characters: both are other people's words.
const LONGEST_WORDS: usize = 256;

/// What is to be written down, and when it happened.
pub(super) struct Entry {
    pub(super) time: SystemTime,
    pub(super) what: What,
}

pub(super) enum What {
    Call(Call),
    /// Its name, and what is told of it.
    Event(&'static str, String),
}

impl Entry {
    /// About how much memory it takes.
    pub(super) fn size(&self) -> usize {
        let words = match &self.what {
            What::Call(Call { tool, arguments: Some(Sealed::Text(arguments)), .. }) => {
                tool.len() + arguments.len()
            }
            What::Call(call) => call.tool.len(),
            What::Event(_, text) => text.len(),
        };
        words + size_of::<Self>()
    }

    /// Puts a digest, where there is one, in the place of arguments.
    pub(super) fn shorten(&mut self, digests: &Digests) {
        if let What::Call(call) = &mut self.what
            && let Some(Sealed::Text(arguments)) = &call.arguments
        {
            call.arguments = digests.of(arguments);
        }
    }
}

/// Whose gateway it is.
pub(super) struct Whose {
    pub(super) launch: Option<String>,
    pub(super) agent: String,
    pub(super) server: String,
}

#[derive(Default, Serialize)]
struct Line<'a> {
    time: String,
    launch: Option<&'a str>,
    agent: &'a str,
    server: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    outcome: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    milliseconds: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    asked: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    answered: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    arguments_digest: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    arguments: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    event: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
}

/// The line of an entry, without a line end.
pub(super) fn line(entry: &Entry, whose: &Whose) -> String {
    let mut line = Line {
        time: humantime::format_rfc3339_millis(entry.time).to_string(),
        launch: whose.launch.as_deref(),
        agent: &whose.agent,
        server: &whose.server,
        ..Line::default()
    };
    match &entry.what {
        What::Call(call) => {
            line.tool = Some(beginning(&call.tool));
            line.outcome = Some(call.outcome.as_str());
            line.milliseconds = Some(call.ended.saturating_sub(call.began));
            (line.asked, line.answered) = (Some(call.asked), Some(call.answered));
            match &call.arguments {
                Some(Sealed::Digest(digest)) => {
                    line.arguments_digest = Some(format!("hmac-sha256:{}", files::hexadecimal(digest)));
                }
                Some(Sealed::Text(arguments)) => line.arguments = serde_json::from_str(arguments).ok(),
                None => {}
            }
        }
        What::Event(name, text) => {
            line.event = Some(name);
            line.text = Some(beginning(text)).filter(|text| !text.is_empty());
        }
    }
    // It is made of text and numbers alone, which are always JSON.
    on_one_line(serde_json::to_string(&line).unwrap_or_default())
}

fn beginning(text: &str) -> &str {
    text.char_indices().nth(LONGEST_WORDS).map_or(text, |(end, _)| &text[..end])
}

/// JSON on one line in which nothing acts on a terminal or hides: such characters stand in strings as escapes.
pub(crate) fn on_one_line(json: String) -> String {
    // Written as they are, control characters stand between tokens alone, where they mean a blank.
    let is_one = json.bytes().all(|byte| byte >= b' ');
    spelled_in_json(if is_one { json } else { json.replace(|c: char| c < ' ', " ") })
}
