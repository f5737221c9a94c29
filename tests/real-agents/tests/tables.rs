//! What each installed agent's `--help` lists.

use squire_real_agents::agents::{self, Agent};
use squire_real_agents::help;
use std::io::{self, Write};

fn print_tables(agent: &Agent, commands: &[&[&str]]) -> io::Result<()> {
    let Some(program) = agent.program() else {
        return io::stderr().write_all(agent.not_installed().as_bytes());
    };
    for words in commands {
        let help = help::parse(&agent.help(&program, words)?);
        assert!(!help.options.is_empty(), "{} {} listed no option", agent.name, words.join(" "));
        write!(io::stdout(), "{} {}\n{help}", agent.name, words.join(" "))?;
    }
    Ok(())
}

#[test]
fn claude() -> io::Result<()> {
    print_tables(&agents::CLAUDE, &[&[]])
}

#[test]
fn codex() -> io::Result<()> {
    print_tables(&agents::CODEX, &[&[], &["exec"], &["resume"], &["fork"], &["review"]])
}
