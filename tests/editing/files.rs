//! The files that edits write: their bytes, permissions, links, and what happens to them meanwhile.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use super::{FILE, PROJECT, RELATIVE, TEXT, squire, written};
use crate::support::Test;

fn mode(path: &std::path::Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

#[test]
fn a_first_file_is_made() {
    let run = Test::new()
        .args(["init"])
        .stderr(format!("squire: {FILE} is there now; `squire add` puts servers into it\n"))
        .success();
    assert_eq!((mode(&run.path(RELATIVE)), mode(&run.path("home/.config/squire"))), (0o600, 0o700));
    assert!(written(&run).starts_with("# Your MCP servers"));
    squire(&["init"]).stderr(format!("squire: {FILE} is there already\n")).unchanged().code(1);
    let run = Test::new()
        .args(["init", "--layer", "project"])
        .stderr("squire: <T>/project/squire.toml is there now; `squire add` puts servers into it\n")
        .success();
    assert_eq!(mode(&run.path(PROJECT)), 0o644);
    assert_eq!(run.files_below("home"), Vec::<String>::new());
}

/// A project's file says nothing of trust: all of it waits for each user's word.
#[test]
fn a_projects_file_is_edited_where_it_is_asked_for() {
    let run = Test::new()
        .write("project/sub/squire.toml", "# ours\n")
        .directory("project/sub")
        .args(["add", "p", "--layer", "project", "--", "p"])
        .stderr("squire: p is in <T>/project/sub/squire.toml now, and off until approved\nsquire: what remains:\n  squire approve p\n")
        .success();
    assert_eq!(
        fs::read_to_string(run.path("project/sub/squire.toml")).unwrap(),
        "# ours\n\n[servers.p]\ncommand = \"p\"\n"
    );
}

#[test]
fn b16_line_ends_a_mark_and_permissions_stay() {
    let text = format!("\u{feff}{}", TEXT.replace('\n', "\r\n"));
    let run = Test::new()
        .config(&text)
        .mode(RELATIVE, 0o640)
        .args(["disable", "db"])
        .stderr(format!("squire: db is off ({FILE})\n"))
        .success();
    assert_eq!(written(&run), text.replace("[\"db\"]\r\n\r\n", "[\"db\"]\r\ndisabled = true\r\n\r\n"));
    assert_eq!(mode(&run.path(RELATIVE)), 0o640);
    let utf16: Vec<u8> = [0xff, 0xfe].into_iter().chain("a = 1".bytes().flat_map(|byte| [byte, 0])).collect();
    Test::new()
        .write(RELATIVE, utf16)
        .args(["add", "x", "--", "x"])
        .stderr(format!("squire: {FILE}:1:1: this is UTF-16; squire reads UTF-8\n"))
        .unchanged()
        .code(1);
}

/// A broken file is edited by nobody.
#[test]
fn b26_what_is_no_toml_stays() {
    for words in [&["add", "x", "--", "x"][..], &["disable", "x"], &["profile", "add", "p"]] {
        let run =
            Test::new().config("[servers.a\n").args(words.iter().copied()).any_stderr().unchanged().code(1);
        assert!(run.stderr.starts_with(&format!("squire: {FILE}:1:")), "{}", run.stderr);
    }
}

/// A link to where dotfiles are kept stays one, and is said.
#[test]
fn b27_a_link_of_the_users_is_followed_and_stays() {
    let test = Test::new().write("home/dotfiles/s.toml", TEXT).link("../../dotfiles/s.toml", RELATIVE);
    let said =
        format!("squire: {FILE} leads to <T>/home/dotfiles/s.toml, which was changed; the link stays\n");
    let run = test.args(["disable", "db"]).stderr(format!("{said}squire: db is off ({FILE})\n")).success();
    assert!(fs::symlink_metadata(run.path(RELATIVE)).unwrap().is_symlink());
    assert!(fs::read_to_string(run.path("home/dotfiles/s.toml")).unwrap().contains("disabled = true"));
    assert_eq!(run.files_below("home/dotfiles"), ["s.toml"]);
    let run = Test::new()
        .link("../../gone.toml", RELATIVE)
        .args(["add", "x", "--", "x"])
        .stderr(format!("squire: {FILE}: it is a symbolic link to nothing\n"))
        .unchanged()
        .code(1);
    drop(run);
    Test::new()
        .write("project/s.toml", TEXT)
        .link("../../../project/s.toml", RELATIVE)
        .args(["disable", "db"])
        .stderr(format!("squire: {FILE} leads to <T>/project/s.toml, which lies in the project <T>/project: change it from elsewhere\n"))
        .unchanged()
        .code(1);
}

#[test]
fn b27_a_link_of_a_project_is_refused() {
    let test = Test::new().write("home/mine.toml", "").link("../home/mine.toml", PROJECT);
    let run = test.args(["add", "x", "--layer", "project", "--", "x"]).any_stderr().unchanged().code(1);
    assert!(run.stderr.contains("symbolic link"), "{}", run.stderr);
}

#[test]
fn hard_links_are_not_parted() {
    let test = squire(&["disable", "db"]);
    fs::hard_link(test.path(RELATIVE), test.path("home/other")).unwrap();
    let told = format!(
        "squire: {FILE} can't be changed: it has several hard links, and replacing it would part them\n"
    );
    let run = test.stderr(told).unchanged().code(1);
    assert_eq!(fs::metadata(run.path(RELATIVE)).unwrap().nlink(), 2);
}

/// Many at once: none is lost.
#[test]
fn b28_edits_side_by_side_all_count() {
    let test = squire(&[]);
    let running: Vec<_> = (0..12)
        .map(|number| {
            let words = ["add".to_owned(), format!("s{number}"), "--".into(), "srv".into()];
            test.clone().args(words).any_stderr().start()
        })
        .collect();
    for running in running {
        running.success();
    }
    let text = fs::read_to_string(test.path(RELATIVE)).unwrap();
    for number in 0..12 {
        assert_eq!(text.matches(&format!("[servers.s{number}]")).count(), 1, "{text}");
    }
    assert!(text.starts_with(TEXT.split("\n\n# of work").next().unwrap()), "{text}");
}
