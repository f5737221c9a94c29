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
    let root = surroundings.project_root().map(|root| root.to_string_lossy().into_owned());
    let is_here = |place: &Place| place.project().is_none() || place.project() == root.as_deref();
    let (approvals, unreadable) = approvals::load(state);
    let mut all_found = true;
    for name in &options.names {
        let mut found = false;
        for approval in approvals.iter().filter(|it| it.name == *name && is_here(&it.place)) {
            approval.remove(state)?;
            log::write(state, Said::Revoked, name, &approval.place, &approval.digest)
                .with_context(|| format!("{} is revoked", printable(name)))?;
            found = true;
        }
        if found {
            Output::default().data(&format!("revoked {}\n", printable(name)))?;
        } else {
            all_found = false;
            Output::default().message(&format!("{} is not approved here", printable(name)));
        }
    }
    for (path, reason) in unreadable {
        Output::default().message(&format!(
            "{}: whose approval it is can't be known, and it approves nothing: {reason}\n  help: remove it",
            path.display()
        ));
    }
    Ok(if all_found { Exit::DONE } else { Exit::FINDINGS })
}
