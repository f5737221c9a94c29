//! Changes the user's `secrets.toml`: under a lock, whole or not at all, and never to something that can't be read.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use zeroize::Zeroizing;

use super::Secrets;
use super::sources::read;
use crate::config::{Problems, Unusable};
use crate::files;

/// How long another change may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// Changes the file of a config directory, which is made where it is missing. `edit` is given what it holds.
pub fn change(config: &Path, edit: impl FnOnce(&Secrets, &str) -> Result<Zeroizing<String>>) -> Result<()> {
    // Where the file is a link, it stays one.
    let path = files::real_path_of_existing_part(&Secrets::file(config));
    let directory = path.parent().context("there is no config directory")?;
    let name = path.file_name().and_then(|name| name.to_str()).context("its name is not UTF-8")?;
    let unwritable = || format!("{} can't be written", path.display());
    let lock = files::Lock::take(directory, &format!(".{name}.lock"), PATIENCE).with_context(unwritable)?;
    let lock = lock.with_context(|| format!("{} is being changed by another process", path.display()))?;
    let changed = change_locked(config, &path, edit).and_then(|text| {
        let temporary = format!(".{name}.{}", files::random_name()?);
        files::write_lasting(directory, name, &temporary, text.as_bytes()).with_context(unwritable)
    });
    // The change counts; a lock that stays behind hinders nobody.
    let _ = lock.remove();
    changed
}

fn change_locked(
    config: &Path,
    path: &Path,
    edit: impl FnOnce(&Secrets, &str) -> Result<Zeroizing<String>>,
) -> Result<Zeroizing<String>> {
    let secrets = Secrets::load(config)?;
    let bytes = files::read_secret(path, files::LIMIT)
        .map_err(|error| Unusable { path: path.to_path_buf(), reason: error.to_string() })?
        .unwrap_or_default();
    let text = edit(&secrets, std::str::from_utf8(&bytes)?)?;
    let (_, problems) = read(text.as_bytes(), path);
    ensure!(
        problems.is_empty(),
        "{} can't be changed so; edit it by hand:\n{}",
        path.display(),
        Problems(problems)
    );
    ensure!(text.len() as u64 <= files::LIMIT, "{} would be larger than 1 MiB", path.display());
    Ok(text)
}
