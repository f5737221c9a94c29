//! What servers need of the environment and of the user's secrets before they can start, and what is done about those
//! that lack it.

use std::borrow::Cow;

use anyhow::{Result, bail};
use squire_strategies::{Code, Field, NotChosen, Note, Reference, ResolvedServer, Source, Transport};

use crate::config::{Declaration, Origin, Policy};
use crate::environment::Environment;
use crate::findings::OwnCode;
use crate::resolve::{Resolution, Resolved};
use crate::secrets::{Lack, Secrets};

const UNSET: &str = "set it, or give it a default as in ${env:NAME:-default}";

/// Something that a server needs and that is not there.
pub(super) struct Missing {
    pub(super) code: OwnCode,
    pub(super) sentence: String,
    pub(super) mend: Cow<'static, str>,
    /// The declaration's field that needs it.
    pub(super) field: &'static str,
    /// The variable or header in it.
    pub(super) name: Option<String>,
}

impl Missing {
    /// Where it is written: in the declaration, or in the policy that adds variables.
    pub(super) fn origin<'a>(&self, declaration: &'a Declaration, policy: &'a Policy) -> Option<&'a Origin> {
        origin_of(self.field, self.name.as_deref(), declaration, policy)
    }
}

/// Where a field is written, and the variable or header in it: in the declaration, or in the policy that adds variables.
pub(super) fn origin_of<'a>(
    field: &str,
    name: Option<&str>,
    declaration: &'a Declaration,
    policy: &'a Policy,
) -> Option<&'a Origin> {
    let own = declaration.env.iter().flat_map(|env| &env.value);
    let is_own = |name: &str| own.clone().any(|(own, _)| own == name);
    if field == "env" && name.is_some_and(|name| !is_own(name)) {
        return policy.env.as_ref().map(|env| &env.origin);
    }
    declaration.origins().find(|(written, _)| *written == field).map(|(_, origin)| origin)
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

/// Who holds the values of references.
#[derive(Clone, Copy)]
pub(super) struct Holders<'a> {
    pub(super) environment: &'a Environment,
    /// None where no server needs one, or where the file that says so can't be read, which is told by itself.
    pub(super) secrets: Option<&'a Secrets>,
}

impl Holders<'_> {
    /// What a server needs and would not get.
    pub(super) fn missing(self, entry: &Resolved) -> Vec<Missing> {
        let server = &entry.server;
        let chosen = match chosen(server, self.environment) {
            Ok(chosen) => chosen,
            Err(error) => return vec![not_chosen(&error)],
        };
        let mut missing = Vec::new();
        for (field, text) in chosen.texts() {
            for reference in text.references() {
                let lack = match &reference.source {
                    Source::Environment(name) => self.unset(name, reference),
                    Source::Secret(name) => self.secret(name, entry),
                };
                if let Some((code, why, mend)) = lack {
                    missing.push(of_field(field, code, format!("{field} needs {reference}{why}"), mend));
                }
            }
        }
        if chosen.remote().is_some() {
            missing.extend(self.missing_of_auth(entry));
        }
        missing
    }

    /// Why the secret of `auth` would not be had.
    fn missing_of_auth(self, entry: &Resolved) -> Option<Missing> {
        let name = &entry.declaration.as_deref()?.auth.as_ref()?.value.secret;
        let (code, why, mend) = self.secret(name, entry)?;
        let sentence = format!("auth needs the secret `{name}`{why}");
        Some(Missing { code, sentence, mend, field: "auth", name: None })
    }

    fn unset(self, name: &str, reference: &Reference) -> Option<Lacking> {
        let is_unset = reference.default.is_none() && self.environment.get(name).is_none();
        let why = ", which is not set or empty".to_owned();
        is_unset.then_some((OwnCode::UnsetVariable, why, UNSET.into()))
    }

    fn secret(self, name: &str, entry: &Resolved) -> Option<Lacking> {
        let server = entry.server.name.as_str();
        match self.secrets?.lack(name, server, entry.is_project(), self.environment)? {
            Lack::Unknown { sentence, mend } => Some((OwnCode::UnknownSecret, sentence, mend.into())),
            Lack::Unusable { sentence, mend } => Some((OwnCode::UnusableSecret, sentence, mend.into())),
        }
    }
}

/// The code, what stands behind the reference, and the mend.
type Lacking = (OwnCode, String, Cow<'static, str>);

fn of_field(field: Field<'_>, code: OwnCode, sentence: String, mend: Cow<'static, str>) -> Missing {
    Missing { code, sentence, mend, field: field.key(), name: field.name().map(str::to_owned) }
}

fn not_chosen(error: &NotChosen) -> Missing {
    let mend = match error {
        NotChosen::Unset(_) => UNSET,
        NotChosen::NoServer { word: "stdio", .. } => "add `command` to it, or choose `http`",
        NotChosen::NoServer { .. } => "add `url` to it, or choose `stdio`",
        NotChosen::NoTransport(_) => "let it come out as `stdio`, `http` or `sse`",
    };
    let is_unset = matches!(error, NotChosen::Unset(_));
    let code = if is_unset { OwnCode::UnsetVariable } else { OwnCode::UnknownTransport };
    Missing { code, sentence: error.to_string(), mend: mend.into(), field: "transport", name: None }
}

/// Names everything that servers need and that is not there, all at once (case B21).
pub(super) fn refuse_missing(entries: &[&Resolved], holders: Holders<'_>) -> Result<()> {
    let mut lines = Vec::new();
    let mut helps: Vec<Cow<'static, str>> = Vec::new();
    for entry in entries {
        for Missing { code, sentence, mend, .. } in holders.missing(entry) {
            lines.push(format!("{}: {sentence}", entry.server.name));
            let mend = if code == OwnCode::UnsetVariable {
                "set it, give it a default as in ${env:NAME:-default}".into()
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
pub(super) fn leave_out_missing(resolution: &mut Resolution, holders: Holders<'_>) {
    for entry in resolution.entries.iter_mut().filter(|entry| entry.left_out.is_none()) {
        if let Some(Missing { sentence, .. }) = holders.missing(entry).into_iter().next() {
            let server = Some(entry.server.name.clone());
            entry.left_out = Some(Note { code: Code::Unresolved, server, sentence, mend: None, place: None });
        }
    }
}
