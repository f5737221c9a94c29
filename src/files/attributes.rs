//! What a file has beside its bytes and permissions: access control lists, and the attributes of the user's programs.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;

use rustix::buffer::spare_capacity;
use rustix::fs::XattrFlags;
use rustix::io::Errno;

/// The most that the system gives of a list or of one value (xattr(7)).
const LIMIT: usize = 64 * 1024;

/// Copies them to a file that takes another's place. The system's own labels (`security.…`) it gives itself.
pub(super) fn copy(from: &OwnedFd, to: &File) -> io::Result<()> {
    let mut names = Vec::with_capacity(LIMIT);
    match rustix::fs::flistxattr(from, spare_capacity(&mut names)) {
        Ok(_) => {}
        Err(Errno::NOTSUP | Errno::NOSYS) => return Ok(()),
        Err(error) => return Err(error.into()),
    }
    let is_the_users = |name: &&[u8]| name.starts_with(b"user.") || *name == b"system.posix_acl_access";
    for name in names.split(|byte| *byte == 0).filter(is_the_users) {
        let mut value = Vec::with_capacity(LIMIT);
        rustix::fs::fgetxattr(from, name, spare_capacity(&mut value))?;
        rustix::fs::fsetxattr(to, name, &value, XattrFlags::empty())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b80_attributes_of_the_user_go_along() {
        let (from, to) = (tempfile::tempfile().unwrap(), tempfile::tempfile().unwrap());
        rustix::fs::fsetxattr(&from, c"user.origin", b"here", XattrFlags::empty()).unwrap();
        copy(&OwnedFd::from(from), &to).unwrap();
        let mut value = Vec::with_capacity(LIMIT);
        rustix::fs::fgetxattr(&to, c"user.origin", spare_capacity(&mut value)).unwrap();
        assert_eq!(value, b"here");
    }
}
