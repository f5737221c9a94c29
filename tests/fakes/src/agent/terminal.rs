//! What the agent does with its terminal, and what it sees of it.

use std::io;

use rustix::process::getpgrp;
use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcgetpgrp, tcgetwinsize, tcsetattr};
use serde_json::{Value, json};

/// One read of stdin, as it comes: a line, what is there in raw mode, nothing at the end.
pub(crate) fn read() -> io::Result<Value> {
    let mut bytes = [0; 4096];
    let count = rustix::io::read(io::stdin(), &mut bytes)?;
    Ok(json!(String::from_utf8_lossy(&bytes[..count])))
}

/// Every key comes as it is pressed, Ctrl-C included.
pub(crate) fn set_raw() -> io::Result<()> {
    let mut attributes = tcgetattr(io::stdin())?;
    attributes.make_raw();
    Ok(tcsetattr(io::stdin(), OptionalActions::Now, &attributes)?)
}

pub(crate) fn window() -> io::Result<Value> {
    let size = tcgetwinsize(io::stdin())?;
    Ok(json!([size.ws_row, size.ws_col]))
}

/// Whether the terminal is this group's, and whether it cooks lines and echoes.
pub(crate) fn state() -> io::Result<Value> {
    let local = tcgetattr(io::stdin())?.local_modes;
    Ok(json!({
        "foreground": tcgetpgrp(io::stdin())? == getpgrp(),
        "lines": local.contains(LocalModes::ICANON),
        "echo": local.contains(LocalModes::ECHO),
        "signals": local.contains(LocalModes::ISIG),
    }))
}
