//! The only code that does I/O for a launch: stages a plan, runs the agent, puts everything back.
//!
//! Where nothing has to be put back squire becomes the agent (exec): signals, job control, terminal and exit status
//! are right by construction. Otherwise it stays as the parent, in [`child`].

mod child;
mod contents;
mod history;
mod leftovers;
mod limits;
mod merge;
mod owner;
mod program;
mod record;
mod spilled;
mod stage;
mod stops;
mod terminal;
mod version;

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, anyhow};
use rustix::io::Errno;
use squire_strategies::{Argument, LAUNCH_VARIABLE, Program, Route, json_edit};

pub use contents::{elsewhere, fetch, fetch_elsewhere};
pub(crate) use history::{Remembered, find as find_launch, remembered, report};
pub use leftovers::{remove_state, settle, state_directories};
pub use merge::{Journal, Surveyed, as_the_user_has_it, forget, survey};
pub use program::{Boundaries, NotRunnable, first_on, look_up};
pub(crate) use record::is_id;
pub use record::{Digests, Running, live_record, read as read_record, running};
pub(crate) use spilled::spill;
pub use spilled::{Spilled, spilled};
pub use version::version;

use crate::config::Directories;
use crate::delivery::{Chain, Step};
use crate::environment::Environment;
use crate::exit::Exit;
use crate::files;
use crate::output::Output;
use crate::plan::Plan;
use child::Watch;
use limits::{Purpose, Sized};
use stage::Staged;
use stops::Agent;

/// The agent's program and its first words.
#[derive(Clone, Debug)]
pub struct AgentProgram {
    /// The program, absolute.
    pub path: PathBuf,
    /// What it is called as.
    pub name: OsString,
    /// Words before all others.
    pub words: Vec<OsString>,
}

impl AgentProgram {
    /// Finds what runs as the agent.
    pub fn find(
        program: Program,
        squire: &Path,
        project: Option<&Path>,
        environment: &Environment,
    ) -> Result<Self, NotRunnable> {
        match program {
            Program::Squire(word) => {
                Ok(Self { path: squire.into(), name: "squire".into(), words: vec![word.into()] })
            }
            Program::Named(name) => {
                let boundaries = Boundaries { project, squire: Some(squire) };
                let path = look_up(name.as_ref(), environment.get("PATH"), boundaries)?;
                Ok(Self { path, name: name.into(), words: Vec::new() })
            }
        }
    }

    /// Finds the user's own program for an agent: a name to look up or a path, `~/` being the home directory. Its
    /// first arguments are among the words of the plan.
    pub fn custom(
        words: &[String],
        squire: &Path,
        project: Option<&Path>,
        environment: &Environment,
    ) -> Result<Self, NotRunnable> {
        let name = words.first().map(String::as_str).unwrap_or_default();
        let path = match (name.strip_prefix("~/"), environment.home()) {
            (Some(below_home), Some(home)) => at(home.join(below_home))?,
            _ if name.contains('/') => at(PathBuf::from(name))?,
            _ => {
                look_up(name.as_ref(), environment.get("PATH"), Boundaries { project, squire: Some(squire) })?
            }
        };
        Ok(Self { path, name: name.into(), words: Vec::new() })
    }
}

/// The program at a path of the user's.
fn at(path: PathBuf) -> Result<PathBuf, NotRunnable> {
    if files::exists(&path) { Ok(path) } else { Err(NotRunnable::Missing(path)) }
}

/// What a launch runs in.
#[derive(Clone, Copy)]
pub struct Surroundings<'a> {
    /// The process's environment.
    pub environment: &'a Environment,
    /// squire's own directories.
    pub directories: &'a Directories,
    /// The project's real path.
    pub project: Option<&'a Path>,
    /// What the servers' declarations are, word for word.
    pub digests: &'a Digests,
    /// The servers that the launch must have.
    pub required: &'a [String],
    /// The profiles whose filters hold in it.
    pub profiles: &'a [String],
}

/// Stages a plan, runs the agent and puts back what was staged. `announce` is called right
/// before the agent starts.
///
/// An error means that the agent was not started, and that nothing is left of the launch.
pub fn run(
    plan: &Plan,
    program: &AgentProgram,
    surroundings: Surroundings<'_>,
    output: Output,
    announce: impl FnOnce(),
) -> Result<Exit> {
    // From before the first file on, so that a signal at any moment leaves nothing.
    let stays = plan.leaves_files() || !surroundings.required.is_empty();
    let mut watch = stays.then(Watch::begin).transpose()?;
    let mut staged = Staged::new(plan, surroundings, output)?;
    let outcome = start(plan, program, surroundings, &staged, announce, &mut watch, output);
    let lacking = match &outcome {
        Ok(exit) if *exit == Exit::DONE => lacking(surroundings, &staged),
        _ => Vec::new(),
    };
    staged.undo(outcome.is_ok(), output);
    for Chain { name, gap, .. } in &lacking {
        let reason = gap.as_ref().map_or("it was not initialized", |gap| &gap.reason);
        output.message(&format!("{name} is required, and the agent never had it: {reason}"));
    }
    if lacking.is_empty() { outcome } else { Ok(Exit::LAUNCH) }
}

/// The required servers that never answered the agent's first words. Of those that it reaches directly nobody knows.
fn lacking(surroundings: Surroundings<'_>, staged: &Staged) -> Vec<Chain> {
    let Some(id) = staged.launch_id().filter(|_| !surroundings.required.is_empty()) else {
        return Vec::new();
    };
    let launch = find_launch(&surroundings.directories.state, id);
    let servers = launch.into_iter().flat_map(|launch| launch.servers);
    let is_lacking = |chain: &Chain| {
        surroundings.required.contains(&chain.name)
            && chain.route != Route::Direct.as_str()
            && chain.reached() < Step::Initialized
    };
    servers.filter(is_lacking).collect()
}

fn start(
    plan: &Plan,
    program: &AgentProgram,
    surroundings: Surroundings<'_>,
    staged: &Staged,
    announce: impl FnOnce(),
    watch: &mut Option<Watch>,
    output: Output,
) -> Result<Exit> {
    let mut command = prepare(plan, program, surroundings.environment, staged)?;
    match staged.launch_id() {
        Some(id) => command.env(LAUNCH_VARIABLE, id),
        None => command.env_remove(LAUNCH_VARIABLE),
    };
    if let Some(signal) = watch.as_mut().and_then(Watch::interruption) {
        return Ok(Exit::Signal(signal));
    }
    announce();
    let ended = match watch.take() {
        Some(watch) => {
            let (name, environment) = (&program.name, surroundings.environment);
            watch.run(&Agent { command: &command, name, environment }, output)?
        }
        None => Err(command.exec()),
    };
    ended.map_err(|error| not_started(program, &error))
}

fn not_started(program: &AgentProgram, error: &std::io::Error) -> anyhow::Error {
    let path = program.path.display();
    let is_refused =
        matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::PermissionDenied)
            || error.raw_os_error() == Some(Errno::NOEXEC.raw_os_error());
    if is_refused {
        NotRunnable::Refused(program.path.clone(), error.to_string()).into()
    } else {
        anyhow!("{path} could not be started: {error}")
    }
}

fn words(words: &[OsString]) -> impl Iterator<Item = Sized<'_>> {
    words.iter().map(|text| Sized { text, purpose: Purpose::Word })
}

/// An argument of ours with the path of its file.
struct Spelled<'a> {
    text: OsString,
    argument: &'a Argument,
}

impl Spelled<'_> {
    fn sized(&self) -> Sized<'_> {
        Sized { text: &self.text, purpose: Purpose::Ours(self.argument) }
    }
}

fn spell<'a>(argument: &'a Argument, staged: &Staged) -> Result<Spelled<'a>> {
    let mut text = OsString::from(&argument.text);
    if let Some(file) = argument.file {
        text.push(staged.path_of(file).with_context(|| format!("no file {file} was staged"))?);
    }
    Ok(Spelled { text, argument })
}

fn prepare(
    plan: &Plan,
    program: &AgentProgram,
    environment: &Environment,
    staged: &Staged,
) -> Result<Command> {
    let spelled = |argument| spell(argument, staged);
    let leading = plan.artifacts.leading.iter().map(spelled).collect::<Result<Vec<_>>>()?;
    let arguments = plan.artifacts.arguments.iter().map(spelled).collect::<Result<Vec<_>>>()?;
    let (before, after) = plan.words.split_at(plan.place);
    let (first, before) = before.split_at(plan.first.min(plan.place));

    let mut strings: Vec<Sized<'_>> = words(&program.words).chain(words(first)).collect();
    strings.extend(leading.iter().map(Spelled::sized));
    strings.extend(words(before));
    strings.extend(arguments.iter().map(Spelled::sized));
    strings.extend(words(after));
    let mut command = Command::new(&program.path);
    command.arg0(&program.name).args(strings.iter().map(|sized| sized.text));
    for (name, value) in &plan.artifacts.environment {
        command.env(name, value);
        strings.push(Sized { text: value.as_ref(), purpose: Purpose::OurVariable(name) });
    }
    for (name, value) in environment.variables() {
        strings.push(Sized { text: value, purpose: Purpose::Variable(name) });
        strings.push(Sized { text: name, purpose: Purpose::VariableName });
    }
    limits::check(&strings)?;
    Ok(command)
}
