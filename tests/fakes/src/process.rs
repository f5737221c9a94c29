//! How the running process was started, as both programs log it.

use std::env;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::parent_id;
use std::process;

use serde_json::{Map, Value, json};

/// `argv` (without the program), `cwd`, `pid`, `ppid` and `env`, plus `argv_bytes` where the lossy
/// `argv` would hide something.
pub(crate) fn description(arguments: &[OsString]) -> Map<String, Value> {
    let argv: Vec<_> = arguments.iter().map(|argument| argument.to_string_lossy()).collect();
    let mut description = Map::new();
    description.insert("argv".into(), json!(argv));
    if arguments.iter().any(|argument| argument.to_str().is_none()) {
        let bytes: Vec<_> = arguments.iter().map(|argument| argument.as_bytes()).collect();
        description.insert("argv_bytes".into(), json!(bytes));
    }
    let directory = env::current_dir().ok().map(|path| path.to_string_lossy().into_owned());
    description.insert("cwd".into(), json!(directory));
    description.insert("pid".into(), json!(process::id()));
    description.insert("ppid".into(), json!(parent_id()));
    description.insert("env".into(), Value::Object(environment()));
    description
}

/// The whole environment.
pub(crate) fn environment() -> Map<String, Value> {
    env::vars_os()
        .map(|(name, value)| (name.to_string_lossy().into_owned(), json!(value.to_string_lossy())))
        .collect()
}
