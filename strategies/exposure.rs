//! Credentials that a declaration holds in clear, where what carries the entry to the agent is not private.

use alloc::format;

use crate::artifacts::{Code, Note};
use crate::server::{ResolvedServer, Route};

/// The note that leaves a server out whose credential others could read: `carrier` says where, as in "an argument,
/// which …".
pub(crate) fn note(server: &ResolvedServer, carrier: &str) -> Option<Note> {
    let remote = server.transport.remote().filter(|_| server.route == Route::Direct)?;
    let credential = remote.credential()?;
    Some(Note {
        code: Code::Exposed,
        server: Some(server.name.clone()),
        sentence: format!("{credential} would stand in {carrier}"),
        mend: None,
        place: None,
    })
}
