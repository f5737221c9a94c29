//! `squire approve`: shows what a server is, all of it, and records the user's word.

use std::io::IsTerminal;

use anyhow::{Context, Result, bail, ensure};
use squire_strategies::{Code, LAUNCH_VARIABLE, Tier, Transport};

use super::Surroundings;
use super::list::below_home;
use super::show::receives;
use crate::cli;
use crate::config::{Declaration, working_directory};
use crate::environment::Environment;
use crate::exit::Exit;
use crate::output::Output;
use crate::resolve::{Resolved, UnknownSelection, everything, unknown_name};
use crate::trust::approvals::{self, Approval, Word};
use crate::trust::digest::{canonical, digest};
use crate::trust::log::{self, Said};
use crate::trust::question::Asked;
use crate::trust::{Court, binding::Binding};
use crate::tty::Terminal;

/// Runs the command: 1 where a server was not approved.
pub fn run(options: &cli::Approve, environment: &Environment) -> Result<Exit> {
    refuse_in_launch(environment, "approve a server")?;
    let surroundings = Surroundings::find(environment)?;
    surroundings.refuse_foreign()?;
    let declared = everything(&surroundings.layers, &surroundings.standings, &|transport: &Transport| {
        transport.remote().is_some()
    })?;
    let court = surroundings.court(environment);
    let mut questions = Vec::new();
    for name in &options.names {
        questions.push(Question::of(find(&declared.entries, name)?, court)?);
    }
    if let Some(given) = &options.digest {
        return by_digest(&questions, given, court);
    }
    let terminal = Terminal::open().with_context(
        || "there is no terminal to ask on; where the declaration is known: squire approve --digest HEX NAME",
    )?;
    let refused = ask(terminal, &questions, court, environment)?;
    Ok(if refused == 0 { Exit::DONE } else { Exit::FINDINGS })
}

/// Inside a launch nothing is widened: an agent would approve what it wrote itself. A speed bump, as an agent that runs
/// a shell can do what the user can.
pub(super) fn refuse_in_launch(environment: &Environment, what: &str) -> Result<()> {
    ensure!(
        environment.get(LAUNCH_VARIABLE).is_none(),
        "no agent may {what}: this is inside a launch of squire; do it in a terminal of your own"
    );
    Ok(())
}

fn find<'a>(entries: &'a [Resolved], name: &str) -> Result<&'a Resolved> {
    let mut named = entries.iter().filter(|entry| entry.server.name.as_str() == name);
    let is_taken =
        |entry: &&Resolved| entry.left_out.as_ref().is_some_and(|note| note.code == Code::NameTaken);
    let Some(entry) = named.clone().find(|entry| !is_taken(entry)).or_else(|| named.next()) else {
        let known = entries.iter().map(|entry| entry.server.name.as_str());
        return Err(UnknownSelection(vec![unknown_name("server", name, known)]).into());
    };
    ensure!(!is_taken(&entry), "{name}: a server of yours has this name, and a project can't take it");
    ensure!(entry.server.tier != Tier::Builtin, "{name} is squire itself, and needs no approval");
    Ok(entry)
}

/// What a terminal shows at once, about: more than that may have scrolled away when the question stands there.
const WIDTH: usize = 80;
const SCREEN: usize = 20;

/// A server that waits for the user's word.
pub(super) struct Question<'a> {
    entry: &'a Resolved,
    declaration: &'a Declaration,
    canonical: serde_json::Map<String, serde_json::Value>,
    /// Of the declaration and of the project's files that it is bound to.
    digest: String,
    binding: Binding,
    before: Option<Approval>,
}

impl<'a> Question<'a> {
    /// What there is to say of a server; read once, so that what is shown is what is recorded.
    pub(super) fn of(entry: &'a Resolved, court: Court<'_>) -> Result<Self> {
        let name = entry.server.name.as_str();
        let declaration =
            entry.declaration.as_ref().with_context(|| format!("{name} is declared nowhere"))?;
        let canonical = canonical(declaration);
        let binding =
            court.bind(declaration).with_context(|| format!("{name} can't be approved as it is"))?;
        let (found, _) = approvals::load(court.state, &court.place(declaration));
        let before = found.into_iter().rfind(|approval| approval.name == name);
        let digest = binding.digest_with(&digest(&canonical));
        Ok(Self { entry, declaration, canonical, digest, binding, before })
    }

    fn text(&self, environment: &Environment) -> String {
        let origin = &self.declaration.origin;
        let place = below_home(&origin.to_string(), environment.home().as_deref());
        let is_project = origin.layer.is_project() && self.binding.program.is_some();
        Asked {
            name: self.entry.server.name.as_str(),
            declared: format!("{place} ({})", origin.layer.as_str()),
            declaration: &self.canonical,
            digest: &self.digest,
            binding: &self.binding,
            directory: is_project.then(|| working_directory(self.declaration).display().to_string()),
            receives: receives(self.entry),
            before: self.before.as_ref(),
        }
        .text()
    }

    /// Records the user's yes.
    fn record(&self, court: Court<'_>, word: Word) -> Result<()> {
        let name = self.entry.server.name.as_str();
        let place = court.place(self.declaration);
        let approval = Approval::new(name, place.clone(), self.canonical.clone(), self.binding.clone(), word);
        approval.record(court.state)?;
        log::write(court.state, Said::Approved, name, &place, &self.digest)
    }

    fn refuse(&self, court: Court<'_>) -> Result<()> {
        let place = court.place(self.declaration);
        log::write(court.state, Said::Refused, self.entry.server.name.as_str(), &place, &self.digest)
    }
}

/// Shows all servers on one screen and asks about each. How many were not approved.
pub(super) fn ask(
    mut terminal: Terminal,
    questions: &[Question<'_>],
    court: Court<'_>,
    environment: &Environment,
) -> Result<usize> {
    let screen: Vec<String> = questions.iter().map(|question| question.text(environment)).collect();
    terminal.show(&format!("\n{}\n", screen.join("\n"))).context("the terminal can't be written")?;
    let mut refused = 0;
    for (question, text) in questions.iter().zip(&screen) {
        let lines = text.lines().map(|line| line.chars().count() / WIDTH + 1).sum::<usize>();
        let long = if lines > SCREEN {
            format!(" ({lines} lines, shown above: look at all of them)")
        } else {
            String::new()
        };
        let asked = format!("squire: approve {}{long}?", question.entry.server.name);
        if terminal.ask(&asked).context("the terminal can't be read")? {
            question.record(court, Word::Terminal)?;
        } else {
            question.refuse(court)?;
            refused += 1;
        }
    }
    Ok(refused)
}

fn by_digest(questions: &[Question<'_>], given: &str, court: Court<'_>) -> Result<Exit> {
    let [question] = questions else { bail!("--digest is for one server at a time") };
    let name = &question.entry.server.name;
    ensure!(
        question.digest.eq_ignore_ascii_case(given),
        "{name} was not approved: the digest of it and its files is {}, not {given}",
        question.digest
    );
    question.record(court, Word::Digest)?;
    Output::default().data(&format!("approved {name} {}\n", question.digest))?;
    Ok(Exit::DONE)
}

/// Whether somebody can be asked: a person at a terminal, and no machine that only has one.
pub(super) fn can_ask(environment: &Environment) -> bool {
    let is_machine = environment.get("CI").is_some_and(|value| value != "0" && value != "false");
    !is_machine && std::io::stdin().is_terminal() && Output::default().shows_progress()
}
