//! `squire doctor`: the agents that are here, squire's own directories, what runs and what was left.

mod trust;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::thread;

use anyhow::Result;
use serde_json::{Value, json};
use squire_strategies::{AGENTS, Program};

use super::Surroundings;
use super::list::below_home;
use super::log::size;
use super::waiting::while_waiting;
use crate::cli;
use crate::config::Directories;
use crate::environment::Environment;
use crate::exit::Exit;
use crate::files;
use crate::gateway::audit;
use crate::output::Output;
use crate::printable::printable;
use crate::runner::{self, AgentProgram, Running, Spilled, Surveyed};

/// Everything that the command looked at.
struct Health {
    agents: Vec<Agent>,
    directories: Vec<(&'static str, PathBuf)>,
    running: Vec<Running>,
    files: Vec<Surveyed>,
    approvals: trust::Approvals,
    /// Whole results that are kept.
    spilled: Vec<Spilled>,
    findings: Vec<Finding>,
}

/// An agent and its program, or why there is none.
struct Agent {
    name: String,
    program: Result<PathBuf, String>,
    version: Option<Result<String, String>>,
}

/// Something that is not as it should be.
struct Finding {
    code: &'static str,
    sentence: String,
    help: String,
}

/// Runs the command: 1 where something is not as it should be.
pub fn run(options: &cli::Doctor, environment: &Environment) -> Result<Exit> {
    let output = Output::default();
    let directories = Directories::find(environment)?;
    let health = examine(&directories, environment, output);
    if options.json {
        output.data(&format!("{:#}\n", as_json(&health)))?;
    } else {
        output.data(&as_text(&health, environment.home().as_deref()))?;
    }
    Ok(if health.findings.is_empty() { Exit::DONE } else { Exit::FINDINGS })
}

fn examine(directories: &Directories, environment: &Environment, output: Output) -> Health {
    let mut findings = Vec::new();
    let agents = agents(environment, output, &mut findings);
    let named = [("config", &directories.config), ("state", &directories.state)];
    for (name, directory) in named {
        findings.extend(files::weakness(directory).map(|weakness| Finding {
            code: "directory-open",
            sentence: format!("the {name} directory {}: {weakness}", directory.display()),
            help: format!("chmod 700 {}", directory.display()),
        }));
    }
    if let Some(hindrance) = files::hindrance(&directories.state) {
        findings.push(Finding {
            code: "state-unwritable",
            sentence: format!(
                "nothing can be written into the state directory {}: {hindrance}; no launch stages anything, and no \
                 gateway records tools, keeps results or writes the audit",
                directories.state.display()
            ),
            help: "make room or give yourself the right, or set SQUIRE_STATE_DIR to another place".into(),
        });
    } else {
        findings.extend(runner::state_directories(&directories.state).filter_map(|directory| {
            let hindrance = files::hindrance_of_ours(&directory)?;
            Some(Finding {
                code: "state-unwritable",
                sentence: format!("nothing can be written into {}: {hindrance}", directory.display()),
                help: format!(
                    "make it your own directory (chmod 700), or move it away: mv {0} {0}.old",
                    directory.display()
                ),
            })
        }));
    }
    findings.extend(records(&directories.state));
    // What could be settled is settled first, as by every command; what could not be is found below.
    super::settle(environment, output);
    let files = runner::survey(&directories.state);
    findings.extend(files.iter().filter_map(of_file));
    let approvals = trust::examine(directories, &mut findings);
    let directories = named.map(|(name, directory)| (name, directory.clone())).to_vec();
    let running = runner::running(&directories[1].1);
    let spilled = runner::spilled(&directories[1].1);
    Health { agents, directories, running, files, approvals, spilled, findings }
}

/// What is kept and can't be read, or added to.
fn records(state: &Path) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, reason) in audit::hindrances(state) {
        findings.push(Finding {
            code: "audit-unusable",
            sentence: format!("{}: {reason}; the audit lacks what it is for", path.display()),
            help: format!("look at it, then move it away: mv {0} {0}.old", path.display()),
        });
    }
    for sentence in runner::remembered(state).1 {
        let help = "squire status can't tell of it; look at it, then remove it".into();
        findings.push(Finding { code: "launch-unreadable", sentence, help });
    }
    findings
}

fn of_file(surveyed: &Surveyed) -> Option<Finding> {
    let finding = |code, sentence, help| Some(Finding { code, sentence, help });
    match surveyed {
        Surveyed::Running { .. } | Surveyed::Remembered { .. } => None,
        Surveyed::Unsettled { file, journal } => finding(
            "unsettled",
            format!("{}: a launch that was killed may have left entries in it", file.display()),
            format!("put the file right, then: squire clean; {} knows what it was before", journal.display()),
        ),
        Surveyed::Unreadable { reason, .. } => finding(
            "journal-unreadable",
            reason.clone(),
            "look for entries of squire in the project's .cursor/mcp.json; the next launch there lays it aside".into(),
        ),
        Surveyed::Kept(path) => finding(
            "kept",
            format!("{} was kept, as it could not be put where it belongs", path.display()),
            format!("look at it, then: rm {}", path.display()),
        ),
    }
}

/// The agents that squire knows, asked for their versions side by side, and the user's own, which are not run.
fn agents(environment: &Environment, output: Output, findings: &mut Vec<Finding>) -> Vec<Agent> {
    let surroundings = Surroundings::find(environment);
    let project = surroundings.as_ref().ok().and_then(Surroundings::project_root);
    let squire = environment.squire().map(PathBuf::from).unwrap_or_default();
    let mut agents = Vec::new();
    for strategy in AGENTS.iter().filter(|strategy| matches!(strategy.program(), Program::Named(_))) {
        let found = AgentProgram::find(strategy.program(), &squire, project, environment);
        let program = found.map(|program| program.path).map_err(|reason| reason.to_string());
        agents.push(Agent { name: strategy.name().into(), program, version: None });
    }
    let ask = |agent: &mut Agent| {
        agent.version = agent.program.as_ref().ok().map(|program| runner::version(program));
    };
    while_waiting("asking the agents for their versions", environment, output, || {
        thread::scope(|scope| agents.iter_mut().for_each(|agent| drop(scope.spawn(move || ask(agent)))));
    });
    match &surroundings {
        Ok(surroundings) => {
            let own = surroundings.agents().unwrap_or_default();
            for agent in own.iter().filter(|agent| agent.program.is_some()) {
                let found = surroundings.program(agent, &squire, environment);
                let program = found.map(|program| program.path).map_err(|reason| reason.to_string());
                if let Err(reason) = &program {
                    findings.push(Finding {
                        code: "program",
                        sentence: format!("agent {}: {reason}", agent.name),
                        help: format!("install it, or change [agents.{}] program", agent.name),
                    });
                }
                agents.retain(|known| known.name != agent.name);
                agents.push(Agent { name: agent.name.clone(), program, version: None });
            }
        }
        Err(error) => findings.push(Finding {
            code: "configuration",
            sentence: format!("{error:#}"),
            help: "squire check".into(),
        }),
    }
    agents
}

fn as_text(health: &Health, home: Option<&Path>) -> String {
    let shown = |path: &Path| printable(&below_home(&path.display().to_string(), home));
    let mut rows = Vec::new();
    for agent in &health.agents {
        let (version, place) = match (&agent.program, &agent.version) {
            (Err(_), _) => ("-".into(), "not found".into()),
            (Ok(program), None) => (String::new(), shown(program)),
            (Ok(program), Some(Ok(version))) => (printable(version), shown(program)),
            (Ok(program), Some(Err(reason))) => {
                ("?".into(), format!("{} ({})", shown(program), printable(reason)))
            }
        };
        rows.push(("agent", agent.name.clone(), version, place));
    }
    for (name, directory) in &health.directories {
        let there = if files::exists(directory) { "" } else { " (not made yet)" };
        rows.push(("directory", (*name).into(), String::new(), format!("{}{there}", shown(directory))));
    }
    if health.approvals.count > 0 {
        rows.push(("approvals", String::new(), String::new(), health.approvals.text()));
    }
    if !health.spilled.is_empty() {
        let kept = format!("{}, {}", health.spilled.len(), size(length(&health.spilled)));
        rows.push(("results", "kept".into(), String::new(), kept));
    }
    for launch in &health.running {
        rows.push((
            "launch",
            launch.agent.clone(),
            String::new(),
            format!("runs as process {}", launch.process),
        ));
    }
    for surveyed in &health.files {
        match surveyed {
            Surveyed::Running { file, .. } => {
                rows.push(("file", "in use".into(), String::new(), shown(file)));
            }
            Surveyed::Remembered { file } => {
                rows.push(("file", "put back".into(), String::new(), shown(file)));
            }
            Surveyed::Unsettled { .. } | Surveyed::Unreadable { .. } | Surveyed::Kept(_) => {}
        }
    }
    let width =
        |of: fn(&(&str, String, String, String)) -> usize| rows.iter().map(of).max().unwrap_or_default();
    let (kinds, names, versions) =
        (width(|row| row.0.len()), width(|row| row.1.chars().count()), width(|row| row.2.chars().count()));
    let mut text = String::new();
    for (kind, name, version, place) in &rows {
        // Writing to a string can't fail.
        let _ = writeln!(text, "{kind:kinds$}  {name:names$}  {version:versions$}  {place}");
    }
    for finding in &health.findings {
        for (index, line) in finding.sentence.lines().enumerate() {
            let lead = if index == 0 { "error: " } else { "" };
            let _ = writeln!(text, "{lead}{}", printable(line));
        }
        let _ = writeln!(text, "  help: {}", printable(&finding.help));
    }
    let count = health.findings.len();
    let _ = writeln!(text, "{count} {}", if count == 1 { "finding" } else { "findings" });
    text
}

fn length(spilled: &[Spilled]) -> u64 {
    spilled.iter().map(|spilled| spilled.length).sum()
}

fn as_json(health: &Health) -> Value {
    let agent = |agent: &Agent| {
        let version = agent.version.as_ref();
        json!({
            "name": agent.name,
            "program": agent.program.as_ref().ok(),
            "version": version.and_then(|version| version.as_ref().ok()),
            "reason": agent.program.as_ref().err().or(version.and_then(|version| version.as_ref().err())),
        })
    };
    let file = |surveyed: &Surveyed| match surveyed {
        Surveyed::Running { file, processes } => {
            json!({ "file": file, "state": "in-use", "processes": processes })
        }
        Surveyed::Unsettled { file, journal } => {
            json!({ "file": file, "state": "unsettled", "journal": journal })
        }
        Surveyed::Remembered { file } => json!({ "file": file, "state": "put-back" }),
        Surveyed::Unreadable { journal, .. } => json!({ "file": journal, "state": "unreadable" }),
        Surveyed::Kept(path) => json!({ "file": path, "state": "kept" }),
    };
    let directory =
        |(name, path): &(&str, PathBuf)| json!({ "name": name, "path": path, "exists": files::exists(path) });
    let launch =
        |launch: &Running| json!({ "id": launch.id, "agent": launch.agent, "process": launch.process });
    let finding = |finding: &Finding| json!({ "code": finding.code, "sentence": finding.sentence, "help": finding.help });
    json!({
        "agents": health.agents.iter().map(agent).collect::<Vec<_>>(),
        "directories": health.directories.iter().map(directory).collect::<Vec<_>>(),
        "launches": health.running.iter().map(launch).collect::<Vec<_>>(),
        "files": health.files.iter().map(file).collect::<Vec<_>>(),
        "approvals": health.approvals.json(),
        "spilled": { "count": health.spilled.len(), "bytes": length(&health.spilled) },
        "findings": health.findings.iter().map(finding).collect::<Vec<_>>(),
    })
}
