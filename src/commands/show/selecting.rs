//! Which profiles select which servers.

use crate::config::Layers;
use crate::resolve::{Resolved, Selection, Standings, resolve};

/// Each profile, the user's and then the project's, with the servers that it selects: whether each is a project's, and its
/// name.
pub(super) struct Selecting(Vec<(String, Vec<(bool, String)>)>);

impl Selecting {
    pub(super) fn of(layers: &Layers) -> Self {
        let of_project = layers.project.iter().flat_map(|project| &project.profiles);
        let mut selecting: Vec<(String, Vec<(bool, String)>)> = Vec::new();
        for profile in layers.user.profiles.iter().chain(of_project) {
            let is_known = selecting.iter().any(|(name, _)| *name == profile.name);
            let selection = Selection { profiles: vec![profile.name.clone()], ..Selection::default() };
            // A project's profile that can't be selected selects nothing.
            let resolution = resolve(layers, &Standings::new(), &selection, &|_| true);
            let (false, Ok(resolution)) = (is_known, resolution) else { continue };
            let named = |entry: &Resolved| (entry.is_project(), entry.server.name.to_string());
            selecting.push((profile.name.clone(), resolution.entries.iter().map(named).collect()));
        }
        Self(selecting)
    }

    /// The profiles that select a server.
    pub(super) fn profiles(&self, entry: &Resolved) -> Vec<String> {
        let selects = |(_, servers): &&(String, Vec<(bool, String)>)| {
            servers.iter().any(|(of_project, name)| {
                *of_project == entry.is_project() && name == entry.server.name.as_str()
            })
        };
        self.0.iter().filter(selects).map(|(name, _)| name.clone()).collect()
    }
}
