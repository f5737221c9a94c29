//! A run of squire of which every system call is seen.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::process::Command;

use super::tracer::executions::{Executions, executions};
use super::tracer::{Call, Order, Trace, trace};
use super::{Test, programs, snapshot};

impl Test {
    /// Runs squire and asks about each of its system calls; the test judges all of it by itself.
    pub(crate) fn traced(mut self, decide: impl FnMut(&Call) -> Order) -> Trace {
        self.wrapper = vec![programs::traced().into()];
        trace(&mut self.command(), &self.root(), decide)
    }

    /// Runs squire and notes every program that it and its descendants start; the test judges all of it by itself.
    pub(crate) fn executions(&self) -> Executions {
        let mut test = self.clone();
        test.wrapper = vec![programs::traced().into()];
        executions(&mut test.command(), &self.stdin)
    }

    /// Another command of squire in the same place.
    pub(crate) fn command_of(&self, words: &[&str]) -> Command {
        let mut test = self.clone();
        test.arguments = words.iter().map(OsString::from).collect();
        test.command()
    }

    /// Kind, permissions and bytes of everything in the project, by the path below it.
    pub(crate) fn project_by_path(&self) -> BTreeMap<String, (String, Vec<u8>)> {
        let project = self.path("project").display().to_string();
        let below = |path: &str| path.strip_prefix(&project).map(str::to_owned);
        let found = snapshot(&self.root()).into_iter();
        found.filter_map(|(path, state)| Some((below(&path)?, state))).collect()
    }
}
