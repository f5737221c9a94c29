//! The files of a launch that only the user may read (case B31): where they lie, how they are guarded, that nothing
//! is left.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::support::{Run, Test, Watched};

const DOCS: &str = "[servers.docs]\nurl = \"https://docs.example.com/mcp\"\nheaders = { X-Flag = \"k\" }\n";
const STATE: &str = "<T>/home/.local/state/squire";

fn launch(script: &str) -> Test {
    launch_in(Test::new().config(DOCS), script)
}

fn launch_in(test: Test, script: &str) -> Test {
    test.agent("claude", script).args(["launch", "claude", "--quiet", "--server", "docs"])
}

/// The private file's path, guarded as it must be.
#[track_caller]
fn file_of(run: &Run) -> String {
    let file = run.agent_file("/claude.json");
    assert_eq!(file["mode"], "0600");
    assert_eq!(file["directory_mode"], "0700");
    let content: serde_json::Value = serde_json::from_str(file["content"].as_str().unwrap()).unwrap();
    assert_eq!(content["mcpServers"]["docs"]["url"], "https://docs.example.com/mcp");
    let argument = run.agent_arguments().pop().unwrap();
    assert!(!fs::exists(file["path"].as_str().unwrap()).unwrap(), "it is left");
    argument.strip_prefix("--mcp-config=").unwrap().to_owned()
}

fn mode(run: &Run, relative: &str) -> u32 {
    fs::metadata(run.path(relative)).unwrap().permissions().mode() & 0o7777
}

#[test]
fn b31_no_umask_opens_or_closes_them() {
    for umask in ["000", "022", "077", "0777"] {
        for runtime in [false, true] {
            let mut test =
                launch("exit 5").behind(&format!("umask {umask}")).write("run/x", "").mode("run", 0o700);
            if runtime {
                let run = test.path("run");
                test = test.env("XDG_RUNTIME_DIR", run);
            }
            let run = test.code(5);
            let base = if runtime { "<T>/run/squire".into() } else { format!("{STATE}/private") };
            assert_eq!(file_of(&run), format!("{base}/<private>/claude.json"), "umask {umask}");
            assert_eq!(run.files_below("run"), ["x"]);
            assert_eq!(run.files_below("home/.local"), Vec::<String>::new());
            let made = if runtime { "run/squire" } else { "home/.local/state/squire/private" };
            assert_eq!(mode(&run, made), 0o700, "umask {umask}");
        }
    }
}

#[test]
fn b31_the_name_is_another_each_time() {
    let test = launch("");
    let names: Vec<String> = (0..3)
        .map(|_| test.clone().success().agent_file("/claude.json")["path"].as_str().unwrap().to_owned())
        .collect();
    assert!(names[0] != names[1] && names[1] != names[2] && names[0] != names[2], "{names:?}");
}

#[test]
fn b31_a_runtime_directory_that_others_can_enter_is_not_used() {
    for mode in [0o777, 0o1777, 0o755, 0o710, 0o701] {
        let test = launch("").write("run/x", "").mode("run", mode);
        let directory = test.path("run");
        let run = test.env("XDG_RUNTIME_DIR", directory).success();
        assert_eq!(file_of(&run), format!("{STATE}/private/<private>/claude.json"), "{mode:o}");
        assert!(!run.path("run/squire").exists(), "{mode:o}");
    }
}

#[test]
fn b31_a_runtime_directory_that_is_none_is_not_used() {
    let test = launch("")
        .write("project/relative/x", "")
        .mode("project/relative", 0o700)
        .write("real/x", "")
        .mode("real", 0o700)
        .link("real", "link")
        .write("file", "")
        .mode("file", 0o600);
    for value in ["relative", "", "<T>/missing", "<T>/link", "<T>/file"] {
        let value = value.replace("<T>", test.root().to_str().unwrap());
        let run = test.clone().env("XDG_RUNTIME_DIR", &value).success();
        assert_eq!(file_of(&run), format!("{STATE}/private/<private>/claude.json"), "{value}");
        assert!(!run.path("missing").exists() && !run.path("real/squire").exists());
        assert!(!run.path("project/relative/squire").exists());
    }
}

/// "Nothing in /tmp or the working directory" (design, section 9).
#[test]
fn b31_a_runtime_directory_in_the_project_is_not_used() {
    let test = launch("").write("project/run/x", "").mode("project/run", 0o700);
    let directory = test.path("project/run");
    let run = test.env("XDG_RUNTIME_DIR", directory).success();
    assert_eq!(file_of(&run), format!("{STATE}/private/<private>/claude.json"));
}

#[test]
fn b31_no_link_is_followed_to_them() {
    for (at, runtime) in [("home/.local/state/squire/private", false), ("run/squire", true)] {
        let mut test = launch("").write("elsewhere/x", "").write("run/x", "").mode("run", 0o700);
        let elsewhere = test.path("elsewhere");
        if runtime {
            let directory = test.path("run");
            test = test.env("XDG_RUNTIME_DIR", directory);
        }
        let watched = Watched::new([elsewhere.clone()]);
        // Refused, or written to another place: never through the link.
        let test = test.link(elsewhere, at);
        let output = test.command().output().unwrap();
        watched.assert_untouched();
        assert!(matches!(output.status.code(), Some(0 | 125)), "{at}: {}", output.status);
    }
}

/// Whoever may write in the directory could put other servers in the file's place.
#[test]
fn b31_a_directory_that_others_can_write_is_closed_or_not_used() {
    let test = launch("")
        .write("home/.local/state/squire/private/x", "")
        .mode("home/.local/state/squire/private", 0o777);
    let private = test.path("home/.local/state/squire/private");
    let output = test.command().output().unwrap();
    let open = fs::metadata(&private).unwrap().permissions().mode() & 0o022 != 0;
    assert!(output.status.code() == Some(125) || !open, "used as it was: {}", output.status);
}

#[test]
fn b31_what_lies_there_already_stays() {
    let run = launch("exit 5").write("home/.local/state/squire/private/mine/claude.json", "mine").code(5);
    file_of(&run);
    assert_eq!(run.files_below("home/.local/state/squire"), ["private/mine/claude.json"]);
}

#[test]
fn a_private_file_that_the_agent_removed_is_gone_without_a_word() {
    let mut running = launch("wait-file <T>/go; exit 5").start();
    let log = running.until(|_| true);
    let file = std::path::PathBuf::from(log["files"][0]["path"].as_str().unwrap());
    fs::remove_file(&file).unwrap();
    fs::write(running.path("go"), "").unwrap();
    running.code(5);
    assert!(!file.parent().unwrap().exists(), "its directory is left");
}

#[test]
fn a_private_directory_that_the_agent_removed_is_gone_without_a_word() {
    let mut running = launch("wait-file <T>/go; exit 5").start();
    let log = running.until(|_| true);
    let file = std::path::PathBuf::from(log["files"][0]["path"].as_str().unwrap());
    fs::remove_dir_all(file.parent().unwrap()).unwrap();
    fs::write(running.path("go"), "").unwrap();
    running.code(5);
}

#[test]
fn a_private_file_that_the_agent_replaced_is_removed() {
    let mut running = launch("wait-file <T>/go; exit 5").start();
    let log = running.until(|_| true);
    let file = std::path::PathBuf::from(log["files"][0]["path"].as_str().unwrap());
    fs::write(file.with_extension("new"), "{}").unwrap();
    fs::rename(file.with_extension("new"), &file).unwrap();
    fs::write(running.path("go"), "").unwrap();
    let run = running.code(5);
    assert_eq!(run.files_below("home/.local"), Vec::<String>::new());
    assert!(!file.parent().unwrap().exists());
}

#[test]
fn what_the_agent_put_beside_a_private_file_is_left_and_told() {
    let test = Test::new().config(DOCS);
    let mut running = launch_in(test.clone(), "wait-file <T>/go; exit 5")
        .stderr("squire: a private file is left: Directory not empty (os error 39)\n")
        .start();
    let log = running.until(|_| true);
    let file = std::path::PathBuf::from(log["files"][0]["path"].as_str().unwrap());
    fs::write(file.with_file_name("notes"), "mine").unwrap();
    fs::write(running.path("go"), "").unwrap();
    let run = running.code(5);
    // With the record, which knows of them until the next command has seen to them.
    assert_eq!(run.files_below("home/.local").len(), 2);
    test.args(["list"]).any_stdout().success();
    assert_eq!(run.files_below("home/.local").len(), 1);
}

#[test]
fn a_state_directory_that_cannot_be_had_refuses_the_launch() {
    let run = launch("")
        .write("home/.local/state", "a file")
        .stderr(format!(
            "squire: no private directory can be had in {STATE}/private; set SQUIRE_STATE_DIR to one that can be written: Not a directory (os error 20)\n"
        ))
        .code(125);
    assert!(!run.agent_was_started());
    assert_eq!(run.files_below("home/.local"), ["state"]);
    // A runtime directory is enough.
    let test = launch("exit 5").write("home/.local/state", "a file").write("run/x", "").mode("run", 0o700);
    let directory = test.path("run");
    let run = test.env("XDG_RUNTIME_DIR", directory).code(5);
    assert_eq!(run.agent_variable("SQUIRE_LAUNCH"), None);
    assert_eq!(run.files_below("run"), ["x"]);
}

#[test]
fn a_state_directory_that_cannot_be_written_refuses_the_launch() {
    if rustix::process::geteuid().is_root() {
        // Root may write everywhere; the test above stands for it.
        return;
    }
    let run = launch("")
        .write("home/.local/state/squire/x", "")
        .mode("home/.local/state/squire", 0o500)
        .stderr(format!(
            "squire: no private directory can be had in {STATE}/private; set SQUIRE_STATE_DIR to one that can be written: Permission denied (os error 13)\n"
        ))
        .code(125);
    assert!(!run.agent_was_started());
    assert_eq!(run.files_below("home/.local"), ["state/squire/x"]);
}

#[test]
fn an_agent_without_private_files_needs_no_state_directory() {
    let run = Test::new()
        .config(DOCS)
        .agent("codex", "exit 5")
        .write("home/.local/state", "a file")
        .args(["launch", "codex", "--quiet", "--server", "docs"])
        .code(5);
    assert_eq!(run.agent_variable("SQUIRE_LAUNCH"), None);
    assert!(run.agent()["argv"].to_string().contains("docs.example.com"));
}

#[test]
fn directories_inside_the_project_are_refused() {
    for (agent, program) in
        [("claude", "claude"), ("codex", "codex"), ("opencode", "opencode"), ("cursor", "cursor-agent")]
    {
        for (variable, value, shown, own) in [
            ("SQUIRE_STATE_DIR", "<T>/project/.state", "<T>/project/.state", "SQUIRE_STATE_DIR"),
            ("SQUIRE_CONFIG_DIR", "<T>/project/.config", "<T>/project/.config", "SQUIRE_CONFIG_DIR"),
            ("XDG_STATE_HOME", "<T>/project/xdg", "<T>/project/xdg/squire", "SQUIRE_STATE_DIR"),
            ("XDG_CONFIG_HOME", "<T>/project/xdg", "<T>/project/xdg/squire", "SQUIRE_CONFIG_DIR"),
            ("SQUIRE_STATE_DIR", "<T>/link/deep/er", "<T>/link/deep/er", "SQUIRE_STATE_DIR"),
            ("SQUIRE_CONFIG_DIR", "<T>/link/deep/er", "<T>/link/deep/er", "SQUIRE_CONFIG_DIR"),
            ("SQUIRE_STATE_DIR", "<T>/project", "<T>/project", "SQUIRE_STATE_DIR"),
        ] {
            let test = Test::new().config(DOCS).agent(program, "").link("project", "link");
            let value = value.replace("<T>", test.root().to_str().unwrap());
            let run = test
                .env(variable, value)
                .args(["launch", agent])
                .stderr(format!("squire: {shown} lies inside the project <T>/project: a repository could fill it; set {own} to a directory of your own\n"))
                .code(125);
            assert!(!run.agent_was_started());
            assert_eq!(run.files_below("project"), Vec::<String>::new());
        }
    }
}

#[test]
fn a_directory_that_is_no_absolute_path_is_refused() {
    for variable in ["SQUIRE_STATE_DIR", "SQUIRE_CONFIG_DIR"] {
        let run = Test::new()
            .config(DOCS)
            .agent("codex", "")
            .env(variable, "relative")
            .args(["launch", "codex"])
            .stderr(format!("squire: {variable} is relative: it must be an absolute path\n"))
            .code(125);
        assert!(!run.agent_was_started());
    }
    // The specification has relative values of its variables ignored.
    launch("exit 5").env("XDG_STATE_HOME", "relative").env("XDG_CONFIG_HOME", "relative").code(5);
}

#[test]
fn a_dry_run_writes_nothing() {
    for agent in ["claude", "codex", "opencode", "cursor"] {
        let test = Test::new().config(DOCS).agent("claude", "").write("project/.cursor/mcp.json", "{}");
        let watched = Watched::new(
            ["project/.cursor/mcp.json", "home/.local", "project/.cursor"].map(|file| test.path(file)),
        );
        let run = test.args(["launch", agent, "--dry-run"]).any_stdout().success();
        watched.assert_untouched();
        assert!(!run.agent_was_started());
    }
}

/// Whenever the signal comes: before the file is written, before the agent is up, afterwards.
#[test]
fn b31_b37_a_signal_at_any_moment_leaves_nothing() {
    for step in 0..60_u64 {
        let test = launch("wait-file never").any_stderr();
        let mut child = test.command().stdin(std::process::Stdio::null()).spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_micros(step * 250));
        let pid = rustix::process::Pid::from_child(&child);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
        child.wait().unwrap();
        let private = fs::read_dir(test.path("home/.local/state/squire/private"));
        let left: Vec<_> = private.into_iter().flatten().collect();
        assert!(left.is_empty(), "a signal after {} µs: {left:?}", step * 250);
    }
}

/// What a killed launch left is removed by the next one.
#[test]
fn b29_the_next_launch_removes_what_a_killed_one_left() {
    let test = launch("wait-file <T>/go");
    let mut running = test.clone().start();
    running.until(|_| true);
    running.send(rustix::process::Signal::KILL);
    std::fs::write(running.path("go"), "").unwrap();
    let run = running.signal(9);
    assert_eq!(run.files_below("home/.local/state/squire/private").len(), 1);
    assert_eq!(run.files_below("home/.local/state/squire/launches").len(), 1);
    test.clone().success();
    assert_eq!(run.files_below("home/.local"), Vec::<String>::new());
    assert_eq!(std::fs::read_dir(run.path("home/.local/state/squire/private")).unwrap().count(), 0);
}

/// Threat T12: a record that squire did not write has nothing removed but itself.
#[test]
fn a_poisoned_record_removes_no_file_of_the_user() {
    const ID: &str = "0123456789abcdef0123456789abcdef";
    let owner = r#"{ "pid": 2147483647, "started": 1, "boot": "gone" }"#;
    for (directory, file) in [
        ("<T>/home/.keys", "key"),
        ("<T>/home/.keys/../.keys", "key"),
        ("<T>/home/.keys", "<T>/home/.keys/key"),
        (&format!("<T>/home/{ID}"), "../.keys/key"),
        (&format!("<T>/home/{ID}"), "<T>/home/.keys/key"),
        (&format!("<T>/home/{ID}"), ".."),
    ] {
        let test = Test::new().write("home/.keys/key", "k").mode("home/.keys", 0o700);
        let test = test.write(&format!("home/{ID}/x"), "").mode(&format!("home/{ID}"), 0o700);
        let root = test.path("").display().to_string();
        let [directory, file] = [directory, file].map(|text| text.replace("<T>", root.trim_end_matches('/')));
        let record = format!(
            r#"{{ "owner": {owner}, "private": {{ "directory": "{directory}", "files": ["{file}"] }} }}"#
        );
        let path = format!("home/.local/state/squire/launches/{ID}.json");
        let test = test.write(&path, record).mode(&path, 0o600);
        let keys = Watched::new([test.path("home/.keys/key"), test.path(&format!("home/{ID}/x"))]);
        let run = test.args(["list"]).any_stdout().success();
        keys.assert_untouched();
        assert_eq!(run.files_below("home/.local"), [""; 0], "{directory} {file}");
    }
}
