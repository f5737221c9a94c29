//! `squire approve`: shows what a server is, all of it, and records the user's word.

use std::io::IsTerminal;

use anyhow::{Context, Result, bail, ensure};
use squire_strategies::{AGENTS, Code, LAUNCH_VARIABLE, RepositoryServer, Tier, Transport};

use super::Surroundings;
use super::list::below_home;
use super::show::receives;
use crate::cli;
use crate::config::Declaration;
use crate::environment::Environment;
use crate::exit::Exit;
use crate::output::Output;
use crate::printable::printable;
use crate::resolve::{Resolved, UnknownSelection, everything, unknown_name};
use crate::runner;
use crate::trust::approvals::{self, Approval, Word};
use crate::trust::claim::Claim;
use crate::trust::digest::digest;
use crate::trust::log::{self, Said};
use crate::trust::pins::{Definitions, Pins, Subject, differences};
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
        // A name of squire's own list is that server's.
        if declared.entries.iter().any(|entry| entry.server.name.as_str() == name) {
            let (entry, declaration) = find(&declared.entries, name)?;
            // A launch that runs may wait for the user's word on a change of one.
            let question = Question::of(entry, declaration, court, environment)?;
            ensure!(
                entry.server.tier != Tier::Trusted
                    || options.digest.is_some()
                    || !question.differing.is_empty()
                    || !runner::running(court.state).is_empty(),
                "{name}: there is nothing to approve, as you declared it yourself ({})",
                declaration.origin
            );
            questions.push(question);
        } else {
            questions.extend(of_agents(name, &declared.entries, &surroundings, environment)?);
        }
    }
    if let Some(given) = &options.digest {
        ensure!(options.names.len() == 1, "--digest is for one server at a time");
        return by_digest(&questions, given, court);
    }
    let terminal = Terminal::open().with_context(
        || "there is no terminal to ask on; where the declaration is known: squire approve --digest HEX NAME",
    )?;
    let refused = ask(terminal, &questions, court)?;
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

fn find<'a>(entries: &'a [Resolved], name: &str) -> Result<(&'a Resolved, &'a Declaration)> {
    let mut named = entries.iter().filter(|entry| entry.server.name.as_str() == name);
    let is_taken =
        |entry: &&Resolved| entry.left_out.as_ref().is_some_and(|note| note.code == Code::NameTaken);
    let entry = named.clone().find(|entry| !is_taken(entry)).or_else(|| named.next());
    let entry = entry.with_context(|| format!("{name} is declared nowhere"))?;
    ensure!(!is_taken(&entry), "{name}: a server of yours has this name, and a project can't take it");
    ensure!(entry.server.tier != Tier::Builtin, "{name} is squire itself, and needs no approval");
    let declaration = entry.declaration.as_deref().with_context(|| format!("{name} is declared nowhere"))?;
    Ok((entry, declaration))
}

/// The servers of this name that the repository has in files of agents: one for each agent that would start one.
fn of_agents(
    name: &str,
    declared: &[Resolved],
    surroundings: &Surroundings,
    environment: &Environment,
) -> Result<Vec<Question>> {
    let mut known: Vec<String> = declared.iter().map(|entry| entry.server.name.to_string()).collect();
    let (mut questions, mut unread) = (Vec::new(), Vec::new());
    let unquoted = environment.unquoted();
    for strategy in AGENTS {
        let contents = runner::fetch(strategy.reads(), environment, environment.directory()?);
        match strategy.repository_servers(&contents, &unquoted) {
            Ok(servers) => {
                known.extend(servers.iter().map(|server| server.name.clone()));
                for server in servers.iter().filter(|server| server.name == name) {
                    questions.push(Question::of_agent(
                        strategy.name(),
                        strategy.description().title,
                        server,
                        surroundings,
                        environment,
                    )?);
                }
            }
            Err(error) => unread.push(format!("; {error}")),
        }
    }
    if questions.is_empty() {
        let sentence = unknown_name("server", name, known.iter().map(String::as_str));
        return Err(UnknownSelection(vec![sentence + &unread.concat()]).into());
    }
    Ok(questions)
}

/// What a terminal shows at once, about: more than that may have scrolled away when the question stands there.
const WIDTH: usize = 80;
const SCREEN: usize = 20;

/// A server that waits for the user's word.
pub(super) struct Question {
    claim: Claim,
    /// Of the declaration and of the project's files that it is bound to.
    digest: String,
    binding: Binding,
    /// Whose definitions differ from what was believed, and those.
    subject: Option<Subject>,
    differing: Definitions,
    /// All of it, as text.
    text: String,
}

impl Question {
    /// What there is to say of a server; read once, so that what is shown is what is recorded.
    pub(super) fn of(
        entry: &Resolved,
        declaration: &Declaration,
        court: Court<'_>,
        environment: &Environment,
    ) -> Result<Self> {
        let origin = &declaration.origin;
        let place = below_home(&origin.to_string(), environment.home().as_deref());
        let declared = format!("{place} ({})", origin.layer.as_str());
        let subject = Subject::of(declaration, court);
        Self::about(Claim::of(declaration, court), declared, receives(entry), court, Some(subject))
    }

    /// The same of what an agent would start by itself.
    fn of_agent(
        agent: &str,
        title: &str,
        server: &RepositoryServer,
        surroundings: &Surroundings,
        environment: &Environment,
    ) -> Result<Self> {
        let name = printable(&server.name);
        let root = surroundings.project_root().with_context(|| {
            format!("{name} can't be approved here: an approval is for a project, and this is none")
        })?;
        let file = below_home(&server.file, environment.home().as_deref());
        let declared = format!("{file} (of {title}, which starts it by itself)");
        let receives = format!("whatever {title} gives it, which may be its whole environment");
        let claim = Claim::of_agent(agent, server, root, environment.directory()?);
        Self::about(claim, declared, receives, surroundings.court(environment), None)
    }

    fn about(
        claim: Claim,
        declared: String,
        receives: String,
        court: Court<'_>,
        subject: Option<Subject>,
    ) -> Result<Self> {
        let binding = claim
            .bind(court)
            .with_context(|| format!("{} can't be approved as it is", printable(&claim.name)))?;
        let (found, _) = approvals::load(court.state);
        let before =
            found.into_iter().rfind(|approval| approval.name == claim.name && approval.place == claim.place);
        let record = subject.as_ref().and_then(|subject| Pins::of(court.state).read(subject).record);
        let (differing, definitions) = record
            .map(|record| {
                let lines = differences(&record.believed, &record.differing);
                (record.differing, lines)
            })
            .unwrap_or_default();
        let digest = differing.digest_with(binding.digest_with(&digest(&claim.canonical)));
        let text = Asked {
            name: &claim.name,
            declared,
            declaration: &claim.canonical,
            digest: &digest,
            binding: &binding,
            directory: claim.directory().map(|directory| directory.display().to_string()),
            receives,
            before: before.as_ref(),
            definitions: &definitions,
        }
        .text();
        Ok(Self { claim, digest, binding, subject, differing, text })
    }

    /// Records the user's yes.
    fn record(&self, court: Court<'_>, word: Word) -> Result<()> {
        let Claim { name, place, canonical, .. } = &self.claim;
        let approval = Approval::new(name, place.clone(), canonical.clone(), self.binding.clone(), word);
        approval.record(court.state)?;
        if let Some(subject) = self.subject.as_ref().filter(|_| !self.differing.is_empty()) {
            Pins::of(court.state)
                .accept(subject, &self.differing)
                .with_context(|| format!("what {name} tells of itself can't be recorded"))?;
        }
        log::write(court.state, Said::Approved, name, place, &self.digest)
    }

    fn refuse(&self, court: Court<'_>) -> Result<()> {
        log::write(court.state, Said::Refused, &self.claim.name, &self.claim.place, &self.digest)
    }
}

/// Shows all servers on one screen and asks about each. How many were not approved.
pub(super) fn ask(mut terminal: Terminal, questions: &[Question], court: Court<'_>) -> Result<usize> {
    let screen: Vec<&str> = questions.iter().map(|question| question.text.as_str()).collect();
    terminal.show(&format!("\n{}\n", screen.join("\n"))).context("the terminal can't be written")?;
    let mut refused = 0;
    for question in questions {
        let lines = question.text.lines().map(|line| line.chars().count() / WIDTH + 1).sum::<usize>();
        let long = if lines > SCREEN {
            format!(" ({lines} lines, shown above: look at all of them)")
        } else {
            String::new()
        };
        let asked = format!("squire: approve {}{long}?", printable(&question.claim.name));
        if terminal.ask(&asked).context("the terminal can't be read")? {
            question.record(court, Word::Terminal)?;
        } else {
            question.refuse(court)?;
            refused += 1;
        }
    }
    Ok(refused)
}

fn by_digest(questions: &[Question], given: &str, court: Court<'_>) -> Result<Exit> {
    let name = questions.first().map(|question| printable(&question.claim.name)).unwrap_or_default();
    // Several agents may each have one of the name.
    let Some(question) = questions.iter().find(|question| question.digest.eq_ignore_ascii_case(given)) else {
        let known: Vec<&str> = questions.iter().map(|question| question.digest.as_str()).collect();
        bail!(
            "{name} was not approved: the digest of it and its files is {}, not {given}",
            known.join(" or ")
        );
    };
    question.record(court, Word::Digest)?;
    Output::default().data(&format!("approved {name} {}\n", question.digest))?;
    Ok(Exit::DONE)
}

/// Whether somebody can be asked: a person at a terminal, and no machine that only has one.
pub(super) fn can_ask(environment: &Environment) -> bool {
    let is_machine = environment.get("CI").is_some_and(|value| value != "0" && value != "false");
    !is_machine && std::io::stdin().is_terminal() && Output::default().shows_progress()
}
