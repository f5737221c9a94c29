//! The command lines of `squire probe`, `squire tools` and `squire call`, which ask servers.

use std::path::PathBuf;

use clap::Args;

/// `squire probe`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  squire probe
  squire probe github docs --timeout 5s
  squire probe --profile work --agent cursor
  squire probe --json | jq -r '.servers[] | select(.state == \"failed\") | .name'

Each server is started or reached the way an agent would, all at once, and ended again. What is not approved, disabled or
left out by policy is named and not touched. TOOLS are those that an agent gets, of all where a filter hides some; TOKENS
is what their definitions cost in each request, counted with the tokenizer of OpenAI's models.
Exit code 0: all answered. 1: one did not, or one that was named is left out.")]
pub struct Probe {
    /// The servers; without any those of a launch
    #[arg(value_name = "NAME")]
    pub names: Vec<String>,
    /// Select the servers of a profile; several append
    #[arg(long = "profile", value_name = "PROFILE")]
    pub profiles: Vec<String>,
    /// As this agent gets them: its profile, its filters, the length of its tools' names
    #[arg(long, value_name = "AGENT")]
    pub agent: Option<String>,
    /// Wait this long for each answer, as in 5s; without it as long as the server may take to start
    #[arg(long, value_name = "DURATION")]
    pub timeout: Option<humantime::Duration>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `squire tools`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  squire tools
  squire tools github --schemas
  squire tools --json | jq -r '.servers[].tools[]?.name'

Each tool stands there as `squire call` wants its arguments, those in brackets as you like. Tools that a filter hides
are counted and not shown.
Exit code 0: all answered. 1: one did not, or one that was named is left out.")]
pub struct Tools {
    /// The servers; without any those of a launch
    #[arg(value_name = "NAME")]
    pub names: Vec<String>,
    /// Show whole descriptions and the JSON Schemas
    #[arg(long)]
    pub schemas: bool,
    /// Select the servers of a profile; several append
    #[arg(long = "profile", value_name = "PROFILE")]
    pub profiles: Vec<String>,
    /// As this agent gets them: its profile and its filters
    #[arg(long, value_name = "AGENT")]
    pub agent: Option<String>,
    /// Print JSON: the definitions as they came
    #[arg(long)]
    pub json: bool,
}

/// `squire call`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  squire call github issue.list owner=acme limit=5
  squire call docs search --args '{\"query\": \"retry\", \"tags\": [\"http\"]}'
  jq -n '{path: \"/tmp\"}' | squire call files list --args - --json
  squire call browser screenshot --output shots

An argument takes its type from the tool's schema: 5 is a number where that wants one, arrays and objects are JSON.
The tool's text goes to stdout, as it came; on a terminal, characters that act on it are shown as escapes. Filters, limits
and the audit are those of an agent; --output takes a result of any length. Ctrl-C cancels the call.
Exit code 0: done. 1: the tool says that it failed, which is told on stderr, or it could not be called. 2: the command
line is wrong.")]
pub struct Call {
    /// The server
    #[arg(value_name = "NAME")]
    pub name: String,
    /// The tool
    #[arg(value_name = "TOOL")]
    pub tool: String,
    /// The arguments
    #[arg(value_name = "KEY=VALUE", conflicts_with = "args")]
    pub arguments: Vec<String>,
    /// All arguments as a JSON object, which `-` reads from stdin
    #[arg(long, value_name = "JSON", allow_hyphen_values = true)]
    pub args: Option<String>,
    /// Write images, audio and other bytes to new files in this directory, and print their paths
    #[arg(long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Narrow by the filters of a profile; several append
    #[arg(long = "profile", value_name = "PROFILE")]
    pub profiles: Vec<String>,
    /// Under the filters of this agent
    #[arg(long, value_name = "AGENT")]
    pub agent: Option<String>,
    /// Print the result as it came
    #[arg(long)]
    pub json: bool,
}
