//! The command lines of what edits the list.

use clap::{Args, Subcommand, ValueEnum};

/// A file that commands edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Layer {
    /// Your squire.toml
    User,
    /// Your own changes for this project, which lie outside it
    Local,
    /// The project's squire.toml
    Project,
}

/// Where an edit goes, and whether it is only shown.
#[derive(Clone, Copy, Debug, Args)]
pub struct Editing {
    /// Edit this file; without it the one where the entry lives
    #[arg(long, value_name = "LAYER", value_enum)]
    pub layer: Option<Layer>,
    /// Print the difference, and write nothing
    #[arg(long)]
    pub dry_run: bool,
}

/// `squire init`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  squire init
  squire init --layer project      # a squire.toml that the repository shares")]
pub struct Init {
    /// What is edited, and how
    #[command(flatten)]
    pub editing: Editing,
}

/// `squire add`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  squire add github -- npx -y @modelcontextprotocol/server-github
  squire add docs https://docs.example.com/mcp --bearer docs
  squire add \"docker run -i --rm -e GITHUB_TOKEN ghcr.io/github/github-mcp-server\"
  squire add --json '{\"mcpServers\": {\"wiki\": {\"url\": \"https://wiki.example.com/mcp\"}}}'
  pbpaste | squire add --json -    # what a README shows

What is added is off until you approve it. No value of a secret goes into squire.toml: on a terminal you are asked for it,
elsewhere the commands that remain are printed. References of other tools (${VAR}, {env:VAR}) become ${env:VAR}.")]
pub struct Add {
    /// What the server is called; without it a name is made of what runs
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
    /// An address, or a command line in one string; the first word may be it where no name is given
    #[arg(value_name = "SOURCE", conflicts_with_all = ["json", "command"])]
    pub source: Option<String>,
    /// Take the servers of a JSON snippet, or of stdin where it is `-`
    #[arg(long, value_name = "JSON", conflicts_with = "command")]
    pub json: Option<String>,
    /// How the server is spoken to: http or sse
    #[arg(long, value_name = "TRANSPORT")]
    pub transport: Option<String>,
    /// A variable of the server, as in NAME=VALUE; several append
    #[arg(long, short, value_name = "NAME=VALUE")]
    pub env: Vec<String>,
    /// A header for a remote server, as in NAME=VALUE; several append
    #[arg(long = "header", value_name = "NAME=VALUE")]
    pub headers: Vec<String>,
    /// Send this secret of secrets.toml behind `Bearer `
    #[arg(long, value_name = "SECRET")]
    pub bearer: Option<String>,
    /// Where the program runs
    #[arg(long, value_name = "DIR")]
    pub cwd: Option<String>,
    /// What the server is good for
    #[arg(long, value_name = "TEXT")]
    pub description: Option<String>,
    /// Give a server that is there a new definition; its filters and limits stay
    #[arg(long)]
    pub replace: bool,
    /// What is edited, and how
    #[command(flatten)]
    pub editing: Editing,
    /// The program and its arguments
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<String>,
}

/// `squire remove`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  squire remove github
  squire remove docs --layer local     # takes a server of a lower layer out of this project's list

The comments that touch the entry go along, and your profiles no longer name it.")]
pub struct Remove {
    /// The server
    #[arg(value_name = "NAME")]
    pub name: String,
    /// What is edited, and how
    #[command(flatten)]
    pub editing: Editing,
    /// Print JSON: what was done, and where
    #[arg(long)]
    pub json: bool,
}

/// `squire enable` and `squire disable`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  squire disable github
  squire enable github
  squire disable docs --layer local    # in this project alone

A project's server is changed in your own local layer. `enable` approves nothing.")]
pub struct Switch {
    /// The server
    #[arg(value_name = "NAME")]
    pub name: String,
    /// What is edited, and how
    #[command(flatten)]
    pub editing: Editing,
    /// Print JSON: what was done, and where
    #[arg(long)]
    pub json: bool,
}

/// `squire set`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  squire set github timeout 2m
  squire set github tools.deny 'repo.delete' 'issue.*'
  squire set database env.PGHOST localhost
  squire set database args -- --read-only --schema public
  squire set github timeout --unset")]
pub struct Set {
    /// The server
    #[arg(value_name = "NAME")]
    pub name: String,
    /// The field, as in `timeout`, `tools.deny` and `env.PGHOST`
    #[arg(value_name = "KEY")]
    pub key: String,
    /// The value; several for an array
    #[arg(value_name = "VALUE", required_unless_present = "unset", conflicts_with = "unset")]
    pub values: Vec<String>,
    /// Take the field out
    #[arg(long)]
    pub unset: bool,
    /// What is edited, and how
    #[command(flatten)]
    pub editing: Editing,
    /// Print JSON: what was done, and where
    #[arg(long)]
    pub json: bool,
}

/// `squire profile`.
#[derive(Debug, Args)]
pub struct Profile {
    /// What to do.
    #[command(subcommand)]
    pub action: ProfileAction,
}

/// The subcommands of `squire profile`.
#[derive(Debug, Subcommand)]
pub enum ProfileAction {
    /// Make a profile, or add servers to one
    Add(ProfileAdd),
    /// Take servers out of a profile, or all of it
    Remove(ProfileRemove),
    /// List the profiles
    List(ProfileList),
    /// Show one profile and the servers that a launch with it would have
    Show(ProfileShow),
}

/// `squire profile add`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  squire profile add work github database
  squire profile add review --extends work --require github")]
pub struct ProfileAdd {
    /// The profile
    #[arg(value_name = "PROFILE")]
    pub name: String,
    /// The servers, behind those that it has
    #[arg(value_name = "SERVER")]
    pub servers: Vec<String>,
    /// A profile whose servers come first; several append
    #[arg(long, value_name = "PROFILE")]
    pub extends: Vec<String>,
    /// A server without which there is no launch; several append
    #[arg(long, value_name = "SERVER")]
    pub require: Vec<String>,
    /// What is edited, and how
    #[command(flatten)]
    pub editing: Editing,
    /// Print JSON: what was done, and where
    #[arg(long)]
    pub json: bool,
}

/// `squire profile remove`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  squire profile remove work database
  squire profile remove work")]
pub struct ProfileRemove {
    /// The profile
    #[arg(value_name = "PROFILE")]
    pub name: String,
    /// The servers; the whole profile where none is named
    #[arg(value_name = "SERVER")]
    pub servers: Vec<String>,
    /// What is edited, and how
    #[command(flatten)]
    pub editing: Editing,
    /// Print JSON: what was done, and where
    #[arg(long)]
    pub json: bool,
}

/// `squire profile list`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  squire profile list
  squire profile list --json | jq -r '.profiles[].name'")]
pub struct ProfileList {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `squire profile show`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  squire profile show work")]
pub struct ProfileShow {
    /// The profile
    #[arg(value_name = "PROFILE")]
    pub name: String,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}
