//! What servers need of the environment before they can start, and what is done about those that lack it.

use std::borrow::Cow;

use anyhow::{Result, bail};
use squire_strategies::{Code, NotChosen, Note, ResolvedServer, Source, Transport};

use crate::config::{Declaration, Origin, Policy};
use crate::environment::Environment;
use crate::findings::OwnCode;
use crate::resolve::{Resolution, needs_relay};

const UNSET: &str = "set it, or give it a default as in ${env:NAME:-default}";

/// Something that a server needs of the environment and does not find there.
pub(super) struct Missing {
    pub(super) code: OwnCode,
    pub(super) sentence: String,
    pub(super) mend: &'static str,
    /// The declaration's field that needs it.
    pub(super) field: &'static str,
    /// The variable or header in it.
    pub(super) name: Option<String>,
}

impl Missing {
    /// Where it is written: in the declaration, or in the policy that adds variables.
    pub(super) fn origin<'a>(&self, declaration: &'a Declaration, policy: &'a Policy) -> Option<&'a Origin> {
        let own = declaration.env.iter().flat_map(|env| &env.value);
        let is_own = |name: &String| own.clone().any(|(own, _)| own == name);
        if self.field == "env" && self.name.as_ref().is_some_and(|name| !is_own(name)) {
            return policy.env.as_ref().map(|env| &env.origin);
        }
        let written = declaration.origins();
        written.into_iter().find(|(field, _)| *field == self.field).map(|(_, origin)| origin)
    }
}

/// The transport that the environment chooses, where it is to be chosen; the fields of the others are left out.
pub(super) fn chosen<'a>(
    server: &'a ResolvedServer,
    environment: &Environment,
) -> Result<Cow<'a, Transport>, NotChosen> {
    server.transport.chosen(|source| match source {
        Source::Environment(name) => environment.get(name).map(|value| value.to_string_lossy().into_owned()),
        Source::Secret(_) => None,
    })
}

/// What a server needs of the environment and does not find there.
pub(super) fn missing(server: &ResolvedServer, environment: &Environment) -> Vec<Missing> {
    let chosen = match chosen(server, environment) {
        Ok(chosen) => chosen,
        Err(error) => {
            let mend = match error {
                NotChosen::Unset(_) => UNSET,
                NotChosen::NoServer { word: "stdio", .. } => "add `command` to it, or choose `http`",
                NotChosen::NoServer { .. } => "add `url` to it, or choose `stdio`",
                NotChosen::NoTransport(_) => "let it come out as `stdio`, `http` or `sse`",
            };
            let is_unset = matches!(error, NotChosen::Unset(_));
            let code = if is_unset { OwnCode::UnsetVariable } else { OwnCode::UnknownTransport };
            let sentence = error.to_string();
            return vec![Missing { code, sentence, mend, field: "transport", name: None }];
        }
    };
    let mut missing = Vec::new();
    for (field, text) in chosen.texts() {
        for reference in text.references() {
            match &reference.source {
                Source::Environment(name)
                    if reference.default.is_none() && environment.get(name).is_none() =>
                {
                    missing.push(Missing {
                        code: OwnCode::UnsetVariable,
                        sentence: format!("{field} needs {reference}, which is not set or empty"),
                        mend: UNSET,
                        field: field.key(),
                        name: field.name().map(str::to_owned),
                    });
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
        for Missing { code, sentence, mend, .. } in missing(server, environment) {
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
