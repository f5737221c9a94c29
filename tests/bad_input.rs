//! What is wrong with the user's words and file is told with its place, and then nothing happens: no agent is started,
//! and nothing is written.

mod declarations;
mod surroundings;
mod text;

use crate::support::Test;

const FILE: &str = "<T>/home/.config/squire/squire.toml";

/// The commands that read the user's file, with the status of their own failure.
const COMMANDS: &[(&[&str], i32)] = &[
    (&["list"], 1),
    (&["describe", "claude"], 1),
    (&["describe", "codex", "--json"], 1),
    (&["launch", "claude", "--", "-p", "x"], 125),
    (&["launch", "codex", "--dry-run"], 125),
    (&["launch", "cursor", "--quiet"], 125),
    (&["launch", "opencode"], 125),
    (&["launch", "inspect"], 125),
];

fn with_agents(mut test: Test) -> Test {
    for name in ["claude", "codex", "cursor-agent", "opencode"] {
        test = test.agent(name, "");
    }
    test
}

/// Every command refuses what `prepare` sets up, and says just this; `<F>` is the user's file.
#[track_caller]
fn refused_everywhere(prepare: impl Fn(Test) -> Test, message: &str) {
    for (arguments, code) in COMMANDS {
        let run = with_agents(prepare(Test::new()))
            .args(arguments.iter().copied())
            .stderr(format!("squire: {}\n", message.replace("<F>", FILE)))
            .unchanged()
            .code(*code);
        assert!(!run.agent_was_started());
    }
}

#[track_caller]
fn refused(config: impl AsRef<[u8]>, message: &str) {
    refused_everywhere(|test| test.write("home/.config/squire/squire.toml", &config), message);
}
