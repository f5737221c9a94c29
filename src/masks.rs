//! Takes credentials that a declaration holds in clear out of what is printed of a plan. What the agent gets has them.

use serde_json::Value;
use squire_strategies::{Transport, masked_address, masked_header};

use crate::plan::Plan;

/// Strings in quotation marks as the agents' formats have them, and what is shown instead.
pub(crate) struct Masks(Vec<(String, String)>);

impl Masks {
    /// Those of a plan's servers.
    pub(crate) fn of(plan: &Plan) -> Self {
        let mut masks = Vec::new();
        let mut mask = |written: &str, shown: String| {
            if written != shown {
                masks.push((Value::from(written).to_string(), Value::from(shown).to_string()));
            }
        };
        for server in &plan.servers {
            let (Transport::Http(remote) | Transport::Sse(remote)) = &server.transport else { continue };
            if let Some(url) = remote.url.literal() {
                mask(url, masked_address(url));
            }
            for (name, value) in &remote.headers {
                if let Some(value) = value.literal() {
                    mask(value, masked_header(name, value));
                }
            }
        }
        Self(masks)
    }

    /// A text of the plan as it is shown.
    pub(crate) fn apply(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, (written, shown)| text.replace(written, shown))
    }
}
