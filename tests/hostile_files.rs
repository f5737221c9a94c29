//! What else may lie where Cursor's file of the project is: each is refused, nothing of it and nothing elsewhere is
//! touched, and no agent is started (case B27). `tests/cursor_file.rs` has the shapes that people make by mistake:
//! links to files and directories, dangling ones, hard links, a FIFO, a directory, what is no JSON.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::fs::{CWD, FileType, IFlags, Mode, makedev, mknodat};

use crate::support::{SQUIRE, Test, Watched};

const DIRECTORY: &str = "project/.cursor";
const FILE: &str = "project/.cursor/mcp.json";
const VICTIM: &str = "victim/mcp.json";
/// Whoever that is, it is not the one who runs the tests as root.
const NOBODY: u32 = 65534;

/// A name, how it is made, and how the reason begins. What can't be made here is `None`.
type Shape = (&'static str, fn(&Test) -> Option<()>, &'static str);

/// Made by whoever runs the tests.
const SHAPES: &[Shape] = &[
    ("a socket", |test| UnixListener::bind(test.path(FILE)).ok().map(drop), "mcp.json: "),
    ("a device", |test| node(&test.path(FILE), FileType::CharacterDevice), "it is no regular file"),
    ("a link to itself", |test| link("mcp.json", &test.path(FILE)), "mcp.json is a symbolic link"),
    ("a link beside it", |test| link_beside(test, "mcp.json.own"), "mcp.json is a symbolic link"),
    ("a chain of links", chain, "mcp.json is a symbolic link"),
    ("a link to a device", |test| link("/dev/zero", &test.path(FILE)), "mcp.json is a symbolic link"),
    (
        "a link to a process's own",
        |test| link("/proc/self/fd/0", &test.path(FILE)),
        "mcp.json is a symbolic link",
    ),
    (
        "one byte too many",
        |test| fs::write(test.path(FILE), " ".repeat(1024 * 1024 + 1)).ok(),
        "it is larger than",
    ),
    (
        "a sparse file",
        |test| fs::File::create(test.path(FILE)).unwrap().set_len(1 << 26).ok(),
        "it is larger than",
    ),
    ("deep arrays", |test| fs::write(test.path(FILE), "[".repeat(500_000)).ok(), "it is no JSON"),
    ("deep objects", |test| fs::write(test.path(FILE), "{\"a\":".repeat(100_000)).ok(), "it is no JSON"),
    ("somebody else's file", |test| foreign(test, FILE), "it belongs to somebody else"),
    ("an immutable file", |test| flagged(test, FILE, IFlags::IMMUTABLE), "Operation not permitted"),
    ("a file to append to", |test| flagged(test, FILE, IFlags::APPEND), "Operation not permitted"),
    ("an immutable directory", |test| flagged(test, DIRECTORY, IFlags::IMMUTABLE), "Operation not permitted"),
    ("a FIFO for the directory", |test| node(&instead(test), FileType::Fifo), ".cursor is no directory"),
    (
        "a socket for the directory",
        |test| UnixListener::bind(instead(test)).ok().map(drop),
        ".cursor is no directory",
    ),
    ("a directory linked to itself", |test| link(".cursor", &instead(test)), ".cursor is a symbolic link"),
    ("a directory of the project", |test| link(".git", &instead(test)), ".cursor is a symbolic link"),
    ("the root directory", |test| link("/", &instead(test)), ".cursor is a symbolic link"),
    ("the project itself", |test| link(".", &instead(test)), ".cursor is a symbolic link"),
];

/// Made for a user without rights over the files of others.
const WITHOUT_RIGHTS: &[Shape] = &[
    ("an unreadable file", |test| unreadable(test, FILE, 0o000), "Permission denied"),
    ("a file to write alone", |test| unreadable(test, FILE, 0o200), "Permission denied"),
    ("a closed directory", |test| unreadable(test, DIRECTORY, 0o000), "Permission denied"),
    ("a read-only directory", |test| unreadable(test, DIRECTORY, 0o500), "Permission denied"),
    ("a directory without names", |test| unreadable(test, DIRECTORY, 0o300), "Permission denied"),
];

/// The place of the directory, which is away.
fn instead(test: &Test) -> std::path::PathBuf {
    fs::remove_dir(test.path(DIRECTORY)).unwrap();
    test.path(DIRECTORY)
}

fn link(target: &str, path: &Path) -> Option<()> {
    symlink(target, path).ok()
}

fn link_beside(test: &Test, name: &str) -> Option<()> {
    fs::write(test.path(DIRECTORY).join(name), "{}").ok()?;
    link(name, &test.path(FILE))
}

fn chain(test: &Test) -> Option<()> {
    link("second", &test.path(FILE))?;
    link("../../victim/mcp.json", &test.path(DIRECTORY).join("second"))
}

fn node(path: &Path, kind: FileType) -> Option<()> {
    mknodat(CWD, path, kind, Mode::RUSR | Mode::WUSR, makedev(1, 3)).ok()
}

fn foreign(test: &Test, path: &str) -> Option<()> {
    fs::write(test.path(path), "{}").ok()?;
    chown(test.path(path), Some(NOBODY), None).ok()
}

/// Not every file system has these flags, and not everybody may set them.
fn flagged(test: &Test, path: &str, flag: IFlags) -> Option<()> {
    fs::write(test.path(FILE), "{}").ok()?;
    let file = fs::File::open(test.path(path)).ok()?;
    let flags = rustix::fs::ioctl_getflags(&file).ok()?;
    rustix::fs::ioctl_setflags(&file, flags | flag).ok()
}

fn unreadable(test: &Test, path: &str, mode: u32) -> Option<()> {
    fs::write(test.path(FILE), "{}").ok()?;
    fs::set_permissions(test.path(path), fs::Permissions::from_mode(mode)).ok()
}

fn place() -> Test {
    let test = Test::new()
        .config("[servers.docs]\nurl = \"https://docs.example.com/mcp\"\n")
        .agent("cursor-agent", "")
        .write(VICTIM, "{\"mcpServers\": {}}")
        .args(["launch", "cursor", "--quiet"]);
    fs::create_dir(test.path(DIRECTORY)).unwrap();
    test
}

/// Refused with a reason, and nothing is another. `run_as` says who runs squire, once the shape is made.
fn check((name, make, reason): &Shape, run_as: impl Fn(Test) -> Test) -> bool {
    let test = place();
    if make(&test).is_none() {
        return false;
    }
    let test = run_as(test);
    // A directory of the project's own is another for a moment where the exchange itself is what fails.
    let is_own = fs::symlink_metadata(test.path(DIRECTORY)).unwrap().is_dir();
    let everywhere = ["victim", VICTIM, FILE, "project/.git", DIRECTORY];
    let watched = everywhere.iter().filter(|path| !is_own || **path != DIRECTORY);
    let watched = Watched::new(watched.map(|path| test.path(path)));
    let names = names(&test.path(DIRECTORY));
    let root = test.root();
    let (run, code) = test.any_stderr().ends();
    for path in [FILE, DIRECTORY] {
        unflag(&root.join(path));
    }
    assert_eq!(code, Some(125), "{name}: {}", run.stderr);
    let expected = format!("squire: <T>/{FILE}:");
    assert!(run.stderr.starts_with(&expected) && run.stderr.contains(reason), "{name}: {}", run.stderr);
    let only_helps = run.stderr.lines().skip(1).all(|line| line.starts_with("  help: "));
    assert!(only_helps, "{name}: {}", run.stderr);
    assert!(!run.agent_was_started(), "{name}");
    watched.assert_untouched();
    assert_eq!(self::names(&root.join(DIRECTORY)), names, "{name}");
    assert_eq!(run.files_below("home/.local"), Vec::<String>::new(), "{name}");
    true
}

fn names(directory: &Path) -> BTreeSet<OsString> {
    let entries = fs::read_dir(directory).into_iter().flatten();
    entries.map(|entry| entry.unwrap().file_name()).collect()
}

/// So that the test's directory can be removed.
fn unflag(path: &Path) {
    let is_plain = fs::symlink_metadata(path).is_ok_and(|found| found.is_file() || found.is_dir());
    if is_plain
        && let Ok(file) = fs::File::open(path)
        && let Ok(flags) = rustix::fs::ioctl_getflags(&file)
        && flags.intersects(IFlags::IMMUTABLE | IFlags::APPEND)
    {
        rustix::fs::ioctl_setflags(&file, flags - (IFlags::IMMUTABLE | IFlags::APPEND)).unwrap();
    }
}

/// Tells what was not made here, which is seen with `--nocapture`.
#[expect(clippy::print_stdout, reason = "the count is for whoever asks for it with --nocapture")]
fn check_all(shapes: &[Shape], run_as: impl Fn(Test) -> Test) {
    let (checked, not_here): (Vec<&Shape>, Vec<&Shape>) =
        shapes.iter().partition(|shape| check(shape, &run_as));
    let not_here: Vec<&str> = not_here.iter().map(|(name, ..)| *name).collect();
    println!("{} shapes refused; can't be made here: {not_here:?}", checked.len());
    assert!(checked.len() + 5 >= shapes.len(), "{not_here:?}");
}

#[test]
fn b27_what_is_no_plain_file_is_refused() {
    check_all(SHAPES, |test| test);
}

/// Root reads and writes everything, and gives the rights away for this.
#[test]
fn b27_what_cannot_be_opened_is_refused() {
    if !rustix::process::geteuid().is_root() {
        return check_all(WITHOUT_RIGHTS, |test| test);
    }
    let nobody = format!("setpriv --reuid {NOBODY} --regid {NOBODY} --clear-groups");
    let may_run = Command::new("/bin/sh")
        .args(["-c", &format!("{nobody} {SQUIRE} --version")])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    // Without the tool, or where squire lies in a directory of root's own.
    if may_run.is_ok_and(|status| status.success()) {
        check_all(WITHOUT_RIGHTS, |test| given_away(test).behind(&format!("set -- {nobody} \"$@\"")));
    }
}

fn given_away(test: Test) -> Test {
    let owner = format!("{NOBODY}:{NOBODY}");
    let status = Command::new("chown").args(["-R", &owner]).arg(test.root()).status().unwrap();
    assert!(status.success());
    test
}

/// The largest file that is read is larger with entries in it: whether it is refused or taken, it is as it was in the
/// end.
#[test]
fn b27_a_file_that_becomes_too_large_is_as_it_was() {
    let text = format!("{{}}{}", " ".repeat(1024 * 1024 - 2));
    let (run, code) = place().write(FILE, &text).any_stderr().ends();
    assert!(matches!(code, Some(0 | 125)), "{}", run.stderr);
    assert_eq!(run.agent_was_started(), code == Some(0));
    assert!(fs::read_to_string(run.path(FILE)).unwrap() == text, "{}", run.stderr);
}
