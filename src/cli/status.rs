//! The command line of `squire status`.

use clap::Args;

/// `squire status`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  squire status
  squire status --launch 0d884ebb
  squire status --json | jq -r '.launches[0].servers[] | select(.gap) | \"\\(.name): \\(.gap.reason)\"'

A server is declared, resolved, translated for the agent, delivered to it; then its gateway sees it initialized, listed and
called. Of a server that the agent reaches directly squire sees nothing after its delivery. The launches that run are shown
and the last 10 that are over; 50 are kept, all of which --json has.")]
pub struct Status {
    /// Tell of this launch alone, with the time of every step: its id, or how that begins
    #[arg(long, value_name = "ID")]
    pub launch: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}
