//! The command line of `squire import`.

use clap::{Args, ValueEnum};

/// A file that imports go into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ImportLayer {
    /// Your squire.toml
    User,
    /// Your own servers for this project, which lie outside it
    Local,
}

/// `squire import`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  squire import claude --dry-run   # what would come of ~/.claude.json and this project's .mcp.json
  squire import claude codex cursor
  squire import .vscode/mcp.json --layer local
  squire import servers.json --as cursor --server github

An agent's name finds its own files: claude, claude-desktop, codex, cursor, opencode, vscode, gemini, windsurf, zed,
copilot. Files of kaged, workstacean and kedi are named. They are read and never written: the commands that take the
agent's own copies out are printed at the end. What is imported is off until you approve it. Values of secrets go into
secrets.toml, and are never shown. Exit code 1: something could not be taken, or nothing was written because of a
conflict.")]
pub struct Import {
    /// A file, or the name of an agent, whose own files are found
    #[arg(value_name = "SOURCE", required = true)]
    pub sources: Vec<String>,
    /// Print what would be written, and write nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Write into this file; without it into your squire.toml
    #[arg(long, value_name = "LAYER", value_enum, default_value = "user", hide_default_value = true)]
    pub layer: ImportLayer,
    /// Give servers that are there a new definition; their filters and limits stay where the new one has none
    #[arg(long)]
    pub replace: bool,
    /// Take this server alone, by its name there or here; several append
    #[arg(long = "server", value_name = "NAME")]
    pub servers: Vec<String>,
    /// What the files are, where that can't be told: an agent's name, kaged, workstacean or kedi
    #[arg(long = "as", value_name = "FORMAT")]
    pub format: Option<String>,
}
