//! The log of one start of the agent: one JSON object, replaced as a whole when it grows.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::{env, io};

use serde_json::{Map, Value, json};

use super::given_files;
use crate::{files, process};

/// What is known about this start so far.
pub(crate) struct Record {
    path: Option<PathBuf>,
    content: Map<String, Value>,
}

impl Record {
    pub(crate) fn new(program: &OsStr, arguments: &[OsString]) -> Self {
        let name = Path::new(program).file_name().unwrap_or_default();
        let mut content = Map::from_iter([("name".into(), json!(name.to_string_lossy()))]);
        content.append(&mut process::description(arguments));
        content.insert("files".into(), given_files::describe(arguments));
        Self { path: env::var_os("FAKE_AGENT_LOG").map(PathBuf::from), content }
    }

    /// Adds one fact and saves the log anew.
    pub(crate) fn add(&mut self, key: &str, value: Value) -> io::Result<()> {
        self.content.insert(key.into(), value);
        self.save()
    }

    pub(crate) fn save(&self) -> io::Result<()> {
        let Some(path) = &self.path else { return Ok(()) };
        files::write_atomically(path, &json!(self.content).to_string())
    }
}
