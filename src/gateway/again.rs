//! What `squire enable NAME` leaves for gateways that have given their server up: they try it again.

use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime};

use crate::files;

/// The directory of the marks in the state directory; each is a file of a server's name.
pub(crate) const DIRECTORY: &str = "enabled";

/// The kernel's clock for files may lag behind by as much.
const COARSE: Duration = Duration::from_millis(20);

/// Tells all gateways of a server, of every launch, to try it again with the next request.
pub(crate) fn try_again(state: &Path, server: &str) -> io::Result<()> {
    files::write_lasting(&state.join(DIRECTORY), server, &format!(".{server}.new"), b"")
}

/// Whether that was wanted after this time.
pub(super) fn is_wanted(state: &Path, server: &str, after: SystemTime) -> bool {
    let mark = files::length_and_time(&state.join(DIRECTORY).join(server));
    // The clock of files is a little behind; a mark of the future, after a clock was put back, would hold for ever.
    mark.is_some_and(|(_, time)| time + COARSE > after && time <= SystemTime::now() + COARSE)
}
