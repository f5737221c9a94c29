//! What hostile repositories are made of.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use super::super::random::Random;
use super::kinds::{Aim, declarations, others};
use super::program;

/// Lays some pieces into `repository`, and gives their names. Each would leave `pwned`, or connect to the port.
pub(super) fn lay(root: &Path, port: u16, random: &mut Random) -> Vec<&'static str> {
    let repository = root.join("repository");
    let mut laid = Vec::new();
    let place = ["", "sub/", "sub/deep/"][usize::try_from(random.below(3)).unwrap()];
    let (pwned, own) = (root.join("pwned").display().to_string(), repository.display().to_string());
    let aim = Aim { pwned: &pwned, repository: &own, port };
    let mut all = declarations(&aim);
    let (name, text) = all.swap_remove(usize::try_from(random.below(all.len() as u64)).unwrap());
    laid.push(name);
    let file = repository.join(place).join("squire.toml");
    match random.below(12) {
        0 => {
            laid.push("a linked squire.toml");
            fs::write(repository.join("elsewhere"), text).unwrap();
            symlink(repository.join("elsewhere"), &file).unwrap();
        }
        1 => {
            laid.push("a squire.toml that everybody may write");
            fs::write(&file, text).unwrap();
            fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).unwrap();
        }
        2 => {
            laid.push("a squire.toml that is a directory");
            fs::create_dir(&file).unwrap();
        }
        _ => fs::write(&file, text).unwrap(),
    }
    for (name, path, text) in others(&aim) {
        if random.below(3) == 0 {
            laid.push(name);
            let path = repository.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
    }
    if random.below(2) == 0 {
        laid.push("programs of its own");
        let pwn = format!("#!/bin/sh\ntouch {}/pwned\n", root.display());
        for directory in ["", "bin", "sub", "sub/bin", "sub/deep"] {
            fs::create_dir_all(repository.join(directory)).unwrap();
            for name in ["evil", "claude", "codex", "cursor-agent", "opencode", "true", "sh", "git", "node"] {
                program(&repository.join(directory).join(name), &pwn);
            }
        }
    }
    laid
}
