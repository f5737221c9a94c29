//! The log of a server: one JSON object per line, each in one write, so that processes can share it.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use serde_json::{Map, Value, json};

use crate::process;

/// Where events go; nowhere without a file.
pub(crate) struct EventLog(Option<File>);

impl EventLog {
    pub(crate) fn open(path: Option<&Path>) -> io::Result<Self> {
        path.map(|path| File::options().create(true).append(true).open(path)).transpose().map(Self)
    }

    pub(crate) fn start(&self, kind: &str, arguments: &[OsString]) -> io::Result<()> {
        let mut event = Map::from_iter([("event".into(), json!("start")), ("kind".into(), json!(kind))]);
        event.append(&mut process::description(arguments));
        self.append(&json!(event))
    }

    /// Appends one event.
    pub(crate) fn append(&self, event: &Value) -> io::Result<()> {
        let Some(mut file) = self.0.as_ref() else { return Ok(()) };
        file.write_all(format!("{event}\n").as_bytes())
    }
}
