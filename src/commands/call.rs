//! `squire call`: calls one tool of one server, under the policy and in the audit of an agent.

mod result;

use std::io::Read;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail, ensure};
use serde_json::Value;
use squire_strategies::LAUNCH_VARIABLE;

use super::asking::{Asked, Meant, Server, watched};
use super::waiting::while_drawing;
use super::{Surroundings, WrongWords};
use crate::arguments;
use crate::cli;
use crate::environment::Environment;
use crate::exit::Exit;
use crate::files::Results;
use crate::mcp::{Called, Client, Endpoint, Error, Groups, LINE_LIMIT, Progress, Tools, Watch};
use crate::output::Output;
use crate::printable::printable;
use crate::resolve::{UnknownSelection, unknown_name};

/// How long a call may take in all: its gateway ends one without progress long before.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);
/// How long the word that a call is cancelled may take to its server.
const FAREWELL: Duration = Duration::from_millis(500);

/// Runs the command: 1 where the tool failed, or could not be called.
pub fn run(options: &cli::Call, environment: &Environment) -> Result<Exit> {
    let output = Output::default();
    // The filters of the launch's agent and profiles would not hold: a bump in the road, no more.
    ensure!(
        environment.get(LAUNCH_VARIABLE).is_none(),
        "this is inside a launch of squire ({LAUNCH_VARIABLE} is set), where the agent itself calls its tools; run it in a terminal of your own"
    );
    let whole = whole_arguments(options)?;
    let surroundings = Surroundings::find(environment)?;
    let meant = Meant {
        names: std::slice::from_ref(&options.name),
        profiles: &options.profiles,
        agent: options.agent.as_deref(),
    };
    let asked = Asked::find(&surroundings, &meant, environment)?;
    let server = asked.servers.first().with_context(|| format!("there is no server {:?}", options.name))?;
    if let Some((sentence, mend)) = server.state.obstacle() {
        let help = mend.map(|mend| format!("\n  help: {mend}")).unwrap_or_default();
        bail!("{}: {sentence}{help}", server.name);
    }
    let results = match &options.output {
        None => None,
        Some(directory) => {
            let opened = Results::open(directory, environment.directory()?);
            Some(opened.with_context(|| format!("--output {}", directory.display()))?)
        }
    };
    // Who writes results to files gets them whole.
    let more: &[&str] = if results.is_some() { &["--whole"] } else { &[] };
    let endpoint = asked.endpoint(server, more, environment);
    let told = Mutex::new(format!("starting {}", server.name));
    let (called, signal) = watched(FAREWELL, |groups, is_over| {
        let lines = || vec![told.lock().map(|told| told.clone()).unwrap_or_default()];
        while_drawing(lines, environment, output, || {
            let conversation = Conversation { options, server, told: &told, is_over };
            conversation.hold(&endpoint, whole, groups, output)
        })
    })?;
    if let Some(signal) = signal {
        return Ok(Exit::Signal(signal));
    }
    result::show(&called?, options, results.as_ref(), output)
}

/// The arguments that are given as one JSON object.
fn whole_arguments(options: &cli::Call) -> Result<Option<Value>> {
    let text = match options.args.as_deref() {
        None => return Ok(None),
        Some("-") => {
            let mut text = String::new();
            let limit = u64::try_from(LINE_LIMIT).unwrap_or(u64::MAX);
            std::io::stdin()
                .take(limit)
                .read_to_string(&mut text)
                .context("the arguments can't be read from stdin")?;
            text
        }
        Some(text) => text.to_owned(),
    };
    let wrong = |why: String| WrongWords(format!("--args takes a JSON object: {why}"));
    match serde_json::from_str(&text) {
        Ok(object @ Value::Object(_)) => Ok(Some(object)),
        Ok(_) => Err(wrong("this is JSON of another kind".into()).into()),
        Err(error) => Err(wrong(error.to_string()).into()),
    }
}

/// One conversation, from the server's start to its end.
struct Conversation<'a> {
    options: &'a cli::Call,
    server: &'a Server,
    /// What a terminal shows of it.
    told: &'a Mutex<String>,
    /// Whether the user has had enough.
    is_over: &'a AtomicBool,
}

impl Conversation<'_> {
    fn hold(
        &self,
        endpoint: &Endpoint,
        whole: Option<Value>,
        groups: &Groups,
        output: Output,
    ) -> Result<Called> {
        let name = &self.server.name;
        let failed = |error: Error| anyhow!("{name}: {error}");
        let mut client = Client::open(endpoint, self.server.patience(None), groups).map_err(failed)?;
        let called = self.call(&mut client, whole);
        let left = client.close(called.is_ok());
        left.warnings.iter().for_each(|warning| output.message(&format!("{name}: warning: {warning}")));
        called
    }

    fn call(&self, client: &mut Client, whole: Option<Value>) -> Result<Called> {
        let (name, tool) = (&self.server.name, self.options.tool.as_str());
        let failed = |error: Error| anyhow!("{name}: {error}");
        let hello = client.greet().map_err(failed)?;
        client.allow(self.server.patience(None));
        let tools = client.tools(&hello).map_err(failed)?;
        let schema = self.schema(&tools)?;
        let arguments = match whole {
            Some(arguments) => arguments,
            None => arguments::from_words(&self.options.arguments, schema)
                .map_err(|wrong| WrongWords(format!("{tool} of {name}: {}", wrong.join("\n  "))))?,
        };
        client.allow(LONGEST);
        self.tell(tool);
        let mut progress = |progress: Progress| self.tell(&in_words(tool, &progress));
        let is_over = || self.is_over.load(Ordering::SeqCst);
        let mut watch = Watch { progress: &mut progress, is_over: &is_over };
        client.call(tool, &arguments, &mut watch).map_err(|error| anyhow!("{tool} of {name}: {error}"))
    }

    /// The schema of the tool. One that is hidden is asked for all the same: the gateway refuses, and writes it down.
    fn schema<'a>(&self, tools: &'a Tools) -> Result<&'a Value> {
        let tool = self.options.tool.as_str();
        if let Some(found) = tools.shown.iter().find(|found| found.name == tool) {
            return Ok(found.input_schema());
        }
        if tools.withheld.iter().any(|withheld| withheld == tool) {
            return Ok(&Value::Null);
        }
        let known = tools.shown.iter().map(|tool| tool.name.as_str());
        let sentence = unknown_name("tool", tool, known);
        Err(UnknownSelection(vec![format!("{}: {sentence}", self.server.name)]).into())
    }

    fn tell(&self, text: &str) {
        if let Ok(mut told) = self.told.lock() {
            *told = printable(text);
        }
    }
}

fn in_words(tool: &str, progress: &Progress) -> String {
    let Progress { progress, total, message } = progress;
    let far = match (progress, total) {
        (Some(progress), Some(total)) => format!(" {progress} of {total}"),
        (Some(progress), None) => format!(" {progress}"),
        (None, _) => String::new(),
    };
    let message = message.as_ref().map(|message| format!(": {message}")).unwrap_or_default();
    format!("{tool}{far}{message}")
}
