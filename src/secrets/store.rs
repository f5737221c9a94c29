//! Changes the user's `secrets.toml`: under a lock, whole or not at all, and never to something that can't be read.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use zeroize::Zeroizing;

use super::Secrets;
use super::sources::{read, value_in};
use super::value::Value;
use crate::config::Problems;
use crate::files;

/// Changes the file of a config directory, which is made where it is missing. `edit` is given what it holds.
pub fn change(config: &Path, edit: impl FnOnce(&Secrets, &str) -> Result<Zeroizing<String>>) -> Result<()> {
    // Where the file is a link, it stays one.
    let path = files::real_path_of_existing_part(&Secrets::file(config));
    let unwritable = || format!("{} can't be written", path.display());
    if let Some(weakness) = path.parent().and_then(files::weakness) {
        let reason = format!("its directory is not ours alone to write: {weakness}");
        return Err(anyhow::anyhow!(reason).context(unwritable()));
    }
    // What is wrong with the file is told before it is locked, and looked at again then.
    Secrets::load(config)?;
    let file = files::Rewrite::of_user(&path).with_context(unwritable)?;
    let secrets = Secrets::load(config)?;
    let text = edit(&secrets, std::str::from_utf8(file.bytes())?)?;
    let (_, problems) = read(text.as_bytes(), &path);
    ensure!(
        problems.is_empty(),
        "{} can't be changed so; edit it by hand:\n{}",
        path.display(),
        Problems(problems)
    );
    file.finish(text.as_bytes(), 0o600).with_context(unwritable)
}

/// Whether the file itself holds this value for a secret, bound to no other server than this one.
pub fn holds(config: &Path, name: &str, value: &Value, server: &str) -> Result<bool> {
    let secrets = Secrets::load(config)?;
    let is_for = |secret: &super::Secret| {
        secret.servers.as_ref().is_none_or(|servers| servers.iter().any(|bound| bound.value == server))
    };
    if !secrets.find(name).is_some_and(is_for) {
        return Ok(false);
    }
    let bytes = files::read_secret(&secrets.path, files::LIMIT)?.unwrap_or_default();
    let found = value_in(&bytes, &secrets.path, name);
    Ok(found.is_some_and(|found| found.is_same(value)))
}
