//! One call of a tool.

use std::time::Duration;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::{Client, string};
use crate::mcp::error::Error;
use crate::mcp::message;

/// The method.
const STEP: &str = "tools/call";
/// How often it is looked whether the user still waits.
const LOOK: Duration = Duration::from_millis(50);

/// What a call gave.
#[derive(Debug, Clone, PartialEq)]
pub struct Called {
    /// The result.
    pub result: Value,
    /// The same as the text that came.
    pub text: String,
}

/// What a server says of a call that runs, as it came (`notifications/progress`).
#[derive(Debug, Clone, PartialEq)]
pub struct Progress {
    /// How far it is.
    pub progress: Option<f64>,
    /// How far it has to go.
    pub total: Option<f64>,
    /// In words.
    pub message: Option<String>,
}

/// Who waits for a call.
pub struct Watch<'a> {
    /// Is told of progress.
    pub progress: &'a mut dyn FnMut(Progress),
    /// Whether nobody waits any more: the call is cancelled then.
    pub is_over: &'a dyn Fn() -> bool,
}

impl Client {
    /// Calls a tool with these arguments, an object. A server that tells of progress is waited for as long as the
    /// gateway waits.
    pub fn call(&mut self, tool: &str, arguments: &Value, watch: &mut Watch<'_>) -> Result<Called, Error> {
        // The number of this request, which no other request has.
        let token = self.requests + 1;
        let params = json!({ "name": tool, "arguments": arguments, "_meta": { "progressToken": token } });
        let ours = self.ask(STEP, params)?;
        let wait = self.wait.during(STEP);
        loop {
            let line = match self.connection.receive(wait.at_most(LOOK)) {
                Err(Error::TimedOut { .. }) if (watch.is_over)() => {
                    let reason = json!({ "requestId": ours, "reason": "interrupted by the user" });
                    self.connection.send(&message::notification("notifications/cancelled", reason), wait)?;
                    return Err(Error::Interrupted);
                }
                Err(Error::TimedOut { .. }) if !wait.remaining().is_zero() => continue,
                received => received?,
            };
            let mut told = |method: &str, params: &Value| {
                if method == "notifications/progress" && params["progressToken"] == token {
                    (watch.progress)(Progress {
                        progress: params["progress"].as_f64(),
                        total: params["total"].as_f64(),
                        message: string(params, "/message"),
                    });
                }
            };
            if let Some(outcome) = self.hear(&line, &ours, wait, &mut told)? {
                let result = outcome.map_err(|error| Error::answered(STEP, error))?;
                let text = as_it_came(&line).unwrap_or_else(|| result.to_string());
                return Ok(Called { result, text });
            }
        }
    }
}

/// The result of a response, to the byte; none where it had to be mended.
fn as_it_came(line: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    struct Response<'a> {
        #[serde(borrow)]
        result: &'a RawValue,
    }
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
    serde_json::from_slice::<Response<'_>>(line).ok().map(|response| response.result.get().to_owned())
}
