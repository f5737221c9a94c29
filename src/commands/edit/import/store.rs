//! Which names of secrets are free.

use std::cell::RefCell;
use std::path::Path;

use squire_strategies::Name;

use crate::secrets::{self, Secrets, Value};

/// The secrets that there are, and those that this import makes.
pub(super) struct Store<'a> {
    pub(super) config: &'a Path,
    pub(super) known: Secrets,
    pub(super) planned: RefCell<Vec<String>>,
}

impl Store<'_> {
    /// Whether a name is that of another secret: also of one above or below it, as a secret holds no others.
    pub(super) fn is_taken(&self, name: &str, value: Option<&Value>, server: &Name) -> bool {
        let planned = self.planned.borrow();
        let mut names = self.known.all.iter().map(|secret| &secret.name).chain(planned.iter());
        let is_above =
            |one: &str, other: &str| other.strip_prefix(one).is_some_and(|rest| rest.starts_with('.'));
        if names.any(|other| is_above(name, other) || is_above(other, name)) {
            return true;
        }
        match value {
            Some(value) if self.known.find(name).is_some() => {
                !secrets::holds(self.config, name, value, server.as_str()).unwrap_or(false)
            }
            Some(_) | None => false,
        }
    }
}
