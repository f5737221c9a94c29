//! `squire man`: the manual, a page a subcommand.

use std::fmt;

use anyhow::{Context, Result};
use clap::builder::Resettable;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};

use crate::cli::{self, whole};
use crate::config::nearest;
use crate::exit::Exit;
use crate::output::Output;

/// Names a subcommand that is not there; the sentence says which are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownSubcommand(String);

impl fmt::Display for UnknownSubcommand {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for UnknownSubcommand {}

/// Runs the command.
pub fn run(options: &cli::Man) -> Result<Exit> {
    // Built, each subcommand knows its full name.
    let squire = whole();
    let command = match &options.subcommand {
        None => squire,
        Some(name) => find(&squire, name)?.clone(),
    };
    Output::default().data(&page(command)?)?;
    Ok(Exit::DONE)
}

/// The subcommand of a name: `secret-set` is the one `set` of `secret`, as its page is called.
fn find<'a>(squire: &'a clap::Command, name: &str) -> Result<&'a clap::Command, UnknownSubcommand> {
    let nested = |(first, rest)| visible(visible(squire).find(is(first))?).find(is(rest));
    let found = visible(squire).find(is(name)).or_else(|| name.split_once('-').and_then(nested));
    found.ok_or_else(|| {
        let known: Vec<&str> = visible(squire).map(clap::Command::get_name).collect();
        let help = match nearest(name, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("there are: {}", known.join(", ")),
        };
        UnknownSubcommand(format!("there is no subcommand {name:?}; {help}"))
    })
}

fn visible(command: &clap::Command) -> impl Iterator<Item = &clap::Command> {
    command
        .get_subcommands()
        .filter(|subcommand| !subcommand.is_hide_set() && subcommand.get_name() != "help")
}

fn is(name: &str) -> impl Fn(&&clap::Command) -> bool {
    move |command| command.get_name() == name
}

fn page(command: clap::Command) -> Result<String> {
    let examples = command.get_after_help().map(|help| examples(&help.to_string()));
    // The generator would set the examples as one running text.
    let man = Man::new(command.after_help(Resettable::Reset))
        // An argument must stand in the date's place, or the next would take it. A page without a date is always the same.
        .date("\"\"")
        .source(concat!("squire ", env!("CARGO_PKG_VERSION")))
        .manual("squire manual");
    let mut page = Vec::new();
    man.render(&mut page)?;
    let page = String::from_utf8(page).context("the manual page is not UTF-8")?;
    Ok(as_typed(&(page + &examples.unwrap_or_default())))
}

/// A section of the text behind the options: indented lines stay lines, everything else is running text.
fn examples(help: &str) -> String {
    let mut section = Roff::new();
    section.control("SH", ["EXAMPLES"]);
    let mut preformatted = false;
    for line in help.lines().filter(|line| !matches!(*line, "Example:" | "Examples:")) {
        let indented = line.starts_with(' ');
        if indented != preformatted {
            section.control(if indented { "EX" } else { "EE" }, []);
            preformatted = indented;
        }
        if line.is_empty() {
            section.control("PP", []);
        } else {
            section.text([roman(line)]);
        }
    }
    if preformatted {
        section.control("EE", []);
    }
    // The preamble stands at the head of the page already.
    let rendered = section.render();
    rendered[rendered.find(".SH").unwrap_or_default()..].to_owned()
}

/// Characters that a formatter would make typographic, and that a reader copies to a shell.
fn as_typed(page: &str) -> String {
    page.replace('`', "\\(ga").replace('~', "\\(ti").replace('^', "\\(ha")
}
