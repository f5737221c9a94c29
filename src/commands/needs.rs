//! What servers need of the environment before they can start, and what is done about those that lack it.

use anyhow::{Result, bail};
use squire_strategies::{Code, NotChosen, Note, ResolvedServer, Source, Transport};

use crate::environment::Environment;
use crate::findings::OwnCode;
use crate::resolve::{Resolution, needs_relay};

const UNSET: &str = "set it, or give it a default as in ${env:NAME:-default}";

/// Something that a server needs of the environment and does not find there.
pub(super) struct Missing {
    pub(super) code: OwnCode,
    pub(super) sentence: String,
    pub(super) mend: &'static str,
}

/// The transport that the environment chooses, where it is to be chosen; the fields of the others are left out.
pub(super) fn chosen(server: &ResolvedServer, environment: &Environment) -> Result<Transport, NotChosen> {
    server.transport.chosen(|source| match source {
        Source::Environment(name) => environment.get(name).map(|value| value.to_string_lossy().into_owned()),
        Source::Secret(_) => None,
    })
}

/// What a server needs of the environment and does not find there.
pub(super) fn missing(server: &ResolvedServer, environment: &Environment) -> Vec<Missing> {
    let unset = |sentence| Missing { code: OwnCode::UnsetVariable, sentence, mend: UNSET };
    let chosen = match chosen(server, environment) {
        Ok(chosen) => chosen,
        Err(error @ NotChosen::Unset(_)) => return vec![unset(error.to_string())],
        Err(error) => {
            let mend = match error {
                NotChosen::NoServer { word: "stdio", .. } => "add `command` to it, or choose `http`",
                NotChosen::NoServer { .. } => "add `url` to it, or choose `stdio`",
                NotChosen::Unset(_) | NotChosen::NoTransport(_) => {
                    "let it come out as `stdio`, `http` or `sse`"
                }
            };
            return vec![Missing { code: OwnCode::UnknownTransport, sentence: error.to_string(), mend }];
        }
    };
    let mut missing = Vec::new();
    for (field, text) in chosen.texts() {
        for reference in text.references() {
            match &reference.source {
                Source::Environment(name)
                    if reference.default.is_none() && environment.get(name).is_none() =>
                {
                    missing.push(unset(format!("{field} needs {reference}, which is not set or empty")));
                }
                Source::Environment(_) | Source::Secret(_) => {}
            }
        }
    }
    missing
}

/// Names everything that a server needs and that is not there, all at once (case B21).
pub(super) fn refuse_missing(servers: &[&ResolvedServer], environment: &Environment) -> Result<()> {
    let mut lines = Vec::new();
    let mut helps = Vec::new();
    for server in servers {
        for Missing { code, sentence, mend } in missing(server, environment) {
            lines.push(format!("{}: {sentence}", server.name));
            let mend = if code == OwnCode::UnsetVariable {
                "set it, give it a default as in ${env:NAME:-default}"
            } else {
                mend
            };
            if !helps.contains(&mend) {
                helps.push(mend);
            }
        }
    }
    if !lines.is_empty() {
        bail!(
            "nothing was started:\n  {}\n  help: {}, or leave such servers out with --allow-missing",
            lines.join("\n  "),
            helps.join("; ")
        );
    }
    Ok(())
}

/// Leaves the servers out that need what is not there.
pub(super) fn leave_out_missing(resolution: &mut Resolution, environment: &Environment) {
    for entry in resolution.entries.iter_mut().filter(|entry| entry.left_out.is_none()) {
        if let Some(Missing { sentence, .. }) = missing(&entry.server, environment).into_iter().next() {
            let server = Some(entry.server.name.clone());
            entry.left_out = Some(Note { code: Code::Unresolved, server, sentence, mend: None, place: None });
        }
    }
}

/// Leaves the servers out whose chosen transport the gateway would refuse (case B86).
pub(super) fn leave_out_chosen_remote(resolution: &mut Resolution, environment: &Environment) {
    for entry in resolution.entries.iter_mut().filter(|entry| entry.left_out.is_none()) {
        let is_remote = matches!(entry.server.transport, Transport::Dynamic(_))
            && chosen(&entry.server, environment).is_ok_and(|chosen| chosen.remote().is_some());
        if is_remote && missing(&entry.server, environment).is_empty() {
            let server = Some(entry.server.name.clone());
            let sentence = needs_relay("a remote server that is chosen when it starts");
            entry.left_out = Some(Note { code: Code::NeedsRelay, server, sentence, mend: None, place: None });
        }
    }
}
