//! squire keeps one list of MCP servers and equips any coding agent with it for one launch.
//!
//! Data flows one way. [`config`] reads the layers of declarations. [`resolve`], pure, makes resolved servers and
//! notes of them, once. A strategy (crate `squire-strategies`, pure) turns servers into artifacts for one agent;
//! [`plan`] joins them with the user's words, and [`report`] shows a plan as `--dry-run` does; [`findings`] gathers what
//! is wrong. [`runner`] alone acts:
//! it stages, runs the agent and puts everything back. Agents start [`gateway`] in a server's place, which reads the
//! same layers, fetches the values of the [`secrets`] that its one server needs, and stays between the two: the crate
//! `squire-relay`, pure, says what becomes of each message. Whatever else handles secrets sees names and sources. [`files`] alone writes to disk, [`output`] alone prints, and `main` alone ends the process.

pub mod arguments;
pub mod cli;
pub mod commands;
pub mod config;
mod declared;
mod delivery;
pub mod environment;
pub mod exit;
pub mod files;
pub mod findings;
pub mod gateway;
mod masks;
pub mod mcp;
pub mod output;
pub mod plan;
mod printable;
pub mod report;
pub mod resolve;
pub mod runner;
pub mod secrets;
mod signals;
mod tokens;
pub mod trust;
pub mod tty;

use std::ffi::OsString;

use clap::Parser;
use clap::error::ErrorKind;

use cli::{Cli, Command};
use environment::Environment;
use exit::Exit;
use output::Output;

/// Runs one command line and says how the process ends.
pub fn run(arguments: Vec<OsString>) -> Exit {
    let invoked_as = arguments.first().cloned().unwrap_or_default();
    let is_launch = arguments.get(1).is_some_and(|word| word == "launch");
    let command = match parse(arguments) {
        Ok(command) => command,
        Err(error) => {
            // Help and version go to stdout, as they were asked for; where nobody reads there is nobody to tell.
            let _ = error.print();
            return match error.kind() {
                ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => Exit::DONE,
                _ if is_launch => Exit::LAUNCH,
                _ => Exit::USAGE,
            };
        }
    };
    let environment = Environment::of_this_process(invoked_as);
    if command.settles() {
        commands::settle(&environment, Output { quiet: command.is_quiet() });
    }
    match command {
        Command::Launch(launch) => commands::launch::run(&launch, &environment),
        Command::Describe(describe) => commands::describe::run(&describe, &environment),
        Command::List(list) => commands::list::run(&list, &environment),
        Command::Show(show) => commands::show::run(&show, &environment),
        Command::Check(check) => commands::check::run(&check, &environment),
        Command::Probe(probe) => commands::probe::run(&probe, &environment),
        Command::Tools(tools) => commands::tools::run(&tools, &environment),
        Command::Call(call) => commands::call::run(&call, &environment),
        Command::Init(init) => commands::edit::init::run(&init, &environment),
        Command::Add(add) => commands::edit::add::run(&add, &environment),
        Command::Import(import) => commands::edit::import::run(&import, &environment),
        Command::Remove(remove) => commands::edit::remove::run(&remove, &environment),
        Command::Enable(switch) => commands::edit::switch::enable(&switch, &environment),
        Command::Disable(switch) => commands::edit::switch::disable(&switch, &environment),
        Command::Set(set) => commands::edit::set::run(&set, &environment),
        Command::Profile(profile) => commands::edit::profile::run(&profile, &environment),
        Command::Export(export) => commands::export::run(&export, &environment),
        Command::Approve(approve) => commands::approve::run(&approve, &environment),
        Command::Revoke(revoke) => commands::revoke::run(&revoke, &environment),
        Command::Secret(secret) => commands::secret::run(&secret, &environment),
        Command::Log(log) => commands::log::run(&log, &environment),
        Command::Status(status) => commands::status::run(&status, &environment),
        Command::Doctor(doctor) => commands::doctor::run(&doctor, &environment),
        Command::Clean(clean) => commands::clean::run(&clean, &environment),
        Command::Gateway(gateway) => gateway::run(&gateway, &environment),
        Command::Warden => gateway::run_warden(),
        Command::Completions(completions) => commands::completions::run(&completions),
        Command::Man(man) => commands::man::run(&man),
        Command::Schema(schema) => commands::schema::run(&schema),
        Command::Inspect(inspect) => commands::inspect::run(&inspect, &environment),
    }
    .unwrap_or_else(|failure| {
        Output::default().message(&format!("{failure:#}"));
        exit_of(&failure, is_launch)
    })
}

/// The subcommand of a command line, or what is to be printed instead.
fn parse(arguments: Vec<OsString>) -> Result<Command, clap::Error> {
    // A server waits for its warden, and nobody writes this by hand.
    if let [_, word] = arguments.as_slice()
        && word == "warden"
    {
        return Ok(Command::Warden);
    }
    if let Some(gateway) = arguments.get(1..).and_then(cli::gateway) {
        return Ok(Command::Gateway(gateway));
    }
    Cli::try_parse_from(&arguments)
        .map(|cli| cli.command)
        .map_err(|error| cli::whole().try_get_matches_from(arguments).err().unwrap_or(error))
}

fn exit_of(failure: &anyhow::Error, is_launch: bool) -> Exit {
    if is_launch {
        let not_runnable = failure.downcast_ref::<runner::NotRunnable>();
        return not_runnable.map_or(Exit::LAUNCH, runner::NotRunnable::exit);
    }
    let is_usage = failure.is::<resolve::UnknownSelection>()
        || failure.is::<commands::man::UnknownSubcommand>()
        || failure.is::<commands::WrongWords>();
    if is_usage { Exit::USAGE } else { Exit::FINDINGS }
}
