//! The launch that a gateway belongs to, as its record has it.

use serde_json::Value;
use squire_strategies::LAUNCH_VARIABLE;

use crate::cli;
use crate::environment::Environment;
use crate::runner::live_record;

/// A launch, or that there is none: a gateway may stand in a user's own file.
pub(super) struct Launch {
    id: Option<String>,
    /// None where nothing lives that could be told from it.
    record: Option<Value>,
}

impl Launch {
    /// The one that the environment names.
    pub(super) fn of(options: &cli::Gateway, environment: &Environment) -> Self {
        let id = environment.passed_on(LAUNCH_VARIABLE).and_then(|id| id.to_str()).map(str::to_owned);
        let record = id.as_deref().and_then(|id| live_record(&options.state, id));
        Self { id, record }
    }

    pub(super) fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// The profiles whose filters hold in it.
    pub(super) fn profiles(&self) -> impl Iterator<Item = String> {
        let profiles = self.record.as_ref().and_then(|record| record["profiles"].as_array());
        profiles.into_iter().flatten().filter_map(|name| name.as_str().map(str::to_owned))
    }

    /// Whether it must have the server: then nobody answers in the server's place.
    pub(super) fn requires(&self, name: &str) -> bool {
        self.server(name).is_some_and(|server| server["required"] == true)
    }

    /// Whether it was given this very declaration: under a live launch what an agent wrote into the user's own file
    /// meanwhile waits for the user's word. The error says what is different.
    pub(super) fn has_given(&self, name: &str, digest: &str) -> Result<(), &'static str> {
        match self.server(name) {
            Some(server) if server["digest"] == digest => Ok(()),
            Some(_) => Err("its declaration has changed since this launch began"),
            None if self.record.is_some() => Err("it was not there when this launch began"),
            None => Ok(()),
        }
    }

    /// What the record says of a server.
    fn server(&self, name: &str) -> Option<&Value> {
        let servers = self.record.as_ref()?["servers"].as_array()?;
        servers.iter().find(|server| server["name"] == name)
    }
}
