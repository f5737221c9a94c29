//! Which calls are failed, and with what.

use nix::errno::Errno;
use nix::libc;

use crate::support::tracer::Call;

/// The calls of a launch that are not failed, and why not.
pub(super) const CANNOT_FAIL: &[(&str, &str)] = &[
    ("close", "what it tells is ignored: the bytes were written, and synced where it matters"),
    ("exit_group", "it does not return"),
    ("fcntl", "a check of the runtime that a descriptor is open"),
    ("geteuid", "it always succeeds"),
    ("getpid", "it always succeeds"),
    ("getrandom", "it waits for the kernel's generator, which is filled since the boot"),
    ("ioctl", "the terminal's settings, of which there are none where stdin is no terminal"),
    ("ppoll", "it waits for descriptors of the process itself"),
    ("prlimit64", "it reads a limit of the process itself"),
    ("recvfrom", "a socket within the process"),
    ("rt_sigaction", "it fails for a wrong number alone"),
    ("rt_sigprocmask", "it fails for a wrong number alone"),
    ("rt_sigreturn", "the return from a handler"),
    ("sendto", "a socket within the process"),
    ("sigaltstack", "the runtime's end"),
    ("umask", "it always succeeds"),
    ("wait4", "it fails for what is no child alone"),
];

/// What the allocator calls when it likes: memory, which no disk and no right denies.
pub(super) const MEMORY: &[&str] = &["brk", "madvise", "mmap", "mprotect", "mremap", "munmap"];

/// The errors that a call can meet.
pub(super) fn errnos(call: &Call) -> &'static [Errno] {
    use Errno::{EACCES, EAGAIN, EIO, EMFILE, ENOSPC, EROFS};
    match call.name {
        "open" if makes(call.arguments[1]) => &[ENOSPC, EROFS, EIO, EMFILE, EACCES],
        "openat" if makes(call.arguments[2]) => &[ENOSPC, EROFS, EIO, EMFILE, EACCES],
        // Its flags lie in memory; squire makes nothing with it.
        "open" | "openat" | "openat2" | "execve" => &[EIO, EMFILE, EACCES],
        "mkdirat" | "renameat" | "renameat2" | "fsetxattr" => &[ENOSPC, EROFS, EIO, EACCES],
        "unlinkat" | "unlink" | "rmdir" | "fchmod" | "fchmodat" | "fchown" => &[EROFS, EIO, EACCES],
        "write" | "fsync" | "fdatasync" | "ftruncate" => &[ENOSPC, EIO],
        "newfstatat" | "statx" | "readlink" | "readlinkat" | "access" | "faccessat" | "getcwd" => {
            &[EIO, EACCES]
        }
        "read" | "fstat" | "getdents64" | "flock" | "lseek" | "fstatfs" | "flistxattr" | "fgetxattr" => {
            &[EIO]
        }
        "socketpair" | "pipe2" | "signalfd4" => &[EMFILE],
        "clone3" | "clone" | "vfork" => &[EAGAIN],
        _ => &[],
    }
}

fn makes(flags: u64) -> bool {
    flags & u64::from(libc::O_CREAT.unsigned_abs()) != 0
}
