//! `squire revoke`: takes approvals back.

use anyhow::{Context, Result};

use super::{Surroundings, approve::refuse_in_launch};
use crate::cli;
use crate::environment::Environment;
use crate::exit::Exit;
use crate::output::Output;
use crate::printable::printable;
use crate::trust::approvals::{self, Place};
use crate::trust::log::{self, Said};

/// Runs the command: 1 where there was nothing to take back.
pub fn run(options: &cli::Revoke, environment: &Environment) -> Result<Exit> {
    refuse_in_launch(environment, "revoke an approval")?;
    let surroundings = Surroundings::find(environment)?;
    surroundings.refuse_foreign()?;
    let state = &surroundings.directories.state;
    let project = surroundings.project_root().map(|root| Place::Project(root.to_string_lossy().into_owned()));
    let mut all_found = true;
    for name in &options.names {
        let mut found = false;
        for place in [Place::User].into_iter().chain(project.clone()) {
            let (approvals, _) = approvals::load(state, &place);
            for approval in approvals.iter().filter(|approval| approval.name == *name) {
                approval.remove(state)?;
                log::write(state, Said::Revoked, name, &place, &approval.digest)
                    .with_context(|| format!("{name} is revoked"))?;
                found = true;
            }
        }
        if found {
            Output::default().data(&format!("revoked {}\n", printable(name)))?;
        } else {
            all_found = false;
            Output::default().message(&format!("{name} is not approved here"));
        }
    }
    Ok(if all_found { Exit::DONE } else { Exit::FINDINGS })
}
