//! The command line of `squire export`.

use std::path::PathBuf;

use clap::Args;

/// `squire export`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  squire export claude > .mcp.json
  squire export vscode --server docs --server github
  squire export zed --gateway                      # secrets, filters and limits stay squire's
  squire export codex --profile work --output servers.toml

Formats: claude, codex, cursor, opencode, vscode, gemini, windsurf, zed, claude-desktop, copilot. References are written in
each one's syntax, and no value ever. What a format has no words for is told on stderr and left out, unless --gateway has
the agent start squire in the server's place. Exit code 1: a server that --server names was left out.")]
pub struct Export {
    /// The agent or editor, or an agent of your own
    #[arg(value_name = "AGENT")]
    pub agent: String,
    /// Export these servers; several append
    #[arg(long = "server", value_name = "SERVER")]
    pub servers: Vec<String>,
    /// Export the servers of this profile, under its filters; several append
    #[arg(long = "profile", value_name = "PROFILE")]
    pub profiles: Vec<String>,
    /// Write entries that start `squire gateway` in each server's place
    #[arg(long)]
    pub gateway: bool,
    /// Write a new file; one that is there is not touched
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Print JSON: the text, what is in it and what is not
    #[arg(long)]
    pub json: bool,
}
