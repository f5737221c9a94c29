//! Becomes another user, and tells which of the paths of its standard input it can read or list, and how many bytes that
//! is: one JSON object.
#![expect(clippy::print_stdout, reason = "a test program prints")]

use std::error::Error;
use std::fs;
use std::io::{self, BufRead};
use std::path::Path;

use nix::unistd::{Gid, Uid, setgid, setgroups, setuid};
use serde_json::json;

/// Nobody, on every Linux.
const STRANGER: u32 = 65534;

fn main() -> Result<(), Box<dyn Error>> {
    let paths: Vec<String> = io::stdin().lock().lines().collect::<Result<_, _>>()?;
    let group = Gid::from_raw(STRANGER);
    setgroups(&[group])?;
    setgid(group)?;
    setuid(Uid::from_raw(STRANGER))?;
    let read = |path: &&String| bytes(Path::new(path)).is_some();
    let count: usize = paths.iter().filter_map(|path| bytes(Path::new(path))).sum();
    let readable: Vec<&String> = paths.iter().filter(read).collect();
    println!("{}", json!({ "tried": paths.len(), "readable": readable, "bytes": count }));
    Ok(())
}

/// The bytes of a file, or of the names in a directory; `None` where neither can be had.
fn bytes(path: &Path) -> Option<usize> {
    let names =
        || fs::read_dir(path).ok().map(|names| names.flatten().map(|name| name.file_name().len()).sum());
    fs::read(path).ok().map(|bytes| bytes.len()).or_else(names)
}
