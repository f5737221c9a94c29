//! The placement tables against what each installed agent's `--help` lists.
//!
//! The help must be a subset of the table: agents accept options that their help leaves out, and the table has those
//! that people use.

use std::io::{self, Write};

use squire_real_agents::agents::{self, Agent};
use squire_real_agents::help::{self, Arity as Listed};
use squire_strategies::{Arity, Strategy, find};

/// Compares one agent; `commands` are the subcommands that run a session, the root first.
fn compare(agent: &Agent, commands: &[&[&str]], known: &[(&str, &str)]) -> io::Result<()> {
    let Some(program) = agent.program() else {
        return io::stderr().write_all(agent.not_installed().as_bytes());
    };
    let Some(placement) = find(agent.name).and_then(Strategy::placement) else {
        return Err(io::Error::other(format!("{} has no placement table", agent.name)));
    };
    let mut wrong = Vec::new();
    for words in commands {
        let help = help::parse(&agent.help(&program, words)?);
        assert!(!help.options.is_empty(), "{} {} listed no option", agent.name, words.join(" "));
        for option in &help.options {
            for name in &option.names {
                let command = words.join(" ");
                let informational = placement.informational.contains(&name.as_str());
                let row = placement.options.iter().find(|(row, _)| row == name).map(|(_, arity)| *arity);
                if !informational
                    && row != Some(arity(option.arity))
                    && !known.contains(&(command.as_str(), name))
                {
                    wrong.push(format!("{command} {name}: help says {:?}, the table {row:?}", option.arity));
                }
            }
        }
        if words.is_empty() {
            for name in help.subcommands.iter().flatten() {
                let tables = [placement.sessions, placement.others];
                if !tables.iter().any(|table| table.contains(&name.as_str())) {
                    wrong.push(format!("the subcommand {name} is in neither table"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}:\n{}", agent.name, wrong.join("\n"));
    Ok(())
}

fn arity(listed: Listed) -> Arity {
    match listed {
        Listed::Flag => Arity::Flag,
        Listed::One => Arity::One,
        Listed::Optional => Arity::Optional,
        Listed::Many => Arity::Many,
    }
}

#[test]
fn claude() -> io::Result<()> {
    compare(&agents::CLAUDE, &[&[]], &[])
}

#[test]
fn codex() -> io::Result<()> {
    let sessions: &[&[&str]] = &[
        &[],
        &["exec"],
        &["exec", "resume"],
        &["exec", "fork"],
        &["exec", "review"],
        &["resume"],
        &["fork"],
        &["review"],
    ];
    // An image takes one value below `exec`, and many elsewhere; many is the careful reading.
    let known =
        [("exec resume", "-i"), ("exec resume", "--image"), ("exec fork", "-i"), ("exec fork", "--image")];
    compare(&agents::CODEX, sessions, &known)
}
