//! The files that the agent was given: read at once, for they may be gone when the test looks.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

use serde_json::{Value, json};

/// Every regular file that an argument names, and the two that agents find by themselves.
pub(crate) fn describe(arguments: &[OsString]) -> Value {
    let named = arguments.iter().map(|argument| PathBuf::from(named_path(argument)));
    let found = [Some(PathBuf::from(".cursor/mcp.json")), env::var_os("OPENCODE_CONFIG").map(PathBuf::from)];
    named
        .chain(found.into_iter().flatten())
        .filter(|path| path.is_file())
        .filter_map(|path| describe_file(&path).ok())
        .collect()
}

/// PATH of `--OPTION=PATH`, or the argument itself.
fn named_path(argument: &OsStr) -> &OsStr {
    let bytes = argument.as_bytes();
    let equals = bytes.iter().position(|byte| *byte == b'=');
    match equals {
        Some(position) if bytes.starts_with(b"--") => OsStr::from_bytes(&bytes[position + 1..]),
        Some(_) | None => argument,
    }
}

fn describe_file(path: &Path) -> io::Result<Value> {
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let content = fs::read(path).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    Ok(json!({
        "path": path.to_string_lossy(),
        "mode": mode(path)?,
        "directory_mode": mode(directory)?,
        "content": content,
    }))
}

fn mode(path: &Path) -> io::Result<String> {
    Ok(format!("{:04o}", fs::metadata(path)?.permissions().mode() & 0o7777))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_may_carry_its_path() {
        assert_eq!(named_path(OsStr::new("--config=/a=b")), "/a=b");
        assert_eq!(named_path(OsStr::new("name=value")), "name=value");
        assert_eq!(named_path(OsStr::new("/plain")), "/plain");
    }
}
