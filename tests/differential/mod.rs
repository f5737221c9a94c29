//! A launch is its agent (cases B37, B38): every scenario runs with the bare agent, with squire that becomes the agent
//! (codex) and with squire as its parent (claude with a private file, cursor with an entry in the project's), and all
//! that can be told from outside must be equal.

mod job_control;
mod signals;
mod statuses;
mod streams;
mod terminal;

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::support::{Place, Session, Test};

/// One thing that happens to an agent.
struct Scenario {
    name: String,
    place: Place,
    /// What the agent does; a shell script where it begins with `#!`.
    script: String,
    /// Commands before the agent or squire is started.
    behind: &'static str,
    /// What happens to it.
    act: Box<dyn Fn(&mut Session) + Send + Sync>,
    /// Why squire as the parent differs.
    differs: Option<&'static str>,
}

impl Scenario {
    fn new(name: impl Into<String>, place: Place, script: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            place,
            script: script.into(),
            behind: "",
            act: Box::new(|_| ()),
            differs: None,
        }
    }

    fn behind(mut self, commands: &'static str) -> Self {
        self.behind = commands;
        self
    }

    fn act(mut self, act: impl Fn(&mut Session) + Send + Sync + 'static) -> Self {
        self.act = Box::new(act);
        self
    }

    /// The one way to be unequal: with its reason, and only below squire as the parent.
    fn differs(mut self, why: &'static str) -> Self {
        self.differs = Some(why);
        self
    }
}

/// How the agent is started.
#[derive(Clone, Copy, Debug)]
enum Way {
    Bare,
    /// With the agent's name and its program's.
    Exec(&'static str, &'static str),
    Parent(&'static str, &'static str),
}

const WAYS: &[Way] =
    &[Way::Exec("codex", "codex"), Way::Parent("claude", "claude"), Way::Parent("cursor", "cursor-agent")];

/// What was seen of one scenario in one way. A scenario that gets stuck is seen as that.
fn observe(scenario: &Scenario, way: Way) -> Vec<String> {
    let seen = catch_unwind(AssertUnwindSafe(|| {
        let (agent, program) = match way {
            Way::Bare => ("claude", "claude"),
            Way::Exec(agent, program) | Way::Parent(agent, program) => (agent, program),
        };
        let test = Test::new().config("[servers.docs]\nurl = \"https://docs.example.com/mcp\"\n");
        let test = if scenario.script.starts_with("#!") {
            test.script(&format!("bin/{program}"), &scenario.script)
        } else {
            test.agent(program, &scenario.script)
        };
        let test = test.args(["launch", agent, "--quiet", "--server", "docs"]);
        let command = command(&test, program, way, scenario.behind);
        let mut session = Session::start(test, command, scenario.place);
        (scenario.act)(&mut session);
        session.finish()
    }));
    seen.unwrap_or_else(|panic| {
        let message = panic.downcast_ref::<String>().cloned();
        let message = message.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string));
        vec![format!("stuck: {}", message.unwrap_or_default())]
    })
}

fn command(test: &Test, program: &str, way: Way, behind: &str) -> Command {
    let launch = test.command();
    let words: Vec<_> = match way {
        Way::Bare => vec![test.path(&format!("bin/{program}")).into()],
        Way::Exec(..) | Way::Parent(..) => {
            [launch.get_program()].into_iter().chain(launch.get_args()).map(ToOwned::to_owned).collect()
        }
    };
    let mut command = Command::new("/bin/sh");
    command.args(["-c", &format!("{behind}\nexec \"$@\""), "sh"]).args(words).env_clear();
    command.envs(launch.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.current_dir(launch.get_current_dir().unwrap());
    command
}

/// The differences of one scenario, and the reasons that are gone.
fn differences(scenario: &Scenario) -> Vec<String> {
    let bare = observe(scenario, Way::Bare);
    let mut found = Vec::new();
    if bare.iter().any(|fact| fact.starts_with("stuck")) {
        found.push(format!("{}: {bare:#?}", scenario.name));
    }
    for way in WAYS {
        let seen = observe(scenario, *way);
        let may_differ = matches!(way, Way::Parent(..)) && scenario.differs.is_some();
        if !may_differ && seen != bare {
            found.push(format!("{} {way:?}:\nbare {bare:#?}\nseen {seen:#?}", scenario.name));
        }
    }
    found
}

#[test]
#[expect(clippy::print_stdout, reason = "the count is what the suite shows")]
fn b37_b38_a_launch_is_its_agent() {
    // For work on one of them.
    let only = std::env::var("SQUIRE_SCENARIO").unwrap_or_default();
    let scenarios: Vec<Scenario> = [
        statuses::scenarios(),
        signals::scenarios(),
        job_control::scenarios(),
        streams::scenarios(),
        terminal::scenarios(),
    ]
    .into_iter()
    .flatten()
    .filter(|scenario| scenario.name.contains(&only))
    .collect();

    let (next, found) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    // They mostly wait.
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                while let Some(scenario) = scenarios.get(next.fetch_add(1, Ordering::SeqCst)) {
                    found.lock().unwrap().extend(differences(scenario));
                }
            });
        }
    });

    let found = found.into_inner().unwrap();
    let mut known: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for scenario in &scenarios {
        if let Some(why) = scenario.differs {
            known.entry(why).or_default().push(&scenario.name);
        }
    }
    println!(
        "{} scenarios, each with the bare agent and in {} ways through squire: {} differences",
        scenarios.len() - known.values().map(Vec::len).sum::<usize>(),
        WAYS.len(),
        found.len()
    );
    for (why, names) in known {
        println!("{} more are equal by exec alone ({}): {why}", names.len(), names.join(", "));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}
