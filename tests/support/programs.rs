//! The programs that tests start: squire, and the fakes, which are built on demand.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

pub(crate) const SQUIRE: &str = env!("CARGO_BIN_EXE_squire");

pub(crate) fn fake_agent() -> PathBuf {
    fakes().join("fake-agent")
}

pub(crate) fn fake_server() -> PathBuf {
    fakes().join("fake-server")
}

pub(crate) fn fake_shell() -> PathBuf {
    fakes().join("fake-shell")
}

/// Becomes another user, and tells what it can read.
pub(crate) fn stranger() -> PathBuf {
    fakes().join("stranger")
}

/// Becomes the program of its arguments, which its parent then traces.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub(crate) fn traced() -> PathBuf {
    fakes().join("traced")
}

/// Cargo builds the programs of another package for no test, so the first test that needs them asks for it.
fn fakes() -> &'static Path {
    static DIRECTORY: OnceLock<PathBuf> = OnceLock::new();
    DIRECTORY.get_or_init(|| {
        // Beside squire: the same target directory and the same profile.
        let directory = Path::new(SQUIRE).parent().unwrap().to_path_buf();
        let mut build = Command::new(env!("CARGO"));
        build
            .args(["build", "--quiet", "--package", "squire-fakes", "--target-dir"])
            .arg(directory.parent().unwrap());
        if directory.ends_with("release") {
            build.arg("--release");
        }
        let status = build.current_dir(env!("CARGO_MANIFEST_DIR")).status().unwrap();
        assert!(status.success(), "the fakes could not be built");
        directory
    })
}
