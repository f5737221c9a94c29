//! The MCP server: one way of answering, three transports, and the modes in which it misbehaves.

mod answer;
mod event_log;
mod http;
mod http_messages;
mod left_behind;
mod listening;
mod mode;
mod modern;
mod options;
mod puppet;
mod service;
mod sse;
mod stdio;

use std::env;
use std::ffi::OsString;
use std::io;
use std::process::ExitCode;

use event_log::EventLog;
use mode::Mode;
use options::{Kind, Options};
use service::Service;

/// The exit status of a command line that is wrong.
const USAGE: u8 = 2;
/// The exit status of a server that was asked to die.
const DEATH: u8 = 3;
/// The exit status of a server that could not do its work.
const BROKEN: u8 = 1;

/// Serves as the command line says, until stdin ends or a signal comes.
pub fn run() -> ExitCode {
    let arguments: Vec<OsString> = env::args_os().skip(1).collect();
    let code = match Options::parse(&arguments) {
        Ok(options) => {
            serve(options, &arguments).unwrap_or_else(|error| complain(BROKEN, &error.to_string()))
        }
        Err(message) => complain(USAGE, &message),
    };
    code.into()
}

fn serve(options: Options, arguments: &[OsString]) -> io::Result<u8> {
    if let Mode::LeftBehind(pid_file) = &options.mode {
        return left_behind::live(pid_file);
    }
    if let Mode::Apart(pid_file) = &options.mode {
        return left_behind::live_apart(pid_file);
    }
    let log = EventLog::open(options.log.as_deref())?;
    log.start(options.kind.name(), arguments)?;
    if options.mode == Mode::Die {
        return Ok(complain(DEATH, "dying at once, as asked"));
    }
    if let Mode::Grandchild(pid_file) = &options.mode {
        left_behind::spawn("left-behind", pid_file)?;
    }
    if let Mode::Survivor(pid_file) = &options.mode {
        left_behind::spawn("apart", pid_file)?;
    }
    let service = Service::new(options.mode, options.tools, options.instructions, options.definitions, log);
    match options.kind {
        Kind::Stdio if matches!(service.mode, Mode::Puppet | Mode::Survivor(_)) => puppet::serve(&service),
        Kind::Stdio => stdio::serve(&service),
        Kind::Http { port_file } => http::serve(service, &port_file),
        Kind::Sse { port_file } => sse::serve(service, &port_file),
    }
}

fn complain(code: u8, message: &str) -> u8 {
    eprintln!("fake-server: {message}");
    code
}
