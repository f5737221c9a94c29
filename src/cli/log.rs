//! The command line of `squire log`.

use clap::Args;

/// `squire log`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  squire log
  squire log github --lines 20
  squire log --follow
  squire log --json | jq -r 'select(.outcome != \"done\") | .tool'

Of a call's arguments the audit has a digest, and with `audit = \"full\"` of a server the arguments themselves, which
--json shows. Times are UTC: when a call was over. 32 MiB are kept.")]
pub struct Log {
    /// Tell of this server alone
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
    /// Go on with every call that comes, until interrupted
    #[arg(long, short)]
    pub follow: bool,
    /// Print the lines of JSON as they were recorded
    #[arg(long)]
    pub json: bool,
    /// Tell of this launch alone: its id, or how that begins
    #[arg(long, value_name = "ID")]
    pub launch: Option<String>,
    /// Tell the last N calls; all without it, and with --follow the last 10
    #[arg(long, value_name = "N")]
    pub lines: Option<usize>,
}
