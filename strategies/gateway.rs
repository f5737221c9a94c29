//! The command that an agent starts in a server's place.

use alloc::string::String;
use alloc::vec::Vec;

use crate::environment::{BASE_ENVIRONMENT, LAUNCH_VARIABLE, LOADER_ENVIRONMENT};
use crate::server::ResolvedServer;

/// What all gateway entries of a launch share.
///
/// An entry is a function of the declarations alone, so agents that remember approvals by definition recognise it:
/// it holds no launch id, temporary path, port or value (case B92).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gateway {
    /// squire as it was invoked, absolute.
    pub program: String,
    /// The project's real path.
    pub project: Option<String>,
    /// The profiles of the launch.
    pub profiles: Vec<String>,
    /// The config directory.
    pub config: String,
    /// The state directory.
    pub state: String,
}

/// Stands for a server's name in an entry that is there to replace another: no server can have it (`Name`), and the
/// gateway answers in its place with no tools and the reason.
pub const SWITCHED_OFF: &str = "switched.off";

impl Gateway {
    /// The arguments of an entry that takes the place of a server that is switched off.
    pub(crate) fn switched_off<'a>(&'a self, agent: &'a str) -> [&'a str; 8] {
        ["gateway", SWITCHED_OFF, "--agent", agent, "--config", &self.config, "--state", &self.state]
    }

    /// The arguments of the entry of one server: `gateway NAME --agent A …`.
    pub fn arguments<'a>(&'a self, agent: &'a str, server: &'a ResolvedServer) -> Vec<&'a str> {
        let mut arguments = Vec::from(["gateway", server.name.as_str(), "--agent", agent]);
        if let Some(project) = &self.project {
            arguments.extend(["--project", project]);
            // A gateway does not look for the project's file itself.
            if let Some(directory) = server.declared_in.as_ref().filter(|directory| *directory != project) {
                arguments.extend(["--declared-in", directory]);
            }
        }
        for profile in &self.profiles {
            arguments.extend(["--profile", profile]);
        }
        arguments.extend(["--config", &self.config, "--state", &self.state]);
        arguments
    }

    /// The environment variables that the entry pins by name, sorted.
    pub fn variables(server: &ResolvedServer) -> Vec<&str> {
        // Sorted as it is written, so that the few others are put between.
        let mut names = BASE_ENVIRONMENT.to_vec();
        let others = LOADER_ENVIRONMENT.iter().copied().chain([LAUNCH_VARIABLE]);
        for name in others.chain(server.declared_variables()) {
            if let Err(place) = names.binary_search(&name) {
                names.insert(place, name);
            }
        }
        names
    }
}
