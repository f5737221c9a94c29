//! The command line of `squire secret`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Subcommand};

/// `squire secret`.
#[derive(Debug, Args)]
pub struct Secret {
    /// What to do.
    #[command(subcommand)]
    pub action: SecretAction,
}

/// The subcommands of `squire secret`.
#[derive(Debug, Subcommand)]
pub enum SecretAction {
    /// List the secrets: where each value comes from, which servers may have it, which use it
    List(SecretList),
    /// Set where a value comes from; without a source it is asked for, or read from stdin
    Set(SecretSet),
    /// Take a secret out
    Remove(SecretRemove),
    /// Try whether each value can be had, and say nothing of it
    Check(SecretCheck),
}

/// `squire secret list`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  squire secret list
  squire secret list --json | jq -r '.secrets[].name'")]
pub struct SecretList {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `squire secret set`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  squire secret set github                        # asks for the value, and does not show it
  squire secret set key < key.pem
  squire secret set github --env GITHUB_TOKEN --server github
  squire secret set db --file ~/.config/db/token
  squire secret set github --command -- op read op://work/github/token

A command runs without a shell and without input, when a server that needs the secret starts.
One line end behind a value is taken off. Comments and order of secrets.toml stay.")]
pub struct SecretSet {
    /// The secret, as in `github` or `api_keys.github`
    #[arg(value_name = "NAME")]
    pub name: String,
    /// A value has no place here: it is asked for, or read from stdin
    #[arg(hide = true)]
    pub stray: Vec<OsString>,
    /// Take the value from this environment variable
    #[arg(long, value_name = "VARIABLE", group = "source")]
    pub env: Option<String>,
    /// Take the value from this file, which only you may read
    #[arg(long, value_name = "FILE", group = "source")]
    pub file: Option<PathBuf>,
    /// Take what the program behind `--` prints
    #[arg(long, group = "source", requires = "words")]
    pub command: bool,
    /// Hand this variable on to the command; several append
    #[arg(long, value_name = "VARIABLE", requires = "command")]
    pub inherit_env: Vec<String>,
    /// Bind the secret to this server of yours; several append
    #[arg(long = "server", value_name = "SERVER")]
    pub servers: Vec<String>,
    /// Give a secret that is there a new source
    #[arg(long)]
    pub replace: bool,
    /// The program and its arguments
    #[arg(last = true, value_name = "WORDS", requires = "command")]
    pub words: Vec<String>,
}

/// `squire secret remove`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  squire secret remove github")]
pub struct SecretRemove {
    /// The secret
    #[arg(value_name = "NAME")]
    pub name: String,
}

/// `squire secret check`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  squire secret check
  squire secret check github --json

Commands run side by side, for at most 120 seconds. Exit code 1: a value can't be had.")]
pub struct SecretCheck {
    /// The secrets; all of them where none is named
    #[arg(value_name = "NAME")]
    pub names: Vec<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}
