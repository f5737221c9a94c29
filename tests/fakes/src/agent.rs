//! The agent: logs what it was given, then does what the test scripted.

mod given_files;
mod record;
mod script;
mod steps;
mod terminal;

use std::env;
use std::ops::ControlFlow;
use std::process::ExitCode;

use record::Record;
use steps::Performer;

/// The exit status of a script that is wrong, or that could not be followed.
const BAD_SCRIPT: u8 = 99;

/// Logs this start to the file that `FAKE_AGENT_LOG` names and follows the script in `FAKE_AGENT`.
pub fn run() -> ExitCode {
    follow()
        .unwrap_or_else(|message| {
            eprintln!("fake-agent: {message}");
            BAD_SCRIPT
        })
        .into()
}

fn follow() -> Result<u8, String> {
    let mut arguments = env::args_os();
    let program = arguments.next().unwrap_or_default();
    let record = Record::new(&program, &arguments.collect::<Vec<_>>());
    record.save().map_err(|error| format!("the log: {error}"))?;

    let script = env::var_os("FAKE_AGENT").unwrap_or_default();
    let mut performer = Performer::new(record);
    for step in script::parse(&script.to_string_lossy())? {
        match performer.perform(&step) {
            Ok(ControlFlow::Continue(())) => {}
            Ok(ControlFlow::Break(code)) => return Ok(code),
            Err(error) => return Err(format!("{step:?}: {error}")),
        }
    }
    Ok(0)
}
