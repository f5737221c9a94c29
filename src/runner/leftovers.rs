//! What launches that died left behind: settled by the next command, whichever it is.

use std::path::Path;

use super::{merge, record};
use crate::output::Output;

/// Settles what dead launches left: entries in files of projects, private files, records. Only what is provably
/// squire's is touched, and what is said of it is said on stderr.
pub fn settle(state: &Path, output: Output) {
    merge::settle(state, output);
    record::settle(state);
}
