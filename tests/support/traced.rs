//! A run of squire of which every system call is seen.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::process::Command;

use super::tracer::{Call, Order, Trace, trace};
use super::{Test, programs, snapshot};

impl Test {
    /// Runs squire and asks about each of its system calls; the test judges all of it by itself.
    pub(crate) fn traced(mut self, decide: impl FnMut(&Call) -> Order) -> Trace {
        self.wrapper = vec![programs::traced().into()];
        trace(&mut self.command(), &self.root(), decide)
    }

    /// Another command of squire in the same place.
    pub(crate) fn command_of(&self, words: &[&str]) -> Command {
        let mut test = self.clone();
        test.arguments = words.iter().map(OsString::from).collect();
        test.command()
    }

    /// Kind, permissions and bytes of everything in the project.
    pub(crate) fn project_as_it_is(&self) -> BTreeMap<String, (String, Vec<u8>)> {
        let project = self.path("project").display().to_string();
        snapshot(&self.root()).into_iter().filter(|(path, _)| path.starts_with(&project)).collect()
    }
}
