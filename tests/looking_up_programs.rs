//! Which program runs as the agent (case B43): the first on PATH that no repository can have put there.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::process::Command;

use crate::support::{SQUIRE, Test};

const DECOY: &str = "#!/bin/sh\necho decoy\nexit 66\n";

fn launch() -> Test {
    Test::new()
        .config("[servers.docs]\nurl = \"https://docs.example.com/mcp\"\n")
        .args(["launch", "codex", "--quiet", "--server", "docs"])
}

/// A PATH of these entries; `<T>` is the test's directory.
fn with_path(test: Test, entries: &[&str]) -> Test {
    let path = entries.join(":").replace("<T>", test.root().to_str().unwrap());
    test.env("PATH", path)
}

/// What `--dry-run` says would run.
#[track_caller]
fn shown(test: Test) -> String {
    // An earlier run may have started it.
    let log = test.path("agent.json");
    let _ = fs::remove_file(&log);
    let run = test.args(["--dry-run"]).any_stdout().success();
    assert!(!run.agent_was_started());
    let line = run.stdout.lines().find_map(|line| line.strip_prefix("program: "));
    line.expect("no line names the program").to_owned()
}

#[test]
fn b43_entries_of_the_project_and_relative_ones_are_skipped() {
    let test = launch().agent("codex", "exit 5");
    let test = test
        .script("project/codex", DECOY)
        .script("project/node_modules/.bin/codex", DECOY)
        .script("project/bin/codex", DECOY)
        .link("project/bin", "linked")
        .script("project/tool", DECOY)
        .link("../project/tool", "by-file/codex");
    for entry in [
        "node_modules/.bin",
        "./node_modules/.bin",
        ".",
        "",
        "<T>/project",
        "<T>/project/bin",
        "<T>/linked",
        "<T>/by-file",
        "<T>/bin/../project/bin",
    ] {
        let test = with_path(test.clone(), &[entry, "<T>/bin"]);
        assert_eq!(shown(test.clone()), "<T>/bin/codex", "{entry}");
        test.code(5);
    }
    with_path(test, &["<T>/bin", "<T>/project/bin"]).code(5);
}

#[test]
fn b43_what_is_skipped_is_named_where_nothing_else_is_found() {
    let test = launch()
        .script("project/codex", DECOY)
        .script("project/bin/codex", DECOY)
        .link("project/bin", "linked")
        .link("../project/codex", "by-file/codex")
        .link(SQUIRE, "own/codex");
    let test = with_path(
        test,
        &["bin", "", ".", "<T>/project/bin", "<T>/linked", "<T>/by-file", "<T>/own", "<T>/absent"],
    );
    let reason = "codex was not found on PATH; \
        bin/codex is skipped: its PATH entry is relative; \
        codex is skipped: its PATH entry is relative; \
        ./codex is skipped: its PATH entry is relative; \
        <T>/project/bin/codex is skipped: it lies in the project; \
        <T>/linked/codex is skipped: it lies in the project; \
        <T>/by-file/codex is skipped: it lies in the project; \
        <T>/own/codex is skipped: it is squire itself";
    assert_eq!(shown(test.clone()), reason);
    test.stderr(format!("squire: {reason}\n")).code(127);
}

#[test]
fn b43_the_project_is_that_around_a_directory_below_it() {
    let test = launch()
        .script("project/tools/codex", DECOY)
        .write("project/a/b", "")
        .directory("project/a")
        .agent("codex", "exit 5");
    with_path(test, &["<T>/project/tools", "<T>/bin"]).code(5);
}

#[test]
fn b43_relative_entries_are_skipped_at_home_too() {
    let test = launch().script("home/codex", DECOY).script("home/bin/codex", DECOY).directory("home");
    let test = with_path(test, &[".", "bin"]);
    test.stderr("squire: codex was not found on PATH; ./codex is skipped: its PATH entry is relative; bin/codex is skipped: its PATH entry is relative\n").code(127);
    // An absolute entry of the home directory is the user's own.
    let test = launch().script("home/bin/codex", "#!/bin/sh\nexit 5\n").directory("home");
    with_path(test, &["<T>/home/bin"]).code(5);
}

#[test]
fn b43_squire_under_the_agents_name_is_skipped() {
    let test = launch().link(SQUIRE, "first/codex").link("../first/codex", "second/codex");
    let test = with_path(test.agent("codex", "exit 5"), &["<T>/first", "<T>/second", "<T>/bin"]);
    assert_eq!(shown(test.clone()), "<T>/bin/codex");
    test.clone().code(5);
    // Called by that name it does the same.
    test.program("first/codex").code(5);
}

#[test]
fn b43_a_hard_link_of_squire_is_squire() {
    let test = launch();
    fs::create_dir(test.path("first")).unwrap();
    // Hard links of a program elsewhere may cross file systems: this one is a copy with two names. Another process
    // writes it, so that no fork of this one holds it open.
    let copied = Command::new("cp").arg(SQUIRE).arg(test.path("squire")).status().unwrap();
    assert!(copied.success());
    fs::hard_link(test.path("squire"), test.path("first/codex")).unwrap();
    with_path(test.program("squire"), &["<T>/first"])
        .stderr("squire: codex was not found on PATH; <T>/first/codex is skipped: it is squire itself\n")
        .code(127);
}

#[test]
fn b43_the_first_executable_counts() {
    let test = launch().write("first/codex", "#!/bin/sh\n").agent("codex", "exit 5");
    let found = with_path(test.clone(), &["<T>/first", "<T>/bin"]);
    assert_eq!(shown(found.clone()), "<T>/bin/codex");
    found.code(5);
    let only = with_path(test, &["<T>/first", "<T>/absent"]);
    assert_eq!(shown(only.clone()), "<T>/first/codex can't be executed");
    only.stderr("squire: <T>/first/codex can't be executed\n").code(126);
}

#[test]
fn b43_a_decoy_that_is_not_executable_does_not_change_the_reason() {
    let test = launch().write("project/bin/codex", "");
    with_path(test, &["<T>/project/bin"])
        .stderr(
            "squire: codex was not found on PATH; <T>/project/bin/codex is skipped: it lies in the project\n",
        )
        .code(127);
}

#[test]
fn b43_what_is_no_program_is_passed_over() {
    let test = launch()
        .write("directory/codex/x", "")
        .link("nowhere", "dangling/codex")
        .write("no-directory", "")
        .agent("codex", "exit 5");
    let entries = ["<T>/directory", "<T>/dangling", "<T>/no-directory", "<T>/absent"];
    with_path(test.clone(), &[&entries[..], &["<T>/bin"]].concat()).code(5);
    let none = with_path(test, &entries);
    assert_eq!(shown(none.clone()), "codex was not found on PATH");
    none.stderr("squire: codex was not found on PATH\n").code(127);
}

#[test]
fn b43_without_a_path_the_systems_directories_are_searched() {
    let installed = ["/usr/local/bin", "/usr/bin", "/bin"]
        .iter()
        .map(|directory| format!("{directory}/codex"))
        .find(|path| fs::exists(path).unwrap());
    let expected = installed.unwrap_or_else(|| "codex was not found on PATH".into());
    let test = launch().script("project/codex", DECOY).agent("codex", "exit 5");
    assert_eq!(shown(test.clone().env_remove("PATH")), expected);
    assert_eq!(shown(test.env("PATH", "")), expected);
}

#[test]
fn b43_an_entry_that_is_not_utf_8_is_an_entry() {
    let test = launch().agent("codex", "exit 5");
    let strange = test.root().join(OsString::from_vec(b"caf\xe9".to_vec()));
    fs::rename(test.path("bin"), &strange).unwrap();
    let mut path = b"/nowhere:".to_vec();
    path.extend(strange.as_os_str().as_bytes());
    test.env("PATH", OsString::from_vec(path)).code(5);
}

#[test]
fn the_json_of_a_dry_run_names_the_program() {
    for (path, expected) in
        [("<T>/bin", serde_json::json!("<T>/bin/codex")), ("<T>/absent", serde_json::Value::Null)]
    {
        let test = with_path(launch().agent("codex", ""), &[path]);
        let run = test.args(["--dry-run", "--json"]).any_stdout().success();
        let shown: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
        assert_eq!(shown["program"], expected);
    }
}
