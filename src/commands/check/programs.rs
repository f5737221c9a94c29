//! Whether the programs of servers can be started on this machine. Nothing is executed, and nothing is looked up for a
//! server that would not run: a repository's is not approved.

use std::path::Path;

use squire_strategies::{Stdio, Transport};

use crate::commands::needs::{Holders, chosen};
use crate::config::Origin;
use crate::files;
use crate::findings::{Finding, OwnCode};
use crate::gateway::{Held, Starter};
use crate::resolve::{Resolution, Resolved};

/// What the gateway of each server that runs would fail at.
pub(super) fn findings(declared: &Resolution, project: Option<&Path>, holders: Holders<'_>) -> Vec<Finding> {
    let runs = declared.entries.iter().filter(|entry| entry.left_out.is_none());
    runs.flat_map(|entry| {
        let declaration = entry.declaration.as_deref();
        let found = failures(entry, project, holders);
        found.into_iter().map(move |Failure { code, sentence, mend }| {
            let command = declaration.and_then(|declaration| Some(&declaration.command.as_ref()?.origin));
            let cwd = declaration.and_then(|declaration| Some(&declaration.cwd.as_ref()?.origin));
            let origin = if code == OwnCode::NoDirectory { cwd } else { command };
            let finding = Finding::own(code, sentence).of(entry.server.name.as_str()).help(Some(mend.into()));
            finding.at(origin.map(Origin::whereabouts).as_ref())
        })
    })
    .collect()
}

struct Failure {
    code: OwnCode,
    sentence: String,
    mend: &'static str,
}

fn failures(entry: &Resolved, project: Option<&Path>, holders: Holders<'_>) -> Vec<Failure> {
    // What the environment lacks is told by itself.
    match chosen(&entry.server, holders.environment).as_deref() {
        Ok(Transport::Stdio(stdio)) if holders.missing(entry).is_empty() && !is_secret(stdio) => {
            of_program(Starter { stdio, project, environment: holders.environment, held: Held::Placeholders })
        }
        Ok(_) | Err(_) => Vec::new(),
    }
}

/// Whether what is to be started depends on a secret, which a look at a configuration does not fetch.
fn is_secret(stdio: &Stdio) -> bool {
    let path = stdio.env.iter().filter(|(name, _)| name == "PATH").map(|(_, text)| text);
    let mut texts = path.chain(&stdio.cwd).chain([&stdio.command]);
    texts.any(|text| text.secrets().next().is_some())
}

fn of_program(starter: Starter<'_>) -> Vec<Failure> {
    let no_program = |sentence| Failure {
        code: OwnCode::NoProgram,
        sentence,
        mend: "install it, or write its whole path; where it is for another machine, this is no news",
    };
    let mut failures = Vec::new();
    let directory = starter.working_directory().unwrap_or_else(|error| {
        let mend = "make it, or correct `cwd`";
        failures.push(Failure { code: OwnCode::NoDirectory, sentence: format!("{error:#}"), mend });
        None
    });
    let found = starter.variables().and_then(|variables| starter.program(&variables));
    match found {
        Err(error) => failures.push(no_program(format!("{error:#}"))),
        // Without its directory nobody knows what a relative path leads to.
        Ok(path) if path.is_absolute() || directory.is_some() => {
            let shown = starter.stdio.command.literal().map(|_| path.display().to_string());
            let shown = shown.unwrap_or_else(|| starter.stdio.command.to_string());
            let path = directory.unwrap_or_default().join(&path);
            failures.extend(not_executable(&path, &shown).map(no_program));
        }
        Ok(_) => {}
    }
    failures
}

fn not_executable(path: &Path, shown: &str) -> Option<String> {
    match files::is_executable(path) {
        Ok(true) => None,
        Ok(false) => Some(format!("there is no program {shown}")),
        Err(_) => Some(format!("{shown} can't be executed")),
    }
}
