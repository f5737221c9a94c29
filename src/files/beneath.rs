//! Opens what lies beneath a directory without following a symbolic link on the way.

use std::ffi::OsStr;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Component, Path};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

use super::{DIRECTORY, other};

/// How often the kernel may say that something was renamed on the way.
const ATTEMPTS: usize = 16;

/// Opens a relative path; `None` where it does not exist.
///
/// openat2(2) does it in one call. Where there is none (before Linux 5.6, under some sandboxes), and to find the words for a
/// refusal, every component is opened on its own.
pub(super) fn open_beneath(root: &OwnedFd, relative: &Path, flags: OFlags) -> io::Result<Option<OwnedFd>> {
    let is_name = |component| matches!(component, Component::Normal(_));
    if !relative.components().all(is_name) || relative.as_os_str().is_empty() {
        return Err(other("the path leaves the project"));
    }
    match in_one_call(root, relative, flags) {
        Ok(opened) => Ok(Some(opened)),
        Err(Errno::NOENT) => Ok(None),
        Err(_) => walk(root, relative, flags),
    }
}

#[cfg(target_os = "linux")]
fn in_one_call(root: &OwnedFd, relative: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    let mut outcome = Err(Errno::AGAIN);
    for _ in 0..ATTEMPTS {
        outcome = rustix::fs::openat2(root, relative, flags, Mode::empty(), resolve);
        if !matches!(outcome, Err(Errno::AGAIN | Errno::INTR)) {
            break;
        }
    }
    outcome
}

#[cfg(not(target_os = "linux"))]
fn in_one_call(_: &OwnedFd, _: &Path, _: OFlags) -> Result<OwnedFd, Errno> {
    Err(Errno::NOSYS)
}

fn walk(root: &OwnedFd, relative: &Path, flags: OFlags) -> io::Result<Option<OwnedFd>> {
    let mut opened: Option<OwnedFd> = None;
    let mut components = relative.iter().peekable();
    while let Some(name) = components.next() {
        let flags = if components.peek().is_some() { DIRECTORY } else { flags };
        match open_no_follow(opened.as_ref().unwrap_or(root), name, flags)? {
            Some(next) => opened = Some(next),
            None => return Ok(None),
        }
    }
    Ok(opened)
}

fn open_no_follow(directory: &OwnedFd, name: &OsStr, flags: OFlags) -> io::Result<Option<OwnedFd>> {
    match rustix::fs::openat(directory, name, flags | OFlags::NOFOLLOW, Mode::empty()) {
        Ok(opened) => Ok(Some(opened)),
        Err(Errno::NOENT) => Ok(None),
        Err(Errno::LOOP | Errno::NOTDIR) => {
            let kind = rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)
                .map(|stat| FileType::from_raw_mode(stat.st_mode));
            let shown = name.display();
            Err(other(match kind {
                Ok(FileType::Symlink) => format!("{shown} is a symbolic link, and squire follows none here"),
                _ => format!("{shown} is no directory"),
            }))
        }
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test makes its files")]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    /// A root with `a/b`, a file in it, and links of every kind.
    fn root() -> (tempfile::TempDir, OwnedFd) {
        let temp = tempfile::tempdir().unwrap();
        let below = temp.path().join("root");
        std::fs::create_dir_all(below.join("a/b")).unwrap();
        std::fs::write(below.join("a/b/file"), "inside").unwrap();
        std::fs::create_dir(temp.path().join("outside")).unwrap();
        std::fs::write(temp.path().join("outside/file"), "outside").unwrap();
        symlink("../outside", below.join("directory")).unwrap();
        symlink("a/b/file", below.join("link")).unwrap();
        symlink("nowhere", below.join("dangling")).unwrap();
        let handle = rustix::fs::open(&below, DIRECTORY, Mode::empty()).unwrap();
        (temp, handle)
    }

    /// One call and the walk agree, on what they open and on what they refuse.
    #[test]
    fn b27_the_walk_and_the_kernel_agree() {
        let (_temp, root) = root();
        for (path, expected) in [
            ("a/b/file", Ok(true)),
            ("a/nothing", Ok(false)),
            ("nothing/file", Ok(false)),
            ("link", Err("link is a symbolic link, and squire follows none here")),
            ("dangling", Err("dangling is a symbolic link, and squire follows none here")),
            ("directory/file", Err("directory is a symbolic link, and squire follows none here")),
            ("a/b/file/more", Err("file is no directory")),
        ] {
            let seen = |opened: io::Result<Option<OwnedFd>>| {
                opened.map(|opened| opened.is_some()).map_err(|error| error.to_string())
            };
            let expected = expected.map_err(str::to_owned);
            assert_eq!(seen(walk(&root, path.as_ref(), super::super::READ)), expected, "{path}");
            assert_eq!(seen(open_beneath(&root, path.as_ref(), super::super::READ)), expected, "{path}");
            let refused = in_one_call(&root, path.as_ref(), super::super::READ).is_err();
            assert_eq!(refused, expected != Ok(true), "{path}");
        }
    }

    #[test]
    fn b27_no_path_leads_out() {
        let (_temp, root) = root();
        for path in ["../outside/file", "/etc/passwd", "a/../../outside/file", ""] {
            let error = open_beneath(&root, path.as_ref(), super::super::READ).unwrap_err();
            assert_eq!(error.to_string(), "the path leaves the project", "{path}");
        }
    }
}
