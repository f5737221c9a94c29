//! The command line.

mod asking;
mod edit;
mod entry;
mod export;
mod import;
mod log;
mod secret;
mod status;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::Resettable;
use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

pub use asking::{Call, Probe, Tools};
pub use edit::{
    Add, Editing, Init, Layer, Profile, ProfileAction, ProfileAdd, ProfileList, ProfileRemove, ProfileShow,
    Remove, Set, Switch,
};
pub(crate) use entry::gateway;
pub use export::Export;
pub use import::{Import, ImportLayer};
pub use log::Log;
pub use secret::{Secret, SecretAction, SecretCheck, SecretList, SecretRemove, SecretSet};
pub use status::Status;

/// One list of MCP servers for every coding agent, equipped for one launch.
#[derive(Debug, Parser)]
#[command(name = "squire", version, arg_required_else_help = true)]
#[command(after_help = "\
Examples:
  squire launch claude --profile work -- -p \"fix the tests\"
  squire describe codex
  squire launch inspect            # needs no agent and no configuration

Your servers are in ~/.config/squire/squire.toml.")]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The whole command line with everything built, for help and for whoever describes it. Parsing alone does without.
pub fn whole() -> clap::Command {
    built(&Cli::command())
}

/// As [`whole`], without the subcommands `help`.
pub fn whole_without_help() -> clap::Command {
    built(&Cli::command().disable_help_subcommand(true))
}

fn built(parsed: &clap::Command) -> clap::Command {
    let mut whole = parsed.clone();
    whole.build();
    // What a subcommand is for stands here, and once it is built, what its options are called.
    for subcommand in parsed.get_subcommands() {
        let about = Resettable::from(subcommand.get_about().cloned());
        let long_about = Resettable::from(subcommand.get_long_about().cloned());
        whole = whole.mut_subcommand(subcommand.get_name(), |it| it.about(about).long_about(long_about));
    }
    whole
}

/// The subcommands. Only the one that is called gets its options built: every launch and every gateway would pay for
/// those of all others.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub enum Command {
    /// Run an agent with your servers, for this one launch
    Launch(Launch),
    /// Show how an agent takes servers, and what a launch would give it; starts nothing
    Describe(Describe),
    /// List the servers with tier, state, route and origin
    List(List),
    /// Show one server: every value with its origin, what it may receive, and how each agent gets it
    Show(Show),
    /// Tell everything that is wrong or will be left out, for each agent; starts nothing
    Check(Check),
    /// Connect to servers as an agent would, and tell which answer, with what, and what it costs
    Probe(Probe),
    /// List the tools of servers, as an agent gets them
    Tools(Tools),
    /// Call one tool of a server
    Call(Call),
    /// Make a squire.toml to begin with
    Init(Init),
    /// Add servers: from a command line, an address, or what a README shows
    Add(Add),
    /// Take over the servers that agents and other tools have, from their own files
    Import(Import),
    /// Take a server out
    Remove(Remove),
    /// Switch a server on that was switched off
    Enable(Switch),
    /// Switch a server off
    Disable(Switch),
    /// Set a field of a server
    Set(Set),
    /// Make, change and show profiles: named selections of servers
    #[command(after_help = "\
Examples:
  squire profile add work github database
  squire profile list
  squire launch claude --profile work")]
    Profile(Profile),
    /// Print servers in the format of an agent or editor that squire does not launch
    Export(Export),
    /// Let a server run that somebody else declared, after showing all of it
    Approve(Approve),
    /// Take approvals back
    Revoke(Revoke),
    /// Say where the values come from that servers need and nobody else gets; no value is ever shown
    #[command(after_help = "\
Examples:
  squire secret set github                        # asks for the value, and does not show it
  pass show github | squire secret set github
  squire secret set github --env GITHUB_TOKEN
  squire secret set github --command -- op read op://work/github/token
  squire secret list
  squire secret check

In a server of yours: env = { GITHUB_TOKEN = \"${secret:github}\" }
What is set is in secrets.toml beside squire.toml.")]
    Secret(Secret),
    /// Tell what agents asked of the servers that they reach through the gateway, call by call
    Log(Log),
    /// Show how far each server of each launch has come
    Status(Status),
    /// Look at the agents that are here, squire's own directories, and what launches left
    Doctor(Doctor),
    /// Clear away what launches left; with --all everything that squire keeps, for uninstalling it
    Clean(Clean),
    /// Stand in a server's place: what agents start
    Gateway(Gateway),
    /// Runs in a gateway's place what it starts, and leaves nothing of it behind
    #[command(hide = true)]
    Warden,
    /// Print what a shell needs to complete command lines of squire
    Completions(Completions),
    /// Print a page of the manual
    Man(Man),
    /// Print the JSON Schema of squire.toml or of secrets.toml, for editors
    Schema(Schema),
    /// The built-in agent: connect to every server of a file and print its tools
    #[command(hide = true)]
    Inspect(Inspect),
}

impl Command {
    /// Whether what dead launches left is settled before it begins: all do but what agents and shells call, and those
    /// that do it themselves.
    pub fn settles(&self) -> bool {
        match self {
            Self::Launch(_)
            | Self::Describe(_)
            | Self::List(_)
            | Self::Show(_)
            | Self::Check(_)
            | Self::Probe(_)
            | Self::Tools(_)
            | Self::Call(_)
            | Self::Init(_)
            | Self::Add(_)
            | Self::Import(_)
            | Self::Remove(_)
            | Self::Enable(_)
            | Self::Disable(_)
            | Self::Set(_)
            | Self::Profile(_)
            | Self::Export(_)
            | Self::Approve(_)
            | Self::Revoke(_)
            | Self::Secret(_)
            | Self::Log(_)
            | Self::Status(_) => true,
            Self::Doctor(_)
            | Self::Clean(_)
            | Self::Gateway(_)
            | Self::Warden
            | Self::Completions(_)
            | Self::Man(_)
            | Self::Schema(_)
            | Self::Inspect(_) => false,
        }
    }

    /// Whether it was asked to say nothing but failures.
    pub fn is_quiet(&self) -> bool {
        matches!(self, Self::Launch(launch) if launch.quiet)
    }
}

/// `squire launch`.
#[expect(clippy::struct_excessive_bools, reason = "each is an option of the command line")]
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  squire launch claude
  squire launch claude --profile work -- -p \"fix the tests\"
  squire launch codex --server github -- exec \"triage the issues\"
  squire launch inspect            # needs no agent: prints every server's tools

squire's own options stand before the first `--`; everything behind it is the agent's.
Without --profile and --server: the profile `default`, else every enabled server.")]
pub struct Launch {
    /// The agent: claude, codex, cursor, opencode, inspect, or one of your own in [agents.NAME]
    #[arg(value_name = "AGENT")]
    pub agent: String,
    /// Select the servers of a profile; several append
    #[arg(long = "profile", value_name = "PROFILE")]
    pub profiles: Vec<String>,
    /// Select one server; several append, behind those of profiles
    #[arg(long = "server", value_name = "SERVER")]
    pub servers: Vec<String>,
    /// Switch the agent's own servers off for this launch
    #[arg(long)]
    pub strict: bool,
    /// Leave the servers of the agent's own project files on, such as those of .mcp.json
    #[arg(long, conflicts_with = "strict")]
    pub agent_servers: bool,
    /// Refuse the launch without this server; `all` means every selected one
    #[arg(long, value_name = "SERVER")]
    pub require: Vec<String>,
    /// Leave servers out whose references can't be resolved, instead of refusing the launch
    #[arg(long)]
    pub allow_missing: bool,
    /// Print what the launch would do, and start nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Print JSON: of --dry-run on stdout, else one line on stderr in the summary's place
    #[arg(long)]
    pub json: bool,
    /// Leave the summary away
    #[arg(long, short)]
    pub quiet: bool,
    /// The agent's own arguments
    #[arg(last = true, value_name = "ARGS")]
    pub arguments: Vec<OsString>,
}

/// `squire describe`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  squire describe                  # every agent, a line each
  squire describe codex
  squire describe claude --profile work --json")]
pub struct Describe {
    /// The agent; all of them, a line each, where none is named
    #[arg(value_name = "AGENT")]
    pub agent: Option<String>,
    /// Select the servers of a profile; several append
    #[arg(long = "profile", value_name = "PROFILE", requires = "agent")]
    pub profiles: Vec<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `squire list`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  squire list
  squire list --profile work
  squire list --json | jq -r '.servers[].name'")]
pub struct List {
    /// List the servers of a profile alone; several append
    #[arg(long = "profile", value_name = "PROFILE")]
    pub profiles: Vec<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `squire show`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  squire show github
  squire show github --json | jq .fields")]
pub struct Show {
    /// The server
    #[arg(value_name = "NAME")]
    pub name: String,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `squire check`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  squire check
  squire check --agent codex
  squire check --sarif > squire.sarif

Exit code 0: neither error nor warning. 1: there is one. 2: the command line is wrong.")]
pub struct Check {
    /// Check for this agent alone, and whether it is installed
    #[arg(long, value_name = "AGENT")]
    pub agent: Option<String>,
    /// Print JSON
    #[arg(long, conflicts_with = "sarif")]
    pub json: bool,
    /// Print SARIF 2.1.0, which editors and CI show beside the lines
    #[arg(long)]
    pub sarif: bool,
}

/// `squire approve`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  squire approve docs
  squire approve docs wiki
  squire approve --digest \"$DIGEST\" docs    # for CI: the server of this digest, and no other

An approval is of one declaration, word for word, in one place: a project's servers are approved for that project. What
changes asks again. A server that stands in the project's .mcp.json or opencode.json alone is approved the same way: a
launch then leaves it on. Exit code 1: a server was not approved.")]
pub struct Approve {
    /// The servers
    #[arg(value_name = "NAME", required = true)]
    pub names: Vec<String>,
    /// Approve without a question, if this is the digest that the question shows
    #[arg(long, value_name = "HEX")]
    pub digest: Option<String>,
}

/// `squire revoke`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  squire revoke docs

Takes back what was approved under the name, for the project here, its agents' own files included, and for your own
layers. What runs goes on running.
Exit code 1: there was nothing to take back.")]
pub struct Revoke {
    /// The servers
    #[arg(value_name = "NAME", required = true)]
    pub names: Vec<String>,
}

/// `squire doctor`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  squire doctor
  squire doctor --json | jq .findings

Runs each agent's program with --version, and nothing else. Exit code 1: something is not as it should be.")]
pub struct Doctor {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `squire clean`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  squire clean
  squire clean --all && cargo uninstall squire

Every command puts back what a launch that was killed left in a project, so there is rarely anything to clean. For a
day after a launch squire remembers the entries that it put into a project's file, as an editor may save an old copy of
it; `clean` forgets them. Exit code 1: something could not be put right, and is named.")]
pub struct Clean {
    /// Remove everything that squire keeps in its state directory; refused while launches run
    #[arg(long)]
    pub all: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `squire gateway`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example, as an agent's config has it:
  squire gateway github --agent claude --config ~/.config/squire --state ~/.local/state/squire

`squire describe AGENT` shows the entries.")]
pub struct Gateway {
    /// The server
    #[arg(value_name = "NAME")]
    pub name: String,
    /// The agent that it is started for
    #[arg(long, value_name = "AGENT")]
    pub agent: String,
    /// The project's real path
    #[arg(long, value_name = "DIR")]
    pub project: Option<PathBuf>,
    /// The directory of the project's squire.toml, where that is not the project's own
    #[arg(long, value_name = "DIR", requires = "project")]
    pub declared_in: Option<PathBuf>,
    /// The profiles of the launch
    #[arg(long = "profile", value_name = "PROFILE")]
    pub profiles: Vec<String>,
    /// The config directory
    #[arg(long, value_name = "DIR")]
    pub config: PathBuf,
    /// The state directory
    #[arg(long, value_name = "DIR")]
    pub state: PathBuf,
    /// Of squire's own client: failures as they are, one start, and the names of tools that are hidden
    #[arg(long, hide = true)]
    pub candid: bool,
    /// Of squire's own client: results of any length, for who writes them to files
    #[arg(long, hide = true)]
    pub whole: bool,
    /// Of `squire add`: its user has agreed to one start of this declaration, which is not approved yet
    #[arg(long, hide = true, value_name = "DIGEST")]
    pub trial: Option<String>,
}

/// `squire completions`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  squire completions bash > ~/.local/share/bash-completion/completions/squire
  squire completions fish > ~/.config/fish/completions/squire.fish
  squire completions zsh > ~/.zfunc/_squire    # where fpath has ~/.zfunc before compinit")]
pub struct Completions {
    /// The shell
    #[arg(value_name = "SHELL")]
    pub shell: Shell,
}

/// `squire man`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  squire man | man -l -
  squire man launch > ~/.local/share/man/man1/squire-launch.1")]
pub struct Man {
    /// The page of this subcommand; without it, that of squire
    #[arg(value_name = "SUBCOMMAND")]
    pub subcommand: Option<String>,
}

/// `squire schema`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  squire schema > ~/.config/squire/squire.schema.json
  squire schema secrets > ~/.config/squire/secrets.schema.json

An editor that is built on taplo, as Even Better TOML is, then completes and checks a squire.toml or a secrets.toml
beside it that begins with one of the lines:
  #:schema ./squire.schema.json
  #:schema ./secrets.schema.json")]
pub struct Schema {
    /// The file that is described
    #[arg(value_name = "FILE", value_enum, default_value_t = SchemaFile::Squire)]
    pub file: SchemaFile,
}

/// A file that has a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SchemaFile {
    /// squire.toml
    Squire,
    /// secrets.toml
    Secrets,
}

/// `squire inspect`, which the launch of the built-in agent runs.
#[derive(Debug, Args)]
pub struct Inspect {
    /// The file that the launch wrote, in Claude's shape
    #[arg(long, value_name = "FILE")]
    pub mcp_config: PathBuf,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}
