//! Where results that were cut are kept whole, for the relay.

use std::path::{Path, PathBuf};

use squire_relay::Spill;

use crate::config::{Declaration, Policy};
use crate::output::Output;
use crate::runner;

/// The kept results of one gateway.
pub(crate) struct SpillFiles {
    state: PathBuf,
    launch: Option<String>,
    enabled: bool,
    /// What went wrong is said once.
    has_complained: bool,
}

impl SpillFiles {
    /// For a gateway of a launch, or of none.
    pub(crate) fn new(state: &Path, launch: Option<&str>, enabled: bool) -> Self {
        let launch = launch.map(str::to_owned);
        Self { state: state.to_path_buf(), launch, enabled, has_complained: false }
    }

    /// Whether a server's results are kept: neither it nor the policy says `spill = false`.
    pub(crate) fn are_wanted(declaration: Option<&Declaration>, policy: &Policy) -> bool {
        let own = declaration.and_then(|declaration| declaration.spill.as_ref());
        own.into_iter().chain(&policy.spill).all(|spill| spill.value)
    }
}

impl Spill for SpillFiles {
    fn keep(&mut self, result: &str) -> Option<String> {
        if !self.enabled {
            return None;
        }
        match runner::spill(&self.state, self.launch.as_deref(), result.as_bytes()) {
            // The agent is told of it in JSON text.
            Ok(kept) => kept?.into_os_string().into_string().ok(),
            Err(error) => {
                if !self.has_complained {
                    self.has_complained = true;
                    let state = self.state.display();
                    Output::default().message(&format!("a whole result can't be kept in {state}: {error}"));
                }
                None
            }
        }
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test looks at the files itself")]
mod tests {
    use super::*;
    use crate::config::{LayerKind, read};
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    use std::rc::Rc;

    #[test]
    fn a_result_is_kept_unless_it_is_not_wanted_or_does_not_go() {
        let state = tempfile::tempdir().unwrap();
        fs::set_permissions(state.path(), fs::Permissions::from_mode(0o700)).unwrap();
        assert_eq!(SpillFiles::new(state.path(), None, false).keep("[]"), None);
        assert_eq!(fs::read_dir(state.path()).unwrap().count(), 0);
        let path = SpillFiles::new(state.path(), None, true).keep("[\"é\"]").unwrap();
        assert_eq!(fs::read_to_string(path).unwrap(), "[\"é\"]");
        let in_the_way = state.path().join("file");
        fs::write(&in_the_way, "").unwrap();
        assert_eq!(SpillFiles::new(&in_the_way, None, true).keep("[]"), None);
    }

    #[test]
    fn either_may_say_no() {
        let wanted = |server: &str, policy: &str| {
            let text = format!("[servers.a]\ncommand = \"a\"\n{server}\n[policy]\n{policy}\n");
            let (declared, problems) = read(text.as_bytes(), "squire.toml".as_ref(), LayerKind::User);
            assert!(problems.is_empty(), "{problems:?}");
            SpillFiles::are_wanted(declared.servers.first().map(Rc::as_ref), &declared.policy)
        };
        let (yes, no) = ("spill = true", "spill = false");
        assert!(wanted("", "") && wanted(yes, "") && wanted("", yes) && wanted(yes, yes));
        assert!(!wanted(no, "") && !wanted("", no) && !wanted(no, yes) && !wanted(yes, no));
        assert!(SpillFiles::are_wanted(None, &Policy::default()));
    }
}
