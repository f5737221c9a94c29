//! Which secrets a server needs, and why it would not get one.

use std::fmt::Write as _;

use squire_strategies::Transport;

use super::fetch::look;
use super::{Secret, Secrets};
use crate::config::{Declaration, nearest};
use crate::environment::Environment;

/// Why a server would not get a secret. It fits behind the secret's name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lack {
    /// There is no secret of the name.
    Unknown {
        /// What is so.
        sentence: String,
        /// What helps.
        mend: String,
    },
    /// There is one, and its value can't be had, or is not for this server.
    Unusable {
        /// What is so.
        sentence: String,
        /// What helps.
        mend: String,
    },
}

impl Secrets {
    /// Why a server would not get the value of a secret, as far as that shows without reading or running anything.
    pub fn lack(
        &self,
        name: &str,
        server: &str,
        is_project: bool,
        environment: &Environment,
    ) -> Option<Lack> {
        let Some(secret) = self.find(name) else { return Some(self.unknown(name)) };
        if let Some(lack) = refused(secret, server, is_project) {
            return Some(lack);
        }
        look(&secret.source, environment).err().map(|reason| Lack::Unusable {
            sentence: format!(": {reason}"),
            mend: format!("mend that, then: squire secret check {name}"),
        })
    }

    fn unknown(&self, name: &str) -> Lack {
        let mut sentence = format!(", which {} does not have", self.path.display());
        if let Some(near) = nearest(name, self.all.iter().map(|secret| secret.name.as_str())) {
            // Writing to a string can't fail.
            let _ = write!(sentence, "; did you mean `{near}`?");
        }
        Lack::Unknown { sentence, mend: format!("squire secret set {name}") }
    }
}

/// A secret with `servers` is for the user's servers of these names and for no other; a project's is none of them.
fn refused(secret: &Secret, server: &str, is_project: bool) -> Option<Lack> {
    let bound = secret.servers.as_ref()?;
    let names: Vec<&str> = bound.iter().map(|bound| bound.value.as_str()).collect();
    if !is_project && names.contains(&server) {
        return None;
    }
    let to = if names.is_empty() { "no server".to_owned() } else { names.join(", ") };
    let of_project = if is_project { "; a server of a project is none of yours" } else { "" };
    Some(Lack::Unusable {
        sentence: format!(", which is bound to {to}{of_project}"),
        mend: if is_project {
            format!("take `servers` of {} out of secrets.toml", secret.name)
        } else {
            format!("add \"{server}\" to `servers` of {} in secrets.toml", secret.name)
        },
    })
}

/// The names of the secrets that a transport refers to, each once, in order.
pub fn used(transport: &Transport) -> Vec<&str> {
    unique(transport.texts().flat_map(|(_, text)| text.secrets()))
}

/// As [`used`], and that of `auth` behind them.
pub fn of_declaration<'a>(transport: &'a Transport, declaration: Option<&'a Declaration>) -> Vec<&'a str> {
    let auth = declaration.and_then(|declaration| declaration.auth.as_ref());
    unique(used(transport).into_iter().chain(auth.map(|auth| auth.value.secret.as_str())))
}

fn unique<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut unique = Vec::new();
    for name in names {
        if !unique.contains(&name) {
            unique.push(name);
        }
    }
    unique
}
