//! Files that the user asked for: what a tool gave.

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use super::beneath::open_beneath;
use super::{DIRECTORY, other, write_new};

/// How many files of one name and another number there may be.
const MOST: usize = 10_000;

/// A directory that the user named.
pub struct Results {
    path: PathBuf,
    handle: OwnedFd,
}

impl Results {
    /// Opens it, below the working directory where its path is relative; it is made, 0700, where it alone is missing. A
    /// repository can have laid no link on the way: of a relative path none is followed, of another one not the last.
    pub fn open(path: &Path, working: &Path) -> io::Result<Self> {
        let open = |path: &Path| -> io::Result<Option<OwnedFd>> {
            let is_name = |component| matches!(component, Component::Normal(_));
            if path.components().all(is_name) && !path.as_os_str().is_empty() {
                let here = rustix::fs::open(working, DIRECTORY, Mode::empty())?;
                return open_beneath(&here, path, DIRECTORY);
            }
            match rustix::fs::open(path, DIRECTORY | OFlags::NOFOLLOW, Mode::empty()) {
                Ok(opened) => Ok(Some(opened)),
                Err(Errno::NOENT) => Ok(None),
                Err(Errno::LOOP | Errno::NOTDIR) => {
                    Err(other("it is no directory, or a symbolic link to one"))
                }
                Err(error) => Err(error.into()),
            }
        };
        let path: PathBuf = path.components().filter(|part| *part != Component::CurDir).collect();
        let path = if path.as_os_str().is_empty() { working.to_path_buf() } else { path };
        if let Some(handle) = open(&path)? {
            return Ok(Self { path, handle });
        }
        let missing = || other("there is no such directory");
        let name = path.file_name().ok_or_else(missing)?;
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(working);
        let above = open(parent)?.ok_or_else(missing)?;
        rustix::fs::mkdirat(&above, name, Mode::RWXU)?;
        let handle = rustix::fs::openat(&above, name, DIRECTORY | OFlags::NOFOLLOW, Mode::empty())?;
        Ok(Self { path, handle })
    }

    /// Writes a new file, 0600: `STEM.EXTENSION`, or with the next number that is free, as nothing is overwritten.
    pub fn write(&self, stem: &str, extension: &str, bytes: &[u8]) -> io::Result<PathBuf> {
        for number in 1..MOST {
            let number = if number == 1 { String::new() } else { format!("-{number}") };
            let name = format!("{stem}{number}.{extension}");
            match write_new(&self.handle, &name, bytes, Mode::RUSR | Mode::WUSR) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                written => return written.map(|_| self.path.join(name)),
            }
        }
        Err(other(format!("there are {MOST} files of the name {stem}")))
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test makes its files")]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn nothing_is_overwritten_and_no_link_followed() {
        let temp = tempfile::tempdir().unwrap();
        let here = temp.path();
        let outside = tempfile::tempdir().unwrap();
        let results = Results::open("out".as_ref(), here).unwrap();
        symlink(outside.path().join("victim"), here.join("out/a.png")).unwrap();
        assert_eq!(results.write("a", "png", b"1").unwrap(), Path::new("out/a-2.png"));
        assert_eq!(results.write("a", "png", b"2").unwrap(), Path::new("out/a-3.png"));
        assert_eq!(fs::read(here.join("out/a-2.png")).unwrap(), b"1");
        let mode = |path: &str| fs::metadata(here.join(path)).unwrap().permissions().mode() & 0o7777;
        assert_eq!((mode("out"), mode("out/a-3.png")), (0o700, 0o600));
        symlink(outside.path(), here.join("link")).unwrap();
        for path in ["link", "link/below", "nothing/below", "out/a-2.png"] {
            assert!(Results::open(path.as_ref(), here).is_err(), "{path}");
        }
        assert!(Results::open(&here.join("link"), here).is_err());
        assert!(Results::open(&here.join("out"), Path::new("/")).is_ok());
        assert!(Results::open("./out".as_ref(), here).is_ok());
        assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
    }
}
