//! What is wrong with secrets, whichever agent is launched: their file, what servers want of it, and credentials that a
//! declaration holds in clear. No value is fetched.

use squire_strategies::{Code, Note};

use super::{of_failure, of_missing};
use crate::commands::Surroundings;
use crate::commands::needs::{Holders, Missing, origin_of};
use crate::config::{Declaration, Origin, Policy};
use crate::findings::{Finding, OwnCode};
use crate::resolve::{Resolution, Resolved};

/// The findings of all servers of the user.
pub(super) fn findings(
    surroundings: &Surroundings,
    declared: &Resolution,
    holders: Holders<'_>,
) -> Vec<Finding> {
    let policy = &surroundings.layers.policy;
    let mut found = surroundings.secrets().err().map(of_failure).unwrap_or_default();
    for entry in declared.entries.iter().filter(|entry| !entry.is_project()) {
        let Some(declaration) = &entry.declaration else { continue };
        let waits = entry.left_out.as_ref().is_some_and(|note| note.code == Code::NeedsGateway);
        if waits {
            let told = missing(entry, holders);
            found.extend(
                told.into_iter().map(|missing| of_missing(missing, entry, Some(declaration), policy)),
            );
        }
        if entry.left_out.is_none() {
            found.extend(in_argv(entry, declaration));
        }
        found.extend(literal(entry, declaration, policy));
    }
    found
}

/// What is written in secrets.toml of servers that nobody declares.
pub(super) fn notes(surroundings: &Surroundings, declared: &Resolution) -> Vec<Note> {
    let secrets = surroundings.secrets().map(|secrets| secrets.all.as_slice()).unwrap_or_default();
    let bound = secrets
        .iter()
        .flat_map(|secret| secret.servers.iter().flatten().map(move |server| (secret.name.as_str(), server)));
    let is_declared = |name: &str| {
        declared.entries.iter().any(|entry| !entry.is_project() && entry.server.name.as_str() == name)
    };
    let of_nothing = bound.filter(|(_, server)| !is_declared(&server.value));
    let note = |(name, server): (&str, &crate::config::Located<String>)| Note {
        code: Code::Unused,
        server: None,
        sentence: format!("the secret {name} is bound to {:?}, which is no server of yours", server.value),
        mend: Some("correct the name, or take it out".into()),
        place: Some(server.origin.whereabouts()),
    };
    of_nothing.map(note).collect()
}

/// What a server that waits for the relay needs of secrets: that of the others each agent's launch tells.
fn missing(entry: &Resolved, holders: Holders<'_>) -> Vec<Missing> {
    let is_secret =
        |missing: &Missing| matches!(missing.code, OwnCode::UnknownSecret | OwnCode::UnusableSecret);
    holders.missing(entry).into_iter().filter(is_secret).collect()
}

fn in_argv(entry: &Resolved, declaration: &Declaration) -> Option<Finding> {
    let texts = entry.server.transport.texts();
    let mut in_argv = texts.filter(|(field, _)| matches!(field.key(), "command" | "args"));
    let name = in_argv.find_map(|(_, text)| text.secrets().next())?;
    let holds_it =
        |texts: &[squire_strategies::Text]| texts.iter().any(|text| text.secrets().next().is_some());
    let args = declaration.args.as_ref().filter(|args| holds_it(&args.value));
    let origin = args.or(declaration.command.as_ref()).map(|located| &located.origin);
    let sentence = format!(
        "an argument holds ${{secret:{name}}}: every user of this machine can read the arguments of a program"
    );
    let help = "let the program read it from a variable: env = { NAME = \"${secret:…}\" }";
    let finding = Finding::own(OwnCode::SecretInArgv, sentence).of(entry.server.name.as_str());
    Some(finding.help(Some(help.into())).at(origin.map(Origin::whereabouts).as_ref()))
}

/// Credentials in clear. None is shown: the field says enough.
fn literal(entry: &Resolved, declaration: &Declaration, policy: &Policy) -> Vec<Finding> {
    let mut told: Vec<String> = Vec::new();
    let mut found = Vec::new();
    for (field, text) in entry.server.transport.texts() {
        let shown = field.to_string();
        if !field.holds_credential(text) || told.contains(&shown) {
            continue;
        }
        let origin = origin_of(field.key(), field.name(), declaration, policy);
        let sentence = format!("{shown} holds what looks like a credential in clear");
        let help = "squire secret set NAME, then write ${secret:NAME} in its place";
        let finding = Finding::own(OwnCode::LiteralCredential, sentence).of(entry.server.name.as_str());
        found.push(finding.help(Some(help.into())).at(origin.map(Origin::whereabouts).as_ref()));
        told.push(shown);
    }
    found
}
